"""One content written as Markdown, HTML, Word and PDF becomes the same blocks: kinds, levels, words, cells, items.

Before it is written, the samples lose what the standard fonts of PDF lack (the minus sign, the ohm).
"""

import warnings
from pathlib import Path

import pytest
from pdf_typesetter import Typesetter
from sample_content import PARSER, normal, normal_of_document, normal_of_markdown, pieces, words, write_docx

from faircut.documents import read

SAMPLES = sorted((Path(__file__).parents[2] / "examples" / "corpus").glob("*.md"))


def source(path):
    return path.read_text(encoding="utf-8").replace("\u2212", "-").replace("\u03a9", "ohm")


def test_there_are_samples():
    assert len(SAMPLES) >= 20


# What a printed page cannot tell, and other formats only in part; changed on both sides before they are compared.


def code_in_a_row(blocks):
    """Two pieces of code with nothing between them are one; blank lines at a page's end are not seen."""
    joined = []
    for kind, level, held in blocks:
        if kind == "code" and joined and joined[-1][0] == "code":
            held = joined.pop()[2] + held
        joined.append((kind, level, [line for line in held if line] if kind == "code" else held))
    return joined


def header_without_words(blocks):
    """The empty header that Markdown asks of every table is not printed."""
    return [(k, level, held[1:] if k == "table" and held and not any(held[0]) else held) for k, level, held in blocks]


def lettered_paragraphs(blocks):
    """A paragraph that begins with (a) is an item to the eye; Markdown and HTML do not know such items."""
    return [
        ("paragraph", None, held[0][2])
        if kind == "list" and len(held) == 1 and held[0][2].startswith("(a) ")
        else (kind, level, held)
        for kind, level, held in blocks
    ]


def in_the_type_of_others(made):
    """The words of paragraphs that are code or bold as a whole, which look like pieces of code and like headings."""
    whole = [(p.kind, {style for text, style in p.held if text.strip()}, p.held) for p in made if p.kind == "paragraph"]
    code = {words(held) for _, styles, held in whole if styles == {"code"}}
    return code, {words(held) for _, styles, held in whole if styles == {"bold"}}


def seen(blocks, made, *, tagged=False, outlined=False):
    code, bold = in_the_type_of_others(made)
    result = []
    for kind, level, held in lettered_paragraphs(header_without_words(blocks)):
        if kind == "code" and len(held) == 1 and held[0] in code:
            kind, held = "paragraph", held[0]
        if kind == "heading" and held in bold and not tagged and not outlined:
            kind, level = "paragraph", None
        result.append((kind, level, held))
    return code_in_a_row(result)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda p: p.stem)
def test_markdown_and_html_and_word_give_the_same_blocks(path, tmp_path):
    text = source(path)
    wanted = normal(pieces(text))
    (tmp_path / "a.md").write_text(text, encoding="utf-8")
    (tmp_path / "a.html").write_text(f"<html><body>{PARSER.render(text)}</body></html>", encoding="utf-8")
    write_docx(tmp_path / "a.docx", pieces(text))
    assert normal_of_markdown(read(tmp_path / "a.md")) == wanted
    assert normal_of_document(read(tmp_path / "a.html")) == wanted
    word = normal_of_document(read(tmp_path / "a.docx"))
    assert seen(word, pieces(text), tagged=True) == seen(wanted, pieces(text), tagged=True)


VARIANTS = {
    "fonts alone, ruled tables": {"ruled": True},
    "fonts alone, no rules": {"ruled": False},
    "outline, no rules": {"ruled": False, "outlined": True},
    "tagged": {"ruled": True, "tagged": True},
}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("path", SAMPLES, ids=lambda p: p.stem)
def test_a_pdf_gives_the_same_blocks(path, variant, tmp_path):
    made = pieces(source(path))
    (tmp_path / "a.pdf").write_bytes(Typesetter(**VARIANTS[variant]).file(made))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # running headers are left out
        found = normal_of_document(read(tmp_path / "a.pdf"))
    known = {key: value for key, value in VARIANTS[variant].items() if key != "ruled"}
    assert seen(found, made, **known) == seen(normal(made), made, **known)
