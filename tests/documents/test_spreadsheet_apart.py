"""The old binary spreadsheets are read in a process beside this one: whatever is in them, this one lives on."""

import random
import struct
import subprocess
import sys
import warnings
import zipfile
import zlib

import pytest
from test_spreadsheet import OLD

from faircut.documents import spreadsheet_engine
from faircut.documents.spreadsheet import SPREADSHEET
from faircut.errors import DocumentError, FaircutWarning


def record(kind, content=b""):
    """A record of an XLSB part: kind and length in groups of seven bits (MS-XLSB, 2.1.4)."""
    head = bytes([kind]) if kind < 0x80 else bytes([kind & 0x7F | 0x80, kind >> 7])
    size = len(content)
    lengths = bytes([size]) if size < 0x80 else bytes([size & 0x7F | 0x80, size >> 7])
    return head + lengths + content


def wide(text):
    return struct.pack("<I", len(text)) + text.encode("utf-16-le")


def xlsb(rows, name="Prices"):
    """The parts of a workbook in the binary format with one sheet."""
    cells = b""
    for row, values in enumerate(rows):
        cells += record(0x00, struct.pack("<IIHBBBI", row, 0, 300, 0, 0, 0, 0))
        for column, value in enumerate(values):
            place = struct.pack("<II", column, 0)
            cells += record(0x06, place + wide(value)) if isinstance(value, str) else b""
            cells += record(0x05, place + struct.pack("<d", value)) if isinstance(value, float) else b""
    size = struct.pack("<IIII", 0, len(rows) - 1, 0, len(rows[0]) - 1)
    sheet = record(0x81) + record(0x94, size) + record(0x91) + cells + record(0x92) + record(0x82)
    bundle = record(0x9C, struct.pack("<II", 0, 1) + wide("rId1") + wide(name))
    book = record(0x83) + record(0x8F) + bundle + record(0x90) + record(0x9D, bytes(26)) + record(0x84)
    kinds = "http://schemas.openxmlformats.org/"
    worksheet = f"{kinds}officeDocument/2006/relationships/worksheet"
    relation = f'<Relationship Id="rId1" Type="{worksheet}" Target="worksheets/sheet1.bin"/>'
    return {
        "[Content_Types].xml": f'<Types xmlns="{kinds}package/2006/content-types"/>'.encode(),
        "xl/workbook.bin": book,
        "xl/_rels/workbook.bin.rels": (
            f'<Relationships xmlns="{kinds}package/2006/relationships">{relation}</Relationships>'.encode()
        ),
        "xl/worksheets/sheet1.bin": sheet,
    }


def packed(path, parts):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


ROWS = [["Boat", "Price"], ["long", 5.5], ["short", 3.0]]


def test_an_xlsb_file_is_read(tmp_path):
    path = packed(tmp_path / "a.xlsb", xlsb(ROWS))
    assert SPREADSHEET.read(path, "a").text == (
        "Prices\n\n| Boat | Price |\n| --- | --- |\n| long | 5.5 |\n| short | 3 |\n"
    )


def mutated(raw, rng):
    found = bytearray(raw)
    for _ in range(rng.choice([1, 2, 5, 20])):
        found[rng.randrange(len(found))] = rng.choice([0, 1, 127, 128, 255, rng.randrange(256)])
    return bytes(found[: rng.randrange(len(found))] if rng.random() < 0.1 else found)


def read_or_typed_error(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FaircutWarning)
        try:
            SPREADSHEET.read(path, "a")
        except DocumentError as error:
            return str(error)
    return ""


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_no_mutated_xls_ends_this_process(tmp_path, seed):
    rng = random.Random(seed)
    for _ in range(25):
        (tmp_path / "a.xls").write_bytes(mutated(zlib.decompress(OLD), rng))
        read_or_typed_error(tmp_path / "a.xls")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_no_mutated_xlsb_ends_this_process(tmp_path, seed):
    rng = random.Random(seed)
    for _ in range(25):
        parts = xlsb(ROWS)
        name = rng.choice([name for name in parts if name.endswith(".bin")])
        read_or_typed_error(packed(tmp_path / "a.xlsb", parts | {name: mutated(parts[name], rng)}))


@pytest.mark.parametrize(
    "program",
    [
        "import os; os.abort()",
        "import os; os._exit(0)",
        "print('[1, 2', end='')",
        "raise MemoryError",
        'print(\'{"name": "S", "visible": true, "column": 0, "merged": []}\'); print(\'["x"]\')',
    ],
)
def test_the_end_of_the_process_beside_is_a_typed_error(tmp_path, monkeypatch, program):
    (tmp_path / "child.py").write_text(program)
    monkeypatch.setattr(spreadsheet_engine, "_PROGRAM", tmp_path / "child.py")
    (tmp_path / "a.xls").write_bytes(zlib.decompress(OLD))
    with pytest.raises(DocumentError, match=r"a\.xls: damaged: reading its cells ended the reading program"):
        SPREADSHEET.read(tmp_path / "a.xls", "a")


@pytest.mark.parametrize(
    "work", ["bytearray(10**9)", pytest.param("sum(1 for _ in iter(int, 1))", marks=pytest.mark.slow)]
)
def test_the_process_beside_is_limited_in_memory_and_time(work):
    pytest.importorskip("resource")
    program = f"import runpy; runpy.run_path({str(spreadsheet_engine._PROGRAM)!r})['_limit'](5 * 10**8, 1); {work}"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True).returncode


def test_a_password_and_damage_are_said_as_in_other_formats(tmp_path):
    path = packed(tmp_path / "a.xlsb", xlsb(ROWS) | {"xl/workbook.bin": b"\x9c\x01\xff\xff"})
    assert read_or_typed_error(path).startswith(f"{path}: damaged")
