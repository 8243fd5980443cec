"""Language models: requests in, answers out, through one client for any OpenAI-compatible server."""

from faircut.llm.attempts import RetryPolicy
from faircut.llm.budget import Budget, Purse, Spending
from faircut.llm.client import ChatModel
from faircut.llm.contract import Answer, Failure, LanguageModel, Message, Request, Usage, ask
from faircut.llm.endpoint import Endpoint, Timeouts
from faircut.llm.estimate import Estimate
from faircut.llm.faults import BudgetReached, LlmStopped
from faircut.llm.prices import Price, PriceTable, dollars, load_prices

__all__ = [
    "Answer", "Budget", "BudgetReached", "ChatModel", "Endpoint", "Estimate", "Failure", "LanguageModel", "LlmStopped",
    "Message", "Price", "PriceTable", "Purse", "Request", "RetryPolicy", "Spending", "Timeouts", "Usage", "ask",
    "dollars", "load_prices",
]  # fmt: skip
