"""Files, folders, patterns and native corpora become documents; bad input says what and where."""

import codecs
import gzip
import json
import os
from collections.abc import Iterator

import pytest

from faircut.documents import jsonl, read, read_corpus
from faircut.errors import DocumentError, FaircutWarning


def write(folder, **files):
    for name, content in files.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def write_jsonl(path, *records):
    lines = "".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in records).encode()
    path.write_bytes(gzip.compress(lines) if path.suffix == ".gz" else lines)
    return path


def ids(source, **options):
    return [d.id for d in read_corpus(source, **options)]


# ---------------------------------------------------------------- one file


def test_a_text_file_is_a_document_with_its_name_and_unaltered_text(tmp_path):
    write(tmp_path, notes_txt="  One.\r\n\r\nTwo.\r\n")
    document = read(str(tmp_path / "notes.txt"))
    assert (document.id, document.title, document.text) == ("notes.txt", "notes", "  One.\r\n\r\nTwo.\r\n")
    assert (document.media_type, document.source) == ("text/plain", str(tmp_path / "notes.txt"))
    assert [b.kind for b in document.blocks] == ["paragraph", "paragraph"]


def test_a_markdown_file_has_blocks_and_its_media_type(tmp_path):
    write(tmp_path, Page_MD="# Title\n\ntext\n")
    document = read(tmp_path / "Page.MD")
    assert (document.title, document.media_type) == ("Title", "text/markdown")
    assert [b.kind for b in document.blocks] == ["heading", "paragraph"]


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (b"", "utf-8"),
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
def test_a_byte_order_mark_decides_the_encoding_and_is_not_text(tmp_path, mark, encoding):
    write(tmp_path, a_txt=mark + "Grüße 😀\r\n".encode(encoding))
    assert read(tmp_path / "a.txt").text == "Grüße 😀\r\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "a.txt: empty"),
        (b" \r\n\t\n", "a.txt: only white space"),
        (codecs.BOM_UTF8, "a.txt: empty"),
        (b"\x89PNG\r\n\x1a\n\0\0", "a.txt: not text: a NUL byte at position 8"),
        (b"one\nGr\xff\x9f\xfd\x81", r"a.txt: not text in UTF-8: byte 0xFF at position 6 \(line 2\), and in no older"),
        (codecs.BOM_UTF8 + b"caf\xe9", "byte 0xE9 at position 6"),
        (codecs.BOM_UTF16_LE + b"a\0b", "not text in UTF-16-LE"),
    ],
)
def test_what_is_not_a_text_is_refused_with_the_reason_and_the_position(tmp_path, content, said):
    write(tmp_path, a_txt=content)
    with pytest.raises(DocumentError, match=said):
        read(tmp_path / "a.txt")


def test_an_unknown_kind_names_what_is_possible(tmp_path):
    write(tmp_path, a_xyz="text", README=b"text")
    with pytest.raises(DocumentError, match=r"\.xyz files are not read.*\.txt.*\.md.*\.jsonl"):
        read(tmp_path / "a.xyz")
    with pytest.raises(DocumentError, match="extensionless files are not read"):
        read(tmp_path / "README")


def test_a_missing_file_a_folder_and_a_corpus_are_not_one_document(tmp_path):
    with pytest.raises(DocumentError, match=r"b\.txt: cannot be read: No such file"):
        read(tmp_path / "b.txt")
    with pytest.raises(DocumentError, match="a folder"):
        read(tmp_path)
    with pytest.raises(DocumentError, match="read_corpus"):
        read(tmp_path / "corpus.jsonl.gz")


def test_a_file_beyond_the_limit_is_refused_before_it_is_read(tmp_path):
    with (tmp_path / "big.txt").open("wb") as file:
        file.truncate(2**30 + 1)  # sparse
    with pytest.raises(DocumentError, match="1,073,741,825 bytes"):
        read(tmp_path / "big.txt")


# ---------------------------------------------------------------- folders and patterns


def test_a_folder_gives_its_visible_files_sorted_with_paths_as_ids(tmp_path):
    write(tmp_path, b_txt="x", a__z_md="x", a__b__c_txt="x", _git__d_txt="x", a___hidden_txt="x")
    assert ids(tmp_path) == ["a/b/c.txt", "a/z.md", "b.txt"]
    assert ids(str(tmp_path) + "/") == ["a/b/c.txt", "a/z.md", "b.txt"]


def test_files_of_unknown_kind_are_skipped_with_one_warning_that_counts_them(tmp_path):
    write(tmp_path, a_txt="x", b_png="x", c_png="x", d_jsonl="x", LICENSE="x")
    with pytest.warns(FaircutWarning, match=r"skipped 4 files of unknown kind \(2 \.png, .*1 extensionless") as caught:
        assert ids(tmp_path) == ["a.txt"]
    assert len(caught) == 1


def test_empty_source_code_in_a_folder_is_skipped_and_counted_and_alone_it_is_an_error(tmp_path):
    write(tmp_path, a_py="x = 1\n", pkg__init_py="", pkg__b_js=" \n", pkg__c_py=codecs.BOM_UTF8)
    with pytest.warns(FaircutWarning, match=r"skipped 3 files of source code that are empty\.") as caught:
        assert ids(tmp_path) == ["a.py"]
    assert len(caught) == 1
    with pytest.raises(DocumentError, match=r"c\.py: empty"):
        read(tmp_path / "pkg" / "c.py")
    with pytest.raises(DocumentError, match=r"b\.js: only white space"):
        ids(tmp_path / "pkg" / "b.js")


def test_a_pattern_gives_what_matches_with_ids_below_its_fixed_part(tmp_path):
    write(tmp_path, docs__a_txt="x", docs__b__c_txt="x", docs__d_md="x")
    assert ids(f"{tmp_path}/docs/**/*.txt") == ["a.txt", "b/c.txt"]
    assert ids(f"{tmp_path}/d*/*.md") == ["docs/d.md"]


def test_a_pattern_may_match_native_corpora(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        write_jsonl(tmp_path / name / "corpus.jsonl.gz", {"id": name, "text": "x"})
    assert ids(f"{tmp_path}/*/corpus.jsonl.gz") == ["one", "two"]


def test_a_file_whose_name_holds_wildcards_is_a_file(tmp_path):
    write(tmp_path, **{"a[1]_txt": "x"})
    assert ids(tmp_path / "a[1].txt") == ["a[1].txt"]


def test_linked_folders_are_followed_once_and_broken_links_are_said(tmp_path):
    write(tmp_path, real__a_txt="x")
    (tmp_path / "real" / "loop").symlink_to(tmp_path, target_is_directory=True)
    assert ids(tmp_path) == ["real/a.txt"]
    (tmp_path / "gone.txt").symlink_to(tmp_path / "nowhere")
    with pytest.raises(DocumentError, match=r"gone\.txt: cannot be read"):
        ids(tmp_path)


@pytest.mark.skipif(os.name == "nt" or not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_named_pipe_in_a_folder_does_not_hang(tmp_path):
    write(tmp_path, a_txt="x")
    os.mkfifo(tmp_path / "pipe.txt")
    assert ids(tmp_path) == ["a.txt"]


def test_a_folder_streams(tmp_path):
    write(tmp_path, a_txt="x", b_txt=b"\xff\xff")
    documents = read_corpus(tmp_path)
    assert isinstance(documents, Iterator)
    assert next(documents).id == "a.txt"
    with pytest.raises(DocumentError, match=r"b\.txt"):
        next(documents)


def test_a_callback_takes_the_errors_and_reading_goes_on(tmp_path):
    write(tmp_path, a_txt="", b_txt="x", c_txt=b"\0")
    errors = []
    assert ids(tmp_path, on_error=errors.append) == ["b.txt"]
    assert [str(e).split(":")[0].rsplit("/")[-1] for e in errors] == ["a.txt", "c.txt"]


@pytest.mark.parametrize("on_error", [None, lambda error: None], ids=["raising", "collecting"])
def test_an_empty_corpus_is_an_error(tmp_path, on_error):
    with pytest.raises(DocumentError, match="the corpus is empty"):
        ids(tmp_path, on_error=on_error)
    with pytest.raises(DocumentError, match="the corpus is empty"):
        ids(f"{tmp_path}/*.txt", on_error=on_error)
    with pytest.raises(DocumentError, match="the corpus is empty"):
        ids(write_jsonl(tmp_path / "c.jsonl"), on_error=on_error)


def test_a_corpus_that_is_not_there_is_said_at_once(tmp_path):
    with pytest.raises(DocumentError, match=r"nowhere: no such file or folder"):
        read_corpus(tmp_path / "nowhere")


def test_a_folder_that_may_not_be_read_is_said(tmp_path):
    write(tmp_path, a__b_txt="x")
    (tmp_path / "a").chmod(0)
    try:
        if os.access(tmp_path / "a", os.R_OK):
            pytest.skip("this user may read everything")
        with pytest.raises(DocumentError, match="a: cannot be read: Permission denied"):
            ids(tmp_path)
    finally:
        (tmp_path / "a").chmod(0o700)


# ---------------------------------------------------------------- native corpora


@pytest.mark.parametrize("name", ["corpus.jsonl", "corpus.jsonl.gz"])
def test_a_native_corpus_gives_its_documents_with_their_fields(tmp_path, name):
    path = write_jsonl(
        tmp_path / name,
        {"id": "a", "title": "T", "text": "# x\n\ny", "language": "de", "source": "s", "topics": [1]},
        "",
        {"id": "b", "text": "# x\n\ny", "media_type": "text/markdown", "title": None},
    )
    a, b = read_corpus(path)
    assert (a.title, a.language, a.source, a.media_type) == ("T", "de", "s", "text/plain")
    assert [x.kind for x in a.blocks] == ["paragraph", "paragraph"]
    assert [x.kind for x in b.blocks] == ["heading", "paragraph"]
    assert (b.title, b.language) == ("", None)


def test_lone_surrogates_nul_and_line_separators_survive(tmp_path):
    text = "a\ud800\0b\u2028c\r\n\U0001f600"
    path = write_jsonl(tmp_path / "c.jsonl", {"id": "\0\u2028", "text": text, "media_type": "text/markdown"})
    (document,) = read_corpus(path)
    assert (document.id, document.text) == ("\0\u2028", text)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"id": "b", "text": ', r"c\.jsonl:2: broken JSON at column 20"),
        ('["b"]', r"c\.jsonl:2: expected a JSON object, found list"),
        ("[" * 100_000, r"c\.jsonl:2: broken JSON: nested too deeply"),
        ('{"id": "b", "text": ' + "9" * 5000 + "}", r"c\.jsonl:2: .*digits"),
        ('{"text": "x"}', r'c\.jsonl:2: a document needs an "id"'),
        ('{"id": " ", "text": "x"}', r'c\.jsonl:2: a document needs an "id"'),
        ('{"id": 3, "text": "x"}', r'c\.jsonl:2: "id" must be text, found int 3'),
        ('{"id": "b\\ud800", "text": "x"}', r"c\.jsonl:2: the id 'b\\ud800' has half a character .* another id"),
        ('{"id": "b", "text": "x", "language": "../../etc"}', r'c\.jsonl:2: "language" must be a language tag'),
        ('{"id": "b", "text": "x", "language": "\\u0000"}', r'c\.jsonl:2: "language" must be a language tag'),
        ('{"id": "b", "text": "x", "language": "\\ud800"}', r'c\.jsonl:2: "language" must be a language tag'),
        ('{"id": "b", "text": "x", "language": "de\\n"}', r'c\.jsonl:2: "language" must be a language tag'),
        ('{"id": "b", "text": ["x"]}', r'c\.jsonl:2: "text" must be text, found list'),
        ('{"id": "b", "text": " \\n"}', r"c\.jsonl:2: the document 'b' has no text"),
        ('{"id": "b"}', r"c\.jsonl:2: the document 'b' has no text"),
        ('{"id": "a", "text": "x"}', r"c\.jsonl:2: the id 'a' is taken by .*c\.jsonl:1"),
    ],
)
def test_a_bad_line_is_told_with_its_number_and_can_be_collected(tmp_path, line, said):
    path = write_jsonl(tmp_path / "c.jsonl", {"id": "a", "text": "x"}, line, {"id": "z", "text": "x"})
    with pytest.raises(DocumentError, match=said):
        ids(path)
    errors = []
    assert ids(path, on_error=errors.append) == ["a", "z"]
    assert len(errors) == 1


def test_a_line_that_is_not_utf_8_is_told_with_the_byte(tmp_path):
    (tmp_path / "c.jsonl").write_bytes(b'{"id": "a", "text": "caf\xe9"}\n')
    with pytest.raises(DocumentError, match=r"c\.jsonl:1: not UTF-8: byte 0xE9 at position 24 of the line"):
        ids(tmp_path / "c.jsonl")


def test_a_mark_at_the_start_of_a_corpus_is_no_part_of_it(tmp_path):
    (tmp_path / "c.jsonl").write_bytes(codecs.BOM_UTF8 + b'{"id": "a", "text": "x"}\r\n')
    assert ids(tmp_path / "c.jsonl") == ["a"]


@pytest.mark.parametrize("damage", [lambda b: b[:-20], lambda b: b[:60] + b"\xff\xff" + b[62:], lambda b: b"not gzip"])
def test_a_damaged_gzip_file_is_an_error_and_not_the_end(tmp_path, damage):
    path = write_jsonl(tmp_path / "c.jsonl.gz", *({"id": str(i), "text": f"text {i * 7919}"} for i in range(500)))
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(DocumentError, match=r"c\.jsonl\.gz:\d+: damaged gzip file"):
        ids(path)


def test_a_gzip_bomb_is_stopped_at_the_longest_line(tmp_path, monkeypatch):
    monkeypatch.setattr(jsonl, "MAX_LINE_BYTES", 10_000)
    path = write_jsonl(tmp_path / "c.jsonl.gz", {"id": "a", "text": "x"}, {"id": "b", "text": "x" * 10_000_000})
    with pytest.raises(DocumentError, match=r"c\.jsonl\.gz:2: a line longer than 10,000 bytes"):
        ids(path)


def test_real_corpora_are_read_whole(shared_data):
    for name, count in (("chroma", 5), ("jsquad_valid", 59), ("xquad_th", 48)):
        documents = list(read_corpus(shared_data / name / "corpus.jsonl.gz"))
        assert len(documents) == count
        assert all(d.blocks and d.text.strip() for d in documents)


@pytest.mark.filterwarnings("ignore:.*of unknown kind")
def test_a_folder_that_holds_only_a_native_corpus_is_empty(tmp_path):
    write_jsonl(tmp_path / "corpus.jsonl.gz", {"id": "a", "text": "x"})
    with pytest.raises(DocumentError, match="the corpus is empty"):
        ids(tmp_path)


def test_a_native_corpus_in_a_folder_is_skipped_and_the_warning_says_how_to_read_it(tmp_path):
    write(tmp_path, a_txt="x")
    write_jsonl(tmp_path / "corpus.jsonl.gz", {"id": "a", "text": "x"})
    with pytest.warns(FaircutWarning, match="read when it is named itself"):
        assert ids(tmp_path) == ["a.txt"]


def test_a_file_name_that_is_not_utf_8_is_refused_with_what_to_do(tmp_path):
    name = os.fsdecode(b"caf\xe9.txt")
    try:
        write(tmp_path, a_txt="x")
        (tmp_path / name).write_text("x")
    except (OSError, UnicodeError):
        pytest.skip("this file system takes UTF-8 only")
    with pytest.raises(DocumentError, match="not UTF-8; rename it"):
        read(tmp_path / name)
    with pytest.raises(DocumentError, match="not UTF-8; rename it"):
        ids(tmp_path)
    errors = []
    assert ids(tmp_path, on_error=errors.append) == ["a.txt"]
    assert len(errors) == 1


@pytest.mark.parametrize("source", ["", " "])
def test_an_empty_path_is_not_the_current_folder(tmp_path, monkeypatch, source):
    write(tmp_path, a_txt="x")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DocumentError, match="the path of the documents is empty"):
        read_corpus(source)
    assert ids(".") == ["a.txt"]


@pytest.mark.parametrize("language", ["de", "pt-BR", "pt_BR", "zh-Hant-TW", "english"])
def test_language_tags_are_kept(tmp_path, language):
    path = write_jsonl(tmp_path / "c.jsonl", {"id": "a", "text": "x", "language": language})
    assert [d.language for d in read_corpus(path)] == [language]
