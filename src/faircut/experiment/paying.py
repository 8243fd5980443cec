"""What is paid for in a run: embedders in; the same ones with a budget in front, and their prices, out.

Models on this machine cost nothing. What a language model costs is in ``asking.py``, what all would cost in
``rehearsal.py``.
"""

from faircut.embedding.cache import CachedEmbedder, default_cache
from faircut.embedding.contract import Embedder
from faircut.embedding.remote import OpenAIEmbeddings
from faircut.llm.budget import Budget, Ledger, Purse
from faircut.llm.prices import PriceTable, load_prices

__all__ = ["is_remote", "kept_embedder", "paid_embedder", "price_of", "prices_of", "purse_of"]


def purse_of(budget: Budget | Purse | None) -> Purse:
    """The purse of a run: the one that is given, so that others share it, or a new one."""
    return budget if isinstance(budget, Purse) else Purse(budget)


def prices_of(own: PriceTable | None) -> PriceTable:
    """The table that comes with faircut, these prices first."""
    table = load_prices()
    return PriceTable(table.models | own.models, own.source, own.checked) if own else table


def is_remote(embedder: Embedder) -> bool:
    """Whether its vectors come from a server, and may be paid for."""
    return isinstance(embedder, OpenAIEmbeddings)


def price_of(embedder: Embedder, prices: PriceTable) -> float | None:
    """US dollars for a million embedded tokens: 0 on this machine, None where the price is unknown."""
    if not isinstance(embedder, OpenAIEmbeddings):
        return 0.0
    found = prices.find(embedder.model)
    return found.input if found else None


def paid_embedder(embedder: Embedder, purse: Purse, prices: PriceTable) -> tuple[Embedder, Ledger | None]:
    """The embedder, bounded by the purse where it is remote, and what it spends.

    Raises:
        LlmError: the budget is in money and the price is unknown.
    """
    if not isinstance(embedder, OpenAIEmbeddings):
        return embedder, None
    ledger = Ledger(purse, prices.find(embedder.model), embedder.model)
    return embedder.paid_by(ledger), ledger


def kept_embedder(embedder: Embedder, purse: Purse, prices: PriceTable) -> Embedder:
    """As ``paid_embedder``, with the user's cache of vectors in front, so that what was paid for is kept."""
    paid, ledger = paid_embedder(embedder, purse, prices)
    return CachedEmbedder(paid, default_cache()) if ledger else paid
