"""A path, folder, glob or ``corpus.jsonl[.gz]`` -> documents, streamed. Which reader takes a file is decided here.

How a kind of file is read is left to its reader; a new reader is one file and one name in ``READERS``.
"""

import glob
import os
import re
import warnings
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from faircut.documents.contract import Reader
from faircut.documents.delimited import DELIMITED
from faircut.documents.docx import DOCX
from faircut.documents.email_message import EMAIL
from faircut.documents.epub import EPUB
from faircut.documents.html import HTML
from faircut.documents.markdown import MARKDOWN
from faircut.documents.native import NATIVE_EXTENSIONS, native_document, native_id, native_sources
from faircut.documents.pdf import PDF
from faircut.documents.plain import PLAIN
from faircut.documents.pptx import PPTX
from faircut.documents.source_code import PYTHON, SOURCE_CODE
from faircut.documents.sources import Source
from faircut.documents.spreadsheet import SPREADSHEET
from faircut.errors import CorpusError, DocumentError, FaircutWarning
from faircut.files import is_utf8
from faircut.records import Document
from faircut.text.language import guess_language

__all__ = [
    "READERS",
    "Unread",
    "empty_corpus",
    "id_taken",
    "list_sources",
    "read",
    "read_corpus",
    "read_documents",
    "read_source",
]

READERS: tuple[Reader, ...] = (
    PLAIN, MARKDOWN, HTML, PDF, DOCX, PPTX, SPREADSHEET, DELIMITED, EPUB, EMAIL, PYTHON, SOURCE_CODE,
)  # fmt: skip

OnError = Callable[[DocumentError], None]


@dataclass(frozen=True, slots=True)
class Unread:
    """A document that could not be read: the ``id`` that it would have (its place where that is unknown), and why.

    The reason names the document by this id, so that it tells nothing of the folders above the corpus.
    """

    id: str
    reason: str


def read(path: str | Path) -> Document:
    """The document in one file; its id is the file's name, its title comes from the text or the file's name.

    Raises:
        DocumentError: missing, unreadable, of an unknown kind, not text, empty; names the file and what to do.
    """
    path = Path(path)
    if path.is_dir():
        raise DocumentError(f"{path}: a folder, not a file; read_corpus reads folders.")
    if _is_native(path):
        raise DocumentError(f"{path}: a corpus of many documents, not one; read_corpus reads it.")
    return read_source(Source(str(path), path, path.name))


def read_corpus(source: str | Path, *, on_error: OnError | None = None) -> Iterator[Document]:
    """Stream the documents of a file, a folder (with all below it), a glob pattern or a native corpus.

    Files come sorted by their path; hidden ones (a name that begins with a dot) are left out. The id of a file is its
    POSIX path below the folder, or below the part of the pattern without wildcards.

    Args:
        source: the file, folder, pattern, or ``.jsonl[.gz]``.
        on_error: takes each ``DocumentError`` and reading goes on; without it the first one is raised.

    Warns:
        FaircutWarning: files in a folder or pattern were left out because their kind is unknown, or because they are
            source code without any, with counts.

    Raises:
        DocumentError: nothing there, no document at all (also with ``on_error``), a bad file, an id given twice.
    """
    on_source = None if on_error is None else lambda _source, error: on_error(error)
    return _checked(list_sources(source), source, on_source)


def read_documents(
    source: str | Path,
    advance: Callable[[int], None] | None = None,
    *,
    on_unread: Callable[[Unread], None] | None = None,
) -> dict[str, Document]:
    """All documents of a corpus by id, in its order; what cannot be read is told all at once.

    Args:
        source: as of ``read_corpus``.
        advance: called with the number of documents read so far.
        on_unread: takes each document that cannot be read, and the others are returned; without it they are an error.

    Raises:
        DocumentError: one document cannot be read, or there is none.
        CorpusError: several cannot be read. With ``on_unread``: none can, or a file of many documents ends too early.
    """
    documents: dict[str, Document] = {}
    problems: list[tuple[Source, DocumentError]] = []
    try:
        for document in _checked(list_sources(source), source, lambda *problem: problems.append(problem)):
            documents[document.id] = document
            if advance:
                advance(len(documents))
    except DocumentError:
        if not problems:
            raise
    if on_unread and documents and not any(one.problem for one, _ in problems):
        for one, error in problems:
            on_unread(_unread(one, error))
    elif len(problems) == 1:
        raise problems[0][1]
    elif problems:
        raise CorpusError([str(error) for _, error in problems])
    return documents


def _unread(source: Source, error: DocumentError) -> Unread:
    """The reason without the folders: it is shown in reports, which are sent to others."""
    place = source.place.removeprefix(f"{source.path.parent}{os.sep}")
    reason = str(error).removeprefix(f"{source.place}: ").replace(f"{source.path.parent}{os.sep}", "")
    if source.line is None:
        return Unread(source.id, reason)
    identity = native_id(source.line)
    return Unread(identity, f"{place}: {reason}") if identity else Unread(place, reason)


def list_sources(source: str | Path) -> Iterable[Source]:
    """Where the documents of a file, a folder, a glob pattern or a native corpus are, as ``read_corpus`` reads them.

    Raises:
        DocumentError: nothing there; while iterating, a folder cannot be read.
    """
    path = Path(source)
    if not str(source).strip():  # it would be the current folder
        raise DocumentError("the path of the documents is empty; name a file, a folder or a pattern.")
    if path.is_dir():
        return _sources_of(path, _walk(path), str(source), skip_native=True)
    if path.exists():
        return native_sources(path) if _is_native(path) else [Source(str(path), path, path.name)]
    if _WILDCARD.search(str(source)):
        base = _fixed_part(path)
        return _sources_of(base, _matches(str(source)), str(source), skip_native=False)
    raise DocumentError(f"{path}: no such file or folder; check the path.")


def read_source(source: Source) -> Document:
    """The document at one place, its language guessed where it is not said.

    Raises:
        DocumentError: as ``read``; the place is named.
    """
    if source.problem:
        raise DocumentError(source.problem)
    if source.line is not None:
        return with_language(native_document(source.line, source.place))
    reader = _reader_of(source.path)
    if reader is None:
        raise DocumentError(f"{source.path}: {_kind(source.path)} files are not read. Possible: {_possible()}.")
    return _read(reader, source.path, source.id)


def empty_corpus(source: str | Path) -> DocumentError:
    """The error for a corpus without a document."""
    return DocumentError(f"{source}: the corpus is empty, no document was read. Possible: {_possible()}.")


def _checked(
    sources: Iterable[Source], source: str | Path, on_error: Callable[[Source, DocumentError], None] | None
) -> Iterator[Document]:
    """Documents with unique ids, and at least one."""
    first: dict[str, str] = {}
    for one in sources:
        try:
            document = read_source(one)
            if document.id in first:
                raise id_taken(one.place, document.id, first[document.id])
        except DocumentError as error:
            if on_error is None:
                raise
            on_error(one, error)
            continue
        first[document.id] = one.place
        yield document
    if not first:
        raise empty_corpus(source)


def id_taken(place: str, document_id: str, other: str) -> DocumentError:
    """The error for the second of two documents with one id."""
    return DocumentError(f"{place}: the id {document_id!r} is taken by {other}; rename one.")


def _read(reader: Reader, path: Path, document_id: str) -> Document:
    if not is_utf8(document_id):
        raise DocumentError(f"{path}: the name of the file or of a folder is not UTF-8; rename it.")
    try:
        return with_language(reader.read(path, document_id))
    except OSError as error:
        raise DocumentError(
            f"{path}: cannot be read: {error.strerror or error}; check that it is there and may be read."
        ) from error


def with_language(document: Document) -> Document:
    """The document with its language guessed where neither the file nor the record says it."""
    return document if document.language else replace(document, language=guess_language(document.text))


# ---------------------------------------------------------------- kinds of files


def _extension(path: Path) -> str:
    return path.suffix.lower()


def _reader_of(path: Path) -> Reader | None:
    return next((r for r in READERS if _extension(path) in r.extensions), None)


def _is_native(path: Path) -> bool:
    return path.name.lower().endswith(NATIVE_EXTENSIONS)


def _kind(path: Path) -> str:
    return _extension(path) or "extensionless"


def _possible() -> str:
    return " ".join(e for r in READERS for e in r.extensions) + " " + " ".join(NATIVE_EXTENSIONS)


# ---------------------------------------------------------------- folders and patterns


def _sources_of(base: Path, files: Iterable[Path], source: str, *, skip_native: bool) -> Iterator[Source]:
    """The readable files in the order of their ids; those of unknown kind are counted and named in one warning.

    Inside a folder a ``.jsonl`` may be anything (questions, for one), so it is a corpus only when it is named. Empty
    source code is counted too, and is no error as another empty file is.
    """
    skipped: Counter[str] = Counter()
    blank = 0
    for identity, path in sorted((p.relative_to(base).as_posix(), p) for p in files):
        if _is_native(path) and not skip_native:
            yield from native_sources(path)
        elif reader := _reader_of(path):
            if reader in _CODE and _is_blank(path):
                blank += 1
            else:
                yield Source(str(path), path, identity)
        else:
            skipped[".jsonl" if _is_native(path) else _kind(path)] += 1
    if skipped:
        _warn_skipped(source, skipped)
    if blank:
        what = "file of source code that is" if blank == 1 else "files of source code that are"
        warnings.warn(f"{source}: skipped {blank} {what} empty.", FaircutWarning, stacklevel=2)


_CODE = (PYTHON, SOURCE_CODE)  # an empty __init__.py says something by being there
_BLANK = 1000  # bytes up to which a file may be empty but for white space


def _is_blank(path: Path) -> bool:
    try:
        return path.stat().st_size <= _BLANK and not path.read_bytes().removeprefix(BOM_UTF8).strip()
    except OSError:
        return False  # reading it says what is wrong


def _warn_skipped(source: str, skipped: Counter[str]) -> None:
    kinds = ", ".join(f"{count} {kind}" for kind, count in skipped.most_common())
    hint = " A corpus in .jsonl is read when it is named itself." if ".jsonl" in skipped else ""
    files = f"{skipped.total()} file{'s' if skipped.total() > 1 else ''}"
    message = f"{source}: skipped {files} of unknown kind ({kinds}). Possible: {_possible()}.{hint}"
    warnings.warn(message, FaircutWarning, stacklevel=2)


def _walk(folder: Path) -> Iterator[Path]:
    """All visible files below a folder. Links to folders are followed, each real folder once."""
    waiting, seen = [folder], set[str]()
    while waiting:
        current = waiting.pop()
        real = os.path.realpath(current)
        if real in seen:
            continue
        seen.add(real)
        try:
            children = sorted(current.iterdir(), reverse=True)
        except OSError as error:
            raise DocumentError(f"{current}: cannot be read: {error.strerror}; check that it may be read.") from error
        visible = [c for c in children if not c.name.startswith(".")]
        waiting += [c for c in visible if c.is_dir()]
        # A broken link is kept, so that reading it says so; pipes and devices are not.
        yield from (c for c in visible if c.is_file() or (c.is_symlink() and not c.exists()))


_WILDCARD = re.compile(r"[*?\[]")


def _matches(pattern: str) -> Iterator[Path]:
    return (path for path in map(Path, glob.iglob(pattern, recursive=True)) if path.is_file())


def _fixed_part(pattern: Path) -> Path:
    """The folder in front of the first wildcard."""
    fixed = []
    for part in pattern.parts[:-1]:
        if _WILDCARD.search(part):
            break
        fixed.append(part)
    return Path(*fixed)
