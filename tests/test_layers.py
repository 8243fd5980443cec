"""The order of the layers holds: a module imports only from its own layer or from one above it in the list."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

LAYERS = [
    "errors", "files", "records", "specs", "text", "documents", "llm", "embedding", "chunkers", "index", "questions",
    "evaluation", "experiment", "report", "serve", "distributed", "integrations", "cli",
]  # fmt: skip
SOURCE = Path(__file__).resolve().parent.parent / "src" / "faircut"
MODULES = sorted(p for p in SOURCE.rglob("*.py") if p.parent != SOURCE or p.stem in LAYERS)


def layer_of(dotted: str) -> str | None:
    parts = dotted.split(".")
    return parts[1] if len(parts) > 1 and parts[0] == "faircut" else None


def imports_of(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
            assert node.level == 0, f"{path}: relative imports hide the layer"
        elif isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
    return {layer for name in found if (layer := layer_of(name))}


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.relative_to(SOURCE).as_posix())
def test_a_module_imports_only_from_layers_above_it(path):
    own = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    allowed = LAYERS[: LAYERS.index(own) + 1]
    assert imports_of(path) <= set(allowed)


def test_the_package_imports_fast_and_without_heavy_libraries():
    heavy = "torch onnxruntime scipy polars qdrant_edge tokenizers nupunkt typer rich numpy"
    code = f"import sys, faircut; print([m for m in '{heavy}'.split() if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_nothing_in_the_source_evaluates_or_unpickles():
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in ("eval", "exec", "compile"), path
            if isinstance(node, ast.Import):
                assert not {"pickle", "marshal", "shelve"} & {a.name for a in node.names}, path


def test_every_except_clause_names_what_it_catches():
    for path in SOURCE.rglob("*.py"):
        assert not re.search(r"except\s*:|except (Base)?Exception\s*:", path.read_text(encoding="utf-8")), path
