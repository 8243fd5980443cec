"""A dry run: what requests would take, before the first one is sent. Nothing is sent here.

Comes in: requests, which of them are in the cache, a tokenizer, a price. Goes out: an ``Estimate`` and its sentences.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from faircut.llm.contract import Request, Usage
from faircut.llm.prices import Price, dollars
from faircut.llm.wire import schema_text
from faircut.text.contract import TokenCounter

__all__ = ["Estimate", "estimate", "prompt_tokens"]

_TOKENS_A_MESSAGE = 4  # the marks of a chat template around a message, as published for OpenAI's


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is to come.

    ``prompt_tokens`` are estimated with ``tokenizer``, which is not the model's own. ``completion_tokens`` and
    ``cost`` are the most possible (every answer as long as ``max_tokens``); retries and repairs of wrong answers are
    not in them. ``cost`` is None while the price is unknown.
    """

    model: str
    requests: int
    cached: int
    to_ask: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    tokenizer: str

    def lines(self) -> list[str]:
        """Five lines for a person."""
        cost = "unknown (give --price-in and --price-out)"  # and what nobody knows is not called the most
        if self.cost is not None:
            cost = f"at most about {dollars(self.cost)}; retries and repairs of wrong answers come on top"
        counted = f"estimated with the tokenizer {self.tokenizer}" if self.tokenizer else "estimated from bytes"
        return [
            f"model: {self.model}",
            f"requests: {self.to_ask:,} to ask; {self.requests:,} in all, {self.cached:,} answered in the cache",
            f"prompts: about {self.prompt_tokens:,} tokens ({counted})",
            f"answers: at most {self.completion_tokens:,} tokens",
            f"cost: {cost}",
        ]


def estimate(
    requests: Sequence[Request],
    *,
    cached: int,
    to_ask: Sequence[Request],
    model: str,
    price: Price | None,
    counter: TokenCounter | None,
) -> Estimate:
    """The estimate for ``to_ask``, the distinct ones of ``requests`` that have no answer yet."""
    usage = Usage(prompt_tokens(to_ask, counter), sum(request.max_tokens for request in to_ask), estimated=True)
    cost = None if price is None else price.of(usage)
    name = counter.name if counter else ""
    return Estimate(model, len(requests), cached, len(to_ask), usage.prompt, usage.completion, cost, name)


def prompt_tokens(requests: Sequence[Request], counter: TokenCounter | None) -> int:
    """Tokens of messages and schemas, counted by the tokenizer, or a quarter of their bytes without one."""
    texts = [m.content for r in requests for m in r.messages] + [schema_text(r) for r in requests if r.schema]
    marks = _TOKENS_A_MESSAGE * sum(len(r.messages) for r in requests)
    if counter is not None:
        return sum(counter.count_many(texts)) + marks
    return sum(-(-len(text.encode("utf-8", "replace")) // 4) for text in texts) + marks
