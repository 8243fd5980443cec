"""The language model of a comparison, and what it took: a plan in, a model out; answers in, an account out.

How a model is asked is left to ``llm``, which chunkers ask to ``chunkers``.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from faircut.chunkers import build
from faircut.chunkers.asking import needs_language_model
from faircut.errors import PlanError
from faircut.experiment.plan import Plan
from faircut.llm.budget import Purse
from faircut.llm.contract import Answer, LanguageModel, Progress, Request
from faircut.llm.prices import PriceTable

__all__ = ["LlmAccount", "MeteredModel", "check_language_model", "opened_model"]


@dataclass
class LlmAccount:
    """What answers took, also those that an earlier run paid for: tokens as the server counted them, money, failures.

    ``money`` is in US dollars, None where one price is unknown. ``seconds`` are those waited now, ``cached`` the
    answers that came from the cache, for which nothing was waited.
    """

    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    money: float | None = 0.0
    failures: int = 0
    seconds: float = 0.0
    cached: int = 0


@dataclass(frozen=True)
class MeteredModel:
    """Passes everything to ``inner`` and writes the account; equal requests count once, as they are asked once."""

    inner: LanguageModel
    account: LlmAccount = field(default_factory=LlmAccount, compare=False)
    _seen: set[tuple[object, ...]] = field(default_factory=set, compare=False, repr=False)

    @property
    def model(self) -> str:
        """As the inner model."""
        return self.inner.model

    def complete(self, requests: Sequence[Request], *, progress: Progress | None = None) -> list[Answer]:
        """The inner model's answers; raises as it does."""
        started = perf_counter()
        answers = self.inner.complete(requests, progress=progress)
        self.account.seconds += perf_counter() - started
        for request, answer in zip(requests, answers, strict=True):
            key = (request.messages, request.max_tokens)
            if key not in self._seen:
                self._seen.add(key)
                self._count(answer)
        return answers

    def _count(self, answer: Answer) -> None:
        account = self.account
        account.requests += 1
        account.prompt_tokens += answer.usage.prompt
        account.completion_tokens += answer.usage.completion
        account.money = None if account.money is None or answer.cost is None else account.money + answer.cost
        account.failures += not answer.ok
        account.cached += answer.from_cache


def check_language_model(chunkers: Iterable[str], *, is_named: bool) -> None:
    """Refuse chunkers that need a language model where none is named.

    Raises:
        PlanError: names the first of them and says what to give.
    """
    for chunker in chunkers:
        if not is_named and needs_language_model(build(chunker)):
            raise PlanError(
                f"{chunker} needs a language model: name a server with --llm URL and a model with --model NAME "
                "(llm and llm_model in a plan)."
            )


@contextmanager
def opened_model(
    plan: Plan, given: LanguageModel | None, purse: Purse, prices: PriceTable
) -> Iterator[LanguageModel | None]:
    """The model that is given, else the one that the plan names, else None. Nothing is asked and no key read here.

    Raises:
        LlmError: the plan's URL or the name of its key is wrong, or the budget is in money and the price is unknown.
    """
    if given is not None or not plan.llm:
        yield given
        return
    from faircut.embedding.weights import cache_directory
    from faircut.llm import ChatModel, Endpoint

    endpoint = Endpoint(plan.llm, plan.llm_model, plan.llm_key_env or None)
    options: dict[str, Any] = {"budget": purse, "price": prices.find(plan.llm_model)}
    with ChatModel(endpoint, cache=cache_directory() / "answers.sqlite", cache_owned=True, **options) as model:
        yield model
