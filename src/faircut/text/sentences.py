"""Sentences: a text in, spans out that tile it.

White space behind a sentence belongs to it. Layout (`layout.py`) is asked first, then each unit's punctuation by the
rules of its script and language (`english.py`, `punctuation.py`, `thai.py`). Blocks are the caller's: pass `start`
and `end`.
"""

import re
from functools import cache
from itertools import pairwise
from typing import Any, Final

from faircut.text.abbreviations import LANGUAGES
from faircut.text.english import english_ends
from faircut.text.layout import units
from faircut.text.punctuation import punctuation_ends
from faircut.text.scripts import Script, script_of
from faircut.text.thai import thai_ends

__all__ = ["sentence_spans"]

_SCRIPT_LANGUAGE: Final[dict[Script, str]] = {
    "latin": "en",
    "cyrillic": "ru",
    "greek": "el",
    "arabic": "ar",
    "devanagari": "hi",
    "thai": "th",
    "cjk": "zh",
    "other": "xx",
}
_SCRIPT_LANGUAGES: Final[dict[Script, frozenset[str]]] = {
    "cyrillic": frozenset({"ru", "uk", "bg", "sr", "mk", "be", "kk"}),
    "greek": frozenset({"el"}),
    "arabic": frozenset({"ar", "fa", "ur", "ps"}),
    "devanagari": frozenset({"hi", "mr", "ne"}),
    "thai": frozenset({"th"}),
    "cjk": frozenset({"zh", "ja", "ko"}),
}
_NOT_LATIN: Final = frozenset().union(*_SCRIPT_LANGUAGES.values())
_WHITE: Final = re.compile(r"\s*")
_NUMBER: Final = r"[(\[]?(?:\d{1,3}(?:\.\d{1,3}){0,5}|[A-Za-z]|[ivxlIVXL]{1,6})[.)]{1,2}"
_SECTIONS: Final = "Section|Article|Step|Chapter|Part|Item|Artikel|Kapitel|Abschnitt|Schritt|Chapitre|Capítulo|Artículo"
_SECTION: Final = rf"(?:(?i:{_SECTIONS}) )?"
_NUMBER_ALONE: Final = re.compile(rf"{_SECTION}{_NUMBER}(?:\s+{_NUMBER}){{0,7}}\s*")
_WORD: Final = re.compile(r"[^\W_]")
_JOINS_BEFORE: Final = r"[\p{GCB=Extend}\p{GCB=SpacingMark}\p{GCB=ZWJ}]"


def sentence_spans(
    text: str, language: str | None = None, *, start: int = 0, end: int | None = None
) -> list[tuple[int, int]]:
    """Half-open spans, in code points of `text`, that tile `text[start:end]`: one a sentence.

    `language` is an ISO 639 code ("de", "pt-BR"). Without one, or with one that nothing is known about (whatever its
    text, it may come from a file), Latin letters are read by the rules of English. A
    paragraph in another script than the language's is read by the rules of its script. White space goes to the
    sentence before it, leading white space to the first, and so do lines without a letter or digit. Nothing is ever
    cut inside a grapheme cluster. An empty range has no sentences. Time and memory are linear.

    Raises TypeError when `text` is not a string, ValueError when the range is not inside the text.
    """
    if not isinstance(text, str):
        raise TypeError(f"sentence_spans wants a str, not {type(text).__name__}; decode bytes before")
    end = len(text) if end is None else end
    if not 0 <= start <= end <= len(text):
        raise ValueError(f"range {start}..{end} is not inside a text of {len(text)} characters")
    bounds = [start]
    for unit_start, unit_end in units(text, start, end):
        if unit_start > start and _WORD.search(text, unit_start, unit_end):
            bounds.append(unit_start)
        bounds.extend(unit_start + cut for cut in _cuts(text[unit_start:unit_end], language))
    bounds = [bound for bound in bounds if bound == start or not _inside_grapheme(text, bound)]
    return [(a, b) for a, b in pairwise([*bounds, end]) if a < b]


def _cuts(unit: str, language: str | None) -> list[int]:
    """Starts of the sentences of one unit but the first."""
    script = script_of(unit)
    last_word = _last_word(unit)
    cuts: list[int] = []
    start, word = 0, _next_word(unit, 0)
    for end in _ends(unit, script, _code(language, script)):
        cut = _skip_white(unit, end)
        if cut > last_word:
            break
        if word < end and not _NUMBER_ALONE.fullmatch(unit, start, end):
            cuts.append(cut)
            start, word = cut, _next_word(unit, cut)
    return cuts


def _next_word(unit: str, position: int) -> int:
    """The first letter or digit from `position` on: what ends before it is no sentence of its own."""
    found = _WORD.search(unit, position)
    return found.start() if found else len(unit)


def _last_word(unit: str) -> int:
    """The last letter or digit: what begins behind it is no sentence of its own."""
    return next((at for at in range(len(unit) - 1, -1, -1) if unit[at].isalnum()), -1)


def _ends(unit: str, script: Script, code: str) -> list[int]:
    if script == "thai":
        return thai_ends(unit)
    return english_ends(unit) if code == "en" else punctuation_ends(unit, code, script)


def _code(language: str | None, script: Script) -> str:
    """The language whose rules apply: the given one where it is written in this script."""
    given = language.replace("_", "-").split("-")[0].lower() if language else ""
    if script in ("latin", "other"):
        fits = given in LANGUAGES and given not in _NOT_LATIN
    else:
        fits = given in _SCRIPT_LANGUAGES[script]
    return given if fits else _SCRIPT_LANGUAGE[script]


def _skip_white(unit: str, position: int) -> int:
    white = _WHITE.match(unit, position)
    return white.end() if white else position


def _inside_grapheme(text: str, cut: int) -> bool:
    """Cuts stand behind white space or a closing mark: only a character that joins the one before can be in the way."""
    return cut < len(text) and text[cut] > "\u02ff" and cut > 0 and _joining().match(text, cut) is not None


@cache
def _joining() -> Any:
    import regex  # type: ignore[import-untyped]  # no stubs in the package

    return regex.compile(_JOINS_BEFORE)
