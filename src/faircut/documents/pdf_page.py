"""What the other files of the PDF reader exchange: pieces of text with their boxes, ruled lines, tables, pages.

Units are points (1/72 inch) from the page's upper left corner, after the page's rotation. Nothing is read here.
"""

from dataclasses import dataclass, field, replace

__all__ = ["Line", "Page", "Rule", "Table", "Tag", "turned"]

Tag = tuple[str, int]  # the role in the tagged structure ("H1", "P", "LI", ...), and the number of the element


@dataclass(frozen=True, slots=True)
class Line:
    """Text on one baseline: a run of one font, a fragment between wide gaps, or a whole line.

    ``size`` is the font's in points, that of most characters; ``turn`` is the direction of writing in degrees
    clockwise (0, 90, 180, 270). ``parts`` are the pieces that narrow gaps divide it into, which may be cells.
    """

    text: str
    left: float
    top: float
    right: float
    bottom: float
    size: float
    bold: bool = False
    mono: bool = False
    tag: Tag | None = None
    turn: int = 0
    font: str = ""
    parts: tuple["Line", ...] = field(default=(), compare=False, repr=False)

    @property
    def middle(self) -> float:
        """The vertical centre."""
        return (self.top + self.bottom) / 2

    @property
    def height(self) -> float:
        """From the top to the bottom of the box."""
        return self.bottom - self.top

    @property
    def width(self) -> float:
        """From the left to the right of the box."""
        return self.right - self.left


@dataclass(frozen=True, slots=True)
class Rule:
    """A drawn line, horizontal when ``top == bottom``, vertical when ``left == right``."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def horizontal(self) -> bool:
        """Whether it is wider than high."""
        return self.right - self.left >= self.bottom - self.top


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells; the lines of a cell are separated by line ends.

    ``columns`` are the left and right edges of the columns, by which parts of one table on several pages are known.
    """

    rows: tuple[tuple[str, ...], ...]
    left: float
    top: float
    right: float
    bottom: float
    columns: tuple[tuple[float, float], ...]
    ruled: bool


@dataclass(slots=True)
class Page:
    """One page as the engine gives it. ``number`` counts from 1."""

    number: int
    width: float
    height: float
    runs: list[Line] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)


def turned(page: Page, turn: int) -> Page:
    """The page turned so that text written in the direction ``turn`` is upright."""
    if not turn:
        return page
    width, height = (page.height, page.width) if turn in (90, 270) else (page.width, page.height)
    runs = [_turned_line(run, page, turn) for run in page.runs]
    rules = [Rule(*_turned_box(rule, page, turn)) for rule in page.rules]
    return Page(page.number, width, height, runs, rules)


def _turned_line(line: Line, page: Page, turn: int) -> Line:
    left, top, right, bottom = _turned_box(line, page, turn)
    return replace(line, left=left, top=top, right=right, bottom=bottom, turn=(line.turn - turn) % 360)


def _turned_box(box: Line | Rule, page: Page, turn: int) -> tuple[float, float, float, float]:
    if turn == 90:
        return box.top, page.width - box.right, box.bottom, page.width - box.left
    if turn == 270:
        return page.height - box.bottom, box.left, page.height - box.top, box.right
    return page.width - box.right, page.height - box.bottom, page.width - box.left, page.height - box.top
