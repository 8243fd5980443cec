"""The spec grammar and the registry: a component is a frozen dataclass, and its name is its spec.

``name``, ``name(value, key=value, other(nested=1))``. Values: integers, floats, ``true/false/none``, ``p85``
(a percentile), sizes ``512t`` ``512w`` ``500c``, quoted strings, nested specs. Specs are parsed, never evaluated.
A component's ``str`` builds it again; parameters at their default are left out. What components do is not known here.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import MISSING, Field, dataclass, fields
from functools import cache
from math import isfinite
from types import NoneType, UnionType
from typing import Any, ClassVar, Literal, Protocol, Union, get_args, get_origin, get_type_hints

from faircut.errors import SpecError, nearest

__all__ = [
    "Component", "Percentile", "Preset", "Registry", "Size", "Spec", "Value", "component_spec", "format_spec",
    "parse_spec", "spec_text", "split_row",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Size:
    """A length with its unit: ``t`` tokens, ``w`` white-space words, ``c`` characters (code points)."""

    amount: int
    unit: Literal["t", "w", "c"] = "t"

    def __str__(self) -> str:
        return f"{self.amount}{self.unit}"

    @property
    def unit_name(self) -> str:
        """The unit in words."""
        return {"t": "tokens", "w": "words", "c": "characters"}[self.unit]


@dataclass(frozen=True, slots=True)
class Percentile:
    """A percentile of a document's own values, 0 to 100; prints as ``p85``."""

    value: float

    def __post_init__(self) -> None:
        if not 0 <= self.value <= 100:
            raise SpecError(f"a percentile lies between p0 and p100, found p{self.value:g}.")

    def __str__(self) -> str:
        return f"p{_number(self.value)}"


@dataclass(frozen=True, slots=True)
class Spec:
    """The syntax tree of a spec: a name, positional values, named values in the order given."""

    name: str
    args: tuple["Value", ...] = ()
    kwargs: tuple[tuple[str, "Value"], ...] = ()

    def __str__(self) -> str:
        return format_spec(self)


Value = int | float | bool | None | str | Size | Percentile | Spec


class Component(Protocol):
    """A frozen dataclass that a spec builds; ``name`` is its name in specs."""

    name: ClassVar[str]
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


# ---------------------------------------------------------------- text -> tree

_NAME = r"[A-Za-z_][\w.\-]*(?::[A-Za-z_][\w.]*)*"
_TOKEN = re.compile(
    rf"""\s*(?:(?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    |(?P<size>\d+[twc]\b)
    |(?P<percentile>p\d+(?:\.\d+)?(?:e-?\d+)?\b)
    |(?P<number>[+-]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?(?![\w.]))
    |(?P<name>{_NAME})
    |(?P<mark>[(),=]))""",
    re.VERBOSE,
)
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "none": None}
_MAX_DEPTH = 20
_MAX_DIGITS = 15  # no document is longer; larger numbers do not fit into what computes with them
_SHOWN = 200  # characters of a wrong spec that its error repeats


class _Parser:
    """Recursive descent over one text; the position is the only state."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0

    def fail(self, what: str) -> SpecError:
        place = f" at character {self.position + 1}" if self.position else ""
        shown = self.text if len(self.text) <= _SHOWN else f"{self.text[:_SHOWN]}..."
        return SpecError(f"cannot read the spec {shown!r}{place}: {what}.")

    def peek(self) -> tuple[str, str]:
        match = _TOKEN.match(self.text, self.position)
        if match is None:
            rest = self.text[self.position :].strip()
            return ("bad", rest[:1]) if rest else ("end", "")
        kind = match.lastgroup or "end"
        return kind, match.group(kind)

    def take(self) -> tuple[str, str]:
        token = self.peek()
        match = _TOKEN.match(self.text, self.position)
        self.position = match.end() if match else len(self.text)
        return token

    def expect(self, mark: str) -> None:
        kind, found = self.peek()
        if kind != "mark" or found != mark:
            raise self.fail(f"expected {mark!r}, found {found or 'the end'!r}")
        self.take()

    def spec(self, depth: int = 0) -> Spec:
        kind, name = self.peek()
        if kind != "name":
            raise self.fail(f"expected a name, found {name or 'the end'!r}")
        self.take()
        if self.peek() != ("mark", "("):
            return Spec(name)
        if depth >= _MAX_DEPTH:
            raise self.fail(f"nested more than {_MAX_DEPTH} deep")
        return self.arguments(name, depth)

    def arguments(self, name: str, depth: int) -> Spec:
        self.expect("(")
        args: list[Value] = []
        kwargs: dict[str, Value] = {}
        while self.peek() != ("mark", ")"):
            self.argument(args, kwargs, depth)
            kind, found = self.peek()
            if kind != "mark" or found not in (",", ")"):
                raise self.fail(f"expected ',' or ')', found {found or 'the end'!r}")
            if found == ",":
                self.take()
        self.expect(")")
        return Spec(name, tuple(args), tuple(kwargs.items()))

    def argument(self, args: list[Value], kwargs: dict[str, Value], depth: int) -> None:
        before = self.position
        kind, key = self.take()
        if kind == "name" and self.peek() == ("mark", "="):
            self.take()
            if key in kwargs:
                raise self.fail(f"{key!r} is given twice")
            kwargs[key] = self.value(depth)
            return
        self.position = before
        if kwargs:
            raise self.fail("a value without a name after named ones")
        args.append(self.value(depth))

    def value(self, depth: int) -> Value:
        kind, text = self.peek()
        if kind == "name":
            nested = self.spec(depth + 1)
            return _WORDS[nested.name] if nested.name in _WORDS and not (nested.args or nested.kwargs) else nested
        if kind not in ("string", "size", "percentile", "number"):
            raise self.fail(f"expected a value, found {text or 'the end'!r}")
        self.take()
        return self.literal(kind, text)

    def literal(self, kind: str, text: str) -> Value:
        if kind == "string":
            return self.string(text)
        if kind == "size":
            return Size(self.whole(text[:-1]), text[-1])  # type: ignore[arg-type]  # the pattern admits t, w, c only
        if kind == "percentile":
            return Percentile(float(text[1:]))
        if re.fullmatch(r"[+-]?\d+", text):
            return self.whole(text)
        if not isfinite(number := float(text)):
            raise self.fail(f"the number {text:.40} is too large")
        return number

    def whole(self, text: str) -> int:
        digits = len(text.lstrip("+-"))
        if digits > _MAX_DIGITS:
            raise self.fail(f"a whole number has at most {_MAX_DIGITS} digits, found {digits}")
        return int(text)

    def string(self, text: str) -> str:
        if text.startswith("'"):
            inner = re.sub(r"\\(.)|(\")", lambda m: "'" if m[1] == "'" else m[0] if m[1] else '\\"', text[1:-1])
            text = f'"{inner}"'
        try:
            return str(json.loads(text, strict=False))
        except ValueError:
            raise self.fail(f"the quoted string {text} has a wrong escape") from None


def parse_spec(text: str) -> Spec:
    """Parse a spec into its tree.

    Raises:
        SpecError: the text is not a spec; says where and what was expected.
    """
    if not isinstance(text, str):
        raise TypeError(f"a spec is text, found {type(text).__name__}")
    parser = _Parser(text)
    spec = parser.spec()
    kind, rest = parser.peek()
    if kind != "end":
        raise parser.fail(f"nothing may follow the spec, found {rest!r}")
    return spec


def split_row(text: str) -> tuple[str, str]:
    """Split ``embedder::chunker`` at its one top-level ``::``.

    Raises:
        SpecError: there is none, or more than one.
    """
    places = _top_level_colons(text)
    if len(places) != 1:
        raise SpecError(f"expected embedder::chunker with exactly one '::', found {len(places)} in {text!r}.")
    return text[: places[0]].strip(), text[places[0] + 2 :].strip()


def _top_level_colons(text: str) -> list[int]:
    places, depth = [], 0
    for match in re.finditer(r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[()]|::""", text):
        depth += {"(": 1, ")": -1}.get(match.group(), 0)
        if match.group() == "::" and depth == 0:
            places.append(match.start())
    return places


# ---------------------------------------------------------------- tree -> text


def format_spec(spec: Spec) -> str:
    """The text of a tree; ``parse_spec`` of it gives the tree again."""
    parts = [format_value(v) for v in spec.args] + [f"{k}={format_value(v)}" for k, v in spec.kwargs]
    return f"{spec.name}({', '.join(parts)})" if parts else spec.name


def format_value(value: Value) -> str:
    """One value as it stands in a spec."""
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value)
    return _number(value) if isinstance(value, float) else str(value)


def _number(value: float) -> str:
    if isfinite(value) and value == int(value) and abs(value) < 1e15:
        return f"{int(value)}"
    return repr(value)


# ---------------------------------------------------------------- components


def component_spec(component: Any) -> Spec:
    """The tree that builds this component; parameters at their default are left out.

    Fields without a default are printed by position, the others by name.
    """
    if hasattr(component, "to_spec"):
        return component.to_spec()  # type: ignore[no-any-return]
    args: list[Value] = []
    kwargs: list[tuple[str, Value]] = []
    for item in fields(component):
        value = getattr(component, item.name)
        if item.default is MISSING:
            args.append(_as_value(value))
        elif value != item.default:
            kwargs.append((item.name, _as_value(value)))
    return Spec(component.name, tuple(args), tuple(kwargs))


def spec_text(component: Any) -> str:
    """``str`` of a component: assign it as ``__str__`` in the class."""
    return format_spec(component_spec(component))


def _as_value(value: Any) -> Value:
    if value is None or isinstance(value, (bool, int, float, Size, Percentile, Spec)):
        return value
    if isinstance(value, str):
        return Spec(value) if _is_bare_word(value) else value
    return component_spec(value)


def _is_bare_word(text: str) -> bool:
    match = _TOKEN.match(text)
    whole = match is not None and match.group("name") == text
    return whole and text not in _WORDS


@dataclass(frozen=True, slots=True)
class Preset:
    """A name for a spec, with where it comes from."""

    name: str
    spec: str
    summary: str
    source: str


@dataclass(frozen=True)
class Registry:
    """The components of one kind (chunkers, embedders, indexes), built from a tuple of classes without side effects.

    A class may have ``from_spec(cls, spec, registry)`` and ``to_spec(self)`` where its fields are not its parameters,
    and a ``prefix`` when it takes every name that begins so (``python:``). ``parts`` stand only inside other specs.
    """

    kind: str
    classes: tuple[type[Any], ...]
    presets: tuple[Preset, ...] = ()
    parts: tuple[type[Any], ...] = ()

    @property
    def names(self) -> list[str]:
        """All names that can be built, presets included, sorted."""
        return sorted({c.name for c in self.classes} | {p.name for p in self.presets})

    def summaries(self) -> dict[str, str]:
        """Each component's form in specs with the first line of its docstring."""
        return {_signature(c): (c.__doc__ or "").strip().splitlines()[0] for c in self.classes}

    def build(self, spec: str | Spec) -> Any:
        """The component that a spec describes.

        Raises:
            SpecError: unknown name or parameter, a value of the wrong kind or range; says what is possible.
        """
        tree = parse_spec(spec) if isinstance(spec, str) else spec
        if tree.name in [part.name for part in self.parts]:
            raise SpecError(f"{tree.name!r} is no {self.kind} but a part of one; it stands inside another spec.")
        return self._build(tree)

    def _build(self, tree: Spec) -> Any:
        for preset in self.presets:
            if preset.name == tree.name:
                return self._build_preset(preset, tree)
        cls = self._class_of(tree.name)
        if hasattr(cls, "from_spec"):
            return cls.from_spec(tree, self)
        return cls(**self._bind(cls, tree))

    def _build_preset(self, preset: Preset, tree: Spec) -> Any:
        """A preset with parameters is its own spec with those changed."""
        base = parse_spec(preset.spec)
        if tree.args:
            raise SpecError(f"the preset {preset.name!r} takes named parameters only, found {format_spec(tree)!r}.")
        changed = dict(base.kwargs) | dict(tree.kwargs)
        inner = Spec(base.name, base.args, tuple(changed.items()))
        cls = self._class_of(inner.name)
        return cls(**self._bind(cls, inner))

    def _class_of(self, name: str) -> type[Any]:
        for cls in (*self.classes, *self.parts):
            if cls.name == name or (_takes_prefix(cls) and name.startswith(cls.prefix)):
                return cls
        raise SpecError(f"unknown {self.kind} {name!r}{nearest(name, self.names)}")

    def _bind(self, cls: type[Any], tree: Spec) -> dict[str, Any]:
        hints = _hints(cls)  # type: ignore[arg-type]  # every class is hashable
        names = list(hints)
        if len(tree.args) > len(names):
            raise SpecError(f"{cls.name} takes at most {len(names)} parameters, found {len(tree.args)}.")
        given = dict(zip(names, tree.args, strict=False))
        for key, value in tree.kwargs:
            if key not in hints:
                raise SpecError(f"{self.kind} {cls.name!r} has no parameter {key!r}{nearest(key, names)}")
            if key in given:
                raise SpecError(f"{self.kind} {cls.name!r}: {key!r} is given twice.")
            given[key] = value
        self._check_required(cls, given)
        return {k: self._coerce(cls, k, v, hints[k]) for k, v in given.items()}

    def _check_required(self, cls: type[Any], given: dict[str, Value]) -> None:
        for item in fields(cls):
            if item.default is MISSING and item.name not in given:
                raise SpecError(f"{self.kind} {cls.name!r} needs the parameter {item.name!r}.")

    def _coerce(self, cls: type[Any], key: str, value: Value, hint: Any) -> Any:
        for option in _options(hint):
            found, converted = self._try(value, option)
            if found:
                return converted
        wanted = " or ".join(dict.fromkeys(_describe(o) for o in _options(hint)))
        shown = format_value(value)
        raise SpecError(f"{self.kind} {cls.name!r}: {key} must be {wanted}, found {shown}.")

    def _try(self, value: Value, option: Any) -> tuple[bool, Any]:
        """Whether the value fits one alternative of the annotation, and the value converted."""
        if get_origin(option) is Literal:
            word = value.name if isinstance(value, Spec) and not (value.args or value.kwargs) else value
            return word in get_args(option), word
        if option is NoneType or option is bool:
            return isinstance(value, option), value
        if option is Size:
            bare = isinstance(value, int) and not isinstance(value, bool)
            return bare or isinstance(value, Size), Size(value) if bare else value  # type: ignore[arg-type]
        if option in (int, float):
            number = isinstance(value, int if option is int else (int, float)) and not isinstance(value, bool)
            return number, option(value) if number else value
        return self._try_text_or_nested(value, option)

    def _try_text_or_nested(self, value: Value, option: Any) -> tuple[bool, Any]:
        if option is str:
            bare = isinstance(value, Spec) and not (value.args or value.kwargs)
            return bare or isinstance(value, str), value.name if bare else value  # type: ignore[union-attr]
        if option is Percentile:
            return isinstance(value, Percentile), value
        return (True, self._build(value)) if isinstance(value, Spec) else (False, value)


def _signature(cls: type[Any]) -> str:
    if _takes_prefix(cls):
        return f"{cls.prefix}..."
    shown = [
        item.name if item.default is MISSING else f"{item.name}={format_value(_as_value(item.default))}"
        for item in fields(cls)
        if item.init
    ]
    return f"{cls.name}({', '.join(shown)})" if shown else str(cls.name)


def _takes_prefix(cls: type[Any]) -> bool:
    return isinstance(getattr(cls, "prefix", None), str)


@cache
def _hints(cls: type[Any]) -> dict[str, Any]:
    hints = get_type_hints(cls)
    return {f.name: hints[f.name] for f in fields(cls) if f.init}


def _options(hint: Any) -> Iterable[Any]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _describe(option: Any) -> str:
    if get_origin(option) is Literal:
        return " or ".join(str(a) for a in get_args(option))
    words = {int: "a whole number", float: "a number", bool: "true or false", str: "text", NoneType: "none"}
    words |= {Size: "a size such as 512t, 512w or 500c", Percentile: "a percentile such as p85"}
    return words.get(option, "a spec")
