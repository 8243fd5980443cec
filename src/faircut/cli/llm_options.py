"""The options of every command that asks a language model, written once: ``@with_llm_options`` adds them to a command.

Comes in: a command with a parameter ``llm: LlmOptions``. Goes out: a command with an option for each of its fields.
Nothing is opened here; ``LlmOptions.build`` makes the model, and no key is read before it is needed.
"""

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from faircut.cli.console import path_from

if TYPE_CHECKING:
    from faircut.experiment.rehearsal import EmbeddingEstimate
    from faircut.llm import ChatModel, Price, PriceTable, Purse, Request
    from faircut.text.contract import TokenCounter

__all__ = ["LlmOptions", "with_llm_options"]


@dataclass(frozen=True)
class LlmOptions:
    """What was given on the command line about the model; ``cache`` None is the file in the user's cache folder."""

    url: Annotated[
        str | None,
        typer.Option("--llm", metavar="URL", help="An OpenAI-compatible server, such as http://127.0.0.1:8080/v1."),
    ] = None
    model: Annotated[str | None, typer.Option("--model", metavar="NAME", help="The model's name on it.")] = None
    api_key_env: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The environment variable with the API key [OPENAI_API_KEY]."),
    ] = None
    budget: Annotated[
        float | None, typer.Option(help="Stop before more than this is spent, in USD; on remote embedders too.")
    ] = None
    max_requests: Annotated[int | None, typer.Option(help="Stop before more requests than this are paid for.")] = None
    max_tokens_spent: Annotated[int | None, typer.Option(help="Stop before more tokens than this are used.")] = None
    price_in: Annotated[float | None, typer.Option(help="USD for a million prompt tokens.")] = None
    price_out: Annotated[float | None, typer.Option(help="USD for a million completion tokens.")] = None
    prices: Annotated[
        Path | None, typer.Option(parser=path_from, metavar="FILE", help="Your own prices (TOML), of embedders too.")
    ] = None
    concurrency: Annotated[int, typer.Option(help="Requests under way at a time.")] = 4
    timeout: Annotated[float, typer.Option(help="Seconds for one answer in all.")] = 300.0
    stream: Annotated[bool, typer.Option(help="Ask for answers in pieces.")] = False
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what it would take and cost, and ask nothing.")] = (
        False
    )
    answers: Annotated[
        Path | None,
        typer.Option(parser=path_from, metavar="FILE", help="The file of paid answers [in the user's cache]."),
    ] = None

    def purse(self) -> "Purse":
        """The budget, for all that is paid for: the model, and remote embedders.

        Raises:
            LlmError: a value is out of range.
        """
        from faircut.llm import Budget, Purse

        return Purse(Budget(self.budget, self.max_requests, self.max_tokens_spent))

    def price_table(self) -> "PriceTable":
        """The user's prices, then those that come with faircut.

        Raises:
            LlmError: the file of prices is none.
        """
        from faircut.llm import load_prices

        return load_prices(self.prices)

    def build(self, purse: "Purse | None" = None) -> "ChatModel":
        """The model; with a purse, what others spend of it counts as well.

        Raises:
            typer.BadParameter: no URL or no model was named.
            LlmError: a value is out of range.
        """
        from faircut.embedding.weights import cache_directory
        from faircut.llm import ChatModel, Endpoint, Timeouts

        if not self.url or not self.model:
            raise typer.BadParameter("a language model is needed: name a server with --llm URL and a --model NAME.")
        timeouts = Timeouts(read=min(Timeouts().read, self.timeout), total=self.timeout)
        endpoint = Endpoint(self.url, self.model, self.api_key_env, timeouts, self.concurrency, self.stream)
        own = cache_directory() / "answers.sqlite"
        return ChatModel(
            endpoint,
            cache=self.answers or own,
            cache_owned=self.answers is None or self.answers.absolute() == own.absolute(),
            budget=purse or self.purse(),
            price=self._price(),
            counter=_counter(),
        )

    def show_estimate(
        self,
        model: "ChatModel | None",
        requests: "Sequence[Request]",
        embedding: "Sequence[EmbeddingEstimate]" = (),
    ) -> None:
        """Print what requests and remote embedders would take; the answer to ``--dry-run``."""
        from faircut.llm import dollars
        from faircut.report.safe import printable

        asked = model.estimate(requests) if model else None
        lines = [line for one in embedding for line in one.lines()]
        lines += asked.lines() if asked else ["no chunker asks a language model"]
        lines += [] if embedding or asked else ["no embedder is remote: nothing is to be paid for"]
        if embedding and asked:
            money = [asked.cost, *(one.money for one in embedding)]
            known = [amount for amount in money if amount is not None]
            together = f"at most about {dollars(sum(known))}" if len(known) == len(money) else "unknown"
            lines.append(f"cost together: {together}")
        for line in lines:
            typer.echo(printable(line))

    def most_lines(self, requests: "Sequence[Request]", times: int, price: "Price | None") -> list[str]:
        """What so many times these requests would take, none of them answered yet, and which limit is below that."""
        from faircut.llm import dollars
        from faircut.llm.estimate import estimate

        one = estimate(requests, cached=0, to_ask=requests, model=self.model or "", price=price, counter=_counter())
        count, tokens = times * one.requests, times * (one.prompt_tokens + one.completion_tokens)
        money = None if one.cost is None else times * one.cost
        lines = [f"{count:,} requests" + ("" if money is None else f", at most about {dollars(money)}")]
        below = [
            f"{option} {limit:g}"
            for option, limit, most in (
                ("--budget", self.budget, money),
                ("--max-requests", self.max_requests, count),
                ("--max-tokens-spent", self.max_tokens_spent, tokens),
            )
            if limit is not None and most is not None and limit < most
        ]
        if below:
            verb = "is" if len(below) == 1 else "are"
            lines.append(f"{' and '.join(below)} {verb} below the most: the budget may end the run earlier.")
        return lines

    def _price(self) -> "Price | None":
        from faircut.llm import Price

        if (self.price_in is None) != (self.price_out is None):
            raise typer.BadParameter("a price has two sides: give both --price-in and --price-out.")
        if self.price_in is not None and self.price_out is not None:
            return Price(self.price_in, self.price_out)
        return self.price_table().find(self.model or "") if self.prices else None


def with_llm_options(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose parameter ``llm`` is made of the options of ``LlmOptions``, in the place where it stands.

    An option that the command has itself under the same name (``timeout``) is the command's; here its default holds.
    """
    hints = get_type_hints(LlmOptions, include_extras=True)
    taken = inspect.signature(command).parameters
    names = {f"llm_{item.name}": item for item in fields(LlmOptions) if item.name not in taken}
    added = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=item.default, annotation=_named(item.name, hints)
        )
        for name, item in names.items()
    ]
    own = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for parameter in inspect.signature(command, eval_str=True).parameters.values()
        if parameter.name != "llm"
    ]

    @functools.wraps(command)
    def wrapped(**given: Any) -> None:
        options = LlmOptions(**{item.name: given.pop(name) for name, item in names.items()})
        command(**given, llm=options)

    parameters = [*own, *added]
    wrapped.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    wrapped.__annotations__ = {p.name: p.annotation for p in parameters}
    return wrapped


def _named(name: str, hints: dict[str, Any]) -> Any:
    """The annotation with the option's name spelled out: the parameter itself has a prefix."""
    kind, option = hints[name].__origin__, hints[name].__metadata__[0]
    # The first name of an option lies in its default until typer takes it from there.
    if not option.param_decls and not isinstance(option.default, str):
        option.param_decls = (f"--{name.replace('_', '-')}",)
    return Annotated[kind, option]


def _counter() -> "TokenCounter | None":
    """The bundled model's tokenizer, for estimates; None where its weights are not installed."""
    from faircut.embedding.weights import minilm_files
    from faircut.errors import EmbeddingError
    from faircut.text.tokens import load_tokenizer

    try:
        return load_tokenizer(minilm_files().tokenizer, name="minilm")
    except EmbeddingError:
        return None
