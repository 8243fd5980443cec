"""One question in a terminal: its evidence and each row's ranked hits, with marks as well as colours.

Evidence stands in ``[[double brackets]]``, so nothing is lost where there is no colour. Texts are untrusted:
white space is drawn together, and what a terminal obeys is shown as an escape.
"""

from typing import TYPE_CHECKING

from faircut.report.safe import printable
from faircut.report.show import Excerpt, QuestionView, RowView, ShownHit
from faircut.text.percent import percent

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

__all__ = ["print_question"]

_DELIVERED = {"whole": "delivered", "part": "delivered in part", "no": "beyond the cut", "unknown": "retrieved"}
_RIGHT = {True: "of a right document", False: "of another document"}
_COLOURS = ("black on yellow", "black on cyan", "black on magenta", "black on green")


def print_question(view: QuestionView, console: "Console") -> None:
    """Print the question, its evidence, and what each row retrieved."""
    _say(console, f"Question {view.number:,} of {view.questions:,}, {view.id}: {view.text}", style="bold")
    if view.within is not None:
        _say(console, f"searched in {view.within} only")
    several = len(view.evidence) > 1
    if several:
        _say(
            console, "any one of these is an answer" if view.match == "any" else "all of these together are the answer"
        )
    for number, excerpt in enumerate(view.evidence, 1):
        label = f"Evidence {number}" if several else "Evidence"
        if not excerpt.pieces:
            _say(console, f"{label}: {excerpt.document}, without a place in it")
            continue
        _say(console, f"{label}, {_place(excerpt)}")
        _print(console, _marked(excerpt, several=several, console=console), 2)
    if view.note:
        _say(console, view.note, style="dim")
    for row in view.rows:
        _print_row(row, console, several=several)


def _print_row(row: RowView, console: "Console", *, several: bool) -> None:
    console.print()
    state = f"; missed, {row.cause}" if row.cause else ""
    style = "bold red" if row.cause else "bold"
    _say(console, f"{row.name}: {row.measure} {row.score:.3f}{state}", style=style)
    for sentence in row.explanation:
        _say(console, f"- {sentence}", 2)
    last = 0
    for hit in row.hits:
        if hit.rank > last + 1:
            _say(console, f"({_ranks(last + 1, hit.rank - 1)} not shown: no evidence)", 2, style="dim")
        last = hit.rank
        _print_hit(hit, console, several=several)
    if not row.hits:
        _say(console, "nothing was retrieved", 2)
    elif row.retrieved > last:
        _say(console, f"({_ranks(last + 1, row.retrieved)} not shown)", 2, style="dim")
    _say(console, f"{row.tokens:,} tokens were delivered for {row.measure}", 2, style="dim")


def _ranks(first: int, last: int) -> str:
    return f"rank {first}" if first == last else f"ranks {first} to {last}"


def _print_hit(hit: ShownHit, console: "Console", *, several: bool) -> None:
    got = _DELIVERED[hit.delivered]
    held = _held(hit, several=several) if hit.right is None else _RIGHT[hit.right]
    head = f"{hit.rank}. score {hit.score:.3f}, {hit.tokens:,}t, {got}, {held}; {_place(hit.excerpt)}"
    _say(console, head, 2, style="green" if hit.shares or hit.right else "")
    if hit.context:
        _say(console, f"context: {hit.context}", 5, style="dim")
    if hit.rewritten:
        _say(console, "rewritten by its chunker:", 5, style="dim")
    _print(console, _marked(hit.excerpt, several=several, console=console), 5)


def _held(hit: ShownHit, *, several: bool) -> str:
    """``holds 40 % of the evidence (so far 90 %)``."""
    if not hit.shares:
        return "no evidence"
    parts = [
        f"{'all' if share >= 1 else percent(share)} of {f'evidence {number}' if several else 'the evidence'}"
        for number, share in hit.shares
    ]
    so_far = f" (so far {percent(hit.so_far)})" if hit.so_far > hit.alone else ""
    return f"holds {' and '.join(parts)}{so_far}"


def _place(excerpt: Excerpt) -> str:
    return f"{excerpt.document} {excerpt.start:,}-{excerpt.end:,}"


def _marked(excerpt: Excerpt, *, several: bool, console: "Console") -> "Text":
    """The excerpt with its evidence in brackets and in colour."""
    from rich.text import Text

    gap = " … " if _is_unicode(console) else " ... "
    text = Text()
    for piece in excerpt.pieces:
        shown = gap if piece.gap else printable(_drawn_together(piece.text))
        if piece.evidence:
            label = f"{piece.evidence}: " if several else ""
            text.append(f"[[{label}{shown}]]", style=_COLOURS[(piece.evidence - 1) % len(_COLOURS)])
        else:
            text.append(shown, style="dim" if piece.gap else "")
    return text


def _is_unicode(console: "Console") -> bool:
    return console.encoding.lower().startswith("utf")


def _drawn_together(text: str) -> str:
    """Runs of white space as one blank, also at the ends."""
    inner = " ".join(text.split())
    if not inner:
        return " " * bool(text)
    return f"{' ' * text[0].isspace()}{inner}{' ' * text[-1].isspace()}"


def _say(console: "Console", line: str, indent: int = 0, *, style: str = "") -> None:
    from rich.text import Text

    _print(console, Text(printable(line), style=style), indent)


def _print(console: "Console", text: "Text", indent: int) -> None:
    """Wrapped at words, indented where there is room for it; nothing is cut off."""
    from rich.text import Text

    room = indent if console.width >= 40 else min(indent, 1)
    for line in text.wrap(console, max(console.width - room, 2), overflow="fold"):
        line.rstrip()
        console.print(Text(" " * room).append_text(line), highlight=False, soft_wrap=True)
