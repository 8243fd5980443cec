"""Sentence ends that punctuation shows, by the rules of each writing system except English.

A unit of text comes in (see `layout.py`), offsets just behind the ends of its sentences go out: each full stop,
question mark or ellipsis with the quotes and brackets that close after it. One look at each mark, so the time is
linear whatever the text. Quotes are never matched in pairs: one that is not closed changes nothing. Thai and English
are left to others.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from faircut.text.abbreviations import Table, table
from faircut.text.scripts import Script

FULL_MARKS: Final = "。！？｡।॥؟۔።፧။։៕᙮᠃᠉꓿꧉"  # end a sentence with or without a space behind them
_MARKS: Final = ".!?…‼⁇⁈⁉．" + FULL_MARKS
_CLOSERS: Final = "\"'”’)\\]}»›*」』）】》〉〕］"
_MARK: Final = re.compile(rf"[{_MARKS}][{_MARKS}{_CLOSERS}“‘]*(?:[ \u00a0\u202f][»›](?!\w))?")
_FULL: Final = re.compile(rf"[{FULL_MARKS}][{_MARKS}{_CLOSERS}]*")
_WIDE_OPENING: Final = re.compile("[“‘]")  # close in German, open in Chinese
_WHITE: Final = re.compile(r"\s*")
_NEXT_WORD: Final = re.compile(r"[\"'“”„«»‘’‹›(\[¿¡*_—–-]*\s?([^\W\d_]+(?:['’-][^\W\d_]+)*)")
_DOTTED: Final = re.compile(r"(?:[^\W\d_]{1,3}\.-?)+[^\W\d_]{1,3}")  # U.S, z.B, J.-P
_ROMAN: Final = re.compile(r"[IVXLC]+")
_NUMBERLIKE: Final = re.compile(r"[\d(\[§#№०-९٠-٩]|[A-Z]\b|[IVXLC]+\b")
_REPORTED: Final = re.compile(
    r"[^。！？，,\n]{0,8}?(?:说|道|问|喊|答|叫|称|写道|笑着?道?|說|問|答道)[着道]?[，。：,:！]"
)
_HINDI_REPORTED: Final = re.compile(r"\S{1,12} (?:ने )?(?:पूछ|कह|बोल|बता|चिल्ला)")
_PARTICLE: Final = re.compile("[とっなのはをがにでもやへ、，,：:]|って|という|라고|하고")
_CJK: Final = re.compile("[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uff00-\uffef]")
_LETTER_NAMES: Final = "ए बी सी डी ई एफ जी एच आई जे के एल एम एन ओ पी क्यू आर एस टी यू वी डब्ल्यू एक्स वाई जेड"
_HINDI_LETTERS: Final = frozenset(_LETTER_NAMES.split())  # initials
_WORD_LIMIT: Final = 32  # characters looked at before a full stop


@dataclass(frozen=True, slots=True)
class _Mark:
    """A run of marks at `text[start:end]` and what stands around it."""

    text: str
    run: str
    start: int
    end: int
    next: int  # first character that is not white space

    @property
    def spaced(self) -> bool:
        return self.next > self.end or self.next == len(self.text)

    @property
    def following(self) -> str:
        """The next word, without quotes before it."""
        word = _NEXT_WORD.match(self.text, self.next)
        return word.group(1) if word else ""

    @property
    def word(self) -> str:
        """The word before the mark, without its opening quotes and elided article."""
        before = self.text[max(0, self.start - _WORD_LIMIT) : self.start]
        if not before or before[-1].isspace():
            return ""
        word = before.split()[-1].lstrip("\"'“”„«»‘’‹›([{¿¡*_–—-/§")
        word = _CJK.split(word)[-1]
        return word.replace("’", "'").rsplit("'", 1)[-1].rsplit("(", 1)[-1]


def punctuation_ends(unit: str, language: str, script: Script) -> list[int]:
    """Offsets in `unit` behind its sentences, ascending. `language` is a two-letter code."""
    decide = _is_cjk_end if script == "cjk" else _is_end
    words = table(language)
    return [mark.end for mark in _marks(unit) if decide(mark, words)]


def full_mark_ends(unit: str) -> list[int]:
    """The ends that the full stops of other scripts show inside a text in Latin letters."""
    if unit.isascii():
        return []
    marks = (_mark(unit, found) for found in _FULL.finditer(unit))
    return [mark.end for mark in marks if _is_full_end(mark)]


def question_ends(unit: str, language: str) -> list[int]:
    """The ends that question and exclamation marks show where the full stop only closes abbreviations."""
    words = table(language)
    return [mark.end for mark in _marks(unit) if mark.run[0] not in ".…" and _is_end(mark, words)]


def _marks(unit: str) -> Iterator["_Mark"]:
    """Every run of marks that could end a sentence."""
    return (_mark(unit, found) for found in _MARK.finditer(unit))


def _mark(unit: str, found: re.Match[str]) -> _Mark:
    run = found.group()
    if run[0] in FULL_MARKS:
        run = _WIDE_OPENING.split(run, maxsplit=1)[0]
    end = found.start() + len(run)
    white = _WHITE.match(unit, end)
    return _Mark(unit, run, found.start(), end, white.end() if white else end)


def _is_full_end(mark: _Mark) -> bool:
    """After 。 and its kind: an end, unless the sentence goes on behind the closed quote."""
    closed = mark.run[-1] not in _MARKS
    rest = mark.text[mark.next : mark.next + 16]
    if rest[:1].islower() or rest[:1] in tuple(",，、;；:：)）」』”»" + FULL_MARKS):
        return False
    return not (closed and (_PARTICLE.match(rest) or _REPORTED.match(rest)))


def _is_cjk_end(mark: _Mark, words: Table) -> bool:
    if any(sign in FULL_MARKS for sign in mark.run):
        return _is_full_end(mark)
    if "．" in mark.run:
        return not mark.text[mark.next : mark.next + 1].isnumeric()
    before, after = mark.text[mark.start - 1 : mark.start], mark.text[mark.end : mark.end + 1]
    if mark.run[0] in ".!?" and _CJK.match(before) and (_CJK.match(after) or mark.spaced):
        return True
    return mark.spaced and mark.run[0] != "…" and _is_end(mark, words)


def _is_end(mark: _Mark, words: Table) -> bool:
    """After marks that need white space behind them in scripts with words."""
    if not mark.spaced:
        return any(sign in FULL_MARKS for sign in mark.run) and _is_full_end(mark)
    if mark.next == len(mark.text):
        return True
    if _continues(mark):
        return False
    return mark.run[0] != "." or mark.run.startswith("..") or _ends_with_stop(mark, words)


def _continues(mark: _Mark) -> bool:
    """Whether the next word begins small, or a dash or a comma goes on with the sentence."""
    first = mark.text[mark.next]
    if first in ",;:)]}" + FULL_MARKS or (first in ".…" and mark.run[0] == "."):
        return True
    if first in "—–" and mark.run[-1] in _CLOSERS:
        return True
    word = mark.following
    if len(word) == 1 and (first in "'’" or mark.text[mark.next + 1 : mark.next + 2] == ")"):
        return False  # Dutch "’s Ochtends"; a list's "b) the second"
    return word.islower() or (mark.run[-1] in _CLOSERS and _HINDI_REPORTED.match(mark.text, mark.next) is not None)


def _ends_with_stop(mark: _Mark, words: Table) -> bool:
    """Whether a single full stop is an end, and not that of an abbreviation, an initial or an ordinal."""
    word = mark.word
    low, following = word.lower(), mark.following.lower()
    if not word:
        return True
    if word.isnumeric():
        return not _is_ordinal(mark, word, words)
    starts = following in words.starters and mark.following[:1].isupper()
    if _ROMAN.fullmatch(word) and words.ordinals:
        return starts
    if low in words.inside or _DOTTED.fullmatch(word):
        return starts and not _is_initial(word)
    if _is_initial(word):
        return False
    return not (low in words.before_number and _NUMBERLIKE.match(mark.text, mark.next))


def _is_ordinal(mark: _Mark, number: str, words: Table) -> bool:
    """In languages that write ordinals with a full stop: 1 or 2 digits before a capital that begins no sentence."""
    if not words.ordinals or len(number) > 2 or not mark.following:
        return False
    return mark.following.lower() not in words.starters


def _is_initial(word: str) -> bool:
    return (len(word) == 1 and word.isalpha()) or word in _HINDI_LETTERS
