"""Office Open XML packages (DOCX, PPTX): parts, the relations between them, title and language.

What all readers of packages say alike is here too; what is in the parts is left to them.
Reference: ECMA-376, part 2 (Open Packaging Conventions).
"""

import posixpath
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from faircut.documents.archive import Archive, open_archive, parse_xml
from faircut.documents.building import DocumentBuilder
from faircut.errors import DocumentError, FaircutWarning
from faircut.records import Document

__all__ = ["ALTERNATE", "Package", "Relation", "alternative", "open_package", "titled", "warn_left_out"]

_RELATIONS = "{http://schemas.openxmlformats.org/package/2006/relationships}"
_COMPATIBILITY = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_DUBLIN_CORE = "{http://purl.org/dc/elements/1.1/}"
ALTERNATE = f"{_COMPATIBILITY}AlternateContent"

# The "strict" variant of the formats differs in the names of its namespaces only.
_STRICT = re.compile(rb"""(["'])http://purl\.oclc\.org/ooxml/(\w+)/([\w/]+)\1""")
_TRANSITIONAL = rb"\1http://schemas.openxmlformats.org/\2/2006/\3\1"

# What programs write into the title themselves.
_NO_TITLE = re.compile(r"(untitled|document|presentation|powerpoint presentation|microsoft \w+ - .*|.*\.\w{3,4})", re.I)


@dataclass(frozen=True, slots=True)
class Relation:
    """What a part refers to: the last word of the relation's type (``slide``, ``footnotes``), and the part's name."""

    kind: str
    target: str


@dataclass
class Package:
    """An open package. Parts are named without the leading slash, as in the archive."""

    archive: Archive
    _relations: dict[str, dict[str, Relation]] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        """The file."""
        return self.archive.path

    def xml(self, part: str) -> Element:
        """The root element of a part, with the namespaces of the transitional variant."""
        data = _STRICT.sub(_TRANSITIONAL, self.archive.read(part))
        return parse_xml(data, f"{self.path}: {part}")

    def relations(self, part: str = "") -> dict[str, Relation]:
        """What a part refers to inside of the package, by id; of the package itself for an empty name."""
        if part not in self._relations:
            folder, name = posixpath.split(part)
            source = posixpath.join(folder, "_rels", f"{name}.rels")
            exists = self.archive.find(source) is not None
            self._relations[part] = dict(_inner(self.xml(source), folder)) if exists else {}
        return self._relations[part]

    def related(self, part: str, kind: str) -> list[str]:
        """The parts of a kind that a part refers to and that exist."""
        found = (r.target for r in self.relations(part).values() if r.kind == kind)
        return [target for target in found if self.archive.find(target) is not None]

    def main_part(self, usual: str) -> str:
        """The part that holds the document. ``usual`` is its usual name, for packages that lack the relation.

        Raises:
            DocumentError: the archive is no package of this kind.
        """
        folder = usual.split("/")[0]
        named = self.related("", "officeDocument")
        part = next((name for name in named if self._is_of(name, folder)), usual)
        if self.archive.find(part) is None or not self._is_of(part, folder):
            what = "another Office file" if named else "an archive of another kind"
            raise DocumentError(
                f"{self.path}: not what its name says: it is {what}, without {usual!r}; "
                "give it the extension of its kind."
            )
        return part

    def _is_of(self, part: str, folder: str) -> bool:
        return {"word": "document", "ppt": "presentation"}[folder] == self.xml(part).tag.rpartition("}")[2]

    @cached_property
    def _properties(self) -> dict[str, str]:
        parts = self.related("", "core-properties") or ["docProps/core.xml"]
        if self.archive.find(parts[0]) is None:
            return {}
        return {element.tag: (element.text or "").strip() for element in self.xml(parts[0])}

    @property
    def title(self) -> str:
        """The title in the properties, or nothing when it is one that a program put there."""
        title = " ".join(self._properties.get(f"{_DUBLIN_CORE}title", "").split())
        return "" if _NO_TITLE.fullmatch(title) else title

    @property
    def language(self) -> str | None:
        """The language in the properties; the language of the spelling checker says too little."""
        return self._properties.get(f"{_DUBLIN_CORE}language") or None


@contextmanager
def open_package(path: Path) -> Iterator[Package]:
    """The package in a file; raises as ``open_archive`` does."""
    with open_archive(path) as archive:
        yield Package(archive)


def _inner(relations: Element, folder: str) -> Iterator[tuple[str, Relation]]:
    for element in relations.iter(f"{_RELATIONS}Relationship"):
        if element.get("TargetMode") == "External":
            continue
        target = unquote(element.get("Target", ""))
        name = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
        yield element.get("Id", ""), Relation(element.get("Type", "").rpartition("/")[2], name)


def alternative(element: Element) -> Element | None:
    """Of an ``AlternateContent`` the one variant that is read: the first choice, or the fall-back when it is empty."""
    choices = [c for c in element if c.tag == f"{_COMPATIBILITY}Choice" and len(c)]
    return next(iter([*choices, *element.findall(f"{_COMPATIBILITY}Fallback")]), None)


def titled(builder: DocumentBuilder, document_id: str, package: Package, media_type: str) -> Document:
    """The document, its title from the properties, else its first heading, else the file's name."""
    path = package.path
    document = builder.build(
        document_id, title=package.title, source=str(path), media_type=media_type, language=package.language
    )
    heading = next((document.text[b.span.start : b.span.end] for b in document.blocks if b.kind == "heading"), "")
    return replace(document, title=document.title or heading.strip() or path.stem)


def warn_left_out(path: Path, counts: Mapping[str, int]) -> None:
    """One warning for all that a file has and its document has not, with counts; none when that is nothing."""
    found = [f"{count} x {what}" for what, count in counts.items() if count]
    if found:
        warnings.warn(f"{path}: left out: {', '.join(found)}.", FaircutWarning, stacklevel=2)
