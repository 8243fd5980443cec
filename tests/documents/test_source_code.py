"""Source code stays exactly as it is in the file; its blocks are what a programmer would move as one piece."""

import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faircut.chunkers import build
from faircut.chunkers.contract import Models
from faircut.documents import read, source_code, syntax_trees
from faircut.documents.source_code import LONG_CLASS, PYTHON, SOURCE_CODE, code_blocks, python_blocks, syntax_blocks
from faircut.documents.syntax_trees import GRAMMARS
from faircut.embedding.minilm import Minilm
from faircut.records import Document

MODULE = '''\
#!/usr/bin/env python

"""What it does.

In prose.
"""

import os
LIMIT = 3

# ---------- first part

# about f
@decorator
def f():
    return 1
    # at its end


class A:
    """One."""

    def m(self):
        return """
# not a comment
"""
if LIMIT:
    def g(): pass
'''


def pieces(text, blocks):
    return [(b.kind, text[b.span.start : b.span.end]) for b in blocks]


def test_each_definition_of_a_module_is_a_block_with_its_comments_and_decorators():
    found = pieces(MODULE, python_blocks(MODULE))
    assert [kind for kind, _ in found] == ["code", "paragraph", "code", "code", "code", "code"]
    assert [text.strip().splitlines()[0] for _, text in found] == [
        "#!/usr/bin/env python", '"""What it does.', "import os", "# ---------- first part", "class A:", "if LIMIT:",
    ]  # fmt: skip
    assert found[3][1].endswith("# at its end\n\n\n")
    assert "".join(text for _, text in found) == MODULE


def test_a_long_class_is_cut_at_its_methods_and_a_short_one_is_not():
    method = "    # about {0}\n    def m{0}(self):\n        x = 1\n\n        return x\n\n"
    short = "class A:\n    y = 2\n\n" + "".join(map(method.format, range(3)))
    assert len(python_blocks(short)) == 1
    long = "class A:\n    y = 2\n\n" + "".join(map(method.format, range(LONG_CLASS // 6 + 1)))
    found = [text.splitlines()[0] for _, text in pieces(long, python_blocks(long))]
    assert found[:3] == ["class A:", "    # about 0", "    # about 1"]
    assert len(found) == LONG_CLASS // 6 + 2


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends_do_not_move_the_blocks(end):
    other = MODULE.replace("\n", end)
    assert [text.replace(end, "\n") for _, text in pieces(other, python_blocks(other))] == [
        text for _, text in pieces(MODULE, python_blocks(MODULE))
    ]


@pytest.mark.parametrize(
    "text", ["print 'old'\n\nx = 1\n", "(" * 10_000, "x = " + "-" * 100_000 + "1", "\0", "# only\n"]
)
def test_what_is_no_python_of_today_is_cut_at_blank_lines(text):
    assert python_blocks(text) == code_blocks(text)
    assert "".join(piece for _, piece in pieces(text, code_blocks(text))) == text


def test_warnings_about_the_code_are_not_ours():
    assert len(python_blocks('x = "\\d"\nassert (1, "always")\n')) == 1


def test_other_languages_are_cut_before_lines_without_indentation_after_a_blank_line():
    text = "package main\n\nfunc a() {\n\n\tx()\n\n}\n\n// b\nfunc b() {\n}\n\n\nend\n"
    assert [piece for _, piece in pieces(text, code_blocks(text))] == [
        "package main\n\n", "func a() {\n\n\tx()\n\n}\n\n", "// b\nfunc b() {\n}\n\n\nend\n",
    ]  # fmt: skip


def test_the_text_is_the_file_and_the_title_its_name(tmp_path):
    path = tmp_path / "Main.java"
    path.write_bytes("class Main {\r\n\tint ä;\r\n}\r\n".encode())
    document = SOURCE_CODE.read(path, "Main.java")
    assert document.text == "class Main {\r\n\tint ä;\r\n}\r\n"
    assert (document.title, document.media_type) == ("Main.java", "text/x-java")


def test_readers_share_no_extension_and_leave_json_alone():
    assert not set(PYTHON.extensions) & set(SOURCE_CODE.extensions)
    assert len(set(SOURCE_CODE.extensions)) == len(SOURCE_CODE.extensions)
    assert ".json" not in SOURCE_CODE.extensions


def test_files_of_the_standard_library_are_tiled():
    folder = Path(sys.modules["ast"].__file__).parent
    for name in ("ast.py", "enum.py", "typing.py", "this.py", "argparse.py"):
        document = PYTHON.read(folder / name, name)
        assert "".join(piece for _, piece in pieces(document.text, document.blocks)) == document.text
        assert max(len(piece.splitlines()) for _, piece in pieces(document.text, document.blocks)) < 400


LINES = st.lists(
    st.sampled_from(["def f():", "    x = 1", "class A:", "# c", "    # c", "", "@d", "x = 1", "}", '"""', "\t"])
)


@given(LINES, st.sampled_from(["\n", "\r\n", "\r"]))
def test_any_lines_are_tiled(lines, end):
    text = end.join(lines)
    for blocks in (python_blocks(text), code_blocks(text)):
        assert "".join(piece for _, piece in pieces(text, blocks)) == (text if text.strip() else "")
        assert all(piece.strip() for _, piece in pieces(text, blocks))


def test_a_very_large_file_is_not_parsed(monkeypatch):
    monkeypatch.setattr(source_code, "MAX_PARSED", 10)
    assert python_blocks(MODULE) == code_blocks(MODULE)


# ---------------------------------------------------------------- other languages, by their syntax

RUST = """\
//! About the crate.
use std::fmt;
use std::io;

/// A boat.
#[derive(Debug)]
struct Boat {
    length: u32,
}

// first
fn a() {}
fn b() {
    1
}
const X: u32 = 3;
const Y: u32 = 4;
"""


def syntax_pieces(text, extension):
    pytest.importorskip("tree_sitter_rust", reason="the `code` extra is not installed")
    return [piece for _, piece in pieces(text, syntax_blocks(text, extension))]


def test_definitions_of_other_languages_are_blocks_with_their_comments_and_attributes():
    assert syntax_pieces(RUST, ".rs") == [
        "//! About the crate.\nuse std::fmt;\nuse std::io;\n\n",
        "/// A boat.\n#[derive(Debug)]\nstruct Boat {\n    length: u32,\n}\n\n",
        "// first\nfn a() {}\n",
        "fn b() {\n    1\n}\n",
        "const X: u32 = 3;\nconst Y: u32 = 4;\n",
    ]


@pytest.mark.parametrize(
    ("extension", "text"),
    [
        (
            ".js",
            "import a from 'b';\n|/** d */\nexport class A {\n  m() {}\n}\n|const f = () => {\n  1;\n};\n|let x = 1;\n",
        ),
        (".tsx", "interface P {\n  a: string;\n}\n|export function f(p: P) {\n  return <b>{p.a}</b>;\n}\n"),
        (".ts", "type A = string;\n|namespace N {\n  export const x = 1;\n}\n"),
        (".java", "package a;\nimport b.C;\n\n|/** D */\n@E\nclass D {\n  int x;\n}\n|enum F { G }\n"),
        (".go", 'package a\n\nimport (\n\t"x"\n)\n\n|// F does.\nfunc F() {\n}\n|type T struct {\n\ta int\n}\n'),
        (".c", "#include <a.h>\n\n|/* f */\nint f(void) {\n  return 1;\n}\n|struct s {\n  int a;\n};\n"),
        (".cpp", "using namespace std;\n|template <class T>\nT f(T x) {\n  return x;\n}\n|class A {\n  int b;\n};\n"),
        (".cs", "using A;\n\n|// B\nclass B {\n  void F() {}\n}\n"),
        (".rb", "require 'a'\n|# B\nclass B\n  def c\n  end\nend\n|def d\nend\n"),
        (".php", "<?php\n|// f\nfunction f() {\n}\n|class A {\n  function g() {}\n}\n"),
        (".kt", "package a\nimport b\n|/** A */\nclass A {\n  fun f() {}\n}\n|fun g() = 1\n"),
        (".swift", "import A\n|/// B\nstruct B {\n  func f() {}\n}\n|func g() {}\n"),
        (".scala", "package a\n|object B {\n  def c = 1\n}\n|class D(e: Int)\n"),
    ],
)
def test_each_language_is_cut_between_its_definitions(extension, text):
    assert syntax_pieces(text.replace("|", ""), extension) == text.split("|")


def test_a_long_class_of_another_language_is_cut_at_its_methods():
    method = "  // about {0}\n  void m{0}() {{\n    x();\n\n    y();\n  }}\n\n"
    text = "class A {\n  int a;\n\n" + "".join(map(method.format, range(LONG_CLASS // 7 + 1))) + "}\n\nclass B {}\n"
    found = [piece.splitlines()[0] for piece in syntax_pieces(text, ".java")]
    assert found[:3] == ["class A {", "  // about 0", "  // about 1"]
    assert found[-1] == "class B {}"
    assert len(found) == LONG_CLASS // 7 + 3


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends_do_not_move_the_blocks_of_other_languages(end):
    found = syntax_pieces(RUST.replace("\n", end), ".rs")
    assert [piece.replace(end, "\n") for piece in found] == syntax_pieces(RUST, ".rs")


def test_errors_in_the_code_are_tolerated():
    broken = "fn a() {\n    let x = ;\n}\n\nfn b() {\n    1\n}\n@@ %% ((\nfn c() {\n}\n"
    assert [piece.splitlines()[0] for piece in syntax_pieces(broken, ".rs")][:2] == ["fn a() {", "fn b() {"]


@pytest.mark.parametrize("extension", sorted(GRAMMARS))
@pytest.mark.parametrize("text", ["(" * 20_000, "a<" * 20_000, "{" * 20_000, "if(a)" * 4000, "\"'" * 9000, "\ud800\0{"])
def test_nonsense_is_tiled_in_time(extension, text):
    start = time.process_time()
    assert "".join(syntax_pieces(text, extension)) == text
    assert time.process_time() - start < 10


def test_without_a_grammar_and_beyond_the_limit_code_is_cut_at_blank_lines(monkeypatch):
    assert syntax_blocks(RUST, ".zig") == code_blocks(RUST)
    monkeypatch.setattr(syntax_trees, "MAX_PARSED", 10)
    assert syntax_blocks(RUST, ".rs") == code_blocks(RUST)


@given(
    st.lists(
        st.sampled_from(["fn a() {", "}", "// c", "", "class A {", "  x;", "#[d]", "/*", "*/", "@", "  fn b() {}"])
    )
)
def test_any_lines_of_other_languages_are_tiled(lines):
    text = "\n".join(lines)
    for extension in (".rs", ".java", ".js"):
        found = [piece for _, piece in pieces(text, syntax_blocks(text, extension))]
        assert "".join(found) == (text if text.strip() else "")


def test_structure_cuts_between_functions():
    pytest.importorskip("tree_sitter_rust", reason="the `code` extra is not installed")
    body = "".join(f"    let value_{n} = compute(input, {n});\n" for n in range(12))
    text = "".join(f"// about {name}\nfn {name}() {{\n{body}\n{body}}}\n" for name in ("one", "two", "three"))
    document = Document("a.rs", text, syntax_blocks(text, ".rs"), media_type="text/x-rs")
    chunks = build("structure(max=150w)").chunk(document, Models(Minilm().tokenizer))
    assert len(chunks) == 3
    assert all(chunk.text.startswith("// about ") for chunk in chunks)


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("a.py", b"# -*- coding: latin-1 -*-\n"),
        ("a.py", b"#!x\n# vim: set fileencoding=latin-1 :\n"),
        ("a.rb", b"# coding: latin-1\n"),
    ],
)
def test_a_file_may_name_its_encoding(tmp_path, name, first):
    (tmp_path / name).write_bytes(first + "name = 'Žižek ÿ'\n".encode("cp1252"))
    assert read(tmp_path / name).text.endswith("name = 'Žižek ÿ'\n")
    (tmp_path / name).write_bytes(first + "name = 'Žižek'\n".encode())
    assert read(tmp_path / name).text.endswith("name = 'Žižek'\n")  # what is UTF-8 is UTF-8, whatever it says
