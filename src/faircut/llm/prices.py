"""What a model costs: a name in, prices per million tokens out, from the table beside this file or from the user's own.

A model that is in no table has no price (None), never a price of zero.
"""

import re
import tomllib
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from faircut.errors import LlmError
from faircut.llm.contract import Usage

__all__ = ["Price", "PriceTable", "dollars", "load_prices"]

_TABLE = Path(__file__).with_name("prices.toml")
_SMALLEST = 0.0001
_DATED = re.compile(r"-\d{4}-\d{2}-\d{2}$")


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million prompt tokens (or embedded ones) and for a million completion tokens.

    Raises:
        LlmError: negative or not finite.
    """

    input: float
    output: float

    def __post_init__(self) -> None:
        for value in (self.input, self.output):
            if not isfinite(value) or value < 0:
                raise LlmError(f"a price is a number from 0 on, for a million tokens; found {value}.")

    def of(self, usage: Usage) -> float:
        """What these tokens cost."""
        return (usage.prompt * self.input + usage.completion * self.output) / 1e6


@dataclass(frozen=True)
class PriceTable:
    """Prices by model, with where and when they were read."""

    models: dict[str, Price]
    source: str = ""
    checked: str = ""

    def find(self, model: str) -> Price | None:
        """The price of a model; a dated name (``gpt-4o-2024-08-06``) has that of the name without its date."""
        return self.models.get(model) or self.models.get(_DATED.sub("", model))


def load_prices(path: Path | None = None) -> PriceTable:
    """The table that comes with faircut; with a TOML file of your own, its models first.

    Raises:
        LlmError: the file cannot be read or is no table of prices in US dollars; says how one looks.
    """
    table = _read(_TABLE)
    if path is None:
        return table
    own = _read(path)
    return PriceTable(table.models | own.models, own.source, own.checked)


def _read(path: Path) -> PriceTable:
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
        models = {name: Price(_number(row["input"]), _number(row["output"])) for name, row in given["models"].items()}
    except OSError as error:
        raise LlmError(f"cannot read the prices {path}: {error.strerror or error}.") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        example = '[models] and lines such as "my-model" = { input = 0.5, output = 1.5 } (a million tokens)'
        raise LlmError(
            f"{path} is no table of prices ({type(error).__name__}: {error}); it needs {example}."
        ) from error
    if (currency := given.get("currency", "USD")) != "USD":
        raise LlmError(f"{path}: prices and budgets are in USD, found {currency!r}; convert them.")
    return PriceTable(models, str(given.get("source", "")), str(given.get("checked", "")))


def dollars(amount: float | None) -> str:
    """Money as it is shown everywhere: ``$0.0123``, ``<$0.0001`` for less than that, ``$0``, or ``unknown``."""
    if amount is None:
        return "unknown"
    if 0 < amount < _SMALLEST:
        return f"<${_SMALLEST}"
    return f"${amount:,.4f}" if amount else "$0"


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{value!r} is not a number")
    return float(value)
