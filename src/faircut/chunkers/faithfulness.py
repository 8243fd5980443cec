"""Whether a statement says only what its sources say: words in, those that stand in no source out.

A check of words, not of meaning: it finds what was added, and not what was left out, turned round or joined wrongly. It
needs no model, so it cannot be wrong in the way that the model was.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

__all__ = ["content_words", "known_forms", "unfounded", "word_forms"]

_TOKEN = re.compile(r"\d+(?:[.,:/\u2009\u202f\u00a0]\d+)*|[^\W\d_]+(?:['\u2019][^\W\d_]+)*")
_UNSPACED = re.compile("[\u3005-\u3007\u30a1-\u30fa\u3400-\u9fff\uf900-\ufaff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
_HIRAGANA = re.compile("[\u3041-\u309f\u30fc]+")
_SHORT, _TAIL = 4, 3  # letters that must agree, and letters at the end that may differ

# Small words that a rewriting may add: they name nothing. Negations are missing on purpose.
_SMALL = {
    "en": "a an the this that these those it its he him his she her they them their we us our you your i me my who "
    "whom whose which what when where while there here is are was were be been being am do does did done has "
    "have had having will would shall should can could may might must of in on at by to for from with as into "
    "onto over under about between among through during before after since until within and or but if then "
    "than so because also such both each other some any all same one ones own itself himself herself "
    "themselves s",
    "de": "der die das den dem des ein eine einen einem einer eines er sie es ihn ihm ihr ihnen sein seine seinen "
    "seiner ihre ihren ihrer wir uns sich ist sind war waren wird werden wurde wurden hat haben hatte hatten "
    "kann können darf dürfen muss müssen soll sollen und oder aber wenn dass weil als wie auch von zu zum zur "
    "mit in im an am auf für aus bei nach vor über unter durch um bis diese dieser dieses diesem diesen "
    "welche welcher welches",
    "fr": "le la les l un une des du de d il elle ils elles on nous vous ce cet cette ces son sa ses leur leurs qui "
    "que qu dont où est sont était étaient être été a ont avait avaient avoir peut peuvent doit doivent et ou "
    "mais si car comme aussi à au aux en dans par pour sur sous avec entre s se y",
    "es": "el la los las un una unos unas de del a al lo él ella ellos ellas este esta estos estas ese esa su sus "
    "que quien cual cuyo es son era eran ser sido ha han había habían haber está están puede pueden debe "
    "deben y e o u pero si como también en por para con sobre entre se",
    "it": "il lo la i gli le l un uno una di del dello della dei degli delle a al allo alla ai alle da dal dalla in "
    "nel nella su sul sulla con per tra fra e ed o ma se che chi cui è sono era erano essere stato ha hanno "
    "aveva può possono deve devono egli essa esso essi questo questa questi suo sua suoi loro anche come si",
    "pt": "o a os as um uma uns umas de do da dos das em no na nos nas a ao à por para com sobre entre e ou mas se "
    "que quem cujo é são era eram ser sido há tem têm tinha está estão pode podem deve devem ele ela eles "
    "elas este esta esse essa seu sua seus suas também como",
    "nl": "de het een van in op te aan met voor door uit bij naar over onder om tot en of maar als dat die dit deze "
    "wie wat hij zij ze hem haar hun zijn is was waren wordt worden werd werden heeft hebben had hadden kan "
    "kunnen mag moet moeten ook er zich",
}
_SMALL_WORDS = {code: frozenset(words.split()) for code, words in _SMALL.items()}
_NOT = {"not", "no", "never", "none", "nor", "neither", "cannot", "without"}


def unfounded(statement: str, sources: Iterable[str], language: str | None) -> list[str]:
    """The content words and numbers of a statement that occur in none of its sources, in order.

    Capitals and the end of a word are forgiven: two words are one when their first four letters or more agree and at
    most three letters follow on either side ("increase", "increasing"), also when one adds an "s". Numbers must be
    equal, up to the marks between thousands. A negation counts as a content word: any in the sources will do. In
    scripts without spaces each sign must occur, hiragana excepted. Articles, pronouns, auxiliaries and the like are
    free in English, German, French, Spanish, Italian, Portuguese and Dutch; in other languages every word must occur.
    """
    known = known_forms(sources)
    return [word for word in content_words(statement, language) if known.isdisjoint(word_forms(word))]


def content_words(text: str, language: str | None) -> list[str]:
    """The words and numbers of a text without the small words of its language, in lower case."""
    small = _SMALL_WORDS.get((language or "en").partition("-")[0].lower(), frozenset())
    return [word for word in _words(text) if word not in small]


def known_forms(texts: Iterable[str]) -> set[str]:
    """The forms of all words of some texts."""
    return {form for text in texts for word in _words(text) for form in word_forms(word)}


def _words(text: str) -> Iterator[str]:
    for match in _TOKEN.finditer(text.casefold()):
        token = match.group().replace("\u2019", "'")
        if token[0].isdigit():
            yield re.sub(r"[,\u2009\u202f\u00a0](?=\d{3}(?!\d))", "", token)
        elif _UNSPACED.search(token) or _HIRAGANA.search(token):
            yield from _signs(token)
        elif token.endswith("n't"):
            yield from (token[:-3], "not")
        else:
            yield from (part for part in token.split("'") if part)


def _signs(token: str) -> Sequence[str]:
    """The signs of a run without spaces, one by one."""
    return _HIRAGANA.sub("", token)


def word_forms(word: str) -> set[str]:
    """What a word is known by: it agrees with another when they share one of these."""
    if word in _NOT:
        return {"not"}
    if word[0].isdigit() or len(word) < _SHORT:
        return {word, f"{word}s"} if word.isalpha() and len(word) > 1 else {word}
    return {word[:length] for length in range(max(_SHORT, len(word) - _TAIL), len(word) + 1)}
