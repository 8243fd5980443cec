"""The settings of a splitter object as text, so that results of other settings are not taken for its own.

Comes in: any object. Goes out: what it is made of, the same in every process, and the modules that its code is in.
Hashing the code in those modules is left to ``user_code``. What is opaque counts by its class.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from faircut.records import content_id

__all__ = ["object_state"]

_MOST = 20_000  # parts that are looked at: a tokenizer's vocabulary is enough to tell it from another
_DEEPEST = 12
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_PLAIN = (str, bytes, int, float, complex, bool, type(None))


def object_state(found: object) -> tuple[str, frozenset[str]]:
    """A hash of the object's settings, and the top-level modules of the classes and functions in them."""
    walk = _Walk()
    parts = list(walk.parts(found, 0))
    return content_id(*parts), frozenset(walk.modules)


@dataclass
class _Walk:
    """One look at an object and all that it holds; each is described once, so circles end."""

    modules: set[str] = field(default_factory=set)
    _seen: dict[int, object] = field(default_factory=dict)  # kept, so that no id is given again
    _count: int = 0

    def parts(self, found: Any, depth: int) -> Iterator[str]:
        """The description in pieces, depth first."""
        self._count += 1
        if isinstance(found, _PLAIN):
            yield repr(found)
        elif id(found) in self._seen or depth > _DEEPEST or self._count > _MOST:
            yield "..."
        else:
            self._seen[id(found)] = found
            yield from self._described(found, depth)

    def _described(self, found: Any, depth: int) -> Iterator[str]:
        if isinstance(found, ModuleType):
            yield found.__name__
        elif isinstance(found, Mapping):
            yield from self._pairs(found.items(), depth)
        elif isinstance(found, (set, frozenset)):
            yield from sorted(map(_shown, found))
        elif isinstance(found, (list, tuple)):
            yield f"{type(found).__name__} {len(found)}"
            for item in found:
                yield from self.parts(item, depth + 1)
        elif isinstance(found, (type, BuiltinFunctionType)):
            yield self._name(found)
        else:
            yield from self._holder(found, depth)

    def _holder(self, found: Any, depth: int) -> Iterator[str]:
        """A function with what it has closed over, a bound method, or any other object with its attributes."""
        if isinstance(found, FunctionType):
            yield self._name(found)
            yield content_id(found.__code__.co_code.hex(), *map(_shown, found.__code__.co_consts))
            cells = [cell.cell_contents for cell in found.__closure__ or () if _is_filled(cell)]
            yield from self.parts([found.__defaults__, found.__kwdefaults__, *cells], depth + 1)
        elif isinstance(found, MethodType):
            yield from self.parts([found.__func__, found.__self__], depth + 1)
        elif isinstance(found, partial):
            yield from self.parts([found.func, found.args, found.keywords], depth + 1)
        else:
            yield self._name(type(found))
            held = _attributes(found)
            yield from self._pairs(held.items(), depth) if held else [_shown(found)]

    def _pairs(self, pairs: Any, depth: int) -> Iterator[str]:
        for key, value in pairs:
            yield _shown(key)
            yield from self.parts(value, depth + 1)

    def _name(self, found: Any) -> str:
        module = getattr(found, "__module__", None) or "builtins"
        self.modules.add(str(module))
        return f"{module}.{getattr(found, '__qualname__', '')}"


def _attributes(found: object) -> dict[str, Any]:
    """What an object holds in its dictionary, its slots and, for pydantic's models, its private attributes."""
    slots = (name for kind in type(found).__mro__ for name in _slots(kind))
    held = {name: getattr(found, name) for name in slots if name[:2] != "__" and hasattr(found, name)}
    private = getattr(found, "__pydantic_private__", None)
    return held | dict(getattr(found, "__dict__", {})) | (private if isinstance(private, dict) else {})


def _slots(kind: type) -> tuple[str, ...]:
    slots = kind.__dict__.get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _is_filled(cell: Any) -> bool:
    try:
        _ = cell.cell_contents
    except ValueError:  # the function was made before what it names
        return False
    return True


def _shown(found: object) -> str:
    return _ADDRESS.sub("", repr(found))
