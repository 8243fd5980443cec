"""Any splitter of the user as a chunker: a function from text to strings, or an object that has one, named in the spec.

Its pieces are placed in the document by ``align``; what cannot be placed is reported. Nothing but the module that the
user named is imported, and nothing is evaluated. How good the cuts are is left to the audit and the measures.
"""

import importlib
import inspect
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

from faircut.chunkers.align import Alignment, align
from faircut.chunkers.contract import Models
from faircut.chunkers.foreign import METHODS, is_object, split_function, stated_start, text_of
from faircut.chunkers.object_state import object_state
from faircut.chunkers.user_code import code_hash
from faircut.errors import ChunkingError, FaircutError, FaircutWarning, SpecError, nearest
from faircut.records import Chunk, Document
from faircut.specs import Percentile, Registry, Size, Spec, Value, spec_text

__all__ = ["PythonChunker"]

_SAID = 200  # characters of a foreign error that are repeated
_FORM = "python:module:function, or python:module:factory(chunk_size=500)"


@dataclass(frozen=True)
class PythonChunker:
    """Any Python splitter: `python:module:function`, or with parameters `python:module:factory(chunk_size=500)`.

    The target is a function from ``str`` to a list of ``str`` (or of objects with ``.text``, ``.page_content``,
    ``.content`` or ``["text"]``), or a splitter object of LangChain, LlamaIndex, Haystack, chonkie, semchunk or
    text-splitter (see ``foreign.py``), or a class or function that makes one.
    A function that wants a text besides the named parameters gets both at every call; any other is called once with
    them.
    The working directory is searched after all else, so a module beside the documents is found.

    ``fingerprint`` changes when the user's code does.

    Raises:
        SpecError: the module or the name in it cannot be imported, or does not make a splitter.
    """

    name: ClassVar[str] = "python"
    prefix: ClassVar[str] = "python:"

    target: str
    args: tuple[Value, ...] = ()
    kwargs: tuple[tuple[str, Value], ...] = ()
    _split: Callable[[str], Any] = field(init=False, repr=False, compare=False)
    _fingerprint: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        with _said_as(SpecError, f"'python:{self.target}' cannot be built"):
            found = _resolve(self.target)
            args = [_argument(value) for value in self.args]
            kwargs = {key: _argument(value) for key, value in self.kwargs}
            object.__setattr__(self, "_split", _splitter(self.target, found, args, kwargs))
            state, modules = object_state(found) if is_object(found) else ("", frozenset())
        named = {target.partition(":")[0] for target in _targets(self)}
        object.__setattr__(self, "_fingerprint", code_hash(named | modules) + state)

    __str__ = spec_text

    @property
    def fingerprint(self) -> str:
        """A hash of the code and the settings behind the splitter and its parameters, as of when this was built."""
        return self._fingerprint

    @classmethod
    def from_spec(cls, spec: Spec, registry: Registry) -> "PythonChunker":  # noqa: ARG003  # the registry's protocol
        """The chunker that a spec names."""
        return cls(spec.name.removeprefix(cls.prefix), spec.args, spec.kwargs)

    def to_spec(self) -> Spec:
        """The spec that builds this chunker again."""
        return Spec(self.prefix + self.target, self.args, self.kwargs)

    def chunk(self, document: Document, models: Models) -> list[Chunk]:  # noqa: ARG002  # a foreign splitter has its own
        """The splitter's pieces as chunks, verbatim and without surrounding white space.

        A piece that is not in the document is left out with a ``FaircutWarning``. Loss, sizes and order are the
        splitter's.

        Raises:
            TypeError: the document is not a ``Document``.
            ChunkingError: the splitter failed, returned nothing or no texts, or none of its pieces is in the document.
        """
        if not isinstance(document, Document):
            raise TypeError(f"a chunker takes a Document, found {type(document).__name__}")
        if not document.text or document.text.isspace():
            return []
        items = self._items(document)
        pieces = [text_of(item) or "" for item in items]
        if not any(piece.strip() for piece in pieces):
            count = len(document.text)
            raise ChunkingError(f"{self} returned nothing for document {document.id!r} of {count} characters.")
        alignment = align(document.text, pieces, [stated_start(item) for item in items])
        self._report(document, pieces, alignment)
        spans = alignment.found
        return [Chunk(document.id, (span,), document.text[span.start : span.end]) for span in spans]

    def _items(self, document: Document) -> list[Any]:
        """What the splitter makes of the document, each a text or an object that has one.

        Raises:
            ChunkingError: the splitter failed or returned something else.
        """
        with _said_as(ChunkingError, f"{self} failed on document {document.id!r}"):
            result = self._split(document.text)
            items = list(result) if isinstance(result, Iterable) and not isinstance(result, (str, bytes)) else None
            texts = [] if items is None else [text_of(item) for item in items]
        if items is None or None in texts:
            odd = result if items is None else items[texts.index(None)]
            raise ChunkingError(
                f"{self} must return a list of texts (str, or objects with .text, .page_content, .content or "
                f"['text']), found {type(odd).__name__}; a factory needs its parameters: {_FORM}."
            )
        return items

    def _report(self, document: Document, pieces: list[str], alignment: Alignment) -> None:
        missing = alignment.unaligned
        if not missing:
            return
        first = " ".join(pieces[missing[0]].split())[:60]
        found = f"{len(missing)} of {len(pieces)} pieces are not in document {document.id!r}, the first is {first!r}"
        if not alignment.found:
            raise ChunkingError(f"{self}: {found}; a splitter that rewrites its text cannot be compared by spans.")
        count = sum(len("".join(pieces[i].split())) for i in missing)
        message = f"{self}: {found}; they were left out ({count} characters without white space)."
        warnings.warn(message, FaircutWarning, stacklevel=3)


@contextmanager
def _said_as(kind: type[FaircutError], what: str) -> Iterator[None]:
    """Turn whatever the user's code raises into one sentence; an error of this kind has one, and Ctrl-C is passed on.

    ``sys.exit`` and the panics of libraries written in Rust are no ``Exception``, and no reason to stop without a word.
    """
    try:
        yield
    except (KeyboardInterrupt, kind):
        raise
    except BaseException as error:
        said = " ".join(str(error).split())[:_SAID]
        raise kind(f"{what}: {type(error).__name__}{': ' if said else ''}{said}") from error


def _resolve(target: str) -> Any:
    """The object ``module:attribute``.

    Raises:
        SpecError: it cannot be imported; says which part is missing.
    """
    module_name, _, path = target.partition(":")
    if not module_name or not path:
        raise SpecError(f"a Python splitter is written {_FORM}; found 'python:{target}'.")
    with _said_as(SpecError, f"cannot import {module_name!r} for 'python:{target}'"):
        found = _module(module_name, target)
        for part in path.split("."):
            if not hasattr(found, part):
                public = [name for name in dir(found) if not name.startswith("_")]
                close = nearest(part, public).split(" Possible:")[0].rstrip(".")
                raise SpecError(f"{module_name!r} has no {path!r} for 'python:{target}'{close}.")
            found = getattr(found, part)
    return found


def _module(name: str, target: str) -> Any:
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    importlib.invalidate_caches()  # the module may have been written a moment ago
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise SpecError(
            f"cannot import {name!r} for 'python:{target}': {error}. Install it, or run where it lies."
        ) from error


def _targets(part: Any) -> Iterator[str]:
    """The targets of a splitter, or of a spec in its parameters, and of all ``python:`` specs inside."""
    if isinstance(part, Spec) and part.name.startswith(PythonChunker.prefix):
        yield part.name.removeprefix(PythonChunker.prefix)
    if isinstance(part, PythonChunker):
        yield part.target
    if isinstance(part, (Spec, PythonChunker)):
        for value in (*part.args, *(value for _, value in part.kwargs)):
            yield from _targets(value)


def _argument(value: Value) -> Any:
    """A value of a spec as a foreign splitter gets it: a nested ``python:`` spec is the object that it names."""
    if isinstance(value, (Size, Percentile)):
        raise SpecError(f"a Python splitter takes plain values, found {value}; write a number or quoted text.")
    if not isinstance(value, Spec):
        return value
    if value.name.startswith(PythonChunker.prefix):
        target = value.name.removeprefix(PythonChunker.prefix)
        found = _resolve(target)
        if not value.args and not value.kwargs:
            return found
        return _make(target, found, list(map(_argument, value.args)), {k: _argument(v) for k, v in value.kwargs})
    if value.args or value.kwargs:
        raise SpecError(f"a Python splitter takes plain values or python: specs, found {value}.")
    return value.name


def _splitter(target: str, found: Any, args: list[Any], kwargs: dict[str, Any]) -> Callable[[str], Any]:
    """The function from text to pieces that the target is, has or makes.

    Raises:
        SpecError: it is none, or refuses the parameters.
    """
    split = split_function(found) if is_object(found) and not (args or kwargs) else None
    if split is not None and split is not found:
        return split
    takes_text = not isinstance(found, type) and callable(found)
    if takes_text and not (args or kwargs) and _accepts(found, "", args, kwargs):
        return found  # type: ignore[no-any-return]
    if takes_text and (args or kwargs) and not _accepts(found, None, args, kwargs):
        return lambda text: found(text, *args, **kwargs)
    made = _make(target, found, args, kwargs) if callable(found) else found
    split = None if isinstance(made, type) else split_function(made)
    if split is not None:
        return split
    methods = ", ".join(METHODS)
    raise SpecError(f"'python:{target}' gives {type(made).__name__}, which has none of {methods}; write {_FORM}.")


def _accepts(function: Callable[..., Any], text: str | None, args: list[Any], kwargs: dict[str, Any]) -> bool:
    """Whether the function can be called with these parameters, after a text when one is given."""
    try:
        inspect.signature(function).bind(*([] if text is None else [text]), *args, **kwargs)
    except TypeError:
        return False
    except ValueError:  # a compiled function without a signature: it takes a text, its parameters are not known
        return text is not None
    return True


def _make(target: str, factory: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> Any:
    with _said_as(SpecError, f"'python:{target}' cannot be built"):
        return factory(*args, **kwargs)
