"""LlamaIndex: faircut's chunkers as a ``NodeParser``, its embedders as ``BaseEmbedding``, chunks as ``TextNode``s.

LlamaIndex's parsers as chunkers: ``as_chunker``. Pipelines, stores and indexes are LlamaIndex's.
"""

import asyncio
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from faircut.chunkers.contract import Chunker
from faircut.chunkers.python import PythonChunker
from faircut.embedding.contract import Embedder
from faircut.errors import SpecError
from faircut.integrations import given
from faircut.integrations.cutting import OWN_KEYS, Cutter, Described, described, embedder_of, named
from faircut.integrations.extras import MissingFrameworkError
from faircut.llm.contract import LanguageModel
from faircut.records import Chunk
from faircut.records import Document as FaircutDocument

try:
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.bridge.pydantic import PrivateAttr
    from llama_index.core.node_parser import NodeParser
    from llama_index.core.node_parser.node_utils import default_id_func
    from llama_index.core.schema import BaseNode, MetadataMode, NodeRelationship, RelatedNodeInfo, TextNode
except ImportError as error:
    raise MissingFrameworkError("LlamaIndex", "llama-index", error) from error

__all__ = ["FaircutEmbeddings", "FaircutNodeParser", "as_chunker", "to_nodes"]

_NOT_EMBEDDED = [key for key in OWN_KEYS if key != "context"]


class FaircutNodeParser(NodeParser):
    """Any chunker of faircut where LlamaIndex wants a node parser or a transformation.

    A node's text is the document's own, ``start_char_idx`` and ``end_char_idx`` are its place. The metadata are the
    document's, with ``chunk_id``, ``spans`` ("0-12,20-31"), ``context``, ``headings``, ``pages``; these win over keys
    of the same name. Only ``context`` is embedded, in front of the text, and no key of ours is shown to a language
    model. Metadata that the document has embedded count in the ceiling. Ids are made of the content, unless
    ``id_func`` is given.

    Args:
        chunker: a spec such as ``hybrid`` or ``semantic(threshold=p85)``, or a chunker.
        embedder: a spec or an embedder: whose tokens are counted, and whose vectors are used where cutting needs them.
        format: ``markdown``, ``plain``, ``python``, or ``auto``: by the name or media type in the metadata, else plain.
        language_model: for chunkers that ask one; ``to_dict`` leaves it out, ``from_dict`` takes it by name.
        options: those of every node parser: ``include_metadata``, ``include_prev_next_rel``, ``id_func``.

    Raises:
        SpecError: a spec or the format is wrong.
        LlmError: the chunker asks a language model and there is none.
    """

    chunker: str = "auto"
    embedder: str = "minilm"
    format: str = "auto"
    _cutter: Cutter = PrivateAttr()

    def __init__(
        self,
        chunker: str | Chunker = "auto",
        *,
        embedder: str | Embedder = "minilm",
        format: str = "auto",  # noqa: A002  # the word of the documentation
        language_model: LanguageModel | None = None,
        **options: Any,
    ) -> None:
        cutter = Cutter.of(chunker, embedder, language_model, format)
        if isinstance(saved := options.get("id_func"), dict):  # LlamaIndex writes its name, and cannot read it again
            options["id_func"] = _restored(saved)
        super().__init__(chunker=str(chunker), embedder=str(embedder), format=format, **options)
        self._cutter = cutter

    @classmethod
    def class_name(cls) -> str:
        """The name in serialised pipelines."""
        return "FaircutNodeParser"

    def _parse_nodes(self, nodes: Sequence[BaseNode], show_progress: bool = False, **_: Any) -> list[BaseNode]:  # noqa: ARG002
        return [piece for node in nodes for piece in self._pieces(node)]

    async def _aparse_nodes(self, nodes: Sequence[BaseNode], show_progress: bool = False, **_: Any) -> list[BaseNode]:
        return await asyncio.to_thread(self._parse_nodes, nodes, show_progress)

    def _postprocess_parsed_nodes(self, nodes: list[BaseNode], parent_doc_map: dict[str, Any]) -> list[BaseNode]:
        """Relations and metadata as LlamaIndex makes them; places as they are: it would look for the texts again."""
        places = [(node.start_char_idx, node.end_char_idx) for node in nodes]
        done: list[BaseNode] = super()._postprocess_parsed_nodes(nodes, parent_doc_map)
        for node, (start, end) in zip(done, places, strict=True):
            node.start_char_idx, node.end_char_idx = start, end
        return done

    def _pieces(self, node: BaseNode) -> list[BaseNode]:
        text = node.get_content(metadata_mode=MetadataMode.NONE)
        document = self._cutter.document(text, node.node_id, node.metadata)
        chunks = self._cutter.cut(document, room_taken=self._room_taken(node))
        source = node.as_related_node_info()
        pieces = [_node(one, source, like=node) for one in described(chunks, document)]
        if self.id_func not in (None, default_id_func):
            for number, piece in enumerate(pieces):
                piece.id_ = self.id_func(number, node)
        return pieces

    def _room_taken(self, node: BaseNode) -> int:
        """The tokens of the metadata that are embedded in front of every piece, and of the context's key."""
        if not node.metadata:
            return 0
        embedded = node.get_metadata_str(mode=MetadataMode.EMBED) if self.include_metadata else ""
        key = getattr(node, "metadata_template", "{key}: {value}").format(key="context", value="")
        return self._cutter.models.tokenizer.count(f"{embedded}\n{key}")


def _restored(saved: dict[str, Any]) -> Any:
    if saved.get("id_func_name") != default_id_func.__name__:
        raise SpecError(f"the id_func {saved.get('id_func_name')!r} was not saved; give from_dict id_func=...")
    return default_id_func


def _node(one: Described, source: RelatedNodeInfo, like: BaseNode | None = None) -> TextNode:
    """The node of a chunk, with the keys and templates of the node that it was cut from.

    Where that has no metadata, what is embedded is exactly what faircut embeds: context, line end, text.
    """
    hidden = [*(like.excluded_embed_metadata_keys if like else ()), *_NOT_EMBEDDED]
    unread = [*(like.excluded_llm_metadata_keys if like else ()), *OWN_KEYS]
    node = TextNode(
        id_=one.uuid,
        text=one.chunk.text,
        start_char_idx=one.start,
        end_char_idx=one.end,
        metadata=dict(one.about),
        excluded_embed_metadata_keys=hidden,
        excluded_llm_metadata_keys=unread,
        relationships={NodeRelationship.SOURCE: source},
    )
    if like is None or not like.metadata:
        node.metadata_template, node.text_template = "{value}", "{metadata_str}\n{content}"
        return node
    for name in ("metadata_template", "metadata_separator", "text_template"):
        if hasattr(like, name):
            setattr(node, name, getattr(like, name))
    return node


class FaircutEmbeddings(BaseEmbedding):
    """An embedder of faircut as LlamaIndex's embedding model: unit vectors, with the model's own prefixes.

    Raises:
        SpecError: the spec is wrong.
    """

    _embedder: Embedder = PrivateAttr()

    def __init__(self, embedder: str | Embedder = "minilm", **options: Any) -> None:
        built = embedder_of(options.pop("model_name", embedder))
        super().__init__(model_name=str(built), **options)
        self._embedder = built

    @classmethod
    def class_name(cls) -> str:
        """The name in serialised pipelines."""
        return "FaircutEmbeddings"

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._vectors([query], query=True)[0]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return await asyncio.to_thread(self._get_query_embedding, query)

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._vectors([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return self._vectors(texts)

    async def _aget_text_embedding(self, text: str) -> list[float]:
        return await asyncio.to_thread(self._get_text_embedding, text)

    async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return await asyncio.to_thread(self._get_text_embeddings, texts)

    def _vectors(self, texts: list[str], *, query: bool = False) -> list[list[float]]:
        vectors: list[list[float]] = self._embedder.embed(texts, "query" if query else "passage").tolist()
        return vectors


def as_chunker(parser: NodeParser, *, name: str = "") -> PythonChunker:
    """A node parser of LlamaIndex as a chunker, see ``faircut.integrations.as_chunker``; of a hierarchy its leaves.

    Raises:
        SpecError: it is no node parser.
    """
    if not isinstance(parser, NodeParser):
        raise SpecError(f"expected a LlamaIndex node parser, found {type(parser).__name__}.")
    return given.as_chunker(parser, name=name)


def to_nodes(chunks: Iterable[Chunk], document: FaircutDocument) -> list[TextNode]:
    """Chunks that faircut made as LlamaIndex's nodes, each related to the one before, the one after and the document.

    The document's ``document``, ``title`` and ``source`` are in the metadata; of all metadata only ``context`` is
    embedded, exactly as faircut embeds it.

    Raises:
        DocumentError: a chunk is of another document.
    """
    about = named(document)
    nodes = []
    for one in described(chunks, document):
        node = _node(one, RelatedNodeInfo(node_id=document.id, metadata=about))
        node.metadata = {**about, **node.metadata}
        node.excluded_embed_metadata_keys += list(about)
        node.excluded_llm_metadata_keys += list(about)
        nodes.append(node)
    for before, after in pairwise(nodes):
        before.relationships[NodeRelationship.NEXT] = after.as_related_node_info()
        after.relationships[NodeRelationship.PREVIOUS] = before.as_related_node_info()
    return nodes
