"""Archives and XML from strangers are read within bounds, or refused with the reason."""

import struct
import zipfile

import pytest

from faircut.documents.archive import MAX_DEPTH, MAX_ELEMENTS, open_archive, parse_xml
from faircut.errors import DocumentError


def zipped(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return path


def test_members_are_found_whatever_their_case_and_with_either_slash(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("Word\\Document.xml", "<a/>")
        file.writestr("empty/", "")
    with open_archive(path) as archive:
        assert archive.names == ("Word/Document.xml",)
        assert archive.find("word/document.XML") == "Word/Document.xml"
        assert archive.read("word/document.xml") == b"<a/>"
        assert archive.find("word/styles.xml") is None
        with pytest.raises(DocumentError, match=r"it has no 'word/styles\.xml'"):
            archive.read("word/styles.xml")


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path):
    path = zipped(tmp_path / "bomb.docx", bomb=b"0" * 60_000_000)
    with open_archive(path) as archive, pytest.raises(DocumentError, match=r"bomb\.docx: refused: 'bomb'.*a zip bomb"):
        archive.read("bomb")


def test_a_bomb_that_declares_a_small_size_is_refused_or_damaged(tmp_path):
    path = zipped(tmp_path / "liar.zip", bomb=b"0" * 60_000_000)
    data = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        place = data.find(signature) + offset
        data[place : place + 4] = struct.pack("<I", 10)
    path.write_bytes(data)
    with open_archive(path) as archive, pytest.raises(DocumentError, match=r"cannot be unpacked|refused"):
        archive.read("bomb")


def test_a_member_above_the_callers_limit_is_refused(tmp_path):
    with open_archive(zipped(tmp_path / "a.zip", text="x" * 100)) as archive:
        assert len(archive.read("text", 100)) == 100
        with pytest.raises(DocumentError, match="more than the 99 bytes allowed"):
            archive.read("text", 99)


def test_what_is_read_in_all_is_bounded(tmp_path):
    path = zipped(tmp_path / "a.zip", text="x" * 100)
    with open_archive(path) as archive:
        archive._left = 250  # for 512 MiB
        archive.read("text")
        archive.read("text")
        with pytest.raises(DocumentError, match="more than the 50 bytes allowed"):
            archive.read("text")


@pytest.mark.parametrize("name", ["../evil", "a/../../evil", "/etc/passwd", "C:\\evil", "..\\evil"])
def test_members_that_point_outside_are_refused(tmp_path, name):
    path = zipped(tmp_path / "a.zip", **{name: "x"})
    with pytest.raises(DocumentError, match="points outside"), open_archive(path):
        pass


def test_encrypted_members_are_named(tmp_path):
    path = zipped(tmp_path / "a.zip", secret="x" * 50)
    data = bytearray(path.read_bytes())
    data[data.find(b"PK\x01\x02") + 8] |= 1
    data[data.find(b"PK\x03\x04") + 6] |= 1
    path.write_bytes(data)
    with open_archive(path) as archive, pytest.raises(DocumentError, match="encrypted: 'secret' needs a password"):
        archive.read("secret")


def test_packing_that_documents_do_not_use_is_refused(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as file:
        file.writestr("a", "text")
    with open_archive(path) as archive, pytest.raises(DocumentError, match="method 14"):
        archive.read("a")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b"<html></html>", "not what its name says"),
        (b"PK\x03\x04 and then nothing", "damaged or cut short"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "encrypted with a password or in the old Office format"),
    ],
)
def test_what_is_no_archive_is_refused_with_the_reason(tmp_path, data, reason):
    path = tmp_path / "a.docx"
    path.write_bytes(data)
    with pytest.raises(DocumentError, match=reason), open_archive(path):
        pass


def test_a_damaged_member_is_named(tmp_path):
    path = zipped(tmp_path / "a.zip", text="some text " * 50)
    data = bytearray(path.read_bytes())
    data[40:48] = b"\xff" * 8
    path.write_bytes(data)
    with open_archive(path) as archive, pytest.raises(DocumentError, match="damaged: 'text' cannot be unpacked"):
        archive.read("text")


def test_a_list_of_members_without_bounds_is_refused(tmp_path):
    path = zipped(tmp_path / "a.zip", text="x")
    data = path.read_bytes()
    directory = data.find(b"PK\x01\x02")
    count = 9 * 2**20 // len(data[directory : data.find(b"PK\x05\x06")])
    entry = data[directory : data.find(b"PK\x05\x06")]
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 1, 1, len(entry) * count, directory, 0)
    path.write_bytes(data[:directory] + entry * count + end)
    with pytest.raises(DocumentError, match="its list of members is too large"), open_archive(path):
        pass


# ---------------------------------------------------------------- XML


@pytest.mark.parametrize(
    "declaration",
    ['<!ENTITY a "aaaa">', '<!ENTITY a SYSTEM "file:///etc/passwd">', '<!ENTITY % a SYSTEM "http://x.invalid/"> %a;'],
)
def test_entities_are_refused(declaration):
    data = f"<!DOCTYPE r [{declaration}]><r>&a;</r>".encode()
    with pytest.raises(DocumentError, match="part: refused: its DOCTYPE declares the entity 'a'"):
        parse_xml(data, "part")


def test_a_doctype_without_entities_is_read_over_and_those_of_html_are_known():
    root = parse_xml(b'<!DOCTYPE r PUBLIC "-//X//EN" "http://x.invalid/x.dtd"><r>a&nbsp;b&amp;c</r>', "part")
    assert root.text == "a\xa0b&c"


def test_encodings_and_namespaces_are_those_that_the_part_declares():
    assert parse_xml('<?xml version="1.0" encoding="UTF-16"?><r>ä</r>'.encode("utf-16"), "part").text == "ä"
    assert parse_xml(b"<w:r xmlns:w='u'/>", "part").tag == "{u}r"


@pytest.mark.parametrize("data", [b"", b"<a>", b"<a></b>", b"\0\0", b"<?xml version='1.0' encoding='klingon'?><a/>"])
def test_what_is_not_well_formed_is_damaged(data):
    with pytest.raises(DocumentError, match="part: damaged: not well-formed XML"):
        parse_xml(data, "part")


def test_depth_and_number_of_elements_are_bounded():
    deepest = b"<a>" * MAX_DEPTH + b"</a>" * MAX_DEPTH
    assert parse_xml(deepest, "part").tag == "a"
    with pytest.raises(DocumentError, match="nested deeper"):
        parse_xml(b"<a>" + deepest + b"</a>", "part")
    with pytest.raises(DocumentError, match="nested deeper"):
        parse_xml(b"<a>" * 200_000 + b"</a>" * 200_000, "part")
    with pytest.raises(DocumentError, match="more than 2,000,000 XML elements"):
        parse_xml(b"<a/>" * (MAX_ELEMENTS + 1), "part")
    with pytest.raises(DocumentError, match="XML attributes"):
        parse_xml(b"<a " + b"=" * (3 * MAX_ELEMENTS + 1), "part")
