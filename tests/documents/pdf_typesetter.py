"""Pieces of content -> pages as office programs print them: wrapped lines, bullets, tables, code, running headers."""

import ctypes
from contextlib import closing
from functools import cache
from itertools import pairwise

from pdf_writer import FONTS, Sheet, pdf
from sample_content import words

LEFT, RIGHT, TOP, BOTTOM = 72, 523, 80, 770
SIZES = {1: 18, 2: 14, 3: 12, 4: 10.5, 5: 10, 6: 10}
BODY = 10
FONT = {"": "F1", "bold": "F2", "code": "F3", "italic": "F4"}


@cache
def widths():
    """For each font the width of each byte, as the engine has it."""
    from pypdfium2 import PdfDocument, raw

    found, width = {}, ctypes.c_float()
    with closing(PdfDocument.new()) as document:
        for key, name in FONTS.items():
            font = raw.FPDFText_LoadStandardFont(document.raw, name.encode())
            known = [raw.FPDFFont_GetGlyphWidth(font, byte, 1.0, width) and width.value for byte in range(256)]
            raw.FPDFFont_Close(font)
            found[key] = known
    return found


def width(text, font, size):
    return size * sum(widths()[font][byte] for byte in text.encode("cp1252"))


class Typesetter:
    """``ruled``: tables have lines; ``tagged``: headings, paragraphs, items, code and quotes carry their role."""

    def __init__(self, *, ruled=True, tagged=False, outlined=False):
        self.ruled, self.tagged, self.outlined = ruled, tagged, outlined
        self.sheets, self.outline, self.y, self.element = [], [], 0.0, 0

    def file(self, made):
        self.new_page()
        for piece in made:
            getattr(self, f"add_{piece.kind}")(piece)
        for number, sheet in enumerate(self.sheets, 1):
            sheet.text(LEFT, 44, "Skerrin Ferries Cooperative", 8, "F4")
            sheet.text(280, 810, f"Page {number} of {len(self.sheets)}", 8)
        return pdf(*self.sheets, outline=self.outline)

    def new_page(self):
        self.sheets.append(Sheet())
        self.y = TOP

    def room(self, height):
        if self.y + height > BOTTOM:
            self.new_page()

    def put(self, x, text, size, font, role=""):
        if self.tagged and role:
            self.sheets[-1].text(x, self.y, text, size, font, tag=role, element=self.element)
        else:
            self.sheets[-1].text(x, self.y, text, size, font)

    # ------------------------------------------------------------ blocks

    def add_heading(self, piece):
        size = SIZES[piece.level]
        self.y += 0.9 * size
        self.room(4 * size)
        if self.outlined:
            self.outline.append((piece.level, words(piece.held), len(self.sheets), self.y - size))
        self.flow([(t, "bold") for t, _ in piece.held], LEFT, size, f"H{piece.level}")
        self.y += 0.35 * size

    def add_paragraph(self, piece):
        self.flow(piece.held, LEFT, BODY, "P")
        self.y += 6

    def add_quote(self, piece):
        self.flow(piece.held, LEFT + 30, BODY, "BlockQuote")
        self.y += 6

    def add_list(self, piece):
        for item in piece.held:
            self.room(12.5)
            x = LEFT + 18 * (item.depth + 1)
            mark = "\u2022" if item.number is None else f"{item.number}."
            self.element += 1
            self.put(x - 5 - width(mark, "F1", BODY), mark, BODY, "F1", "LI")
            self.flow(item.runs, x, BODY, "LI", same=True)
        self.y += 6

    def add_code(self, piece):
        self.element += 1
        for line in piece.held.split("\n"):
            self.room(10.5)
            indent = len(line) - len(line.lstrip())
            if line.strip():
                self.put(LEFT + 6 + width(" " * indent, "F3", 8), line.strip(), 8, "F3", "Code")
            self.y += 10.5
        self.y += 8

    def flow(self, runs, left, size, role, same=False):
        """Running text, wrapped; each line's pieces of one style are one text object."""
        self.element += not same
        for line in wrapped(runs, RIGHT - left, size):
            self.room(1.25 * size)
            self.line(line, left, size, role)
            self.y += 1.25 * size

    def line(self, line, x, size, role=""):
        for text, font in line:
            self.put(round(x, 2), text, size, font, role)
            x += width(text, font, size)

    # ------------------------------------------------------------ tables

    def add_table(self, piece):
        columns = self.columns(piece.held)
        header = [[(t, "bold") for t, _ in cell] for cell in piece.held[0]]
        self.room(40)
        top = self.y - 9
        edges = [top, self.row(header, columns)]
        for row in piece.held[1:]:
            height = 12 * max(len(wrapped(c, b - a - 8, 9)) for c, (a, b) in zip(row, columns, strict=True)) + 4
            if self.y + height > BOTTOM:
                self.rules(edges, columns)
                self.new_page()
                edges = [self.y - 9, self.row(header, columns)]
            edges.append(self.row(row, columns))
        self.rules(edges, columns)
        self.y += 12

    def row(self, cells, columns):
        """Set one row, and give the place of its lower edge."""
        start, height = self.y, 0
        for cell, (left, right) in zip(cells, columns, strict=True):
            self.y = start
            for line in wrapped(cell, right - left - 8, 9):
                self.line(line, left + 4, 9)
                self.y += 11
            height = max(height, self.y - start)
        self.y = start + height + 5
        return self.y - 9

    def rules(self, edges, columns):
        if self.ruled:
            self.sheets[-1].grid([columns[0][0], *(b for _, b in columns)], edges)

    def columns(self, rows):
        """Columns as wide as their text, made narrower where the page is too small."""
        natural = [
            max(sum(width(t, FONT[s], 9) for t, s in cell) + 14 for cell in column)
            for column in zip(*rows, strict=True)
        ]
        least = [
            max(width(word, FONT[s], 9) for cell in column for t, s in cell or [("", "")] for word in t.split() or [""])
            + 14
            for column in zip(*rows, strict=True)
        ]
        spare = RIGHT - LEFT - sum(least)
        wanted = sum(natural) - sum(least)
        share = min(spare / wanted, 1.0) if wanted else 1.0
        widths = [a + share * (b - a) for a, b in zip(least, natural, strict=True)]
        lefts = [LEFT + sum(widths[:n]) for n in range(len(widths) + 1)]
        return list(pairwise(lefts))


def wrapped(runs, room, size):
    """Lines of (text, font), broken at spaces."""
    lines, line, used = [], [], 0.0
    for text, font in _tokens(runs):
        long = width(text.rstrip(), font, size)
        if line and used + long > room and not text.startswith(" "):
            lines.append(line)
            line, used = [], 0.0
        if line and line[-1][1] == font:
            line[-1] = line[-1][0] + text, font
        else:
            line.append((text, font))
        used += width(text, font, size)
    lines.append(line)
    return [[(t if n + 1 < len(made) else t.rstrip(), f) for n, (t, f) in enumerate(made)] for made in lines]


def _tokens(runs):
    """Words with the space behind them; a word of several styles may be broken between them."""
    for text, style in runs:
        for n, word in enumerate(parts := text.split(" ")):
            piece = word + (" " if n + 1 < len(parts) else "")
            if piece:
                yield piece, FONT[style]
