"""LangChain: faircut's chunkers as a ``TextSplitter``, its embedders as ``Embeddings``, chunks as ``Document``s.

LangChain's splitters as chunkers: ``as_chunker``. Stores and chains are LangChain's.
"""

from collections.abc import Iterable, Sequence
from copy import deepcopy
from typing import Any, Literal

from faircut.chunkers.contract import Chunker
from faircut.chunkers.python import PythonChunker
from faircut.embedding.contract import Embedder
from faircut.errors import SpecError
from faircut.integrations import given
from faircut.integrations.cutting import Cutter, Described, described, embedder_of, identity_of, named
from faircut.integrations.extras import MissingFrameworkError
from faircut.llm.contract import LanguageModel
from faircut.records import Chunk
from faircut.records import Document as FaircutDocument

try:
    from langchain_core.documents import BaseDocumentTransformer, Document
    from langchain_core.embeddings import Embeddings
    from langchain_text_splitters import TextSplitter
except ImportError as error:
    raise MissingFrameworkError("LangChain", "langchain", error) from error

__all__ = ["FaircutEmbeddings", "FaircutSplitter", "as_chunker", "to_documents"]

Context = Literal["metadata", "text"]


class FaircutSplitter(TextSplitter):
    """Any chunker of faircut where LangChain wants a text splitter.

    The text of a piece is the document's own. The metadata are the document's, with ``start_index`` and ``end_index``
    (characters), ``chunk_id``, ``spans`` ("0-12,20-31"), ``context``, ``headings``, ``pages``; these win over keys of
    the same name. ``id`` is made of the content, so that indexing a document again replaces its pieces.

    Args:
        chunker: a spec such as ``hybrid`` or ``semantic(threshold=p85)``, or a chunker.
        embedder: a spec or an embedder: whose tokens are counted, and whose vectors are used where cutting needs them.
        format: ``markdown``, ``plain``, ``python``, or ``auto``: by the name or media type in the metadata, else plain.
        language_model: for chunkers that ask one.
        context: where the heading path, the repeated header of a table or a model's words for a chunk go:
            ``metadata``, or also in front of the ``text``, as faircut embeds it when it compares.
        add_start_index: whether ``start_index`` is in the metadata.

    Raises:
        SpecError: a spec or an option is wrong.
        LlmError: the chunker asks a language model and there is none.
    """

    def __init__(
        self,
        chunker: str | Chunker = "auto",
        *,
        embedder: str | Embedder = "minilm",
        format: str = "auto",  # noqa: A002  # the word of the documentation
        language_model: LanguageModel | None = None,
        context: Context = "metadata",
        add_start_index: bool = True,
    ) -> None:
        super().__init__(add_start_index=add_start_index)
        if context not in ("metadata", "text"):
            raise SpecError(f'context is "metadata" or "text", found {context!r}.')
        self._cutter = Cutter.of(chunker, embedder, language_model, format)
        self._context = context
        self._with_start = add_start_index

    def split_text(self, text: str) -> list[str]:
        """The texts of the chunks; lone texts have no name, so they are plain unless ``format`` says more."""
        return [piece.page_content for piece in self._pieces(text, {}, None)]

    def create_documents(
        self, texts: Sequence[str], metadatas: Sequence[dict[Any, Any]] | None = None
    ) -> list[Document]:
        """The pieces of all texts, in order.

        Raises:
            ValueError: there are not as many metadata as texts.
        """
        given_metadata = [{} for _ in texts] if metadatas is None else metadatas
        pairs = zip(texts, given_metadata, strict=True)
        return [piece for text, metadata in pairs for piece in self._pieces(text, metadata, None)]

    def split_documents(self, documents: Iterable[Document]) -> list[Document]:
        """The pieces of all documents, in order; ``transform_documents`` and its async twin do the same."""
        return [piece for d in documents for piece in self._pieces(d.page_content, d.metadata, d.id)]

    def _pieces(self, text: str, metadata: dict[Any, Any], identity: str | None) -> list[Document]:
        document = self._cutter.document(text, identity_of(text, metadata, identity), metadata)
        found = described(self._cutter.cut(document), document)
        return [_document(one, metadata, self._context, with_start=self._with_start) for one in found]


class FaircutEmbeddings(Embeddings):
    """An embedder of faircut as LangChain's ``Embeddings``: unit vectors, with the model's own prefixes.

    Raises:
        SpecError: the spec is wrong.
    """

    def __init__(self, embedder: str | Embedder = "minilm") -> None:
        self._embedder = embedder_of(embedder)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """One vector a text."""
        vectors: list[list[float]] = self._embedder.embed(texts, "passage").tolist()
        return vectors

    def embed_query(self, text: str) -> list[float]:
        """The vector of a question."""
        vector: list[float] = self._embedder.embed([text], "query")[0].tolist()
        return vector


def as_chunker(splitter: TextSplitter | BaseDocumentTransformer, *, name: str = "") -> PythonChunker:
    """A splitter of LangChain as a chunker, see ``faircut.integrations.as_chunker``.

    Raises:
        SpecError: it is no splitter of LangChain.
    """
    if not (isinstance(splitter, BaseDocumentTransformer) or hasattr(splitter, "split_text")):
        raise SpecError(f"expected a LangChain text splitter, found {type(splitter).__name__}.")
    return given.as_chunker(splitter, name=name)


def to_documents(
    chunks: Iterable[Chunk], document: FaircutDocument, *, context: Context = "metadata"
) -> list[Document]:
    """Chunks that faircut made as LangChain's documents, with ``document``, ``title`` and ``source`` in the metadata.

    Raises:
        DocumentError: a chunk is of another document.
    """
    return [_document(one, named(document), context, with_start=True) for one in described(chunks, document)]


def _document(one: Described, metadata: dict[Any, Any], context: Context, *, with_start: bool) -> Document:
    start = {"start_index": one.start} if with_start else {}
    about = {**deepcopy(metadata), **start, "end_index": one.end, **one.about}
    text = one.chunk.embedded_text if context == "text" else one.chunk.text
    return Document(page_content=text, metadata=about, id=one.uuid)
