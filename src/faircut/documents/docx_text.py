"""One paragraph of a DOCX -> its text as it reads with all changes accepted, and what hangs on it.

Insertions and moved text are in, deletions and field codes out. Text boxes and notes are handed back for others to
place. What kind of block the paragraph is, is left to ``docx_flow.py``.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from faircut.documents.docx_math import M, linear
from faircut.documents.docx_styles import Styles, W, font_of, is_monospaced, is_on, value
from faircut.documents.marked_items import roman
from faircut.documents.open_packaging import ALTERNATE, alternative

__all__ = ["ParagraphText", "Story", "paragraph_text"]


@dataclass
class Story:
    """What is counted as a document is read from its beginning: pages, notes, text that is left out."""

    styles: Styles
    page: int | None = None
    footnotes: dict[str, int] = field(default_factory=dict)  # their numbers by their ids, in order of reference
    endnotes: dict[str, int] = field(default_factory=dict)
    hidden: int = 0  # runs of hidden text
    embedded: int = 0  # documents inside the document


@dataclass
class ParagraphText:
    """The text of a paragraph; ``page`` is where it begins, ``boxes`` are the contents of its text boxes."""

    text: str = ""
    page: int | None = None
    monospaced: bool = False
    boxes: list[Element] = field(default_factory=list)


_SKIPPED = frozenset(
    W + name
    for name in (
        "pPr", "rPr", "sdtPr", "sdtEndPr", "tblPr", "tcPr", "trPr", "del", "moveFrom", "delText", "delInstrText",
        "instrText", "rubyPr", "smartTagPr", "customXmlPr", "annotationRef", "footnoteRef", "endnoteRef",
    )
)  # fmt: skip
_LITERAL = {
    f"{W}tab": "\t",
    f"{W}ptab": "\t",
    f"{W}cr": "\n",
    f"{W}noBreakHyphen": "\u2011",
    f"{W}softHyphen": "",
}
_TEXT = frozenset({f"{W}t", f"{M}t"})


def paragraph_text(paragraph: Element, story: Story) -> ParagraphText:
    """Read a paragraph, and count in ``story`` what passes by. Not recursive, so any depth will do."""
    return _Reading(paragraph, story).read()


class _Reading:
    """The state while one paragraph is read: what is left to do, the open fields, the font of the run."""

    def __init__(self, paragraph: Element, story: Story) -> None:
        self.story = story
        self.style = value(paragraph, "pPr/pStyle")
        self.out: list[str] = []
        self.result = ParagraphText(page=story.page)
        self.todo: list[Element | str] = list(reversed(paragraph))
        self.fields: list[bool] = []  # of each open field whether its code is over
        self.font: str | None = None
        self.fonts: set[bool] = set()

    def read(self) -> ParagraphText:
        while self.todo:
            step = self.todo.pop()
            if isinstance(step, str):
                self.write(step)
            elif step.tag in _TEXT:
                self.write(step.text or "")
            elif step.tag in _LITERAL:
                self.write(_LITERAL[step.tag])
            elif step.tag in _ACTIONS:
                _ACTIONS[step.tag](self, step)
            elif step.tag not in _SKIPPED:
                self.enter(linear(step) if step.tag.startswith(M) else step)
        self.result.text = "".join(self.out)
        self.result.monospaced = self.fonts == {True}
        return self.result

    def enter(self, steps: Iterable[Element | str]) -> None:
        self.todo += reversed(list(steps))

    def write(self, text: str) -> None:
        if not all(self.fields):  # inside the code of a field
            return
        if text.strip():
            if not self.fonts:
                self.result.page = self.story.page
            self.fonts.add(is_monospaced(self.font))
        self.out.append(text)

    def run(self, run: Element) -> None:
        properties = run.find(f"{W}rPr")
        style = value(properties, "rStyle")
        hidden = is_on(properties, "vanish")
        if hidden or (hidden is None and self.story.styles.hides(style)):
            self.story.hidden += any((t.text or "").strip() for t in run.iter(f"{W}t"))
            return
        styles = self.story.styles
        self.font = font_of(properties) or (styles.font_of(style) if style else None) or styles.font_of(self.style)
        self.enter(run)

    def line_break(self, _: Element) -> None:
        self.write("\n")

    def new_page(self, _: Element) -> None:
        if self.story.page is not None:
            self.story.page += 1

    def symbol(self, element: Element) -> None:
        self.write(symbol_text(element.get(f"{W}font", ""), element.get(f"{W}char", "")))

    def field_mark(self, mark: Element) -> None:
        kind = mark.get(f"{W}fldCharType")
        if kind == "begin":
            self.fields.append(False)
        elif self.fields and kind == "separate":
            self.fields[-1] = True
        elif self.fields and kind == "end":
            self.fields.pop()

    def note(self, reference: Element) -> None:
        foot = reference.tag == f"{W}footnoteReference"
        notes = self.story.footnotes if foot else self.story.endnotes
        number = notes.setdefault(reference.get(f"{W}id", ""), len(notes) + 1)
        self.write(f"[{number if foot else roman(number)}]")

    def text_box(self, box: Element) -> None:
        self.result.boxes.append(box)

    def alternatives(self, element: Element) -> None:
        if (chosen := alternative(element)) is not None:
            self.enter(chosen)

    def content_control(self, control: Element) -> None:
        """Its content, unless that is the hint of what to type."""
        if not is_on(control, "sdtPr/showingPlcHdr"):
            self.enter(control)

    def ruby(self, element: Element) -> None:
        """Characters with their reading in parentheses behind them."""
        base, reading = element.find(f"{W}rubyBase"), element.find(f"{W}rt")
        self.enter([*(base if base is not None else []), "(", *(reading if reading is not None else []), ")"])


_ACTIONS: dict[str, Callable[[_Reading, Element], None]] = {
    f"{W}r": _Reading.run,
    f"{W}br": _Reading.line_break,
    f"{W}lastRenderedPageBreak": _Reading.new_page,
    f"{W}sym": _Reading.symbol,
    f"{W}fldChar": _Reading.field_mark,
    f"{W}footnoteReference": _Reading.note,
    f"{W}endnoteReference": _Reading.note,
    f"{W}txbxContent": _Reading.text_box,
    ALTERNATE: _Reading.alternatives,
    f"{W}sdt": _Reading.content_control,
    f"{W}ruby": _Reading.ruby,
}


# ---------------------------------------------------------------- symbols

_WINGDINGS = {
    0x4A: "☺", 0x6C: "●", 0x6E: "■", 0x6F: "□", 0x71: "❑", 0x75: "◆", 0x76: "❖", 0x9F: "•", 0xA7: "▪", 0xA8: "☐",
    0xD8: "➢", 0xDF: "←", 0xE0: "→", 0xE1: "↑", 0xE2: "↓", 0xE8: "➔", 0xF0: "⇨", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒",
    0xFE: "☑",
}  # fmt: skip
_LETTERS = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ", "αβχδεφγηιϕκλμνοπθρστυϖωξψζ"
_SYMBOL = dict(enumerate(_LETTERS[0], 0x41)) | dict(enumerate(_LETTERS[1], 0x61))
_SYMBOL |= {
    0xA3: "≤", 0xA5: "∞", 0xAB: "↔", 0xAC: "←", 0xAD: "↑", 0xAE: "→", 0xAF: "↓", 0xB0: "°", 0xB1: "±", 0xB3: "≥",
    0xB4: "×", 0xB6: "∂", 0xB7: "•", 0xB8: "÷", 0xB9: "≠", 0xBA: "≡", 0xBB: "≈", 0xBC: "…", 0xC5: "⊕", 0xC6: "∅",
    0xC7: "∩", 0xC8: "∪", 0xCE: "∈", 0xD1: "∇", 0xD2: "®", 0xD3: "©", 0xD4: "™", 0xD6: "√", 0xD7: "⋅", 0xDB: "⇔",
    0xDE: "⇒", 0xE5: "∑", 0xF2: "∫",
}  # fmt: skip


def symbol_text(font: str, code: str) -> str:
    """The character of a symbol font in Unicode; those that are not known are U+FFFD."""
    try:
        number = int(code, 16)
    except ValueError:
        return ""
    table = {"wingdings": _WINGDINGS, "symbol": _SYMBOL}.get(font.casefold(), {})
    small = number - 0xF000 if 0xF000 <= number <= 0xF0FF else number
    if small in table:
        return table[small]
    if number != small or table:
        return chr(small) if 0x20 < small < 0x7F and font.casefold() == "symbol" else "\ufffd"
    return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"
