"""Haystack: faircut's chunkers as a component that splits, its embedders as two that embed, chunks as ``Document``s.

Haystack's splitters as chunkers: ``as_chunker``. Pipelines and stores are Haystack's.
"""

import asyncio
from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

from faircut.chunkers.contract import Chunker
from faircut.chunkers.python import PythonChunker
from faircut.embedding.contract import Embedder
from faircut.errors import DocumentError, SpecError
from faircut.integrations import given
from faircut.integrations.cutting import Cutter, Described, described, embedder_of, named
from faircut.integrations.extras import MissingFrameworkError
from faircut.llm.contract import LanguageModel
from faircut.records import Chunk
from faircut.records import Document as FaircutDocument

try:
    from haystack import Document, component, default_from_dict, default_to_dict
except ImportError as error:
    raise MissingFrameworkError("Haystack", "haystack", error) from error

__all__ = ["FaircutDocumentEmbedder", "FaircutSplitter", "FaircutTextEmbedder", "as_chunker", "to_documents"]


@component
class FaircutSplitter:
    """Any chunker of faircut as a component that splits documents.

    The content of a piece is the document's own. The meta are the document's, with ``source_id``, ``split_id``,
    ``split_idx_start`` and ``split_idx_end`` (characters), ``chunk_id``, ``spans`` ("0-12,20-31"), ``context``,
    ``headings``, ``pages``; these win over keys of the same name. Embedders embed ``context`` in front of the content
    when it is among their ``meta_fields_to_embed``.

    Args:
        chunker: a spec such as ``hybrid`` or ``semantic(threshold=p85)``, or a chunker.
        embedder: a spec or an embedder: whose tokens are counted, and whose vectors are used where cutting needs them.
        format: ``markdown``, ``plain``, ``python``, or ``auto``: by the name or media type in the meta, else plain.
        language_model: for chunkers that ask one; a pipeline with it cannot be serialised.

    Raises:
        SpecError: a spec or the format is wrong.
        LlmError: the chunker asks a language model and there is none.
    """

    def __init__(
        self,
        chunker: str | Chunker = "auto",
        *,
        embedder: str | Embedder = "minilm",
        format: str = "auto",  # noqa: A002  # the word of the documentation
        language_model: LanguageModel | None = None,
    ) -> None:
        self._cutter = Cutter.of(chunker, embedder, language_model, format)
        self.chunker = str(chunker)
        self.embedder = str(embedder)
        self.format = format
        self.language_model = language_model

    def warm_up(self) -> None:
        """Load the tokenizer and what the embedder loads with it."""
        _ = self._cutter.models

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, list[Document]]:
        """The pieces of all documents, in order; ``documents`` is the key. Blank documents have none.

        Raises:
            TypeError: what was given is no list of documents.
            DocumentError: a document has no text, but bytes or nothing.
        """
        if not isinstance(documents, Sequence) or not all(isinstance(one, Document) for one in documents):
            raise TypeError(f"FaircutSplitter takes a list of Documents, found {type(documents).__name__}")
        for one in documents:
            if one.content is None:
                raise DocumentError(f"the document {one.id!r} has no text; convert it before it is split.")
        return {"documents": [piece for one in documents for piece in self._pieces(one)]}

    @component.output_types(documents=list[Document])
    async def run_async(self, documents: list[Document]) -> dict[str, list[Document]]:
        """As ``run``, in a thread."""
        return await asyncio.to_thread(self.run, documents)

    def _pieces(self, source: Document) -> list[Document]:
        document = self._cutter.document(source.content, source.id, source.meta)
        found = described(self._cutter.cut(document), document)
        return [_document(one, number, source.meta) for number, one in enumerate(found)]

    def to_dict(self) -> dict[str, Any]:
        """The component as plain values.

        Raises:
            SpecError: it has a language model, which is a live connection.
        """
        if self.language_model is not None:
            raise SpecError(f"{self.chunker} has a language model, which cannot be serialised; add it when loading.")
        parameters: dict[str, Any] = default_to_dict(
            self, chunker=self.chunker, embedder=self.embedder, format=self.format
        )
        return parameters

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "FaircutSplitter":
        """The component that ``to_dict`` described. Raises as the class."""
        made: FaircutSplitter = default_from_dict(cls, data)
        return made


def _document(one: Described, number: int, meta: dict[str, Any]) -> Document:
    places = {"source_id": one.chunk.document_id, "split_id": number}
    about = {**deepcopy(meta), **places, "split_idx_start": one.start, "split_idx_end": one.end, **one.about}
    return Document(content=one.chunk.text, meta=about)


@component
class FaircutTextEmbedder:
    """An embedder of faircut for questions: unit vectors, with the model's own prefix.

    Raises:
        SpecError: the spec is wrong.
    """

    def __init__(self, embedder: str | Embedder = "minilm") -> None:
        self._embedder = embedder_of(embedder)
        self.embedder = str(embedder)

    @component.output_types(embedding=list[float])
    def run(self, text: str) -> dict[str, list[float]]:
        """The vector of a question, under ``embedding``.

        Raises:
            TypeError: it is no text.
        """
        if not isinstance(text, str):
            raise TypeError(f"FaircutTextEmbedder takes a text, found {type(text).__name__}")
        return {"embedding": self._embedder.embed([text], "query")[0].tolist()}

    @component.output_types(embedding=list[float])
    async def run_async(self, text: str) -> dict[str, list[float]]:
        """As ``run``, in a thread."""
        return await asyncio.to_thread(self.run, text)

    def to_dict(self) -> dict[str, Any]:
        """The component as plain values."""
        parameters: dict[str, Any] = default_to_dict(self, embedder=self.embedder)
        return parameters


@component
class FaircutDocumentEmbedder:
    """An embedder of faircut for documents: unit vectors, with the model's own prefix.

    Args:
        embedder: a spec or an embedder.
        meta_fields_to_embed: keys of the meta whose values are embedded in front of the content, a line each; the
            default is what faircut embeds when it compares.

    Raises:
        SpecError: the spec is wrong.
    """

    def __init__(
        self, embedder: str | Embedder = "minilm", *, meta_fields_to_embed: Sequence[str] = ("context",)
    ) -> None:
        self._embedder = embedder_of(embedder)
        self.embedder = str(embedder)
        self.meta_fields_to_embed = list(meta_fields_to_embed)

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, list[Document]]:
        """The documents with their vectors, in order, under ``documents``; those given stay as they are."""
        vectors = self._embedder.embed([self._text(one) for one in documents], "passage").tolist()
        pairs = zip(documents, vectors, strict=True)
        return {"documents": [replace(document, embedding=vector) for document, vector in pairs]}

    @component.output_types(documents=list[Document])
    async def run_async(self, documents: list[Document]) -> dict[str, list[Document]]:
        """As ``run``, in a thread."""
        return await asyncio.to_thread(self.run, documents)

    def _text(self, document: Document) -> str:
        values = (document.meta.get(key) for key in self.meta_fields_to_embed)
        return "\n".join([*(str(value) for value in values if value is not None), document.content or ""])

    def to_dict(self) -> dict[str, Any]:
        """The component as plain values."""
        options = {"embedder": self.embedder, "meta_fields_to_embed": self.meta_fields_to_embed}
        parameters: dict[str, Any] = default_to_dict(self, **options)
        return parameters


def as_chunker(splitter: Any, *, name: str = "") -> PythonChunker:
    """A Haystack splitter as a chunker, see ``faircut.integrations.as_chunker``; of a hierarchy its leaves.

    Raises:
        SpecError: it is no component.
    """
    if not hasattr(splitter, "__haystack_input__"):
        raise SpecError(f"expected a Haystack component that splits documents, found {type(splitter).__name__}.")
    return given.as_chunker(splitter, name=name)


def to_documents(chunks: Iterable[Chunk], document: FaircutDocument) -> list[Document]:
    """Chunks that faircut made as Haystack's documents, with ``document``, ``title`` and ``source`` in the meta.

    Raises:
        DocumentError: a chunk is of another document.
    """
    found = described(chunks, document)
    return [_document(one, number, named(document)) for number, one in enumerate(found)]
