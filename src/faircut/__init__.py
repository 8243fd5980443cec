"""faircut cuts documents into chunks with every strategy that people use, and compares the cuts fairly.

The names below are loaded when they are first used, so that importing the package costs nothing.
"""

__version__ = "0.1.0"

_HOMES = {
    "errors": ("FaircutError", "FaircutWarning"),
    "records": ("Block", "Chunk", "Document", "Evidence", "Hit", "Question", "Span"),
    "documents": ("read", "read_corpus"),
    "embedding": ("EMBEDDERS",),
    "chunkers": ("CHUNKERS", "Models", "build"),
    "questions": ("read_questions", "write_questions"),
    "evaluation.audit": ("audit",),
    "evaluation.statistics": ("compare",),
    "experiment.plan": ("Plan", "load_plan"),
    "report.notebook": ("Leaderboard", "run"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = ["__version__", *_HOME]  # the names are the table's keys


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in _HOME:
        raise AttributeError(f"module 'faircut' has no attribute {name!r}")
    return getattr(import_module(f"faircut.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
