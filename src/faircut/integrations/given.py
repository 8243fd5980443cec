"""Splitter objects handed over in Python -> chunkers, each under a spec that builds it again in this process.

The object is kept under a name of this module, and the chunker is ``python:faircut.integrations.given:NAME``. For a
command line or another process, name the object where it is made: ``python:my_module:splitter``. How a splitter is
called and its pieces are placed is left to ``chunkers/python.py``.
"""

from faircut.chunkers.foreign import METHODS, is_object, split_function
from faircut.chunkers.object_state import object_state
from faircut.chunkers.python import PythonChunker
from faircut.errors import SpecError

__all__ = ["as_chunker"]

_GIVEN: dict[str, object] = {}


def as_chunker(splitter: object, *, name: str = "") -> PythonChunker:
    """A splitter object as a chunker: of LangChain, LlamaIndex, Haystack, chonkie, semchunk or text-splitter.

    ``str(chunker)`` goes into a plan as any other spec. Its pieces are placed in the document; what the splitter loses,
    repeats, reorders or rewrites is counted by the audit. A name that is given again means the new object.

    Args:
        splitter: the object, with its settings.
        name: how it is called in tables, an identifier; by default its class and a hash of its settings.

    Raises:
        SpecError: the object is no splitter, or the name is no identifier.
    """
    if not is_object(splitter) or split_function(splitter) is None:
        raise SpecError(
            f"expected a splitter object with one of {', '.join(METHODS)}, found {type(splitter).__name__}; "
            "name a function or class by its module: python:module:function."
        )
    if name and (not name.isidentifier() or not name.isascii() or name.startswith("_")):
        raise SpecError(f"the name of a splitter is letters, digits and _, beginning with a letter, found {name!r}.")
    name = name or f"{type(splitter).__name__}_{object_state(splitter)[0][:8]}"
    _GIVEN[name] = splitter
    return PythonChunker(f"{__name__}:{name}")


def __getattr__(name: str) -> object:
    if name in _GIVEN:
        return _GIVEN[name]
    if name.startswith("_"):
        raise AttributeError(name)
    raise SpecError(f"no splitter was handed over as {name!r} in this process; call as_chunker(splitter, name=...).")
