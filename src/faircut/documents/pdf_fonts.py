"""What the name of a font says about it: bold, monospaced. PDF files often say it nowhere else."""

import re

__all__ = ["is_bold_name", "is_even", "is_mono_name"]

_BOLD = re.compile(r"bold|black|heavy|demi(?!t)|medi\b|cmbx|\.b\b", re.IGNORECASE)
_MONO = re.compile(
    r"cour|mono(?!type)|cmtt|lmtt|sftt|ectt|consol|typewriter|fixed|menlo|inconsolata|terminal|lucida.?c|monl-"
    r"|source.?code|fira.?code",
    re.IGNORECASE,
)


def is_bold_name(name: str) -> bool:
    """Whether fonts of this name are bold."""
    return _BOLD.search(name) is not None


def is_mono_name(name: str) -> bool:
    """Whether fonts of this name are monospaced."""
    return _MONO.search(name) is not None


def is_even(characters: int, width: float, size: float) -> bool:
    """Whether text is as wide as monospaced type: engines name the first font of a run, not all of them."""
    return characters < 8 or 0.5 * size <= width / characters <= 0.75 * size
