"""A share as people read it: a number in [0, 1] in, a text such as ``99.6 %`` out, for every sentence and table.

Rounding never makes all of what is not all, nor nothing of what is something.
"""

__all__ = ["percent", "points"]

_FINEST = 2  # digits behind the point, beyond which "under" and "over" say enough


def percent(share: float, digits: int = 0) -> str:
    """A share in percent: ``0.5`` is ``50 %``, ``0.996`` is ``99.6 %``, ``1e-9`` is ``under 0.01 %``.

    Args:
        share: from 0 to 1.
        digits: behind the point; more where fewer would say 0 or 100 of what is neither.
    """
    shown = _exact_enough(100 * share, digits, (0.0, 100.0))
    if shown is not None:
        return f"{shown} %"
    return f"under {0.1**_FINEST:g} %" if share < 0.5 else f"over {100 - 0.1**_FINEST:g} %"


def points(difference: float, digits: int = 0) -> str:
    """A difference of two shares in percentage points, with its sign: ``+3``, ``-0.4``; ``+0`` is none at all."""
    shown = _exact_enough(100 * difference, digits, (0.0,), sign="+")
    return shown if shown is not None else f"{'+' if difference > 0 else '-'}{0.1**_FINEST:g}"


def _exact_enough(value: float, digits: int, whole: tuple[float, ...], sign: str = "") -> str | None:
    """The value with as few digits as keep it from reading as one of the whole numbers; None where none do."""
    value += 0.0  # no negative zero
    for places in range(digits, max(digits, _FINEST) + 1):
        shown = f"{value:{sign}.{places}f}"
        if float(shown) not in whole or value in whole:
            return shown
    return None
