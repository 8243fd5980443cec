"""What readers build: blocks that tile the text, tables as pipe tables, lists as indented lines."""

from hypothesis import given
from hypothesis import strategies as st

from faircut.documents.building import DocumentBuilder, ListItem, pipe_table


def test_a_table_is_a_pipe_table_with_escaped_cells_and_full_rows():
    assert pipe_table([["a", "b"], ["x|y", "two\nlines"], ["short"]]) == (
        "| a | b |\n| --- | --- |\n| x\\|y | two lines |\n| short |  |"
    )
    assert pipe_table([["1", "2"]], header_rows=0) == "|  |  |\n| --- | --- |\n| 1 | 2 |"
    assert pipe_table([["A", "A"], ["x", "y"], ["1", "2"]], header_rows=2).startswith("| A / x | A / y |\n")
    assert pipe_table([]) == ""


def test_lists_keep_their_nesting_and_code_its_indentation():
    builder = DocumentBuilder()
    builder.items([ListItem("one", 0, 1), ListItem("inner\nsecond line", 1), ListItem("two", 0, 2)])
    builder.page = 3
    builder.add("code", "\n    indented\n  less\n\n")
    document = builder.build("d", title="", source="", media_type="x")
    assert document.text == "1. one\n  - inner\n    second line\n2. two\n\n    indented\n  less\n"
    assert [(b.kind, b.level, b.page) for b in document.blocks] == [("list", 1, None), ("code", None, 3)]


KINDS = st.sampled_from(["paragraph", "code", "quote", "other", "heading"])


@given(st.lists(st.tuples(KINDS, st.text())))
def test_blocks_tile_whatever_was_added(pieces):
    builder = DocumentBuilder()
    for kind, text in pieces:
        builder.add(kind, text)
    document = builder.build("d", title="", source="", media_type="x")
    assert len(document.blocks) == sum(bool(t.strip()) for _, t in pieces)
    for block in document.blocks:
        assert document.text[block.span.start : block.span.end].strip()
