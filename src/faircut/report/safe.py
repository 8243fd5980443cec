"""Untrusted text made safe for a terminal: names, questions and errors in, nothing that a terminal obeys out."""

from unicodedata import category

__all__ = ["printable", "printable_lines"]

_UNSAFE = ("Cc", "Cf", "Cs", "Zl", "Zp")  # control, format, surrogate, line and paragraph separators


def printable(text: str) -> str:
    """One line of a terminal: line ends, control, format and surrogate characters become visible escapes.

    A name with a line end in it can so never look like a line of ours.
    """
    return "".join(_escape(c) if category(c) in _UNSAFE else c for c in text)


def printable_lines(text: str) -> str:
    """As ``printable`` for a text that we composed of several lines: its line ends stay."""
    return "\n".join(map(printable, text.split("\n")))


def _escape(character: str) -> str:
    if character in "\n\r\t":
        return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}[character]
    return f"\\x{ord(character):02x}" if ord(character) < 256 else f"\\u{ord(character):04x}"
