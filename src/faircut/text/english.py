"""Sentence ends in English, and in Latin letters of unknown language.

A unit of text comes in, offsets behind its sentences go out. `nupunkt` (Punkt trained on legal and general text)
decides; what it was seen to miss on scientific and legal text is added, what it was seen to cut wrongly is taken
back.
"""

import re
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from typing import Any, Final

from faircut.text.abbreviations import table
from faircut.text.punctuation import full_mark_ends

_NOTE: Final = re.compile(r"(?<=[a-z)]{4})\.\d{1,3}(?:[,–-]\d{1,3})*(?=\s+[A-Z][a-z])")  # "sequencing.12 The"
_DOTTED_BEFORE_SMALL: Final = re.compile(r"(?:^|[\s(\"“])(?:[A-Za-z]{1,2}\.){2,}\s*$")  # "U.C.L.A. in"
_DOTTED_END: Final = re.compile(r"\b(?:U\.S|U\.K|E\.U|U\.N|a\.m|p\.m)\.(?=\s+([A-Z][a-z]+))")
_TITLE: Final = re.compile(
    r"(?:^|[\s(\"“])(?:Mr|Mrs|Ms|Dr|Prof|Rev|Hon|Gen|Lt|Col|Maj|Brig|Capt|Sgt|Gov|Sen|Rep|Messrs)\.\s*$"
)
_REPORTER: Final = re.compile(r"(?:^|\s)([A-Z][a-z]+)\.\s*$")  # "5 Wall. 32": a law report's name
_ORDINARY_WORDS: Final = (
    "add ago aims all arrows bank bat black bold bond book broad call can cancer car century chest code cold "
    "computationally day divide enter enters equal found free hand hard holidays how human ill intestine just lab "
    "lack lead life low mass month pick port quantified raw reporter reports rest rich rounds row saw series "
    "sinks sleep south stock story sum super tables tasks tax ten thanks threads walk wave week will win works "
    "acres alike aloud append bed chase closes coal consume depot diffraction dyes effusion encyclopedia fish "
    "flag flip hall hay helper horse hyperplane joke john laughter leg lock miss oils onwards park pin pop rash "
    "roll sick stars tale talent truncation wall wash wheat wheel woods yard"
)
_ORDINARY: Final = frozenset(_ORDINARY_WORDS.split())
_WILD: Final = re.compile(r"[^\w\s][\W_]{63,}|\S{300,}")  # leaders of dots, rules, base64
_WINDOW: Final = 24  # characters looked at before an end


def english_ends(unit: str) -> list[int]:
    """Offsets in `unit` behind its sentences, ascending."""
    kept = {end for _, end in _tokenizer().iter_spans(_calm(unit), paragraph_breaks=False) if not _is_inside(unit, end)}
    return sorted(kept | set(_missed(unit)) | set(full_mark_ends(unit)))


def _calm(unit: str) -> str:
    """The unit with the marks inside overlong runs made dashes: the library's time is quadratic in such a run."""
    return _WILD.sub(lambda run: re.sub(r"[^\w\s]", "-", run.group()[:-4]) + run.group()[-4:], unit)


@cache
def _tokenizer() -> Any:
    """A copy of the library's model, without the ordinary words ("day", "week") that it takes for abbreviations."""
    import nupunkt

    tokenizer = nupunkt.PunktSentenceTokenizer(deepcopy(nupunkt.load("default").parameters))
    for word in _ORDINARY:
        tokenizer.remove_abbreviation(word)
    tokenizer.add_abbreviation("rs")
    return tokenizer


def _is_inside(unit: str, end: int) -> bool:
    if end < len(unit) and not unit[end].isspace():
        return True
    before = unit[max(0, end - _WINDOW) : end]
    following = unit[end : end + _WINDOW].lstrip()
    if following[:1].islower() and _DOTTED_BEFORE_SMALL.search(before):
        return True
    reporter = _REPORTER.search(before) if following[:1].isdigit() else None
    if reporter and reporter.group(1).lower() in _ORDINARY:
        return True
    return _TITLE.search(before) is not None


def _missed(unit: str) -> Iterator[int]:
    yield from (note.end() for note in _NOTE.finditer(unit))
    starters = table("en").starters
    yield from (end.end() for end in _DOTTED_END.finditer(unit) if end.group(1).lower() in starters)
