"""The run folder: tables and facts under keys made of their content, written by atomic rename.

A stage's table exists only when it is complete, so a run that was killed continues where it stopped and nothing is
stale. What the tables mean is left to the stages.
"""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import IO, Any

import polars as pl

from faircut.errors import StoreError
from faircut.files import remove_leftovers, store_errors, write_atomically
from faircut.records import content_id

__all__ = ["RunStore", "code_fingerprint", "package_versions"]

PACKAGES = (
    "liteparse", "markdown-it-py", "numpy", "nupunkt", "onnxruntime", "polars", "pypdfium2", "python-calamine",
    "qdrant-edge-py", "regex", "scipy", "selectolax", "sentence-transformers", "tokenizers", "tree-sitter", "yasbd-lib",
)  # fmt: skip


def code_fingerprint() -> str:
    """A hash of this package's own code and of the versions below it: results of another version are never taken."""
    root = Path(__file__).resolve().parent.parent
    files = sorted(root.rglob("*.py"))
    own = (f"{p.relative_to(root).as_posix()}\n{p.read_text(encoding='utf-8')}" for p in files)
    return content_id(*own, *(f"{name} {version}" for name, version in package_versions().items()))


def package_versions() -> dict[str, str | None]:
    """The versions of the libraries that results depend on; None for one that is not installed."""
    return {name: _version(name) for name in PACKAGES}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


@dataclass(frozen=True)
class RunStore:
    """One run's folder. Tables lie at ``<stage>/<key>.parquet``, what is known about them at ``<stage>/<key>.json``."""

    folder: Path

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder against a second run at the same time (where the system has file locks).

        Raises:
            StoreError: another process is writing to this run.
        """
        with store_errors(self.folder, "create"):
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = (self.folder / ".lock").open("w")
        with lock:
            self._take(lock)
            remove_leftovers(self.folder)
            yield

    def _take(self, lock: IO[str]) -> None:
        try:
            import fcntl
        except ImportError:
            return
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise StoreError(f"{self.folder}: another run is writing here; wait for it or use --name.") from error

    def table_path(self, stage: str, key: str) -> Path:
        """Where the table of a stage lies."""
        return self.folder / stage / f"{key}.parquet"

    def has(self, stage: str, key: str) -> bool:
        """Whether this stage was finished under this key."""
        return self.table_path(stage, key).is_file() and self.table_path(stage, key).with_suffix(".json").is_file()

    def write(self, stage: str, key: str, table: pl.DataFrame, facts: dict[str, Any]) -> None:
        """Keep a finished stage: the facts first, the table last, so the table's presence means that all is there."""
        self.write_json(f"{stage}/{key}.json", facts)
        write_atomically(self.table_path(stage, key), lambda file: table.write_parquet(file, compression="zstd"))

    def read(self, stage: str, key: str) -> tuple[pl.DataFrame, dict[str, Any]]:
        """The table and the facts of a finished stage.

        Raises:
            StoreError: the files are missing or damaged.
        """
        path = self.table_path(stage, key)
        try:
            return pl.read_parquet(path, glob=False), self.read_json(f"{stage}/{key}.json")
        except (OSError, pl.exceptions.PolarsError) as error:
            raise StoreError(f"{path}: cannot be read ({error}); delete it and run again.") from error

    def fresh_folder(self, stage: str, key: str) -> Path:
        """An empty folder for a stage that writes its own files; what an earlier run left there is removed."""
        folder = self.folder / stage / key
        with store_errors(folder, "create"):
            if folder.exists():
                shutil.rmtree(folder)
            folder.mkdir(parents=True)
        return folder

    def write_table(self, name: str, table: pl.DataFrame) -> None:
        """Write a table of the whole run."""
        write_atomically(self.folder / name, lambda file: table.write_parquet(file, compression="zstd"))

    def write_json(self, name: str, content: Any) -> None:
        """Write a JSON file into the folder."""
        raw = json.dumps(content, ensure_ascii=True, indent=1, allow_nan=False).encode()
        write_atomically(self.folder / name, lambda file: file.write(raw))

    def write_text(self, name: str, content: str) -> None:
        """Write a text file into the folder."""
        write_atomically(self.folder / name, lambda file: file.write(content.encode("utf-8", "replace")))

    def read_json(self, name: str) -> dict[str, Any]:
        """Read a JSON file of the folder.

        Raises:
            StoreError: it is missing or damaged.
        """
        path = self.folder / name
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise StoreError(f"{path}: not found; is {self.folder} a finished run of faircut?") from error
        except ValueError as error:
            raise StoreError(f"{path}: damaged ({error}); delete it and run again.") from error
        if not isinstance(content, dict):
            raise StoreError(f"{path}: damaged (not a JSON object); delete it and run again.")
        return content
