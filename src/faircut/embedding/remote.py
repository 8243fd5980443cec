"""Embedding models behind an OpenAI-compatible server: OpenAI itself, TEI, Ollama, vLLM, llama.cpp. Texts in, unit
vectors ``(n, d)`` out.

Comes in: texts of any length. They are cut to the limit, put into batches that the server takes, and each batch is
handed on as soon as it is paid for. Calling is left to ``remote_calls.py``, remembering vectors to ``cache.py``.
"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

import numpy as np

from faircut.embedding.checks import checked_texts, checked_vectors, encodable, report_overlong
from faircut.embedding.contract import Progress, Role, Vectors
from faircut.embedding.prefixes import stated_prefix
from faircut.embedding.remote_calls import SPECIAL_TOKENS, Connection, Refused, in_our_words
from faircut.errors import EmbeddingError, FaircutWarning, LlmError, SpecError
from faircut.llm.budget import Budget, Ledger
from faircut.llm.endpoint import Endpoint, Timeouts
from faircut.specs import Spec, format_spec
from faircut.text.contract import TokenCounter

__all__ = ["KNOWN_MODELS", "KnownModel", "OpenAIEmbeddings"]

OPENAI_URL = "https://api.openai.com/v1"
_MOST_TEXTS = 2048  # OpenAI's limits of one request, published with its API reference
_REQUEST_TOKENS = 250_000  # it takes 300,000; ours are counted with another tokenizer
_ANSWER_NUMBERS = 600_000  # 25 bytes a number as JSON: below the largest answer that is read
_SHORTEST = 8  # a text that is refused at this share of the limit is not refused for its length
_UNKNOWN_LIMIT = 512  # what most models see that do not say more
_UNUSABLE_TRIES = 3


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model whose vectors' length and limit in tokens are published."""

    dimensions: int
    max_tokens: int


KNOWN_MODELS = {
    "text-embedding-3-small": KnownModel(1536, 8191),
    "text-embedding-3-large": KnownModel(3072, 8191),
    "text-embedding-ada-002": KnownModel(1536, 8191),
}
"""OpenAI's, as published with its models; of others the spec says the dimensions."""


@dataclass(frozen=True)
class OpenAIEmbeddings:
    """A model behind an OpenAI-compatible server (extra llm): OpenAI, TEI, Ollama, vLLM, llama.cpp.

    Vectors come over the network, so that nothing here can make a text's vector the same in every batch; the cache
    keeps the first one, so that within a comparison there is only one. The server's model may change behind its name:
    then name another cache.

    Args:
        model: the name that the server knows.
        dimensions: the length of the vectors; known for OpenAI's models, to be stated for others. Fewer than a model's
            own are asked from the server.
        url: the base URL, which often ends in ``/v1``.
        key_env: the environment variable with the API key; by default ``OPENAI_API_KEY``, and only over https or to
            this machine.
        max_tokens: the longest text that is sent, prefix included; what is beyond is cut off and reported. Counted
            with ``counted_by``: an estimate.
        batch: the most texts of a request; halved where the server takes fewer.
        counted_by: what counts tokens: ``minilm`` (the bundled model's, an estimate for any other model) or the path of
            the model's own ``tokenizer.json``.
        query_prefix: in front of questions; by default the known prefix of the model's family, else none.
        passage_prefix: the same for chunks.
        sentence_prefix: the same for sentences that are compared with each other.
        timeout: seconds until the server says something.
    """

    model: str
    dimensions: int = 0
    url: str = OPENAI_URL
    key_env: str | None = None
    max_tokens: int = 0
    batch: int = 128
    counted_by: str = "minilm"
    query_prefix: str | None = None
    passage_prefix: str | None = None
    sentence_prefix: str | None = None
    timeout: float = 120.0
    _ledger: Ledger | None = field(default=None, init=False, repr=False, compare=False)

    name: ClassVar[str] = "openai"

    def __post_init__(self) -> None:
        known = KNOWN_MODELS.get(self.model)
        object.__setattr__(self, "dimensions", self.dimensions or (known.dimensions if known else 0))
        object.__setattr__(self, "max_tokens", self.max_tokens or self._known_limit)
        if self.dimensions < 1 or (known and self.dimensions > known.dimensions):
            most = f" up to {known.dimensions:,}" if known else ""
            raise SpecError(
                f"embedder 'openai': state the length of the vectors of {self.model!r}{most} (dimensions=)."
            )
        if self.max_tokens < 3:
            raise SpecError(f"embedder 'openai': max_tokens is at least 3, found {self.max_tokens}.")
        if not 1 <= self.batch <= _MOST_TEXTS:
            raise SpecError(f"embedder 'openai': batch lies between 1 and {_MOST_TEXTS:,}, found {self.batch}.")
        object.__setattr__(self, "url", self._endpoint.base_url)

    def __str__(self) -> str:
        return format_spec(self.to_spec())

    def to_spec(self) -> Spec:
        """The spec; dimensions are always in it, a limit that is the model's own is not."""
        limit = self.max_tokens if self.max_tokens != self._known_limit else 0
        own = [f for f in fields(self) if f.init]
        given = ((f.name, limit if f.name == "max_tokens" else getattr(self, f.name), f.default) for f in own)
        named = tuple((name, value) for name, value, default in given if name != "model" and value != default)
        return Spec(self.name, (self.model,), named)

    @property
    def fingerprint(self) -> str:
        """Server, model, dimensions and limit, and what counts tokens: it decides where a long text is cut."""
        return f"openai-{self.url}-{self.model}-dim{self.dimensions}-max{self.max_tokens}-{self.tokenizer.name}"

    @property
    def tokenizer(self) -> TokenCounter:
        """What counts tokens; its counts are estimates unless it is the model's own.

        Raises:
            EmbeddingError: there is no such file, or the bundled model is not installed.
        """
        return _counter(self.counted_by)

    def paid_by(self, ledger: Ledger) -> "OpenAIEmbeddings":
        """The same model, whose calls are bounded by a budget and counted; without it they are neither."""
        other = replace(self)
        object.__setattr__(other, "_ledger", ledger)
        return other

    def prefix(self, role: Role) -> str:
        """As given, else as known for the model's family, else ""."""
        return stated_prefix(self, role) or ""

    def overhead(self, role: Role) -> int:
        """Tokens of the prefix, and two for special tokens, which most models have."""
        return SPECIAL_TOKENS + self.tokenizer.count(self.prefix(role))

    def embed(self, texts: Sequence[str], role: Role, *, progress: Progress | None = None) -> Vectors:
        """Vectors ``(len(texts), d)``. Equal texts are sent once.

        Raises:
            TypeError: ``texts`` is not a sequence of strings.
            EmbeddingError: the server cannot be asked or gave no usable vectors. What it gave before is lost here, and
                kept where a cache stands in front.
            BudgetReached: the same, because the budget of ``paid_by`` is spent.
        """
        listed = checked_texts(texts)
        places = {text: place for place, text in enumerate(dict.fromkeys(listed))}
        rows = np.array([places[text] for text in listed], dtype=np.intp)
        counts = self.tokenizer.count_many([encodable(text) for text in places])
        lengths = [count + self.overhead(role) for count in counts]
        report_overlong([lengths[row] for row in rows], self.max_tokens, str(self))
        vectors = np.empty((len(places), self.dimensions), dtype=np.float32)
        done, shares = 0, np.bincount(rows, minlength=len(places))
        for batch, part in self.embed_parts(list(places), role):
            vectors[batch] = part
            done += int(shares[batch].sum())
            if progress:
                progress(done, len(listed))
        return vectors.take(rows, axis=0)

    def embed_parts(self, texts: Sequence[str], role: Role) -> Iterator[tuple[list[int], Vectors]]:
        """The vectors of the texts in parts, each as soon as it is there: the places of its texts, and their vectors.

        Raises:
            EmbeddingError, BudgetReached: as of ``embed``; the parts before are given by then.
        """
        if not texts:
            return
        own = KNOWN_MODELS.get(self.model)
        shorter = own is not None and self.dimensions < own.dimensions
        batches = _Batches(self, [encodable(text) for text in texts], role)
        ledger = self._ledger or Ledger(Budget(), None)
        with Connection(self._endpoint, self.dimensions, ledger, ask_dimensions=shorter) as connection:
            for places, part in batches.asked(connection):
                yield places, checked_vectors(part, len(places), self.dimensions, str(self))

    @property
    def _endpoint(self) -> Endpoint:
        try:
            seconds = Timeouts(read=self.timeout, total=2.5 * self.timeout)
            return Endpoint(self.url, self.model, api_key_env=self.key_env, timeouts=seconds)
        except LlmError as error:
            raise SpecError(f"embedder 'openai': {in_our_words(str(error))}") from error

    @property
    def _known_limit(self) -> int:
        known = KNOWN_MODELS.get(self.model)
        return known.max_tokens if known else _UNKNOWN_LIMIT


class _Batches:
    """The texts of one call on their way: what is still to be asked, how much fits into a request, what was refused."""

    def __init__(self, embedder: OpenAIEmbeddings, texts: list[str], role: Role) -> None:
        self.embedder, self.counter = embedder, embedder.tokenizer
        self.prefix, self.room = embedder.prefix(role), embedder.max_tokens - embedder.overhead(role)
        long = [count > self.room for count in self.counter.count_many(texts)]
        self.texts = [
            self._cut(text, self.room) if is_long else text for text, is_long in zip(texts, long, strict=True)
        ]
        self.tokens = [count + embedder.overhead(role) for count in self.counter.count_many(self.texts)]
        self.waiting = list(range(len(texts) - 1, -1, -1))  # the next one last
        self.largest = min(embedder.batch, max(1, _ANSWER_NUMBERS // embedder.dimensions))
        self.shortened: dict[int, int] = {}
        self.unusable: dict[int, int] = {}

    def asked(self, connection: Connection) -> Iterator[tuple[list[int], Vectors]]:
        """Ask until nothing waits; parts in about the order of the texts."""
        size = self.largest
        while self.waiting:
            batch = self._within_budget(self._next(size), connection)
            try:
                tokens = sum(self.tokens[place] for place in batch)
                answered = connection.ask([self._sent(place) for place in batch], tokens)
            except Refused as refused:
                self.waiting += reversed(batch)
                if len(batch) > 1:
                    size = len(batch) // 2
                    continue
                size = self.largest  # it was this text, not the number of texts
                self._shorten(batch[0], refused)
                continue
            for place in reversed(answered.unusable):
                self._again(batch[place], connection.where)
            good = [place for place in range(len(batch)) if place not in answered.unusable]
            yield [batch[place] for place in good], answered.vectors[good]
        self._report()

    def _next(self, size: int) -> list[int]:
        """The next places: at most ``size``, at most the tokens of a request."""
        batch: list[int] = []
        tokens = 0
        while self.waiting and len(batch) < size:
            tokens += self.tokens[self.waiting[-1]]
            if batch and tokens > _REQUEST_TOKENS:
                break
            batch.append(self.waiting.pop())
        return batch

    def _within_budget(self, batch: list[int], connection: Connection) -> list[int]:
        """The first of these places that the budget has room for, at least one; the others wait again."""
        while len(batch) > 1 and not connection.fits([self._sent(place) for place in batch]):
            half = len(batch) // 2
            self.waiting += reversed(batch[half:])
            batch = batch[:half]
        return batch

    def _sent(self, place: int) -> str:
        return self.prefix + self.texts[place] or " "  # OpenAI refuses an empty text

    def _cut(self, text: str, room: int) -> str:
        """The text up to its limit; at least one character, so that there is something to embed."""
        return text[: max(1, self.counter.index(text).furthest(0, max(1, room)))]

    def _shorten(self, place: int, refused: Refused) -> None:
        """Cut a text that the server finds too long; the server counts otherwise than we do.

        Raises:
            EmbeddingError: it is refused for another reason, or cannot become shorter.
        """
        text, tokens = self.texts[place], self.tokens[place]
        if not refused.too_large or tokens < max(_SHORTEST, self.embedder.max_tokens // _SHORTEST):
            shown = text[:60].encode("unicode_escape").decode("ascii")
            raise EmbeddingError(f"{refused.message} It was asked for one text of {len(text):,} characters: {shown!r}.")
        self.texts[place] = self._cut(text, tokens * 3 // 4)
        self.tokens[place] = min(tokens * 3 // 4, self.counter.count(self.texts[place]) + SPECIAL_TOKENS)
        self.shortened[place] = self.tokens[place]

    def _again(self, place: int, where: str) -> None:
        """Ask once more for a vector that was none.

        Raises:
            EmbeddingError: it was none several times.
        """
        self.unusable[place] = self.unusable.get(place, 0) + 1
        if self.unusable[place] >= _UNUSABLE_TRIES:
            raise EmbeddingError(
                f"{where} gave a vector without length, or with numbers that are not finite, {_UNUSABLE_TRIES} times "
                f"for a text of {len(self.texts[place]):,} characters."
            )
        self.waiting.append(place)

    def _report(self) -> None:
        if self.shortened:
            warnings.warn(
                f"{self.embedder}: the server takes less than max_tokens of {len(self.shortened)} texts (it counts "
                f"otherwise); they were cut, to about {min(self.shortened.values()):,} tokens at the least. "
                "Set max_tokens lower, or name the model's own tokenizer (counted_by=).",
                FaircutWarning,
                stacklevel=3,
            )


@lru_cache(maxsize=8)
def _counter(source: str) -> TokenCounter:
    if source == "minilm":
        from faircut.embedding.minilm import Minilm

        return Minilm().tokenizer
    from faircut.text.tokens import load_tokenizer

    path = Path(source).expanduser()
    return load_tokenizer(path / "tokenizer.json" if path.is_dir() else path, name="")
