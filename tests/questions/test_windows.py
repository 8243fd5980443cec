"""Windows are drawn uniformly over the text of all documents, whatever its structure."""

from itertools import islice

import pytest

from faircut.documents.markdown import markdown_blocks
from faircut.errors import QuestionError
from faircut.questions.windows import draw_windows
from faircut.records import Document

PARAGRAPH = "Some words about boats that are moored at the quay in winter and in summer alike."


def document(name, paragraphs):
    text = "\n\n".join(f"# Part {n}\n\n{PARAGRAPH}" if n % 3 == 0 else PARAGRAPH for n in range(paragraphs))
    return Document(name, text, markdown_blocks(text))


def drawn(documents, count, size=400, seed=1):
    return list(islice(draw_windows(documents, size, seed), count))


def test_every_part_of_the_text_is_as_likely_as_any_other():
    documents = [document("short", 8), document("long", 80)]
    windows = drawn(documents, 4000)
    share = sum(w.document.id == "short" for w in windows) / len(windows)
    assert abs(share - len(documents[0].text) / sum(len(d.text) for d in documents)) < 0.02
    size = len(documents[1].text)
    middles = [(w.span.start + w.span.end) / 2 / size for w in windows if w.document.id == "long"]
    tenths = [sum(n / 10 <= m < (n + 1) / 10 for m in middles) / len(middles) for n in range(10)]
    assert all(0.07 < part < 0.13 for part in tenths)


def test_windows_cross_paragraphs_and_sections_and_end_between_words():
    (only,) = documents = [document("d", 60)]
    windows = drawn(documents, 200)
    edges = [block.span.start for block in only.blocks[1:]]
    headings = [block.span.start for block in only.blocks if block.kind == "heading"]
    assert all(any(w.span.start < edge < w.span.end for edge in edges) for w in windows)
    assert sum(any(w.span.start < edge < w.span.end for edge in headings) for w in windows) > 100
    for window in windows:
        assert window.text == window.text.strip()
        assert 150 <= len(window.span) <= 400
        for at in (window.span.start, window.span.end):
            assert at in (0, len(only.text)) or only.text[at - 1].isspace() or only.text[at : at + 1].isspace()


def test_the_same_seed_gives_the_same_windows_and_more_of_them_begin_alike():
    documents = [document("d", 30)]
    assert drawn(documents, 50)[:20] == drawn(documents, 20)
    assert drawn(documents, 20, seed=2) != drawn(documents, 20)


def test_text_without_spaces_has_windows_too():
    text = "船は外側の埠頭に係留される。" * 100
    assert all(len(w.span) >= 150 for w in drawn([Document("d", text)], 20))


def test_documents_with_nothing_to_ask_about_are_refused():
    with pytest.raises(QuestionError, match="nothing to ask about"):
        draw_windows([Document("d", "--- \n " * 500)], 400, 0)
    with pytest.raises(QuestionError, match="at least 200"):
        draw_windows([document("d", 3)], 100, 0)
