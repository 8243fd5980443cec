"""What a Markdown text says, block by block, and the same as Word: the truth of the test of four formats."""

import re
import zipfile
from itertools import count
from typing import NamedTuple
from xml.sax.saxutils import escape

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

PARSER = MarkdownIt("commonmark").enable("table")


class Item(NamedTuple):
    depth: int
    number: int | None
    runs: list
    list_id: int


class Piece(NamedTuple):
    """``held``: runs (text, style) of a heading, paragraph or quote; items; rows of cells of runs; code."""

    kind: str
    level: int | None
    held: object


KINDS = {"bullet_list": "list", "ordered_list": "list", "fence": "code", "code_block": "code", "blockquote": "quote"}
STYLES = {"strong": "bold", "em": "italic"}


def pieces(markdown):
    made, ids = [], count(1)
    for node in SyntaxTreeNode(PARSER.parse(markdown)).children:
        kind = KINDS.get(node.type, node.type)
        if kind == "heading":
            made.append(Piece(kind, int(node.tag[1]), list(runs(node))))
        elif kind == "list":
            made.append(Piece(kind, 1, list(items(node, 0, ids))))
        elif kind == "table":
            rows = [row for part in node.children for row in part.children]
            made.append(Piece(kind, None, [[list(runs(cell)) for cell in row.children] for row in rows]))
        elif kind == "code":
            made.append(Piece(kind, None, node.content.rstrip("\n")))
        else:
            assert kind in ("paragraph", "quote"), f"the samples have no {kind}"
            made.append(Piece(kind, None, list(runs(node))))
    return made


def runs(node, style=""):
    if node.type in ("text", "code_inline"):
        yield node.content, "code" if node.type == "code_inline" else style
    elif node.type in ("softbreak", "hardbreak"):
        yield " ", style
    for child in node.children:
        yield from runs(child, STYLES.get(node.type, style))


def items(node, depth, ids):
    own = next(ids)
    for number, item in enumerate(node.children, int(node.attrs.get("start", 1))):
        inner = [c for c in item.children if c.type not in ("bullet_list", "ordered_list")]
        words = [run for c in inner for run in runs(c)]
        yield Item(depth, number if node.type == "ordered_list" else None, words, own)
        for child in item.children:
            if child not in inner:
                yield from items(child, depth + 1, ids)


def words(text_runs):
    return " ".join("".join(text for text, _ in text_runs).split())


# ---------------------------------------------------------------- what can be compared


def normal(made):
    """(kind, level, content) with plain words: items (depth, number, words), rows of cells, code line by line."""
    return [(p.kind, p.level, _plain(p)) for p in made]


def _plain(piece):
    if piece.kind == "list":
        return [(i.depth, i.number, words(i.runs)) for i in piece.held]
    if piece.kind == "table":
        return [[words(cell) for cell in row] for row in piece.held]
    return piece.held.split("\n") if piece.kind == "code" else words(piece.held)


def normal_of_document(document):
    """The same of a document whose blocks are plain text, tables pipe tables and lists lines with marks."""
    return [
        (b.kind, b.level, _read(b.kind, document.text[b.span.start : b.span.end].strip("\n"))) for b in document.blocks
    ]


def normal_of_markdown(document):
    """The same of a Markdown document, whose blocks are source text."""
    result = []
    for block in document.blocks:
        (piece,) = pieces(document.text[block.span.start : block.span.end])
        assert (block.kind, block.level) == (piece.kind, piece.level)
        result.append(piece)
    return normal(result)


def _read(kind, text):
    if kind == "list":
        return [
            (len(m[1]) // 2, int(m[2][:-1]) if m[2] != "-" else None, " ".join(m[3].split()))
            for m in re.finditer(r"^( *)(-|\d+\.) (.*(?:\n(?! *(?:-|\d+\.) ).*)*)", text, re.MULTILINE)
        ]
    if kind == "table":
        lines = [line for n, line in enumerate(text.split("\n")) if n != 1]
        return [[c.strip().replace("\\|", "|") for c in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return text.split("\n") if kind == "code" else " ".join(text.split())


# ---------------------------------------------------------------- Word

_NAMES = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_RUN = {
    "": "",
    "bold": "<w:rPr><w:b/></w:rPr>",
    "italic": "<w:rPr><w:i/></w:rPr>",
    "code": '<w:rPr><w:rFonts w:ascii="Courier New" w:hAnsi="Courier New"/></w:rPr>',
}
_NAMED = {"Quote": "Quote", "Code": "HTML Preformatted", **{f"Heading{n}": f"heading {n}" for n in range(1, 7)}}


def write_docx(path, made):
    """A Word file as Word itself would write it: styles, numbering with restarts, tables with a header row."""
    body = "".join(map(_word, made))
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="{key}"><w:name w:val="{name}"/></w:style>'
        for key, name in _NAMED.items()
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("word/document.xml", f"<w:document {_NAMES}><w:body>{body}</w:body></w:document>")
        archive.writestr("word/styles.xml", f"<w:styles {_NAMES}>{styles}</w:styles>")
        archive.writestr("word/numbering.xml", f"<w:numbering {_NAMES}>{_numbering(made)}</w:numbering>")
        archive.writestr(
            "word/_rels/document.xml.rels",
            '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
            + "".join(
                f'<Relationship Id="r{n}" Type="{_RELATIONS}/{n}" Target="{n}.xml"/>' for n in ("styles", "numbering")
            )
            + "</Relationships>",
        )


def _word(piece):
    if piece.kind == "list":
        return "".join(_paragraph(i.runs, _numbered(i)) for i in piece.held)
    if piece.kind == "table":
        rows = ""
        for n, row in enumerate(piece.held):
            cells = "".join(f"<w:tc>{_paragraph(cell)}</w:tc>" for cell in row)
            rows += f"<w:tr>{'<w:trPr><w:tblHeader/></w:trPr>' if not n else ''}{cells}</w:tr>"
        return f"<w:tbl>{rows}</w:tbl>"
    if piece.kind == "code":
        return "".join(_paragraph([(line, "code")], _style("Code")) for line in piece.held.split("\n"))
    named = {"heading": f"Heading{piece.level}", "quote": "Quote"}.get(piece.kind)
    return _paragraph(piece.held, _style(named) if named else "")


def _style(name):
    return f'<w:pStyle w:val="{name}"/>'


def _paragraph(text_runs, properties=""):
    made = "".join(f'<w:r>{_RUN[s]}<w:t xml:space="preserve">{escape(t)}</w:t></w:r>' for t, s in text_runs)
    return f"<w:p><w:pPr>{properties}</w:pPr>{made}</w:p>"


def _numbered(item):
    return f'<w:numPr><w:ilvl w:val="{item.depth}"/><w:numId w:val="{item.list_id}"/></w:numPr>'


def _numbering(made):
    abstract = ""
    for own, form, text in ((1, "bullet", "•"), (2, "decimal", "")):
        levels = "".join(
            f'<w:lvl w:ilvl="{n}"><w:start w:val="1"/><w:numFmt w:val="{form}"/>'
            f'<w:lvlText w:val="{text or f"%{n + 1}."}"/><w:pPr><w:ind w:left="{360 * (n + 1)}"/></w:pPr></w:lvl>'
            for n in range(9)
        )
        abstract += f'<w:abstractNum w:abstractNumId="{own}">{levels}</w:abstractNum>'
    lists = {i.list_id: i for piece in made if piece.kind == "list" for i in piece.held}
    return abstract + "".join(
        f'<w:num w:numId="{n}"><w:abstractNumId w:val="{1 if item.number is None else 2}"/>'
        f'<w:lvlOverride w:ilvl="{item.depth}"><w:startOverride w:val="1"/></w:lvlOverride></w:num>'
        for n, item in lists.items()
    )
