"""Source code in many languages -> the lines where its definitions begin and end, by the ``code`` extra (tree-sitter).

One small grammar a language, asked only when a file of it is read. Without the extra, or for other languages, nothing
is known. Errors in the code are tolerated: the parser goes on behind them. How lines become blocks is left to
``source_code.py``.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language, Node

__all__ = ["GRAMMARS", "MAX_PARSED", "definition_lines"]

MAX_PARSED = 2 * 2**20
"""Characters up to which code is parsed; a tree takes some fifty times their memory."""
_MAX_DEPTH = 8
"""Levels of classes, modules and namespaces that are entered."""
_FEWEST_STEPS = 2_000
_STEPS = 0.1
"""Steps of the parser a character after which it is stopped; code takes 0.02 to 0.04, nonsense without end."""
_LONG_STATEMENT = 3
"""Lines from which a statement beside the definitions is a piece of its own."""

GRAMMARS = {
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx"), ("javascript", "language")),
    ".ts": ("typescript", "language_typescript"),
    ".tsx": ("typescript", "language_tsx"),
    ".java": ("java", "language"),
    ".go": ("go", "language"),
    ".rs": ("rust", "language"),
    ".c": ("c", "language"),
    **dict.fromkeys((".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh"), ("cpp", "language")),
    ".cs": ("c_sharp", "language"),
    ".rb": ("ruby", "language"),
    ".php": ("php", "language_php"),
    **dict.fromkeys((".kt", ".kts"), ("kotlin", "language")),
    ".swift": ("swift", "language"),
    ".scala": ("scala", "language"),
}
"""Extensions with the package of their grammar (``tree_sitter_...``) and its function.

Not those of Lua and Bash: on some 100 KB of nonsense they work for minutes and cannot be stopped.
"""

_DEFINITION = re.compile(
    r"(function|method|constructor|class|struct|enum|union|interface|trait|impl|module|mod|namespace|object|protocol"
    r"|extension|record|annotation_type|type_alias|type|macro|template|export|contract|singleton_method)"
    r"(_|$)(?!.*(import|package|comment))"
)
_CONTAINER = re.compile(
    r"class|struct|interface|trait|impl|module|mod_item|namespace|object|protocol|extension|record|enum|union|preproc_if"
    r"|linkage|export|template"
)
_BODY = re.compile(r"body|declaration_list|statement_block")
_LEADING = re.compile(r"comment|attribute_item$")
_LINE_END = re.compile(r"\r\n?|\n")

Lines = tuple[int, int]


def definition_lines(text: str, extension: str, long: int) -> list[Lines] | None:
    """First line and line after the last, from 0, of each definition with its comments; None when it is not known.

    Those above ``long`` lines that hold others (classes, namespaces) are entered: their members follow in the list.
    """
    language = _language(extension)
    if language is None or len(text) > MAX_PARSED or _is_tangled(text):
        return None
    root = _parsed(_LINE_END.sub("\n", text).encode("utf-8", "replace"), language)
    return None if root is None else list(_units(root.children, long, 0))


def _is_tangled(text: str) -> bool:
    """Whether one statement opens so many brackets that a parser which follows all readings of them may never end."""
    pieces = _STATEMENT_END.split(text)
    return any(len(piece) > _MOST_OPEN and piece.count("<") + piece.count("(") > _MOST_OPEN for piece in pieces)


_STATEMENT_END = re.compile(r"[;{}]")
_MOST_OPEN = 300


def _parsed(source: bytes, language: "Language") -> "Node | None":
    """The tree's root; None when the parser does not come to an end in as many steps as code takes."""
    from tree_sitter import Parser

    left = _FEWEST_STEPS + int(len(source) * _STEPS)

    def is_too_much(_offset: int, _has_error: bool) -> bool:
        nonlocal left
        left -= 1
        return left < 0

    def piece(offset: int, _point: object) -> bytes:
        return source[offset : offset + _READ]

    try:
        return Parser(language).parse(piece, progress_callback=is_too_much).root_node
    except ValueError:  # stopped
        return None


_READ = 2**16


@cache
def _language(extension: str) -> "Language | None":
    """The grammar, None where there is none or it is not installed."""
    package, function = GRAMMARS.get(extension, ("", ""))
    if not package:
        return None
    try:
        from tree_sitter import Language

        return Language(getattr(import_module(f"tree_sitter_{package}"), function)())
    except (ImportError, AttributeError, ValueError):  # the last: a grammar for another version of the parser
        return None


def _units(nodes: Sequence["Node"], long: int, depth: int) -> Iterator[Lines]:
    """The definitions and long statements among the children of a node."""
    above = -1  # the last line of the node before
    leading: int | None = None  # the first line of the comments above the next node
    for node in filter(lambda node: node.is_named, nodes):
        first, end = node.start_point.row, _end(node)
        if first < above:  # it begins on the line on which the one before ends
            above = max(above, end)
            continue
        if _LEADING.search(node.type):
            leading = first if leading is None else leading
            continue
        start = first if leading is None else leading
        leading, above = None, end
        if _is_unit(node, end - first):
            yield start, end
            if end - first > long and depth < _MAX_DEPTH and _CONTAINER.search(node.type):
                yield from _units(_members(node), long, depth + 1)


def _is_unit(node: "Node", lines: int) -> bool:
    if "import" in node.type or "package" in node.type or node.type.startswith(("use_", "using")):
        return False
    return lines >= _LONG_STATEMENT or _DEFINITION.match(node.type) is not None


def _members(node: "Node") -> Sequence["Node"]:
    """What stands in a class or namespace."""
    if node.type.startswith("preproc"):
        return node.children
    level = [node]
    for _ in range(4):
        level = [child for parent in level for child in parent.named_children]
        if found := [child for child in level if _BODY.search(child.type)]:
            return max(found, key=lambda child: child.end_byte - child.start_byte).children
    return ()


def _end(node: "Node") -> int:
    """The line after the last; a node that ends with its line end has column 0 of the next."""
    return max(node.end_point.row + (node.end_point.column > 0), node.start_point.row + 1)
