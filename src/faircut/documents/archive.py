"""Zip archives and XML from strangers -> bytes and elements within bounds; for EPUB, DOCX, PPTX and their like.

Nothing is unpacked to disk, no entity is expanded, nothing is fetched. What the parts mean is left to the readers.
"""

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html.entities import name2codepoint
from pathlib import Path
from typing import IO
from xml.etree.ElementTree import Element, ParseError, XMLParser
from xml.parsers import expat

from faircut.errors import DocumentError

__all__ = ["MAX_DEPTH", "MAX_ELEMENTS", "MAX_EXPANDED", "MAX_XML", "Archive", "open_archive", "parse_xml"]

MAX_EXPANDED = 512 * 2**20
"""Bytes that may be read from one archive in all."""
MAX_RATIO = 250
"""Times that a member above ``RATIO_FLOOR`` bytes may be larger than its compressed form; deflate reaches 1,032."""
RATIO_FLOOR = 16 * 2**20
MAX_DIRECTORY = 8 * 2**20
"""Bytes of the list of members (about 100,000 of them)."""
MAX_DEPTH = 1000
"""Levels of XML elements."""
MAX_ELEMENTS = 2_000_000
"""Elements of one XML part (some 1,000 pages of a text document); it may have three times as many attributes."""
MAX_XML = 128 * 2**20
"""Bytes of one XML part. These three bounds keep its elements below 1 GiB of memory."""

_PIECE = 2**16  # bytes read at a time
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # the container of old Office files, and of new ones with a password


class _Bounded(io.BufferedReader):
    """A file that refuses to be read in one very large piece, as ``zipfile`` does with the list of members."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > MAX_DIRECTORY:
            raise zipfile.BadZipFile("its list of members is too large")
        return super().read(size)


@dataclass
class Archive:
    """An open zip archive. ``names`` are its files in their order, with ``/`` between folders.

    A name is found as it stands, else whatever its case, as the Office formats want it.
    """

    path: Path
    _zip: zipfile.ZipFile
    _members: dict[str, zipfile.ZipInfo]
    _folded: dict[str, str] = field(init=False)
    _left: int = MAX_EXPANDED

    def __post_init__(self) -> None:
        self._folded = {name.casefold(): name for name in self._members}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all members that are files."""
        return tuple(self._members)

    def find(self, name: str) -> str | None:
        """The member's name as the archive writes it, or None."""
        return name if name in self._members else self._folded.get(name.casefold())

    def read(self, name: str, limit: int = MAX_EXPANDED) -> bytes:
        """The bytes of a member, at most ``limit`` of them.

        Raises:
            DocumentError: no such member, encrypted, damaged, larger than ``limit``, or expanding like a zip bomb.
        """
        found = self.find(name)
        if found is None:
            raise DocumentError(f"{self.path}: damaged or of another kind: it has no {name!r}; fetch or save it again.")
        member = self._members[found]
        self._refuse_unreadable(member)
        try:
            with self._zip.open(member) as stream:
                return self._read_pieces(stream, member, limit)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, struct.error) as error:
            raise DocumentError(
                f"{self.path}: damaged: {found!r} cannot be unpacked ({error}); fetch or save it again."
            ) from error

    def _refuse_unreadable(self, member: zipfile.ZipInfo) -> None:
        if member.flag_bits & 0x1:
            raise DocumentError(f"{self.path}: encrypted: {member.filename!r} needs a password; save it without one.")
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise DocumentError(
                f"{self.path}: {member.filename!r} is packed with method {member.compress_type}, "
                "not with deflate as documents are; save it again."
            )

    def _read_pieces(self, stream: IO[bytes], member: zipfile.ZipInfo, limit: int) -> bytes:
        """The member, refused at the first piece that goes too far: declared sizes may lie."""
        limit, parts, size = min(limit, self._left), bytearray(), member.file_size
        ratio_limit = max(RATIO_FLOOR, MAX_RATIO * member.compress_size)
        while size <= min(limit, ratio_limit):
            piece = stream.read(_PIECE)
            if not piece:
                self._left -= len(parts)
                return bytes(parts)
            parts += piece
            size = max(size, len(parts))
        why = "a zip bomb" if size > ratio_limit else f"more than the {limit:,} bytes allowed"
        raise DocumentError(
            f"{self.path}: refused: {member.filename!r} expands from {member.compress_size:,} to "
            f"{size:,} bytes or more, {why}; if it is no attack, save its text in another format."
        )


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """The archive in a file, for the length of a ``with`` block.

    Raises:
        DocumentError: empty, no zip archive, damaged, or with members that point outside of it.
        OSError: the file cannot be opened.
    """
    with path.open("rb", buffering=0) as raw, _Bounded(raw) as file:
        start = file.peek(8)[:8]
        if not start:
            raise DocumentError(f"{path}: empty; remove the file or replace it by a whole one.")
        if start == _OLE:
            raise DocumentError(
                f"{path}: encrypted with a password or in the old Office format; "
                "save it without a password in the new format."
            )
        try:
            archive = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error, UnicodeError) as error:
            what = "damaged or cut short" if start.startswith(b"PK") else "not what its name says"
            raise DocumentError(
                f"{path}: {what}: no readable zip archive ({error}); fetch or save it again."
            ) from error
        with archive:
            yield Archive(path, archive, _members(path, archive))


_DRIVE = re.compile(r"[A-Za-z]:")


def _members(path: Path, archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """The files by their names; of two with one name the later counts, as for all that use the list of members."""
    members = {}
    for member in archive.infolist():
        name = member.filename.replace("\\", "/")  # some tools on Windows write it so
        if name.startswith("/") or _DRIVE.match(name) or ".." in name.split("/"):
            raise DocumentError(
                f"{path}: refused: its member {member.filename!r} points outside of the archive; save it anew."
            )
        if not name.endswith("/"):
            members[name] = member
    return members


# ---------------------------------------------------------------- XML


def parse_xml(data: bytes, where: str) -> Element:
    """The root element of an XML part, as ``xml.etree`` builds it (namespaces as ``{uri}name``).

    Character entities of HTML are known (old books use them under a DOCTYPE); a DOCTYPE is read over.

    Args:
        data: the bytes of the part, in the encoding that they declare.
        where: names the part in errors, for example ``book.epub: content.opf``.

    Raises:
        DocumentError: not well-formed, declares entities, deeper than ``MAX_DEPTH``, more than the limits above.
    """
    _refuse_mass(data, where)
    try:
        _refuse_entities(data, where)
        parser = XMLParser()  # noqa: S314  entities were refused above, depth and size are bounded
        parser.entity.update((name, chr(code)) for name, code in name2codepoint.items())
        parser.feed(data)
        root: Element = parser.close()
    except (ParseError, expat.ExpatError, ValueError, LookupError) as error:
        raise DocumentError(f"{where}: damaged: not well-formed XML ({error}); fetch or save it again.") from error
    _refuse_depth(root, where)
    return root


def _refuse_mass(data: bytes, where: str) -> None:
    """Counted in the bytes, before memory is spent on elements."""
    if len(data) > MAX_XML:
        raise DocumentError(f"{where}: refused: {len(data):,} bytes of XML, more than {MAX_XML:,}; split the document.")
    if data.count(b"<") - data.count(b"</") > MAX_ELEMENTS:
        raise DocumentError(f"{where}: refused: more than {MAX_ELEMENTS:,} XML elements; split the document.")
    if data.count(b"=") > 3 * MAX_ELEMENTS:
        raise DocumentError(f"{where}: refused: more than {3 * MAX_ELEMENTS:,} XML attributes; split the document.")


class _PrologRead(Exception):  # noqa: N818  no error: it stops the parser at the first element
    pass


def _refuse_entities(data: bytes, where: str) -> None:
    """Read the prolog, the only place where entities can be declared, and refuse it when it does."""

    def declared(*declaration: object) -> None:
        raise DocumentError(f"{where}: refused: its DOCTYPE declares the entity {declaration[0]!r}; save it anew.")

    def element(*_: object) -> None:
        raise _PrologRead

    parser = expat.ParserCreate()
    parser.EntityDeclHandler = declared
    parser.StartElementHandler = element
    try:
        parser.Parse(data, True)
    except _PrologRead:
        return


def _refuse_depth(root: Element, where: str) -> None:
    level, depth = [root], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise DocumentError(
                f"{where}: refused: XML elements nested deeper than {MAX_DEPTH:,} levels; save it anew."
            )
        level = [child for element in level for child in element]
