"""Files that lie about what they are give a typed error or their text, and reading leaves nothing behind."""

import gzip
import io
import subprocess
import sys
import textwrap
import warnings
import zipfile

import pytest

from faircut.documents import READERS, read, read_corpus
from faircut.errors import DocumentError, FaircutWarning


def archive(**parts):
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as packed:
        for name, content in parts.items():
            packed.writestr(name, content)
    return raw.getvalue()


BINARY = {
    "PNG": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)),
    "JPEG": b"\xff\xd8\xff\xe0\0\x10JFIF\0" + bytes(range(256)),
    "PDF": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<<>>\nstream\n" + bytes(range(256)),
    "old Office": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
    "gzip": gzip.compress(b"text " * 100, mtime=0),
    "zip": archive(**{"a.txt": "hello"}),
    "program": b"\x7fELF\2\1\1\0" + bytes(100),
}
TEXTS = {"HTML": b"<!doctype html><p>Hello to all of you.</p>", "plain text": b"Hello to all of you.\n\nBye.\n"}
EXTENSIONS = sorted({extension for reader in READERS for extension in reader.extensions[:1]} | {".xls", ".csv", ".js"})


@pytest.mark.parametrize("extension", EXTENSIONS)
@pytest.mark.parametrize("kind", BINARY)
def test_a_binary_file_of_another_kind_is_refused_with_its_name(tmp_path, extension, kind):
    path = tmp_path / f"a{extension}"
    path.write_bytes(BINARY[kind])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FaircutWarning)
        with pytest.raises(DocumentError, match=f"a{extension}: "):
            read(path)


@pytest.mark.parametrize("extension", EXTENSIONS)
@pytest.mark.parametrize("kind", TEXTS)
def test_text_under_another_name_is_read_or_refused_with_its_name(tmp_path, extension, kind):
    path = tmp_path / f"a{extension}"
    path.write_bytes(TEXTS[kind])
    try:
        document = read(path)
    except DocumentError as error:
        message = str(error)
    else:
        assert "Hello" in document.text
        return
    assert message.startswith(f"{path}: ")


READ_ALL = """
import sys, warnings
warnings.simplefilter("ignore")
from faircut.documents import read_corpus
errors = []
documents = list(read_corpus(sys.argv[1], on_error=errors.append))
print(len(documents), len(errors))
"""


def left_behind(tmp_path, folder):
    """Read a folder in a process whose home, temporary and current folders are empty; what is in them afterwards."""
    places = [tmp_path / name for name in ("home", "temp", "here")]
    for place in places:
        place.mkdir()
    before = sorted((p.name, p.stat().st_mtime_ns) for p in folder.iterdir())
    environment = {"HOME": str(places[0]), "TMPDIR": str(places[1]), "PATH": "", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", textwrap.dedent(READ_ALL), str(folder)]
    done = subprocess.run(command, cwd=places[2], env=environment, capture_output=True, text=True, check=True)
    assert sorted((p.name, p.stat().st_mtime_ns) for p in folder.iterdir()) == before
    return done.stdout.split(), [str(p) for place in places for p in place.rglob("*")]


def test_reading_leaves_no_file_behind(tmp_path):
    folder = tmp_path / "files"
    folder.mkdir()
    mail = (
        "Subject: x\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nHello.\n"
        "--b\nContent-Type: text/csv\nContent-Disposition: attachment; filename=../../a.csv\n\na,b\n1,2\n--b--\n"
    )
    (folder / "a.eml").write_text(mail)
    for name, raw in BINARY.items():
        (folder / f"{name}.xls").write_bytes(raw)
    (folder / "slip.docx").write_bytes(archive(**{"../../evil.txt": "x", "word/document.xml": "<x/>"}))
    counts, found = left_behind(tmp_path, folder)
    assert counts == ["1", "8"]
    assert found == []


@pytest.mark.slow
def test_reading_all_nasty_files_leaves_no_file_behind(tmp_path, shared_data):
    counts, found = left_behind(tmp_path, shared_data / "nasty")
    assert int(counts[0]) >= 30
    assert found == []


BROKEN = {
    "nonsense": bytes(range(256)) * 20,
    "empty archive": b"PK\x05\x06" + bytes(18),
    "cut archive": b"PK\x03\x04" + bytes(range(200)),
    "old Office": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(range(256)) * 40,
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("extension", ["txt", "md", "html", "docx", "pptx", "xlsx", "xls", "ods", "csv", "epub", "eml"])
def test_an_error_about_a_broken_file_says_what_to_do(tmp_path, extension, broken):
    path = tmp_path / f"a.{extension}"
    path.write_bytes(broken)
    with pytest.raises(DocumentError, match=r".*: .*; .*\.$"):
        read(path)


def test_an_error_about_a_missing_file_says_what_to_do(tmp_path):
    (tmp_path / "broken.txt").symlink_to(tmp_path / "gone")
    with pytest.raises(DocumentError, match=r"no such file or folder; check the path\.$"):
        read_corpus(tmp_path / "gone")
    with pytest.raises(DocumentError, match=r"cannot be read: .*; check that it is there and may be read\.$"):
        list(read_corpus(tmp_path))
