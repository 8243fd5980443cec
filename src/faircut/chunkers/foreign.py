"""Splitter objects of other libraries: an object in, its function from text to pieces out, and what a piece says.

They are known by what they have; no library is imported for that. The class of a document that a LlamaIndex, Haystack
or LangChain object wants is taken from the library when the object is called. Placing the pieces is left to ``align``.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from inspect import isclass, isroutine
from typing import Any

__all__ = ["METHODS", "is_object", "split_function", "stated_start", "text_of"]

Split = Callable[[str], Any]

_OF_TEXT = ("split_text", "chunk", "chunks")  # LangChain and LlamaIndex, chonkie, text-splitter
METHODS = (*_OF_TEXT, "get_nodes_from_documents", "transform_documents", "run", "__call__")
"""What makes an object a splitter, the first that it has. semchunk's is called."""


def is_object(found: object) -> bool:
    """Whether this is an object, and neither a class nor a function."""
    return not isclass(found) and not isroutine(found)


def split_function(splitter: object) -> Split | None:
    """The function from text to pieces of a splitter object; None for what is none."""
    for method in _OF_TEXT:
        if callable(found := getattr(splitter, method, None)):
            return found  # type: ignore[no-any-return]
    if callable(nodes := getattr(splitter, "get_nodes_from_documents", None)):
        return lambda text: _llama_index(nodes, text)
    if callable(transform := getattr(splitter, "transform_documents", None)):
        return lambda text: transform([import_module("langchain_core.documents").Document(page_content=text)])
    if _is_haystack(splitter):
        return lambda text: _haystack(splitter, text)
    return splitter if callable(splitter) else None


def _is_haystack(splitter: object) -> bool:
    return hasattr(splitter, "__haystack_input__") and callable(getattr(splitter, "run", None))


def _llama_index(parse: Callable[..., Sequence[Any]], text: str) -> list[Any]:
    """The nodes of a parser; of a hierarchy its leaves, which are what is searched."""
    document = import_module("llama_index.core.schema").Document(text=text)
    return [node for node in parse([document]) if not getattr(node, "child_nodes", None)]


def _haystack(splitter: Any, text: str) -> list[Any]:
    """The documents of a component; of a hierarchy its leaves."""
    if callable(warm_up := getattr(splitter, "warm_up", None)):
        warm_up()
    result = splitter.run(documents=[import_module("haystack").Document(content=text)])
    return [piece for piece in result["documents"] if not piece.meta.get("__children_ids")]


def text_of(piece: Any) -> str | None:
    """The text of what a splitter returned for one piece, None when it has none."""
    if isinstance(piece, str):
        return piece
    found = piece.get("text") if isinstance(piece, dict) else _first(piece, ("text", "page_content", "content"))
    return found if isinstance(found, str) else None


def stated_start(piece: Any) -> int | None:
    """Where a piece says that it begins, in characters; None when it does not. It may be wrong."""
    stated = _first(piece, ("start_char_idx", "start_index"))
    for about in (piece, getattr(piece, "metadata", None), getattr(piece, "meta", None)):
        if stated is None and isinstance(about, dict):
            stated = about.get("start_index", about.get("split_idx_start"))
    return stated if isinstance(stated, int) and not isinstance(stated, bool) and stated >= 0 else None


def _first(piece: Any, names: Sequence[str]) -> Any:
    return next((value for name in names if (value := getattr(piece, name, None)) is not None), None)
