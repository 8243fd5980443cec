"""Embedding: texts in, unit vectors out. ``EMBEDDERS`` builds an embedder from its spec (``minilm``, ``st("...")``).

Reading order: ``contract.py`` (the seam), ``checks.py``, ``weights.py`` and ``graph.py`` (the bundled model's files),
``minilm.py`` (with ``openvino.py``), ``late.py``, ``remote.py`` and ``remote_calls.py``, the adapters of libraries
(``batches.py``, ``sentence_transformers.py``, ``fastembed.py``, ``model2vec.py``), ``cache.py`` (which wraps any of
them). What to embed is decided elsewhere.
"""

from faircut.embedding.fastembed import FastEmbed
from faircut.embedding.late import Late
from faircut.embedding.minilm import Minilm
from faircut.embedding.model2vec import Model2Vec
from faircut.embedding.remote import OpenAIEmbeddings
from faircut.embedding.sentence_transformers import PRESETS, SentenceTransformers
from faircut.specs import Registry

__all__ = ["EMBEDDERS"]

EMBEDDERS = Registry(
    kind="embedder",
    classes=(Minilm, Late, OpenAIEmbeddings, SentenceTransformers, FastEmbed, Model2Vec),
    presets=PRESETS,
)
