"""Two engines' texts of one page -> which runs to keep: what the fast one altered comes back, what it lost is added.

Both engines read the same page; how each gives its runs is in the files of the text and of the glyphs.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from faircut.documents.pdf_bidi import has_right_to_left
from faircut.documents.pdf_glyphs import is_vertical_script
from faircut.documents.pdf_page import Line

__all__ = ["better", "joined_text", "lost", "needs_glyphs", "restored"]

_FEW = 0.02
"""Share of a page's characters up to which lost text is added to the first engine's; beyond, that is replaced."""


def restored(runs: list[Line], expected: str) -> list[Line]:
    """The first engine's runs with the signs and spaces that the second one reads."""
    return _respaced(_with_signs(runs, expected), expected)


def needs_glyphs(runs: list[Line], expected: str) -> bool:
    """Right-to-left and vertical scripts, and formulas, which the first engine gives as TeX."""
    if has_right_to_left(expected) or _looks_vertical(runs):
        return True
    return any(_TEX.search(run.text) for run in runs) and not _TEX.search(expected)


def better(fast: list[Line], careful: list[Line]) -> tuple[list[Line], bool]:
    """The runs to keep, and whether the engines differ in more than the place of a few characters."""
    missing = lost(joined_text(careful), joined_text(fast))
    if not missing:
        return fast, False
    if missing <= _FEW * len(joined_text(fast)):
        return _completed(fast, careful)
    return min(fast, careful, key=_strangeness), True


def _completed(fast: list[Line], careful: list[Line]) -> tuple[list[Line], bool]:
    """The first engine's runs with those that only the second one has, or has with more letters."""
    found: list[Line] = []
    partial: set[int] = set()
    for run in careful:
        others = [other for other in fast if _touches(other, run)]
        letters = "".join(run.text.split())
        parts = ["".join(other.text.split()) for other in others]
        if len("".join(parts)) < len(letters) and all(part in letters for part in parts):
            found.append(run)
            partial.update(map(id, others))
    return [run for run in fast if id(run) not in partial] + found, bool(found)


def _touches(a: Line, b: Line) -> bool:
    """Whether two runs stand in one place."""
    aside = min(a.right, b.right) - max(a.left, b.left)
    return aside > 1 and min(a.bottom, b.bottom) - max(a.top, b.top) > 0.3 * b.height


def joined_text(runs: Iterable[Line]) -> str:
    """The text of all runs without anything between them."""
    return "".join(run.text for run in runs)


def _strangeness(runs: Sequence[Line]) -> tuple[float, int]:
    """How unlike words the text is: signs without meaning, capitals and digits inside words; then less text first."""
    text = joined_text(runs)
    signs = sum(unicodedata.category(c) in ("Cc", "Co", "Cn") or c == "\ufffd" for c in text)
    inside = len(_INSIDE.findall(text))
    return round((signs + inside) / max(len(text), 1), 2), -len(text)


_INSIDE = re.compile(r"(?<=[a-z])[A-Z](?=[a-z])|(?<=[^\W\d_])\d(?=[^\W\d_])|[\\~{}^](?=\w)")

# What liteparse writes in place of typographic signs, and its formulas in TeX.
_PLAIN = str.maketrans("‘’‚‛“”„‟–—−‐‑…", 4 * "'" + 4 * '"' + "-----.")
_TEX = re.compile(r"\$[^$]*[\\^_{][^$]*\$")


def _respaced(runs: list[Line], expected: str) -> list[Line]:
    """Sideways runs with the spaces of the other engine: the first one puts some inside words there."""
    if not any(run.turn and " " in run.text for run in runs):
        return runs
    places = [n for n, char in enumerate(expected) if not char.isspace()]
    letters = "".join(expected[n] for n in places)
    result = []
    for run in runs:
        solid = "".join(run.text.split())
        found = letters.find(solid) if run.turn and " " in run.text and len(solid) > 3 else -1
        if found >= 0:
            text = expected[places[found] : places[found + len(solid) - 1] + 1]
            result.append(replace(run, text=" ".join(text.split())))
        else:
            result.append(run)
    return result


_SIGNS = re.compile("['\".-]")


def _with_signs(runs: list[Line], expected: str) -> list[Line]:
    """The runs with the signs that stand in the file: quotes and dashes come back from the other engine's text."""
    folded = expected if expected.isascii() else expected.translate(_PLAIN)
    if folded == expected:
        return runs
    result, place = [], 0
    for run in runs:
        found = -1
        if _SIGNS.search(run.text):
            found = folded.find(run.text, place)
            found = found if found >= 0 else folded.find(run.text)
        if found >= 0:
            place = found + len(run.text)
        result.append(run if found < 0 else replace(run, text=expected[found:place]))
    return result


def lost(expected: str, text: str) -> int:
    """Letters and digits of ``expected`` that ``text`` does not have."""
    wanted, found = Counter(expected), Counter(text)
    if wanted == found:
        return 0
    missing = sum(n for c, n in (wanted - found).items() if c.isalnum())
    if missing and not (expected.isascii() and text.isascii()):
        wanted = Counter(unicodedata.normalize("NFKC", expected))
        missing = sum(n for c, n in (wanted - Counter(unicodedata.normalize("NFKC", text))).items() if c.isalnum())
    return missing


def _looks_vertical(runs: list[Line]) -> bool:
    """Whether the page has many very short runs of Chinese or Japanese, as vertical columns give them."""
    short = sum(len(r.text) <= 3 and is_vertical_script(r.text[0]) for r in runs)
    return short >= 8 and short > 0.5 * len(runs)
