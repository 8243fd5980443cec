"""Sentence ends in Thai, which writes no full stops.

A unit of text comes in, offsets behind its sentences go out. A space ends a clause or a sentence, but it also stands
around numbers, names and the repetition mark, and in lists. We cut at a space with Thai on both sides when a whole
clause stands before it, another one follows, and the next word is none that joins clauses. So a "sentence" is one or
a few clauses.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from faircut.text.punctuation import question_ends

_THAI: Final = "\u0e01-\u0e3a\u0e40-\u0e4e"
_SPACE: Final = re.compile(rf"(?<=[{_THAI})\"”.])(?<!ๆ)[ \u00a0]+(?=[{_THAI}\"“(])(?!ๆ)")
_JOINING: Final = re.compile(
    r"[\"“(]|และ|หรือ|ที่|ซึ่ง|โดย|ว่า|เพื่อ|จาก|ของ|ใน|แล้ว|ก็|กับ|เป็น|คือ|ได้แก่|"
    "เช่น|อัน|ตาม|ต่อ|เมื่อ|รวม|ถึง|สำหรับ|ด้วย|ตลอด|ทั้ง|จน|ให้|ไป|มา|ฯ"
)
_PARTICLE: Final = re.compile("(?:ครับ|ค่ะ|คะ|จ้ะ|จ้า|นะ|ไหม|มั้ย)$")
_SENTENCE: Final = 25  # characters since the last cut: the least that is taken for a sentence
_CLAUSE: Final = 12  # characters: shorter runs between spaces are words of a list or names


def thai_ends(unit: str) -> list[int]:
    """Offsets in `unit` behind its sentences, ascending."""
    marks = question_ends(unit, "th")
    spaces = [space.span() for space in _SPACE.finditer(unit)]
    return sorted({*marks, *_clause_ends(unit, spaces, marks)})


def _clause_ends(unit: str, spaces: list[tuple[int, int]], marks: list[int]) -> Iterator[int]:
    """Of the spaces, those long enough after the last end and with whole clauses on both sides."""
    later_marks = iter([*marks, len(unit) + 1])
    last, mark, clause = 0, next(later_marks), 0
    for (start, end), (following, _) in pairwise([*spaces, (len(unit), 0)]):
        while mark <= start:
            last, mark = mark, next(later_marks)
        if _ends_clause(unit, start, since_end=start - last, since_space=start - max(last, clause)) and (
            following - end >= _CLAUSE and not _JOINING.match(unit, end)
        ):
            yield start
            last = start
        clause = end


def _ends_clause(unit: str, space: int, *, since_end: int, since_space: int) -> bool:
    """Whether there is enough before the space for a sentence, or a particle that only ends sentences."""
    polite = _PARTICLE.search(unit, max(0, space - 6), space) is not None
    return polite or (since_end >= _SENTENCE and since_space >= _CLAUSE)
