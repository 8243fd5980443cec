"""Vectors -> hits: the engines, and the registry that builds them from specs."""

from faircut.index.contract import Engine, Index, to_hits
from faircut.index.exact import Exact
from faircut.index.qdrant import Qdrant
from faircut.index.searches import SEARCHES, Search
from faircut.specs import Registry

__all__ = ["INDEXES", "SEARCHES", "Engine", "Index", "Search", "to_hits"]

INDEXES = Registry("index", (Qdrant, Exact))
"""The engines that a spec can name; ``qdrant`` is the default."""
