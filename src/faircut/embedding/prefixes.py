"""What known embedding models want in front of a text, and the presets that name them.

Comes in: a model id or folder. Goes out: a prefix for each role, with its source. Running models is left to
``sentence_transformers.py``. E5 without its prefixes loses several points of recall, in silence.
"""

from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import PurePath
from typing import Protocol

from faircut.embedding.contract import Role
from faircut.specs import Preset

__all__ = ["FAMILIES", "PRESETS", "Family", "Prefixed", "family_of", "stated_prefix"]


@dataclass(frozen=True, slots=True)
class Family:
    """Models whose name (the last part of their id, in lower case) fits the pattern share these prefixes."""

    pattern: str
    query: str
    passage: str
    sentence: str
    source: str

    def prefix(self, role: Role) -> str:
        """The prefix of a role."""
        return {"query": self.query, "passage": self.passage, "sentence": self.sentence}[role]


_E5 = ("query: ", "passage: ", "query: ", "model card of intfloat/e5-small-v2: symmetric tasks take the query's prefix")
_E5_INSTRUCT = (
    "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: ",
    "", "", "model card of intfloat/multilingual-e5-large-instruct",
)  # fmt: skip
_SEARCHING = "Represent this sentence for searching relevant passages: "
_NOMIC = ("search_query: ", "search_document: ", "clustering: ", "model card of nomic-ai/nomic-embed-text-v1.5")
_GEMMA = (
    "task: search result | query: ", "title: none | text: ", "task: sentence similarity | query: ",
    "model card of google/embeddinggemma-300m",
)  # fmt: skip
_QWEN = (
    "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:", "", "",
    "model card of Qwen/Qwen3-Embedding-0.6B",
)  # fmt: skip

FAMILIES: tuple[Family, ...] = (
    Family("*e5-*-instruct", *_E5_INSTRUCT),
    Family("e5-*", *_E5),
    Family("multilingual-e5-*", *_E5),
    Family("bge-m3*", "", "", "", "model card of BAAI/bge-m3"),
    Family("bge-*-en*", _SEARCHING, "", "", "model card of BAAI/bge-small-en-v1.5"),
    Family("bge-*-zh*", "为这个句子生成表示以用于检索相关文章：", "", "", "model card of BAAI/bge-small-zh-v1.5"),
    Family("mxbai-embed-*", _SEARCHING, "", "", "model card of mixedbread-ai/mxbai-embed-large-v1"),
    Family("snowflake-arctic-embed2*", "query: ", "", "", "model card of Snowflake/snowflake-arctic-embed-l-v2.0"),
    Family("snowflake-arctic-embed-*-v2.0", "query: ", "", "", "model card of Snowflake/snowflake-arctic-embed-m-v2.0"),
    Family("snowflake-arctic-embed*", _SEARCHING, "", "", "model card of Snowflake/snowflake-arctic-embed-s"),
    Family("nomic-embed-text*", *_NOMIC),
    Family("modernbert-embed-*", *_NOMIC),
    Family("embeddinggemma*", *_GEMMA),
    Family("qwen3-embedding*", *_QWEN),
    Family("gte-small", "", "", "", "model card of thenlper/gte-small"),
    Family("gte-base*", "", "", "", "model card of thenlper/gte-base"),
    Family("gte-large*", "", "", "", "model card of thenlper/gte-large"),
    Family("gte-multilingual-*", "", "", "", "model card of Alibaba-NLP/gte-multilingual-base"),
    Family("all-*", "", "", "", "model card of sentence-transformers/all-MiniLM-L6-v2"),
)
"""The first that fits counts."""


def family_of(model: str) -> Family | None:
    """The family of a model id (``intfloat/e5-small-v2``) or folder, by the last part of its name; None if unknown."""
    name = PurePath(model).name.lower()
    return next((family for family in FAMILIES if fnmatchcase(name, family.pattern)), None)


class Prefixed(Protocol):
    """An embedder of a named model whose user may say what goes in front of each role's texts; None says nothing."""

    @property
    def model(self) -> str:
        """The model's id or folder."""
        ...

    @property
    def query_prefix(self) -> str | None:
        """In front of questions."""
        ...

    @property
    def passage_prefix(self) -> str | None:
        """In front of chunks."""
        ...

    @property
    def sentence_prefix(self) -> str | None:
        """In front of sentences that are compared."""
        ...


def stated_prefix(embedder: Prefixed, role: Role) -> str | None:
    """The prefix that the user gave, else the one known for the model's family; None where neither says anything."""
    prefixes = {
        "query": embedder.query_prefix,
        "passage": embedder.passage_prefix,
        "sentence": embedder.sentence_prefix,
    }
    family = family_of(embedder.model)
    known = family.prefix(role) if family else None
    return known if prefixes[role] is None else prefixes[role]


_MODELS = {
    "e5-small": ("intfloat/e5-small-v2", "English, 384 dimensions, 512 tokens"),
    "e5-base": ("intfloat/e5-base-v2", "English, 768 dimensions, 512 tokens"),
    "multilingual-e5-small": ("intfloat/multilingual-e5-small", "100 languages, 384 dimensions, 512 tokens"),
    "multilingual-e5-base": ("intfloat/multilingual-e5-base", "100 languages, 768 dimensions, 512 tokens"),
    "bge-small": ("BAAI/bge-small-en-v1.5", "English, 384 dimensions, 512 tokens"),
    "bge-base": ("BAAI/bge-base-en-v1.5", "English, 768 dimensions, 512 tokens"),
    "bge-m3": ("BAAI/bge-m3", "100 languages, 1024 dimensions, 8192 tokens"),
    "gte-small": ("thenlper/gte-small", "English, 384 dimensions, 512 tokens"),
    "gte-base": ("thenlper/gte-base", "English, 768 dimensions, 512 tokens"),
    "nomic": ("nomic-ai/nomic-embed-text-v1.5", "English, 768 dimensions, 8192 tokens"),
    "arctic-s": ("Snowflake/snowflake-arctic-embed-s", "English, 384 dimensions, 512 tokens"),
    "arctic-m": ("Snowflake/snowflake-arctic-embed-m", "English, 768 dimensions, 512 tokens"),
    "mxbai": ("mixedbread-ai/mxbai-embed-large-v1", "English, 1024 dimensions, 512 tokens"),
}

PRESETS: tuple[Preset, ...] = tuple(
    Preset(name, f'st("{model}")', f"{model}: {summary} (extra sentence-transformers)", f"model card of {model}")
    for name, (model, summary) in _MODELS.items()
)
