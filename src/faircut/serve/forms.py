"""Chunkers as forms: a component in, its parameters with the values and the ways to give them out, as JSON values.

The page makes sliders of it and composes specs; it knows nothing of chunkers itself.
"""

from dataclasses import MISSING, dataclass, fields
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from faircut.chunkers import CHUNKERS
from faircut.serve.allowed import SERVED, served_chunker
from faircut.specs import Percentile, Size, format_value, spec_text

__all__ = ["form_of", "offered"]


@dataclass(frozen=True)
class _Way:
    """One way to give a parameter: a number between two ends, a choice, or text.

    A number is written with ``suffix`` behind it (``512t``) or ``prefix`` in front of it (``p85``).
    """

    name: str
    label: str
    low: float = 0
    high: float = 0
    step: float = 0
    prefix: str = ""
    suffix: str = ""
    choices: tuple[str, ...] = ()

    def values(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("name", "label", "low", "high", "step", "prefix", "suffix")} | {
            "choices": list(self.choices)
        }


_TOKENS = _Way("t", "tokens", 16, 1024, 8, suffix="t")
_WORDS = _Way("w", "words", 10, 1000, 10, suffix="w")
_CHARACTERS = _Way("c", "characters", 50, 4000, 50, suffix="c")
_SHARE = _Way("share", "value", 0, 1, 0.01)
_PERCENTILE = _Way("p", "percentile", 50, 99, 1, prefix="p")
_NONE = _Way("none", "none", choices=("none",))
_TEXT = _Way("text", "spec")
_ENDS: dict[str, dict[str, tuple[float, float, float]]] = {
    "overlap": {"t": (0, 256, 4), "w": (0, 256, 4), "c": (0, 1000, 10)},
    "window": {"whole": (1, 12, 1)},
    "min_sentences": {"whole": (1, 20, 1)},
    "seed": {"whole": (0, 20, 1)},
    "penalty": {"share": (0.01, 3, 0.01)},
}
_LABELS = {
    "max": "largest", "min": "smallest", "mean": "mean size", "at": "cut at", "whole": "keep whole",
    "min_sentences": "least sentences", "context": "heading path in front", "vectors": "by meaning",
}  # fmt: skip


def offered() -> list[dict[str, str]]:
    """The chunkers of the list: a spec to begin with, and what it does in a line."""
    rows = []
    for cls in SERVED:
        line = (cls.__doc__ or "").strip().splitlines()[0].split(": `")[0].rstrip(".:")
        rows.append({"spec": f"{cls.name}(recursive)" if cls.name == "shuffled" else cls.name, "line": line})
    rows += [{"spec": preset.name, "line": f"{preset.summary} ({preset.source})"} for preset in CHUNKERS.presets]
    return rows


def form_of(spec: str) -> dict[str, Any]:
    """The name and the parameters of a chunker, each with its value and the ways to give another one.

    Raises:
        SpecError: as ``served_chunker``.
    """
    chunker: Any = served_chunker(spec)
    hints = get_type_hints(type(chunker))
    return {
        "name": chunker.name,
        "fields": [
            _field(item.name, getattr(chunker, item.name), item.default, hints[item.name]) for item in fields(chunker)
        ],
    }


def _field(name: str, value: Any, default: Any, hint: Any) -> dict[str, Any]:
    ways = [way for option in _options(hint) for way in _ways(name, option)]
    return {
        "name": name,
        "label": _LABELS.get(name, name.replace("_", " ")),
        "value": _text(value),
        "default": None if default is MISSING else _text(default),
        "way": _way_of(value),
        "ways": [way.values() for way in ways],
    }


def _options(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _ways(name: str, option: Any) -> list[_Way]:
    if get_origin(option) is Literal:
        return [_Way("choice", "choice", choices=get_args(option))]
    simple = {bool: [_Way("choice", "choice", choices=("true", "false"))], NoneType: [_NONE], Percentile: [_PERCENTILE]}
    if option in simple:
        return simple[option]
    if option is Size:
        return [_with_ends(name, way) for way in (_TOKENS, _WORDS, _CHARACTERS)]
    if option is float:
        return [_with_ends(name, _SHARE)]
    if option is int:
        return [_with_ends(name, _Way("whole", "number", 0, 100, 1))]
    return [_TEXT]


def _with_ends(name: str, way: _Way) -> _Way:
    low, high, step = _ENDS.get(name, {}).get(way.name, (way.low, way.high, way.step))
    return _Way(way.name, way.label, low, high, step, way.prefix, way.suffix)


def _way_of(value: Any) -> str:
    """The name of the way in which a value is given."""
    if isinstance(value, (bool, str)):
        return "choice"
    if value is None:
        return "none"
    if isinstance(value, Size):
        return value.unit
    if isinstance(value, Percentile):
        return "p"
    return {int: "whole", float: "share"}.get(type(value), "text")


def _text(value: Any) -> str:
    """A value as it stands in a spec."""
    if isinstance(value, str):
        return value
    plain = value is None or isinstance(value, (bool, int, float, Size, Percentile))
    return format_value(value) if plain else spec_text(value)
