"""Embedding: texts in, unit vectors out. ``EMBEDDERS`` builds an embedder from its spec (``minilm``, ``st("...")``).

Reading order: ``contract.py`` (the seam), ``checks.py``, ``weights.py`` and ``graph.py`` (the bundled model's files),
``minilm.py``, ``sentence_transformers.py``, ``cache.py`` (which wraps any of them). What to embed is decided elsewhere.
"""

from faircut.embedding.minilm import Minilm
from faircut.embedding.sentence_transformers import PRESETS, SentenceTransformers
from faircut.specs import Registry

__all__ = ["EMBEDDERS"]

EMBEDDERS = Registry(kind="embedder", classes=(Minilm, SentenceTransformers), presets=PRESETS)
