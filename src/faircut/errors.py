"""The one tree of errors: what is raised says what was found and what to do.

Every error that faircut raises on purpose is a ``FaircutError``; the command line has one ``except`` clause for them.
"""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import ClassVar

__all__ = [
    "ChunkingError",
    "CorpusError",
    "DocumentError",
    "EmbeddingError",
    "FaircutError",
    "FaircutWarning",
    "LlmError",
    "MetricError",
    "PlanError",
    "QuestionError",
    "SearchError",
    "SpecError",
    "StoreError",
    "nearest",
]


class FaircutError(Exception):
    """The root of the tree. ``exit_code`` is what the command line returns: 1 bad input, 2 usage."""

    exit_code: ClassVar[int] = 1


class DocumentError(FaircutError):
    """A file or record cannot become a document: empty, damaged, encrypted, unknown type, not text."""


class CorpusError(DocumentError):
    """Several documents of a corpus cannot be read; one line for each, after a line with their number."""

    def __init__(self, problems: Sequence[str], *, shown: int = 20) -> None:
        lines = [problem.replace("\n", "\\n") for problem in problems[:shown]]
        more = [f"... and {len(problems) - shown} more."] if len(problems) > shown else []
        super().__init__("\n".join([f"{len(problems)} documents cannot be read; nothing was run.", *lines, *more]))


class SpecError(FaircutError):
    """A spec (``name(key=value)``) is wrong: unknown name or parameter, value of the wrong kind or range."""

    exit_code: ClassVar[int] = 2


class PlanError(FaircutError):
    """A comparison is not possible as asked: no baseline, two rows with one name, a wrong plan file."""

    exit_code: ClassVar[int] = 2


class EmbeddingError(FaircutError):
    """Vectors cannot be had: weights missing or of the wrong hash, an extra not installed, a wrong answer."""


class LlmError(FaircutError):
    """A language model cannot be asked, or its answers cannot be used: wrong URL, key or model, the server is gone."""


class ChunkingError(FaircutError):
    """A chunker broke its contract or cannot work on this document (a user's splitter that invents text)."""


class SearchError(FaircutError):
    """The vector index cannot be built or searched."""


class QuestionError(FaircutError):
    """Questions do not fit the documents: unknown document, offsets outside, evidence not found or ambiguous."""


class MetricError(FaircutError):
    """A measure is unknown or gave a value outside of its range."""


class StoreError(FaircutError):
    """A run folder or cache cannot be read or written: full disk, read-only, another version."""


class FaircutWarning(UserWarning):
    """Something was left out or shortened, and it is said: a page without text, text beyond a model's limit."""


def nearest(given: str, choices: list[str]) -> str:
    """The tail of an error about a wrong name: the nearest match, then all that is possible."""
    close = get_close_matches(given, choices, n=1, cutoff=0.5)
    hint = f"; did you mean {close[0]!r}?" if close else "."
    return f"{hint} Possible: {', '.join(choices) or 'none'}."
