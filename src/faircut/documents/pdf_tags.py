"""The tagged structure of a page -> the role of each piece of its marked content.

pdfium is asked itself: the fast engine gives the numbers of marked content without their page, so that an element that
goes on on the next page would claim what belongs to others there.
"""

import ctypes
import re
from typing import TYPE_CHECKING, Any

from faircut.documents.pdf_page import Tag

if TYPE_CHECKING:
    from pypdfium2 import PdfPage

__all__ = ["page_tags"]

MAX_ELEMENTS = 50_000
_ROLES = re.compile(r"(H[1-6]?|Title|P|LI|Code|BlockQuote|Quote|Caption|Note|TOCI)$")
_WHOLE = ("LI", "Code", "BlockQuote")  # their roles count for all that is in them


def page_tags(page: "PdfPage") -> dict[int, Tag]:
    """The tag of each piece of marked content by its number: that of the nearest element with a role."""
    from pypdfium2 import raw

    tree = raw.FPDF_StructTree_GetForPage(page.raw)
    if not tree:
        return {}
    try:
        roots = [raw.FPDF_StructTree_GetChildAtIndex(tree, n) for n in range(raw.FPDF_StructTree_CountChildren(tree))]
        return _tags(raw, [root for root in roots if root])
    finally:
        raw.FPDF_StructTree_Close(tree)


def _tags(raw: Any, roots: list[Any]) -> dict[int, Tag]:
    tags: dict[int, Tag] = {}
    waiting: list[tuple[Any, Tag | None]] = [(root, None) for root in reversed(roots)]
    for serial in range(MAX_ELEMENTS):
        if not waiting:
            break
        element, tag = waiting.pop()
        role = _role(raw, element)
        if _ROLES.match(role) and not (tag and tag[0] in _WHOLE):
            tag = role, serial
        for n in range(max(raw.FPDF_StructElement_CountChildren(element), 0)):
            child = raw.FPDF_StructElement_GetChildAtIndex(element, n)
            number = -1 if child else raw.FPDF_StructElement_GetChildMarkedContentID(element, n)
            if child:
                waiting.append((child, tag))
            elif number >= 0 and tag:
                tags[number] = tag
    return tags


def _role(raw: Any, element: Any) -> str:
    buffer = ctypes.create_string_buffer(64)
    length = raw.FPDF_StructElement_GetType(element, buffer, 64)
    return buffer.raw[: max(length - 2, 0)].decode("utf-16-le", "replace") if 2 < length <= 64 else ""
