"""What may be spent and what was: reservations before each call, settled after it, safe for threads.

A call is made only when the most that it can cost still fits, so calls that run at the same time cannot overshoot
together. What a call can cost at most is left to ``wire.py`` and ``prices.py``.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isfinite

from faircut.errors import LlmError
from faircut.llm.contract import Usage
from faircut.llm.prices import Price

__all__ = ["Budget", "Ledger", "Spending"]

_LOOK_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that one run may spend; None is no limit. Answers from the cache cost nothing.

    Args:
        money: in the currency of the prices.
        requests: calls that are or may be billed; refused ones (429, 5xx, no connection) are not counted.
        tokens: prompt and completion together.

    Raises:
        LlmError: one is negative or not finite.
    """

    money: float | None = None
    requests: int | None = None
    tokens: int | None = None

    def __post_init__(self) -> None:
        for value in (self.money, self.requests, self.tokens):
            if value is not None and (not isfinite(value) or value < 0):
                raise LlmError(f"a budget is a number from 0 on, found {value}.")

    @property
    def is_unlimited(self) -> bool:
        """Whether nothing is limited."""
        return self.money is self.requests is self.tokens is None


@dataclass(frozen=True, slots=True)
class Spending:
    """What was spent since the model was made; ``money`` is None while the price is unknown.

    ``unknown`` of the requests were cut off or timed out: they may have been billed and are counted at their most.
    ``retries`` are the calls that were refused or failed.
    """

    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    money: float | None = None
    unknown: int = 0
    retries: int = 0


class Ledger:
    """The budget, what is reserved and what is spent."""

    def __init__(self, budget: Budget, price: Price | None) -> None:
        if budget.money is not None and price is None:
            raise LlmError("a budget in money needs the model's price: give --price-in and --price-out, or --prices.")
        self.budget, self.price = budget, price
        self.spent = Spending(money=None if price is None else 0.0)
        self.reached = ""
        self._held: list[Usage] = []
        self._changed = threading.Condition()

    def reserve(self, most: Usage, stopped: Callable[[], bool]) -> bool:
        """Hold what a call can cost at most, waiting for calls under way whose rest may make room.

        Returns:
            False when it does not fit even after all of them (``reached`` then says what is spent, for good), or when
            ``stopped`` says so meanwhile.
        """
        with self._changed:
            while not self.reached and not stopped():
                obstacle = self._obstacle(most)
                if not obstacle:
                    self._held.append(most)
                    return True
                if not self._held:
                    self.reached = obstacle
                    self._changed.notify_all()
                    return False
                self._changed.wait(_LOOK_SECONDS)
            return False

    def settle(self, most: Usage, used: Usage | None, *, unknown: bool = False) -> None:
        """Give a reservation back; ``used`` is what was billed, None for nothing."""
        with self._changed:
            self._held.remove(most)
            if used is None:
                self.spent = replace(self.spent, retries=self.spent.retries + 1)
            else:
                self._add(used, unknown=unknown)
            self._changed.notify_all()

    def _add(self, used: Usage, *, unknown: bool) -> None:
        spent = self.spent
        self.spent = Spending(
            spent.requests + 1,
            spent.prompt_tokens + used.prompt,
            spent.completion_tokens + used.completion,
            None if self.price is None or spent.money is None else spent.money + self.price.of(used),
            spent.unknown + unknown,
            spent.retries + unknown,
        )

    def _obstacle(self, most: Usage) -> str:
        """What does not fit, in words; empty when the call may be made."""
        spent, budget, held = self.spent, self.budget, sum(self._held, Usage())
        if budget.requests is not None and spent.requests + len(self._held) + 1 > budget.requests:
            return f"{budget.requests:,} requests"
        tokens = spent.prompt_tokens + spent.completion_tokens + held.total + most.total
        if budget.tokens is not None and tokens > budget.tokens:
            return f"{budget.tokens:,} tokens"
        if budget.money is None or self.price is None or spent.money is None:
            return ""
        money = spent.money + self.price.of(held) + self.price.of(most)
        return f"{budget.money:g} in money" if money > budget.money * (1 + 1e-9) else ""
