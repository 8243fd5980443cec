"""Source code -> code blocks that tile the file as it stands: Python by ``ast``, others by their syntax or blank lines.

Each definition at the top level is a block, with its decorators and the comments above it; a long class is one block a
method. Languages other than Python need the ``code`` extra for that (``syntax_trees.py``); without it they are cut at
blank lines. How bytes become text is left to ``decoding.py``, save that a file may name its encoding.
"""

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from faircut.documents.contract import Reader
from faircut.documents.decoding import read_text
from faircut.documents.syntax_trees import definition_lines
from faircut.records import Block, BlockKind, Document, Span

__all__ = ["LONG_CLASS", "PYTHON", "SOURCE_CODE", "code_blocks", "python_blocks", "syntax_blocks"]

LONG_CLASS = 80
"""Lines above which a class is cut into its methods."""
MAX_PARSED = 4 * 2**20
"""Characters up to which Python is parsed; a syntax tree takes some hundred times their memory."""

Cut = tuple[int, BlockKind]  # a line, counted from 0, and the kind of the block that begins there

_LINE_END = re.compile(r"\r\n?|\n")
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def code_blocks(text: str) -> tuple[Block, ...]:
    """Blocks that begin at a line without indentation after a blank line; closing brackets stay with what they close.

    Blank lines belong to the block before them; a blank text has no blocks. Linear in the length of the text.
    """
    starts = _line_starts(text)
    cuts: list[Cut] = [(0, "code")]
    blank = False
    for number, (start, end) in enumerate(pairwise(starts)):
        if _NEW_UNIT.match(text, start) and blank:
            cuts.append((number, "code"))
        blank = not text[start:end].strip()
    return _tile(text, starts, cuts)


_NEW_UNIT = re.compile(r"(?![\s})\]]|\*/|end\b|fi\b|done\b|esac\b)")


def python_blocks(text: str) -> tuple[Block, ...]:
    """The module's docstring as a paragraph, then code: one block a definition, one for the statements between two.

    Comments and decorators belong to the definition below them. A class of more than ``LONG_CLASS`` lines is cut at
    its methods. What is no Python of this version is read as ``code_blocks`` does.
    """
    tree = _parse(text) if len(text) <= MAX_PARSED else None
    if tree is None or not tree.body:
        return code_blocks(text)
    starts = _line_starts(text)
    cuts: list[Cut] = [(0, "code")]
    body = tree.body
    if ast.get_docstring(tree, clean=False) is not None:
        cuts.append((body[0].lineno - 1, "paragraph"))
        body, docstring = body[1:], body[0]
        cuts += [(docstring.end_lineno or 0, "code")] if body else []
    return _tile(text, starts, [*cuts, *_definition_cuts(body, text, starts)])


def syntax_blocks(text: str, extension: str) -> tuple[Block, ...]:
    """One block a definition, one for the statements between two; where the syntax is not known, as ``code_blocks``.

    Args:
        text: the code.
        extension: of its file, with the dot, in lower case; it names the language.
    """
    found = definition_lines(text, extension, LONG_CLASS) if text.strip() else None
    if not found:
        return code_blocks(text)
    starts = _line_starts(text)
    begins = {start: "code" for start, _ in found}
    ends = (end for _, end in found if end not in begins and not _only_closes(text, starts, end))
    cuts: list[Cut] = [(line, "code") for line in (0, *begins, *ends)]
    return _tile(text, starts, cuts)


def _only_closes(text: str, starts: list[int], line: int) -> bool:
    """Whether the next line with text closes what the line before belongs to."""
    word = _WORD.search(text, starts[line]) if line < len(starts) else None
    return word is None or _NEW_UNIT.match(text, word.start()) is None


def _parse(text: str) -> ast.Module | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "\d" in somebody's code is none of our affair
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):  # other versions, NUL, 10,000 brackets
            return None


def _definition_cuts(body: Sequence[ast.stmt], text: str, starts: list[int]) -> Iterator[Cut]:
    """Where each definition begins and ends; long classes are entered. Levels of classes are few, as the parser is."""
    for before, node in pairwise([None, *body]):
        if not isinstance(node, _DEFINITIONS):
            continue
        first = min(n.lineno for n in [node, *node.decorator_list]) - 1
        above = (before.end_lineno or 0) if before else 0
        yield _with_comments(text, starts, first, above), "code"
        last = _with_trailing(text, starts, node.end_lineno or first, node.col_offset)
        if isinstance(node, ast.ClassDef) and last - first > LONG_CLASS:
            yield from _definition_cuts(node.body, text, starts)
        yield last, "code"


def _with_comments(text: str, starts: list[int], first: int, above: int) -> int:
    """The first of the comment lines directly above a definition, or with blank lines between."""
    indent = _indent(text, starts[first])
    for line in range(first - 1, above - 1, -1):
        rest = text[starts[line] : starts[line + 1]].lstrip()
        if rest and not (rest.startswith("#") and _indent(text, starts[line]) == indent):
            break
        first = line if rest else first
    return first


def _with_trailing(text: str, starts: list[int], last: int, indent: int) -> int:
    """The line after a definition's last comments, which are indented as its body is."""
    for line in range(last, len(starts) - 1):
        rest = text[starts[line] : starts[line + 1]].lstrip()
        if rest and not (rest.startswith("#") and _indent(text, starts[line]) > indent):
            break
        last = line + 1 if rest else last
    return last


def _indent(text: str, start: int) -> int:
    return len(text) if (word := _WORD.search(text, start)) is None else word.start() - start


_WORD = re.compile(r"\S")


# ---------------------------------------------------------------- tiling


def _line_starts(text: str) -> list[int]:
    """Where the lines begin, and the end of the text."""
    starts = [0, *(m.end() for m in _LINE_END.finditer(text))]
    return starts if starts[-1] == len(text) else [*starts, len(text)]


def _tile(text: str, starts: list[int], cuts: Sequence[Cut]) -> tuple[Block, ...]:
    """Blocks that begin at the first line with text at or after each cut; of two cuts in one place the later counts."""
    kinds = dict(cuts)
    lines = sorted(kinds)
    kept: list[tuple[int, BlockKind]] = []
    for cut, end in pairwise([*lines, len(starts) - 1]):
        filled = (line for line in range(cut, end) if text[starts[line] : starts[line + 1]].strip())
        if (line := next(filled, None)) is not None:
            kept.append((starts[line], kinds[cut]))
    edges = [0, *(start for start, _ in kept[1:]), len(text)] if kept else []
    return tuple(Block(kind, Span(*edge)) for edge, (_, kind) in zip(pairwise(edges), kept, strict=True))


# ---------------------------------------------------------------- files


def _read_python(path: Path, document_id: str) -> Document:
    text = read_text(path, label=_named_encoding(path))
    return Document(document_id, text, python_blocks(text), path.name, str(path), "text/x-python")


def _read_code(path: Path, document_id: str) -> Document:
    text, extension = read_text(path, label=_named_encoding(path)), path.suffix.lower()
    media_type = f"text/x-{extension[1:]}"
    return Document(document_id, text, syntax_blocks(text, extension), path.name, str(path), media_type)


def _named_encoding(path: Path) -> str | None:
    """The encoding that a comment in the first two lines names, as Python (PEP 263), Ruby and editors write it."""
    with path.open("rb") as file:
        head = file.read(_HEAD)
    found = next(filter(None, map(_ENCODING.search, re.split(rb"\r\n?|\n", head)[:2])), None)
    return found[1].decode("ascii") if found else None


_HEAD = 1000  # bytes
_ENCODING = re.compile(rb"^[ \t\f]*(?:#|//|/\*|--|;|%).*?coding[:=][ \t]*([-\w.]+)")


_LANGUAGES = (
    ".js .mjs .cjs .jsx .ts .tsx .vue .svelte .java .kt .kts .scala .groovy .gradle .cs .fs .vb .go .rs .swift .dart "
    ".c .h .cc .cpp .cxx .hpp .hh .m .mm .zig .d .pas .f90 .jl .r .lua .pl .pm .rb .php .ex .exs .erl .hs .ml .mli "
    ".clj .lisp .el .scm .sh .bash .zsh .fish .ps1 .bat .sql .proto .graphql .tf .cmake .css .scss .less "
    ".yaml .yml .toml .ini .cfg .conf"
)  # not .json: it is data more often than text

PYTHON = Reader("Python", (".py", ".pyi", ".pyw"), _read_python)
SOURCE_CODE = Reader("source code", tuple(_LANGUAGES.split()), _read_code)
