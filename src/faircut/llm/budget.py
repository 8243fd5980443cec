"""What may be spent and what was: reservations before each call, settled after it, safe for threads.

A call is made only when the most that it can cost still fits, so calls that run at the same time cannot overshoot
together; also where several models, each with its own price, share one purse. What a call can cost at most is left to
those who make it.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isfinite

from faircut.errors import LlmError
from faircut.llm.contract import Usage
from faircut.llm.prices import Price, dollars

__all__ = ["Amount", "Budget", "Ledger", "Purse", "Spending"]

_LOOK_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that one run may spend; None is no limit. Answers from the cache cost nothing.

    Args:
        money: in US dollars, as the prices.
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


@dataclass(frozen=True, slots=True)
class Amount:
    """What calls cost together; ``money`` is None where one of them has no price."""

    requests: int = 0
    tokens: int = 0
    money: float | None = 0.0

    def __add__(self, other: "Amount") -> "Amount":
        money = None if self.money is None or other.money is None else self.money + other.money
        return Amount(self.requests + other.requests, self.tokens + other.tokens, money)


class Purse:
    """A budget, and what all models that share it hold and have spent of it. Safe for threads.

    ``reached`` says in words what is spent, for good; empty as long as something fits. ``spent`` is what was paid.
    """

    def __init__(self, budget: Budget | None = None) -> None:
        self.budget = budget or Budget()
        self.reached = ""
        self.changed = threading.Condition()
        self.spent = Amount()
        self._held: list[Amount] = []

    def reserve(self, most: Amount, stopped: Callable[[], bool]) -> bool:
        """As of ``Ledger.reserve``."""
        with self.changed:
            while not self.reached and not stopped():
                obstacle = self.obstacle(most)
                if not obstacle:
                    self._held.append(most)
                    return True
                if not self._held:
                    self.reached = obstacle
                    self.changed.notify_all()
                    return False
                self.changed.wait(_LOOK_SECONDS)
            return False

    def settle(self, most: Amount, used: Amount) -> None:
        """Give a reservation back, less what was used of it. The caller holds ``changed``."""
        self._held.remove(most)
        self.spent += used
        self.changed.notify_all()

    def obstacle(self, most: Amount) -> str:
        """What does not fit, in words; empty when the call may be made."""
        budget, then = self.budget, sum(self._held, self.spent) + most
        if budget.requests is not None and then.requests > budget.requests:
            return f"{budget.requests:,} requests"
        if budget.tokens is not None and then.tokens > budget.tokens:
            return f"{budget.tokens:,} tokens"
        if budget.money is not None and then.money is not None and then.money > budget.money * (1 + 1e-9):
            return dollars(budget.money)
        return ""


class Ledger:
    """What one model spends of a purse, at its price.

    Args:
        purse: a budget of its own, or the purse that it shares with other models.
        price: of the model; None where it is unknown.
        model: its name, for the error.

    Raises:
        LlmError: a budget in money, and no price.
    """

    def __init__(self, purse: Purse | Budget, price: Price | None, model: str = "") -> None:
        self.purse = purse if isinstance(purse, Purse) else Purse(purse)
        if self.purse.budget.money is not None and price is None:
            named = f"the price of {model!r}" if model else "the model's price"
            raise LlmError(
                f"a budget in money needs {named}: name it in a table (--prices FILE), or, for a language model, give "
                "--price-in and --price-out."
            )
        self.price = price
        self.spent = Spending(money=None if price is None else 0.0)

    @property
    def reached(self) -> str:
        """What of the budget is spent, in words; empty as long as something fits."""
        return self.purse.reached

    def fits(self, most: Usage) -> bool:
        """Whether a call that costs this at most may be made now."""
        with self.purse.changed:
            return not self.purse.obstacle(self._amount(most))

    def reserve(self, most: Usage, stopped: Callable[[], bool]) -> bool:
        """Hold what a call can cost at most, waiting for calls under way whose rest may make room.

        Returns:
            False when it does not fit even after all of them (``reached`` then says what is spent, for good), or when
            ``stopped`` says so meanwhile.
        """
        return self.purse.reserve(self._amount(most), stopped)

    def settle(self, most: Usage, used: Usage | None, *, unknown: bool = False) -> None:
        """Give a reservation back; ``used`` is what was billed, None for nothing."""
        with self.purse.changed:
            self.purse.settle(self._amount(most), Amount() if used is None else self._amount(used))
            if used is None:
                self.spent = replace(self.spent, retries=self.spent.retries + 1)
            else:
                self._add(used, unknown=unknown)

    def _amount(self, usage: Usage) -> Amount:
        return Amount(1, usage.total, self.price.of(usage) if self.price else None)

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
