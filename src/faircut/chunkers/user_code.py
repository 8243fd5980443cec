"""The code behind a Python splitter as one hash, so that results made by other code are not taken for its own.

Comes in: names of modules. Goes out: a hash of the user's own sources and of the versions of installed packages. What a
module uses is read from its import statements, not from what happens to be loaded, so the same code has the same hash
in any process. What the code reads while it runs (models, settings) is not seen.
"""

import ast
import importlib.util
import os
import platform
import sys
import warnings
from collections.abc import Collection, Iterable, Iterator
from functools import cache, lru_cache
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

from faircut.records import content_id

__all__ = ["code_hash"]

_INSTALLED = {"site-packages", "dist-packages"}
_SOURCES = (".py", *EXTENSION_SUFFIXES)


def code_hash(modules: Iterable[str]) -> str:
    """16 hexadecimal digits for the code of these modules and of the user's modules that they import.

    Of a package, or of a module outside of installed packages, all sources count. Of an installed package its name and
    version do, of the standard library Python's version. faircut itself is left to whoever keeps results.
    """
    parts = {f"python {platform.python_version()}"}
    seen = {"faircut", *sys.stdlib_module_names}
    waiting = {_top(name) for name in modules}
    while new := waiting - seen:
        seen |= new
        waiting = set()
        for name in new:
            sources = _sources(name)
            parts.update(_versions(name) if sources is None else _digests(name, sources))
            waiting.update(found for source in sources or () for found in _imports(source))
    return content_id(*sorted(parts))


def _top(module: str) -> str:
    return module.partition(".")[0]


def _sources(name: str) -> list[bytes] | None:
    """What the files of a top-level module or package hold, in order; None where a distribution's version says it."""
    spec, module = _spec(name), sys.modules.get(name)
    packages = list(dict.fromkeys(map(os.path.abspath, spec.submodule_search_locations or ()))) if spec else []
    origin = spec.origin if spec and spec.has_location else getattr(module, "__file__", None)
    places = packages or ([origin] if origin else [])
    if any(_INSTALLED & set(Path(place).parts) for place in places) and name in _distributions():
        return None
    files = [file for place in places for file in (_files(place) if packages else [place])]
    return [Path(file).read_bytes() for file in files if os.path.isfile(file)] or _unsaved(module)


def _spec(name: str) -> ModuleSpec | None:
    try:
        return importlib.util.find_spec(name)
    except (ImportError, AttributeError, ValueError):  # __main__ and modules made at run time have none
        return None


def _files(package: str) -> Iterator[str]:
    """The sources below a package's folder, ascending; environments and hidden folders are none of its own."""
    for folder, inner, names in os.walk(package):
        inner[:] = sorted(name for name in inner if _is_own(os.path.join(folder, name)))
        yield from (os.path.join(folder, name) for name in sorted(names) if name.endswith(_SOURCES))


def _is_own(folder: str) -> bool:
    name = os.path.basename(folder)
    return not name.startswith((".", "__pycache__")) and not os.path.exists(os.path.join(folder, "pyvenv.cfg"))


def _unsaved(module: ModuleType | None) -> list[bytes]:
    """The functions of a module without a file (a notebook's, a prompt's) as the interpreter holds them."""
    classes = [value for value in vars(module).values() if isinstance(value, type)] if module else []
    spaces = [space for space in (module, *classes) if space and _belongs(space, module)]
    functions = [value for space in spaces for value in vars(space).values() if isinstance(value, FunctionType)]
    return [_code(function.__code__) for function in functions if _belongs(function, module)]


def _belongs(thing: object, module: ModuleType | None) -> bool:
    return thing is module or (module is not None and getattr(thing, "__module__", None) == module.__name__)


def _code(code: CodeType) -> bytes:
    """What a function does: its instructions, names and constants, those of functions inside it included."""
    constants = (_code(c) if isinstance(c, CodeType) else repr(c).encode() for c in code.co_consts)
    return b"\0".join((code.co_code, repr(code.co_names).encode(), *constants))


def _digests(name: str, sources: Collection[bytes]) -> list[str]:
    return [f"{name} {content_id(*(source.hex() for source in sources))}"]


@cache
def _distributions() -> dict[str, list[str]]:
    return dict(packages_distributions())


def _versions(name: str) -> Iterator[str]:
    for distribution in sorted(set(_distributions()[name])):
        try:
            yield f"{distribution}=={version(distribution)}"
        except PackageNotFoundError:  # uninstalled since the process began
            yield distribution


@lru_cache(maxsize=1024)
def _imports(source: bytes) -> frozenset[str]:
    """The top-level modules that a source imports by their full names; none when it is not Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what the parser thinks of the user's escapes was said at the import
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    nodes = list(ast.walk(tree))
    plain = {_top(alias.name) for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    absolute = (node.module for node in nodes if isinstance(node, ast.ImportFrom) and not node.level)
    return frozenset(plain | {_top(module) for module in absolute if module})
