"""Untrusted text made safe for a terminal: names, questions and errors in, nothing that a terminal obeys out."""

from unicodedata import category

__all__ = ["printable"]


def printable(text: str) -> str:
    """Untrusted text made safe for a terminal: control, format and surrogate characters become visible escapes."""
    return "".join(_escape(c) if category(c) in ("Cc", "Cf", "Cs") and c not in "\n\t" else c for c in text)


def _escape(character: str) -> str:
    return f"\\x{ord(character):02x}" if ord(character) < 256 else f"\\u{ord(character):04x}"
