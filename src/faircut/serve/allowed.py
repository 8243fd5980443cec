"""Which chunkers and searches a page may ask for: text from a page in, components out, everything else refused.

What runs a user's own code (``python:...``), asks a language model or is not known to be harmless is for the command
line only: a page must not be a way to run code. A new chunker is refused until it is named here.
"""

from collections.abc import Iterator
from typing import Any

from faircut.chunkers import CHUNKERS, Chunker, build
from faircut.chunkers.cuts import CUT_RULES
from faircut.chunkers.fixed import Fixed
from faircut.chunkers.hybrid import Hybrid
from faircut.chunkers.optimal import Optimal
from faircut.chunkers.paragraph import Paragraph
from faircut.chunkers.recursive import Recursive
from faircut.chunkers.semantic import Semantic
from faircut.chunkers.sentence import Sentence
from faircut.chunkers.shuffled import Shuffled
from faircut.chunkers.structure import Structure
from faircut.errors import SpecError, nearest
from faircut.index import SEARCHES, Search
from faircut.serve.limits import Limits
from faircut.specs import Spec, parse_spec

__all__ = ["SERVED", "served_chunker", "served_search", "served_specs"]

SERVED: tuple[type[Any], ...] = (Recursive, Sentence, Paragraph, Semantic, Structure, Hybrid, Optimal, Fixed, Shuffled)
"""The chunkers of the explorer, in the order of its list."""

_NAMES = {c.name for c in (*SERVED, *CUT_RULES)} | {preset.name for preset in CHUNKERS.presets}
_REFUSED = {c.name for c in CHUNKERS.classes} - _NAMES


def served_specs(texts: object, limits: Limits) -> list[str]:
    """The specs of a request, each a text of a fair length; what they name is checked by ``served_chunker``.

    Raises:
        SpecError: not a list of texts, none, or too many.
    """
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise SpecError("the request needs a list of chunkers.")
    if len(texts) > limits.chunkers:
        raise SpecError(f"at most {limits.chunkers} chunkers side by side, found {len(texts)}.")
    for text in texts:
        if len(text) > limits.spec:
            raise SpecError(f"a spec has at most {limits.spec} characters here, found {len(text)}.")
    return texts


def served_chunker(text: str) -> Chunker:
    """The chunker of a spec that came from a page.

    Raises:
        SpecError: not a spec, wrong parameters, or a component that a page may not ask for.
    """
    tree = parse_spec(text)
    for name in _names(tree):
        if name in _REFUSED or ":" in name:
            raise SpecError(
                f"{name!r} runs code or asks a language model, which a page may not start; use it on the command line."
            )
    if tree.name not in _NAMES:
        raise SpecError(f"unknown chunker {tree.name!r}{nearest(tree.name, sorted(_NAMES))}")
    return build(tree)


def _names(tree: Spec) -> Iterator[str]:
    """The names in a spec, at any depth."""
    yield tree.name
    for value in (*tree.args, *(value for _, value in tree.kwargs)):
        if isinstance(value, Spec):
            yield from _names(value)


def served_search(text: object) -> Search:
    """The search of a spec: vectors, words or both.

    Raises:
        SpecError: unknown, or wrong parameters.
    """
    if not isinstance(text, str) or len(text) > 100:
        raise SpecError(f"a search is one of {', '.join(SEARCHES.names)}.")
    search: Search = SEARCHES.build(text)
    return search
