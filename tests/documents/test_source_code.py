"""Source code stays exactly as it is in the file; its blocks are what a programmer would move as one piece."""

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faircut.documents import source_code
from faircut.documents.source_code import LONG_CLASS, PYTHON, SOURCE_CODE, code_blocks, python_blocks

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
