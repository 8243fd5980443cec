"""What became of a language model's answers in a row, for tables and notes: an integrity's counts in, judgements out.

The words are the audit's; here it is only decided when somebody must read them.
"""

from collections.abc import Mapping
from typing import Any

__all__ = ["is_asked", "is_idle"]


def is_asked(found: Mapping[str, Any]) -> bool:
    """Whether a language model was asked while cutting."""
    return bool(found.get("model_asked"))


def is_idle(found: Mapping[str, Any]) -> bool:
    """Whether half or more of what a model was asked about stands as if it had not been asked."""
    left = (found.get("model_fallbacks") or 0) + (found.get("uncited") or 0)
    return is_asked(found) and 2 * left >= found["model_asked"]
