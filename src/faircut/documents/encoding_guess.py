"""Bytes in an unknown encoding older than Unicode -> the encodings that make sense of them, the best first.

Each candidate is tried, and what it gives is judged as text: its letters should belong to one language, the frequent
ones should be frequent, words should not change script or turn upper case in the middle. Alphabets and frequent
characters are listed here by hand. What is done with a good or a bad guess is left to ``decoding.py``.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

__all__ = ["Guess", "guesses", "readability"]

SEEN = 2**16
"""Bytes that are judged, from the first line on that is not ASCII. All bytes must be valid."""
MAX_WRONG = 0.02
"""Share of the characters outside ASCII that may be invalid in an encoding."""


@dataclass(frozen=True, slots=True)
class Guess:
    """An encoding, how well its text reads (1 at best, below 0 nonsense), and that text, invalid bytes as U+FFFD."""

    encoding: str
    score: float
    text: str
    letters: int = 0
    """Characters outside ASCII that were judged."""


# ---------------------------------------------------------------- what is known of languages

# Letters of a language beyond ASCII, the most frequent first.
_LATIN = {
    "en": "éüèñöïáçó",
    "de": "üäößÄÖÜéàè",
    "fr": "éèàêçôîûùâïœëÉÀÊÇÈÔæÿŒü",
    "es": "óíáéñúüÁÉÍÓÚÑçºª",
    "pt": "ãçáéíóêõúâàôÉÁÓÇÃÍÚÂÊÀÔÕºª",
    "it": "àèùòéìîÈÀÉÒÙºª",
    "nl": "éëïèöüêçáóíÉË",
    "sv": "äåöÅÄÖéàü",
    "da": "åøæÅØÆéöäü",
    "fi": "äöåÄÖÅšžéŠŽ",
    "is": "áðíéóúýþæöÁÐÍÉÓÚÝÞÆÖ",
    "pl": "łąęóśżćńźŁĄĘÓŚŻĆŃŹ",
    "cs": "íáéěřýčžšůúťňóďÍÁÉĚŘÝČŽŠŮÚŤŇÓĎ",
    "sk": "áíéčýžšúľťňôóäďĺŕÁÍÉČÝŽŠÚĽŤŇÔÓÄĎĹŔ",
    "hu": "áéőöüóíúűÁÉŐÖÜÓÍÚŰ",
    "ro": "ăîșțâşţĂÎȘȚÂŞŢ",
    "hr": "čćšžđČĆŠŽĐ",
    "tr": "ıüşğöçİŞÜÖÇĞâîû",
    "lv": "āīēšūņļžģčķĀĪĒŠŪŅĻŽĢČĶ",
    "lt": "ėįąšųžūęčĖĮĄŠŲŽŪĘČ",
    "et": "äõüöšžÄÕÜÖŠŽ",
}
# Words so frequent that two or three stand in most sentences; they tell languages with the same letters apart.
_SMALL_WORDS = {
    "en": "the of and to in is that it was for on are with",
    "de": "der die und den das mit ist im für auf zu über",
    "fr": "le la les des et du est dans que pour un une",
    "es": "el los las que del una para con en se y como",
    "pt": "o os que do da em um para com não uma dos",
    "it": "il di che la una sono per non del con gli della",
    "nl": "de het een van dat is op voor met niet zijn en",
    "sv": "och att det som en på är av för med till den",
    "da": "og at det som en på er af for med til den ikke å",
    "fi": "ja on ei se että oli ovat myös kun hän joka tai",
    "is": "og að er sem við það í hann til um ekki var á",
    "pl": "i w z na do się nie jest że to o jak przez są",
    "cs": "a v na se je že s o do z jako pro by k",
    "sk": "a v na sa je že s o do z ako pre aby k sú",
    "hu": "a az és hogy nem is egy van meg de ez volt",
    "ro": "și în de la cu pe nu care o un din este şi sunt",
    "hr": "i u je na se da su za od s ne koji što",
    "tr": "ve bir bu da de için ile olarak daha gibi çok ne",
    "lv": "un ir ar no uz par ka kas tā viņš pret tiek",
    "lt": "ir yra kad iš su kaip į bet tai jis už buvo",
    "et": "ja on ei et see oli ka kui ta mis ning või",
}
_OTHER_LETTERS = {
    "ru": "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё",
    "uk": "оанивітерсклудмпязьгбчйхжцюїєшфщґ",
    "bg": "аиоентрсвлкдпмзгъубчяцжщйхшюфьыэё",
    "el": "αοιετσνηυρπκμλωςίόάγήδέθύχφώξβζψϊϋΐ",
    "he": "יוהלאתרמבשנדםחעפקזגטכסןצךףץ",
    "ar": "اليمونرتبةعدسفهكقأحجشصخىضزثطءذإغآئظؤـًَُِّْپچژگ",
    "th": "านรอก่เงม้ยลวดทสตะปบคหแจพชขใไโผธถณซืฟึศูุญฐฎๆ์ัี็ิำษภฝฮฆฑฏฌฉฒฬๅฯ",
}
_SYLLABLES = (
    "이다는의에가을고하지한은로도사를기어서자리아인그과시대들나부정수일해있고라만보원제전공무선구소주조성상"
    "생지장유국경여동신우문화관위모두면세용안방실중마적것여간권비연었았습니까계행교회학내외물분산입치식연술"
)
_HANZI = (
    "的一是不了在人有我他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可里后小么心多天而能好都然没日于起还"
    "发成事只作当想看文无开手十用主行方又如前所本见经头面公同三已老从动两长知民样现分将外但身些与高意进把法此实回二理美点月明其种声全工己话"
    "這個來說們為時會著過對裡後麼沒於還發當開見經頭動長樣現將與進實點種聲話國學無從兩電業產體關機"
)
_KANA = "のにたるとはしいでてをなりかがれさっこうまらもすあくけそよだきンスルトイラクリアプせ、。ーどじえつちめわろ"

# Encodings by the languages that were written in them. Of equals the first counts.
_SINGLE = (
    ("cp1252", "en de fr es pt it nl sv da fi is"),
    ("iso8859_15", "en de fr es pt it nl sv da fi is et"),
    ("cp1250", "pl cs sk hu ro hr de"),
    ("iso8859_2", "pl cs sk hu ro hr de"),
    ("cp1254", "tr"),
    ("cp1257", "lv lt et"),
    ("iso8859_13", "lv lt et"),
    ("mac_roman", "en de fr es pt it nl sv da"),
    ("cp850", "en de fr es pt it nl sv da"),
    ("cp852", "pl cs sk hu hr"),
    ("cp1251", "ru uk bg"),
    ("koi8_r", "ru"),
    ("koi8_u", "uk ru"),
    ("iso8859_5", "ru bg uk"),
    ("cp866", "ru"),
    ("cp1253", "el"),
    ("iso8859_7", "el"),
    ("cp1255", "he"),
    ("iso8859_8", "he"),
    ("cp1256", "ar"),
    ("iso8859_6", "ar"),
    ("cp874", "th"),
)
_DOUBLE = (
    ("cp932", "ja"),
    ("euc_jp", "ja"),
    ("euc_jis_2004", "ja"),
    ("gb18030", "zh"),
    ("big5hkscs", "zh"),
    ("cp949", "ko"),
)

_RARE = {"iso8859_2": 0.005, "iso8859_13": 0.005, "mac_roman": 0.1, "cp850": 0.12, "cp852": 0.12}
"""What a text must read better in these to be taken as theirs."""

_QUOTES = frozenset("“”’–—…£€°§")
_MARKS = frozenset("„‚‘«»‹›•·©®™¿¡\xa0\xad№×±²³½¼¾µ¶†‡、。「」『』，．：；！？（）・ー〜～《》【】…　‥")

# ---------------------------------------------------------------- judging


def guesses(raw: bytes) -> list[Guess]:
    """The encodings in which ``raw`` is valid (but for ``MAX_WRONG``), with how well they read, the best first."""
    found = [guess for encoding, languages in (*_DOUBLE, *_SINGLE) if (guess := _judged(raw, encoding, languages))]
    return sorted(found, key=lambda guess: -guess.score)


def _judged(raw: bytes, encoding: str, languages: str) -> Guess | None:
    text = raw.decode(encoding, "replace")
    wrong = text.count("\ufffd")
    if wrong and wrong > MAX_WRONG * len(_NOT_ASCII.findall(text)):
        return None
    seen = _beyond_ascii(text)
    counts = Counter(_NOT_ASCII.findall(seen))
    total = counts.total()
    if not total:
        return None
    if total < _FEWEST and len(_ASCII_LETTER.findall(seen)) < _FEWEST:
        return None  # too little to say anything
    odd = len(_SYMBOL_IN_WORD.findall(seen)) + len(_REPEATED.findall(seen))
    spoiled = (2 * len(_MIXED.findall(seen)) + odd) / total
    words = Counter(_WORD.findall(seen.lower()))
    best = max(_share(counts, total, language) + _known(words, language) for language in languages.split())
    lost = min(spoiled, 2) + 10 * wrong / total + _RARE.get(encoding, 0)
    return Guess(encoding, best - lost, text, total)


def readability(text: str) -> float:
    """How well the characters beyond ASCII read in the language that they fit best; 0 where there are none."""
    counts = Counter(_NOT_ASCII.findall(_beyond_ascii(text)))
    total = counts.total()
    return max((_share(counts, total, language) for language in _WEIGHTS), default=0) if total else 0.0


def _beyond_ascii(text: str) -> str:
    """The lines that hold more than ASCII, up to ``SEEN`` characters."""
    lines: list[str] = []
    size = 0
    for line in _LINES_BEYOND.finditer(text):
        lines.append(line[0])
        size += len(line[0])
        if size >= SEEN:
            break
    return "\n".join(lines)


_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_ASCII_LETTER = re.compile(r"[A-Za-z]")
_FEWEST = 4
_REPEATED = re.compile(r"([^\W\d_\x00-\x7f])(?=\1\1)")
_WORD = re.compile(r"[^\W\d_]+")
_LINES_BEYOND = re.compile(r"[^\n\r]{0,200}[^\x00-\x7f][^\n\r]{0,200}")
_OTHER_SCRIPT = r"\u0370-\u052f\u0590-\u06ff\u0e00-\u0e7f"
_MIXED = re.compile(
    rf"[A-Za-z](?=[{_OTHER_SCRIPT}])|[{_OTHER_SCRIPT}](?=[A-Za-z])"  # scripts change inside a word
    r"|[а-яёіїєa-zà-ÿα-ω](?=[А-ЯЁІЇЄÀ-ÖØ-ÞΑ-Ω])"  # a capital after a small letter
)
_SYMBOL_IN_WORD = re.compile(r"(?<=[^\W\d_])[^\w\s\x00-\x7f’‘·\xad\u0300-\u0e7f-](?=[^\W\d_])")


def _share(counts: Counter[str], total: int, language: str) -> float:
    """How much of the characters beyond ASCII is what one expects in a language."""
    points = sum(count * _points(character, language) for character, count in counts.items())
    return points / total


def _known(words: Counter[str], language: str) -> float:
    """The share of small words, at most 0.25; 0 for languages in other scripts, whose letters say enough."""
    known = sum(words[word] for word in _SMALL_WORDS.get(language, "").split())
    return min(known / max(words.total(), 1), 0.25)


def _points(character: str, language: str) -> float:
    if character in _QUOTES:
        return 0.85
    if character in _MARKS:
        return 0.6
    if language in _WEIGHTS:
        return _WEIGHTS[language].get(character, _strange(character, language))
    return -1.0


def _strange(character: str, language: str) -> float:
    """A character that the language's list does not name."""
    code = ord(character)
    if code < 0xA0 or 0xE000 <= code <= 0xF8FF or code == 0xFFFD or not character.isprintable():
        return -2.0  # control characters, private use
    if language == "ja" and (0x3041 <= code <= 0x30FF):
        return 0.7
    if language == "ja" and 0x4E00 <= code <= 0x9FFF:
        return 0.35 if _lead(character, "euc_jp") in range(0xB0, 0xD0) else -0.3
    if language == "zh" and 0x4E00 <= code <= 0x9FFF:
        return _hanzi_points(character)
    if language == "ko" and 0xAC00 <= code <= 0xD7A3:
        return 0.4 if _lead(character, "euc_kr") else -0.5
    return -0.5 if language in ("ja", "zh", "ko") else -0.7


def _hanzi_points(character: str) -> float:
    """Chinese character sets hold the frequent characters in front, the rare ones behind."""
    simplified, traditional = _lead(character, "gb2312"), _lead(character, "big5")
    if simplified in range(0xB0, 0xD8) or traditional in range(0xA4, 0xC7):
        return 0.4
    return -0.2 if simplified or traditional else -0.7


def _lead(character: str, encoding: str) -> int:
    """The first of the two bytes of a character in a set of two bytes; 0 when it is not in it."""
    try:
        encoded = character.encode(encoding)
    except UnicodeEncodeError:
        return 0
    return encoded[0] if len(encoded) == 2 else 0


def _weights(letters: str, most: float = 1.0) -> Iterator[tuple[str, float]]:
    """Weights that fall with the place in a list of letters; capitals count less."""
    for place, letter in enumerate(letters):
        weight = max(most - 1.2 * place / max(len(letters), 30), 0.1)
        yield letter, weight
        if (capital := letter.upper()) != letter and len(capital) == 1:
            yield capital, weight - 0.3


def _table() -> Iterable[tuple[str, dict[str, float]]]:
    for language, letters in _LATIN.items():
        yield language, {letter: 1 - 0.02 * min(place, 25) for place, letter in enumerate(letters)}
    for language, letters in _OTHER_LETTERS.items():
        yield language, dict(_weights(letters, 1.15))
    yield "ko", dict.fromkeys(_SYLLABLES, 1.0)
    yield "zh", dict.fromkeys(_HANZI, 1.2)
    yield "ja", dict.fromkeys(_KANA, 1.1)


_WEIGHTS: dict[str, dict[str, float]] = dict(_table())
