"""What the frameworks' splitters share: a text with its metadata -> a document -> chunks -> what is said of each chunk.

The kind of a text is decided as for files: by its name or media type, or by what the user says; nothing is guessed from
the text. The classes of the frameworks are left to the files beside this one.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any
from uuid import UUID, uuid5

from faircut.chunkers import build
from faircut.chunkers.asking import needs_language_model
from faircut.chunkers.contract import Chunker, Models
from faircut.chunkers.output import heading_places, pages_of
from faircut.documents.markdown import MARKDOWN, markdown_blocks
from faircut.documents.plain import plain_blocks
from faircut.documents.source_code import PYTHON, SOURCE_CODE, python_blocks, syntax_blocks
from faircut.embedding import EMBEDDERS
from faircut.embedding.contract import Embedder
from faircut.errors import DocumentError, LlmError, SpecError, nearest
from faircut.llm.contract import LanguageModel
from faircut.records import Block, Chunk, Document, content_id
from faircut.text.language import guess_language

__all__ = ["OWN_KEYS", "Cutter", "Described", "check_format", "described", "embedder_of", "identity_of", "named"]

OWN_KEYS = ("chunk_id", "spans", "context", "headings", "pages")
"""The keys of the metadata that ``described`` writes, besides those of the frameworks for a chunk's begin and end."""

_NAMED = ("file_path", "file_name", "filename", "path", "source", "url")
_MEDIA = ("media_type", "mimetype", "mime_type", "content_type", "file_type")
_FORMATS: dict[str, Callable[[str], tuple[Block, ...]]] = {
    "plain": plain_blocks,
    "markdown": markdown_blocks,
    "python": python_blocks,
}
_NAMESPACE = UUID("6f4f2c9e-55a3-5d0e-9a7b-0c2f6f1d7c11")


@dataclass(frozen=True)
class Cutter:
    """A chunker with its models: texts in, documents and their chunks out. The models are loaded when they are needed.

    Raises:
        SpecError: a spec or the format is wrong.
        LlmError: the chunker asks a language model, and there is none.
    """

    chunker: Chunker
    embedder: Embedder
    language_model: LanguageModel | None = None
    format: str = "auto"

    def __post_init__(self) -> None:
        check_format(self.format)
        if needs_language_model(self.chunker) and self.language_model is None:
            raise LlmError(f"{self.chunker} asks a language model; pass one as language_model=ChatModel(...).")

    @classmethod
    def of(
        cls, chunker: str | Chunker, embedder: str | Embedder, language_model: LanguageModel | None, form: str
    ) -> "Cutter":
        """From specs or what they build. Raises as the class."""
        built = build(chunker) if isinstance(chunker, str) else chunker
        return cls(built, embedder_of(embedder), language_model, form)

    @cached_property
    def models(self) -> Models:
        """One embedder for all texts."""
        return Models.of(self.embedder, self.language_model)

    def document(self, text: str, identity: str, metadata: Mapping[str, Any]) -> Document:
        """The text as it is, with the structure of its kind.

        Raises:
            TypeError: it is no text.
        """
        _check_text(text)
        blocks, media_type = _structure(text, metadata, self.format)
        source = str(metadata.get("source") or metadata.get("file_path") or "")
        return Document(identity, text, blocks, "", source, media_type, guess_language(text))

    def cut(self, document: Document, *, room_taken: int = 0) -> list[Chunk]:
        """The chunks; ``room_taken`` are tokens that will be embedded in front of each, counted in the ceiling."""
        models = self.models
        return self.chunker.chunk(document, replace(models, overhead=models.overhead + room_taken))


def embedder_of(embedder: str | Embedder) -> Embedder:
    """The embedder that a spec names, or the embedder itself.

    Raises:
        SpecError: the spec is wrong.
    """
    built: Embedder = EMBEDDERS.build(embedder) if isinstance(embedder, str) else embedder
    return built


# ---------------------------------------------------------------- the kind of a text


def check_format(form: str) -> None:
    """Refuse a format that is none.

    Raises:
        SpecError: says what is possible.
    """
    if form not in ("auto", *_FORMATS):
        raise SpecError(f"unknown format {form!r}{nearest(str(form), ['auto', *_FORMATS])}")


def _structure(text: str, metadata: Mapping[str, Any], form: str) -> tuple[tuple[Block, ...], str]:
    """The blocks, and the media type."""
    extension = _extension(metadata)
    if form == "auto":
        form = _named_format(metadata, extension)
    if form == "code":
        return syntax_blocks(text, extension), f"text/x-{extension[1:]}"
    media_type = {"plain": "text/plain", "python": "text/x-python"}.get(form, f"text/{form}")
    return _FORMATS[form](text), media_type


def _named_format(metadata: Mapping[str, Any], extension: str) -> str:
    media = {str(metadata.get(key)).partition(";")[0].strip().lower() for key in _MEDIA}
    if media & {"text/markdown", "text/x-markdown"} or extension in MARKDOWN.extensions:
        return "markdown"
    if extension in PYTHON.extensions:
        return "python"
    return "code" if extension in SOURCE_CODE.extensions else "plain"


def _extension(metadata: Mapping[str, Any]) -> str:
    """The ending of the first name that the metadata have, in lower case with its dot; "" where there is none."""
    names = (str(metadata[key]) for key in _NAMED if isinstance(metadata.get(key), (str, PurePosixPath)))
    endings = (PurePosixPath(re.split(r"[?#]", name)[0].replace("\\", "/")).suffix.lower() for name in names)
    return next(filter(None, endings), "")


def identity_of(text: str, metadata: Mapping[str, Any], given: str | None) -> str:
    """The id of a document: the one given, or its source and a hash of text and metadata, the same at every run.

    Raises:
        TypeError: the text is none.
    """
    _check_text(text)
    if given:
        return given
    about = json.dumps(metadata, sort_keys=True, default=str, ensure_ascii=True)
    source = str(metadata.get("source") or metadata.get("file_path") or "text")
    return f"{source}#{content_id(text, about)}"


def _check_text(text: object) -> None:
    if not isinstance(text, str):
        raise TypeError(f"a document's text must be str, found {type(text).__name__}")


# ---------------------------------------------------------------- what is said of a chunk


@dataclass(frozen=True)
class Described:
    """A chunk with what goes into a framework's metadata; all values are text or whole numbers, as stores want them.

    ``uuid`` is made of the content. A chunk that stands twice among its document's has another one each time.
    """

    chunk: Chunk
    uuid: str
    start: int
    end: int
    about: dict[str, Any]


def described(chunks: Iterable[Chunk], document: Document) -> list[Described]:
    """Each chunk with its metadata: ``chunk_id``, ``spans`` ("0-12,20-31"), and where there are any ``context``,
    ``headings`` ("Guide > Install") and ``pages`` ("3,4").

    Raises:
        DocumentError: a chunk is of another document.
    """
    headings = heading_places(document)
    seen: dict[str, int] = {}
    found = []
    for chunk in chunks:
        if chunk.document_id != document.id:
            raise DocumentError(f"a chunk of {chunk.document_id!r} was given with the document {document.id!r}.")
        start, end = min(s.start for s in chunk.spans), max(s.end for s in chunk.spans)
        about = {
            "chunk_id": chunk.id,
            "spans": ",".join(f"{s.start}-{s.end}" for s in chunk.spans),
            "context": chunk.context,
            "headings": " > ".join(headings.above(start, end - 1)),
            "pages": ",".join(map(str, pages_of(document, start, end - 1))),
        }
        seen[chunk.id] = seen.get(chunk.id, 0) + 1
        uuid = str(uuid5(_NAMESPACE, f"{document.id}\n{chunk.id}\n{seen[chunk.id]}"))
        found.append(Described(chunk, uuid, start, end, {key: value for key, value in about.items() if value}))
    return found


def named(document: Document) -> dict[str, Any]:
    """What a document of faircut's own says of itself as metadata."""
    about = {"document": document.id, "title": document.title, "source": document.source or document.id}
    return {key: value for key, value in about.items() if value}
