"""What rows cost in money, said in one way by every report: rows in; columns with their cells, and an order, out.

Where nothing is paid for (local embedders, no language model) there are no such columns. Nothing is counted here.
"""

from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING, Any

from faircut.llm.prices import dollars

if TYPE_CHECKING:
    from faircut.report.data import Line

__all__ = ["MEANING", "cheapness", "is_paid", "money_columns", "waited"]

MEANING = (
    "as if nothing had been cached: embedding the chunks and what was embedded for cutting, with tokens counted here, "
    "so it is about that, and a language model's answers"
)
"""Of the column ``cost``."""


def is_paid(cost: Mapping[str, Any]) -> bool:
    """Whether a row's cost has money in it: a remote embedder (also of unknown price), or a language model."""
    return "llm_requests" in cost or cost.get("embedding_price", 0.0) != 0.0


def waited(line: "Line") -> str:
    """The seconds waited for a language model's answers; ``cached`` where they were not all asked for in this run."""
    if line.llm_tokens is None:
        return ""
    return "cached" if line.llm_seconds is None else f"{line.llm_seconds:,.1f}"


def money_columns(lines: Sequence["Line"], *, seconds: bool = True) -> list[tuple[str, Callable[["Line"], str]]]:
    """The names of the columns and what is in them; none where nothing is paid for.

    ``seconds``: whether those of a language model are among them; else they stand elsewhere.
    """
    columns: list[tuple[str, Callable[[Line], str]]] = []
    if any(line.is_paid for line in lines):
        columns += [
            ("tokens embedded", lambda line: f"{line.embedded_tokens:,}"),
            ("embedding cost", lambda line: dollars(line.embedding_money)),
        ]
        if any(line.llm_tokens is not None for line in lines):
            columns += [
                *([("llm s", waited)] if seconds else []),
                ("llm tokens", lambda line: "" if line.llm_tokens is None else f"{line.llm_tokens:,}"),
                ("llm cost", lambda line: "" if line.llm_tokens is None else dollars(line.llm_money)),
            ]
        columns.append(("cost", lambda line: dollars(line.money)))
    return columns


def cheapness(cost: Mapping[str, Any], chunks: int) -> tuple[float, ...]:
    """What is cheapest comes first: money (what is unknown last), a language model's tokens, embedded ones, chunks."""
    money = cost.get("money")
    tokens = cost.get("llm_prompt_tokens", 0) + cost.get("llm_completion_tokens", 0)
    return inf if money is None else money, tokens, cost["embedded_per_document_token"], chunks
