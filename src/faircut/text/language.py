"""A text in, the code of its language out, for languages in Latin script; decided by how often small words stand in it.

Good enough to choose the rules of sentence ends. Other scripts are recognised by ``scripts.py``; a language that the
document names itself is better.
"""

import re
from collections import Counter

__all__ = ["guess_language"]

_SEEN = 20_000  # characters that are looked at
_FEWEST = 8  # small words that are needed
_MARGIN = 1.3  # times as many as of the next language

_SMALL_WORDS = {
    "en": "the of and to in is that for was with as on are this by be from which it or an have not",
    "de": "der die und den von zu das mit sich des auf für ist im dem nicht ein eine als auch werden aus bei nach",
    "fr": "le la les des et en du un une dans est que pour qui sur par au plus avec ce sont il ne pas cette",
    "es": "el los las que y del se por con una para es al lo como más su pero sus fue este entre cuando",
    "it": "il di che è per una sono della con non del si le da nel alla più anche gli dei come ma",
    "pt": "o os que do da em um para é com não uma na no se por mais as dos como mas foi ao das",
    "nl": "de het een van en in dat is op te zijn voor met die niet aan er om ook als maar bij door wordt",
}
_LANGUAGES: dict[str, list[str]] = {}
for _code, _words in _SMALL_WORDS.items():
    for _word in _words.split():
        _LANGUAGES.setdefault(_word, []).append(_code)

_WORD = re.compile(r"[^\W\d_]+")


def guess_language(text: str) -> str | None:
    """The ISO 639-1 code of the language whose small words are most frequent at the beginning of the text.

    None when there are too few of them, or two languages have nearly as many. A word that several languages share
    counts for each of them in part.
    """
    votes: Counter[str] = Counter()
    hits = 0
    for word in _WORD.findall(text[:_SEEN].lower()):
        codes = _LANGUAGES.get(word, ())
        hits += bool(codes)
        for code in codes:
            votes[code] += 60 // len(codes)
    if hits < _FEWEST:
        return None
    (best, most), *others = votes.most_common(2)
    return best if not others or most >= _MARGIN * others[0][1] else None
