"""Bytes of a web page -> text that an HTML parser takes in linear time and memory.

The encoding is found as browsers find it, save that valid UTF-8 wins over a Latin label. Tags that would make the
parser quadratic (levels beyond ``MAX_NESTING``, pile-ups of unclosed formatting) are taken out; text never is.
"""

import re
from collections import Counter
from dataclasses import dataclass, field

from faircut.documents.decoding import decode
from faircut.errors import DocumentError

__all__ = ["MAX_HTML", "MAX_NESTING", "MAX_TAGS", "as_html", "decode_html", "names", "tame"]

MAX_HTML = 32 * 2**20
"""Bytes of one page."""
MAX_TAGS = 1_250_000
"""Tags of one page; with them the tree stays below 1 GiB and is walked within 20 s."""
MAX_NESTING = 512
"""Levels of elements that the parser sees, as in browsers; tags of deeper ones are taken out, their text stays."""

# ---------------------------------------------------------------- encodings

_META = re.compile(rb"""<meta[^>]*?charset\s*=\s*["']?\s*([A-Za-z0-9_.:-]+)""", re.IGNORECASE)
_XML_DECLARATION = re.compile(rb"""^\s*<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9_.:-]+)""")
_HEAD = 4096  # bytes in which the label is looked for; browsers take 1,024


def decode_html(raw: bytes, where: str, charset: str | None = None) -> str:
    """The text of a page: byte order mark, then ``charset`` (from a mail's header), then the page's own label.

    Without any it is UTF-8 where that is valid, else guessed from its characters.

    Warns:
        FaircutWarning: bytes that are wrong in the encoding were replaced, with their count.

    Raises:
        DocumentError: not text, or larger than ``MAX_HTML``.
    """
    if len(raw) > MAX_HTML:
        raise DocumentError(f"{where}: {len(raw):,} bytes of HTML, more than {MAX_HTML:,}; split the page.")
    label = charset or _label(raw[:_HEAD])
    return decode(raw, where, label)


def _label(head: bytes) -> str | None:
    found = _META.search(head) or _XML_DECLARATION.search(head)
    return found[1].decode("ascii") if found else None


# ---------------------------------------------------------------- tags


def names(text: str) -> frozenset[str]:
    """A set of tag names or the like, written as one string."""
    return frozenset(text.split())


_VOID = names("area base br col embed hr img input link meta param source track wbr")
_FORMATTING = names("a b big code em font i nobr s small strike strong tt u")
_STRUCTURE = names("table ul ol dl blockquote pre")
_UNNESTED = _VOID | names(  # the parser closes them by itself
    "h1 h2 h3 h4 h5 h6 p li dt dd tr td th thead tbody tfoot colgroup option optgroup html head body"
)
_ATTRIBUTES = r"""(?:[^<>"']|"[^"]*"|'[^']*')*+"""
_TAG = re.compile(
    r"<!--.*?(?:-->|\Z)|<(?:script|style)\b.*?(?:</(?:script|style)|\Z)"
    rf"|<(?P<close>/?)(?P<name>[a-z][a-z0-9:-]*+)(?P<rest>{_ATTRIBUTES}>?)",
    re.IGNORECASE | re.DOTALL,
)
_FORMATTING_TAG = re.compile(rf"</?(?:{'|'.join(sorted(_FORMATTING))})(?=[\s/>]){_ATTRIBUTES}>?", re.IGNORECASE)
_QUOTED = re.compile(r""""[^"]*+"|'[^']*+'""")
_MAX_ATTRIBUTES = 2000
_MAX_REOPENED = 2_000_000


@dataclass
class _Levels:
    """Which elements of a group are open: a closing tag closes all that were opened after its opening one."""

    stack: list[str] = field(default_factory=list)
    open: Counter[str] = field(default_factory=Counter)

    def keep(self, name: str, *, closing: bool) -> bool:
        """Whether this tag lies within ``MAX_NESTING``."""
        if not closing:
            self.stack.append(name)
            self.open[name] += 1
            return len(self.stack) <= MAX_NESTING
        if not self.open[name]:
            return True  # it closes nothing
        while True:
            last = self.stack.pop()
            self.open[last] -= 1
            if last == name:
                return len(self.stack) < MAX_NESTING


@dataclass
class _Nesting:
    """What is open, as far as it matters for the parser's time. Lists and tables are not judged by unclosed spans."""

    structure: _Levels = field(default_factory=_Levels)
    others: _Levels = field(default_factory=_Levels)
    formatting: Counter[str] = field(default_factory=Counter)
    unclosed: int = 0  # formatting elements
    reopened: int = 0  # formatting elements that the parser may have to open again, in all

    def keep(self, match: re.Match[str]) -> str:
        """The tag, or a space where it lies too deep; without its attributes where they are too many."""
        if match["name"] is None:
            return match[0]  # a comment or script
        name, closing = match["name"].lower(), bool(match["close"])
        self._count(name, closing)
        levels = self.structure if name in _STRUCTURE else self.others
        if name not in _UNNESTED and not levels.keep(name, closing=closing):
            return " "
        return f"<{match['name']}>" if _has_many(match["rest"]) else match[0]

    def _count(self, name: str, closing: bool) -> None:
        if not closing:
            self.reopened += self.unclosed
        if name in _FORMATTING and (not closing or self.formatting[name]):
            step = -1 if closing else 1
            self.formatting[name] += step
            self.unclosed += step


def _has_many(attributes: str) -> bool:
    """Whether a tag has more attributes than the parser, which compares each with all before it, should see."""
    return len(attributes) > _MAX_ATTRIBUTES and len(_QUOTED.sub("", attributes).split()) > _MAX_ATTRIBUTES


def tame(html: str, where: str) -> str:
    """The page without the tags that would make the parser quadratic; most pages come back as they are.

    Raises:
        DocumentError: more than ``MAX_TAGS`` tags.
    """
    if html.count("<") > MAX_TAGS:
        raise DocumentError(f"{where}: more than {MAX_TAGS:,} HTML tags; split the page.")
    nesting = _Nesting()
    tamed = _TAG.sub(nesting.keep, html)
    # Formatting says nothing about blocks, so on a page that piles it up it can go altogether.
    return _FORMATTING_TAG.sub("", tamed) if nesting.reopened > _MAX_REOPENED else tamed


_EMPTY_ELEMENT = re.compile(r"""<([A-Za-z][\w:.-]*+)((?:[^<>"'/]|"[^"]*"|'[^']*'|/(?!>))*+)/>""")
_CDATA = re.compile(r"<!\[CDATA\[(.*?)(?:\]\]>|\Z)", re.DOTALL)


def as_html(xhtml: str) -> str:
    """XHTML as HTML: ``<title/>`` would swallow all that follows, CDATA would be a comment."""
    if "<![CDATA[" in xhtml:
        xhtml = _CDATA.sub(lambda m: m[1].replace("&", "&amp;").replace("<", "&lt;"), xhtml)
    return _EMPTY_ELEMENT.sub(lambda m: m[0] if m[1].lower() in _VOID else f"<{m[1]}{m[2]}></{m[1]}>", xhtml)
