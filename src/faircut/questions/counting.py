"""A count and what is counted -> words, in the singular for one. Left to others: what is said of it."""

__all__ = ["counted"]

_SINGULAR = {"queries": "query"}


def counted(count: int, things: str) -> str:
    """``2 questions without a place``, or ``1 question without a place``: the first word is the one that is counted."""
    if count != 1:
        return f"{count:,} {things}"
    noun, space, rest = things.partition(" ")
    return f"1 {_SINGULAR.get(noun) or noun.removesuffix('s')}{space}{rest}"
