"""Markdown becomes blocks of the right kinds that tile the source, whatever its line ends."""

import time
import warnings
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cpu_time import cpu_time
from faircut.documents import read
from faircut.documents.markdown import markdown_blocks
from faircut.errors import FaircutWarning

PAGE = """\
---
title: "The handbook"
lang: en
---

# Rules *of* the house

Some prose
over two lines.

Hours
-----

- one

  with a second paragraph
- two
  1. nested

| day | open |
|-----|------|
| Mon | yes  |

```python
# not a heading

x = 1
```

    indented code

> a quote
lazily continued

[link]: https://example.org

[^1]: A footnote.

<div>

***
"""

KINDS = [
    ("other", None, "---\ntitle"),
    ("heading", 1, "# Rules"),
    ("paragraph", None, "Some prose"),
    ("heading", 2, "Hours\n---"),
    ("list", 1, "- one"),
    ("table", None, "| day"),
    ("code", None, "```python"),
    ("code", None, "    indented"),
    ("quote", None, "> a quote\nlazily"),
    ("other", None, "[link]:"),
    ("paragraph", None, "[^1]:"),
    ("other", None, "<div>"),
    ("other", None, "***"),
]

ATOMS = [
    "\n", "\n\n", "\r", "\r\n", "\r\n\r\n", "\t", "    ", "  ", " ", "\0", "\ud800", "\u2028", "\x85", "\x0b", "\xa0",
    "a", "b c", "# ", "## x", "===", "---", "***", "- ", "1. ", "> ", "```", "~~~", "|", "|a|b|", "|-|-|", "[a]: ",
    "[^1]: ", "[^1]", "<", "<!--", "-->", "<div>", "http://x", '"', "\\", "title: x", "...", "`", "é", "😀", "\ufeff",
]  # fmt: skip


def pieces(text):
    return [(b.kind, b.level, text[b.span.start : b.span.end]) for b in markdown_blocks(text)]


def test_each_block_has_its_kind_and_level():
    found = pieces(PAGE)
    assert [(kind, level) for kind, level, _ in found] == [(kind, level) for kind, level, _ in KINDS]
    assert all(text.startswith(start) for (_, _, text), (_, _, start) in zip(found, KINDS, strict=True))


@pytest.mark.parametrize("end", ["\r\n", "\r"], ids=ascii)
def test_line_ends_change_nothing_but_themselves(end):
    assert [(k, level, t.replace(end, "\n")) for k, level, t in pieces(PAGE.replace("\n", end))] == pieces(PAGE)


def test_blank_lines_belong_to_the_block_before_and_leading_ones_to_the_first():
    assert [t for _, _, t in pieces("\n \n# A\n\n\npar\n \n[x]: y\n\n")] == ["\n \n# A\n\n\n", "par\n \n", "[x]: y\n\n"]


def test_offsets_survive_what_the_parser_rewrites():
    text = "a\0b\tc\r\n\r\n\ud800 😀\r\r> q\0\r\n"
    assert pieces(text) == [
        ("paragraph", None, "a\0b\tc\r\n\r\n"),
        ("paragraph", None, "\ud800 😀\r\r"),
        ("quote", None, "> q\0\r\n"),
    ]


@given(st.lists(st.sampled_from(ATOMS), max_size=60).map("".join) | st.text())
def test_blocks_tile_any_text_and_none_is_blank(text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FaircutWarning)
        blocks = markdown_blocks(text)
    assert "".join(text[b.span.start : b.span.end] for b in blocks) == text
    assert all(text[b.span.start : b.span.end].strip() for b in blocks) or not text.strip()


@pytest.mark.parametrize(
    "text", [">" * 10_000 + "x", "- " * 10_000 + "x", "".join(f"{'> ' * i}x\n" for i in range(400))]
)
def test_nesting_beyond_the_limit_is_said_and_read_as_paragraphs(text):
    with pytest.warns(FaircutWarning, match="nested deeper than 100 levels"):
        assert [kind for kind, _, _ in pieces(f"one\n\n{text}\n\ntwo")] == ["paragraph"] * 3


def test_what_follows_a_deep_but_followed_list_keeps_its_kind():
    deep = "".join(f"{'  ' * i}- x\n" for i in range(40))
    assert [kind for kind, _, _ in pieces(f"{deep}\n# After\n")] == ["list", "heading"]


@pytest.mark.parametrize(
    "unit",
    [
        "# h\n\ntext *a* [b](c)\n\n- x\n- y\n\n",
        "> - a\nb\n",
        "[a]: b\n",
        "|a|b|\n|-|-|\n\n",
        "```\na\n\n",
        "[\n",
        "- a\n\n",
    ],
)
def test_time_grows_with_the_length(unit):
    def seconds(text):
        with cpu_time() as spent:
            markdown_blocks(text)
        return spent[0]

    seconds(unit)
    small, large = (min(seconds(unit * n) for _ in range(3)) for n in (300, 2400))
    assert large < 8 * 2.5 * small + 0.05


def test_real_documents_tile(shared_data):
    for path in sorted((shared_data / "nasty").glob("*.md")):
        document = read(path)
        assert all(a.span.end == b.span.start for a, b in pairwise(document.blocks))
        assert document.text.encode() == path.read_bytes().removeprefix(b"\xef\xbb\xbf")
        assert len(document.blocks) > 50


@pytest.mark.parametrize(
    ("text", "title"),
    [
        (PAGE, "The handbook"),
        (PAGE.replace('title: "The handbook"', "author: me"), "Rules of the house"),
        ("Intro.\n\n## A `b` &amp; [c](d) ![e](f) <b>g</b>\n", "A b & c e g"),
        ("Under\nlined\n===\n", "Under lined"),
        ("no heading", "page"),
        ("---\ntitle: |\n  long\n---\n", "page"),
        ("#\n\ntext", "page"),
    ],
)
def test_the_title_is_that_of_the_front_matter_else_the_first_heading_else_the_file(tmp_path, text, title):
    path = tmp_path / "page.md"
    path.write_text(text, encoding="utf-8")
    assert read(path).title == title


def test_a_title_full_of_spaces_takes_no_time(tmp_path):
    path = tmp_path / "page.md"
    path.write_text(f"---\ntitle: a{' ' * 300_000}x\n---\n# {'[' * 300_000}\n", encoding="utf-8")
    start = time.process_time()
    read(path)
    assert time.process_time() - start < 1
