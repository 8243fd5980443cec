"""Edit stability: the edits themselves, the counting, and the figures that are promised."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faircut.chunkers import build
from faircut.chunkers.contract import Models
from faircut.documents.markdown import markdown_blocks
from faircut.documents.plain import plain_blocks
from faircut.embedding.minilm import Minilm
from faircut.evaluation.stability import (
    CHARACTERS,
    SAMPLE,
    Changes,
    EditStability,
    Stability,
    changed_chunks,
    edit_stability,
    edited,
    stability_of,
)  # fmt: skip
from faircut.records import Chunk, Document, Span
from faircut.text.units import CharacterCounter

THINGS = ["the lease", "a copy of the annual report", "all invoices of the quarter", "the key", "the minutes in full"]
VERBS = ["pays for", "returns", "signs", "reads", "keeps", "forwards", "destroys"]
TAILS = ["", " before the office closes", " when the archive is sealed and nobody has asked for it", " in May"]


def sentence(number):
    return f"Tenant {number} {VERBS[number % 7]} {THINGS[number * 3 % 5]}{TAILS[number * number % 4]}."


def prose(sentences=200, paragraph=0):
    ends = ("\n\n" if paragraph and n % paragraph == paragraph - 1 else " " for n in range(sentences))
    return "".join(f"{sentence(n)}{end}" for n, end in enumerate(ends))


def with_headings(sentences=200):
    return "".join(
        f"{f'## Part {n // 25}' + chr(10) * 2 if n % 25 == 0 else ''}{sentence(n)}{chr(10) * 2 if n % 5 == 4 else ' '}"
        for n in range(sentences)
    )


DOCUMENTS = {
    "one paragraph": Document("d", prose()),
    "a sentence a line": Document("d", prose().replace(". ", ".\n")),
    "paragraphs of one sentence": Document("d", prose(paragraph=1), plain_blocks(prose(paragraph=1))),
    "paragraphs of five": Document("d", prose(paragraph=5), plain_blocks(prose(paragraph=5))),
    "headings": Document("d", with_headings(), markdown_blocks(with_headings())),
}


@pytest.fixture(scope="module")
def minilm():
    return Minilm()


@pytest.mark.parametrize("kind", list(DOCUMENTS))
@pytest.mark.parametrize("spec", ["structure", "structure(max=200t)", "optimal(local=true)"])
def test_one_sentence_edited_anywhere_in_the_middle_changes_at_most_3_chunks_of_a_local_chunker(kind, spec, minilm):
    document, models = DOCUMENTS[kind], Models(minilm.tokenizer, overhead=2)
    before = build(spec).chunk(document, models)
    for place in (0.35, 0.5, 0.65):
        for edit in ("replaced", "inserted", "removed"):
            after = build(spec).chunk(edited(document, edit, at=place), models)
            assert 1 <= changed_chunks(before, after) <= 3


@pytest.mark.parametrize("kind", ["one paragraph", "headings"])
def test_one_sentence_edited_changes_at_most_3_chunks_of_hybrid(kind, minilm):
    assert 1 <= edit_stability(build("hybrid"), DOCUMENTS[kind], Models.of(minilm)).worst <= 3


def test_a_chunker_that_counts_from_the_beginning_changes_all_chunks_behind_the_edit(minilm):
    found = edit_stability(build("fixed(size=300c)"), DOCUMENTS["one paragraph"], Models(minilm.tokenizer))
    assert found.chunks > 30
    assert min(found.replaced, found.inserted, found.removed) > 0.4 * found.chunks
    assert found.worst == max(found.replaced, found.inserted, found.removed)


def test_a_document_without_text_has_no_changes(minilm):
    document = Document("d", " \n")
    assert edit_stability(build("fixed"), document, Models(minilm.tokenizer)) == EditStability(0, 0, 0, 0)
    with pytest.raises(ValueError, match="no sentence"):
        edited(document, "removed")


def chunks(*texts):
    return [Chunk("d", (Span(at, at + len(text)),), text) for at, text in enumerate(texts)]


def test_moved_chunks_are_not_changed_and_repeated_ones_are_counted():
    assert changed_chunks(chunks("a", "b", "c"), chunks("a", "c", "b")) == 0
    assert changed_chunks(chunks("a", "b"), chunks("a", "x", "y")) == 2
    assert changed_chunks(chunks("a", "a", "a"), chunks("a")) == 2
    assert changed_chunks(chunks("a"), [Chunk("d", (Span(0, 1),), "a", "heading")]) == 1


def test_the_edited_sentence_is_the_middle_one_and_all_else_stays():
    document = Document("d", "One here. Two here. Three here. Four here. Five here.")
    assert edited(document, "removed").text == "One here. Two here. Four here. Five here."
    assert edited(document, "replaced").text == "One here. Two here. Five here. Four here. Five here."
    assert edited(document, "inserted").text == "One here. Two here. Three here. Five here. Four here. Five here."


def test_a_removed_paragraph_goes_with_its_block_and_a_removed_last_sentence_leaves_the_blank_line():
    alone = "First one. First two.\n\nAlone.\n\nLast one. Last two."
    document = Document("d", alone, plain_blocks(alone))
    assert edited(document, "removed").text == "First one. First two.\n\nLast one. Last two."
    assert len(edited(document, "removed").blocks) == 2
    last = "A one. A two. A three.\n\nB one. B two."
    found = edited(Document("d", last, plain_blocks(last)), "removed")
    assert found.text == "A one. A two.\n\nB one. B two."
    assert [b.span for b in found.blocks] == [b.span for b in plain_blocks(found.text)]


def test_headings_tables_and_code_are_not_edited():
    text = "# Heading\n\nOne sentence.\n\n| a |\n|---|\n| b |\n\n```\ncode\n```\n\n## Another\n"
    found = edited(Document("d", text, markdown_blocks(text)), "removed").text
    assert found == text.replace("One sentence.\n\n", "")


@settings(max_examples=100, deadline=None)
@given(
    parts=st.lists(
        st.sampled_from(["Yes it is. ", "No.\n\n", "# Head\n\n", "\n- item\n", "だめ。", " ", "x "]), max_size=12
    ),
    edit=st.sampled_from(["replaced", "inserted", "removed"]),
    at=st.floats(0, 1),
)
def test_blocks_tile_the_edited_text_whatever_the_document(parts, edit, at):
    text = "".join(parts)
    for document in (
        Document("d", text),
        Document("d", text, plain_blocks(text)),
        Document("d", text, markdown_blocks(text)),
    ):
        if text.strip():
            found = edited(document, edit, at=at)  # a Document checks the tiling itself
            assert found.text != text
            assert bool(found.blocks) == bool(document.blocks) or not found.text


# ---------------------------------------------------------------- over a corpus


class Counting:
    """An embedder that notes what it is asked; each letter count is a dimension."""

    def __init__(self):
        self.texts = []
        self.tokenizer, self.max_tokens, self.dimensions, self.fingerprint = CharacterCounter(), 10**6, 26, "letters"

    def prefix(self, role):
        return ""

    def overhead(self, role):
        return 0

    def embed(self, texts, role, *, progress=None):
        self.texts += texts
        rows = np.array([[1 + text.lower().count(chr(97 + n)) for n in range(26)] for text in texts], dtype=np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


class Noting:
    """A chunker that notes which documents it is given."""

    def __init__(self, chunker):
        self.chunker, self.given = chunker, []

    def chunk(self, document, models):
        self.given.append(document)
        return self.chunker.chunk(document, models)


def corpus(*counts):
    return [Document(f"d{n}", prose(count, paragraph=5)) for n, count in enumerate(counts)]


def test_the_figure_of_a_corpus_is_mean_and_worst_of_each_edit(minilm):
    models = Models(minilm.tokenizer)
    documents = corpus(30, 60)
    found = stability_of(documents, build("fixed(size=300c)"), models)
    singles = [edit_stability(build("fixed(size=300c)"), document, models) for document in documents]
    assert (found.documents, found.chunks) == (2, sum(one.chunks for one in singles) / 2)
    for edit in ("replaced", "inserted", "removed"):
        counts = [getattr(one, edit) for one in singles]
        assert getattr(found, edit) == Changes(sum(counts) / 2, max(counts))
    assert found.worst == max(one.worst for one in singles)
    assert json.loads(json.dumps(found.as_json()))["removed"]["worst"] == found.removed.worst
    assert "2 documents of at most 20,000 characters" in str(found)


def test_the_sample_is_bounded_long_enough_and_from_the_whole_corpus(minilm):
    documents = corpus(*([3] * 40 + [25, 1500] * 30))
    chunker = Noting(build("recursive(max=200c)"))
    found = stability_of(documents, chunker, Models(minilm.tokenizer))
    assert found.documents == SAMPLE
    assert len(chunker.given) == 4 * SAMPLE
    originals = chunker.given[::4]
    assert all(len(d.text) <= CHARACTERS and d.text.count(".") >= 20 for d in originals)
    numbers = [int(d.id[1:]) for d in originals]
    assert numbers == sorted(numbers)
    assert numbers[-1] - numbers[0] > 20
    assert stability_of(documents, build("recursive(max=200c)"), Models(minilm.tokenizer)) == found


def test_a_corpus_of_short_documents_has_no_figure(minilm):
    for documents in ([], corpus(3, 19)):
        found = stability_of(documents, build("fixed"), Models(minilm.tokenizer))
        assert found == Stability(0, 0, Changes(0, 0), Changes(0, 0), Changes(0, 0))
        assert str(found) == "edit stability: no document with 20 sentences or more"


def test_each_text_is_embedded_once():
    embedder = Counting()
    found = stability_of(corpus(60), build("semantic(threshold=p85)"), Models.of(embedder))
    assert found.documents == 1
    assert len(embedder.texts) == len(set(embedder.texts))
    assert 60 <= len(embedder.texts) <= 75


def test_a_long_document_with_blocks_is_cut_where_its_blocks_still_tile(minilm):
    text = with_headings(900)
    found = stability_of([Document("d", text, markdown_blocks(text))], build("structure"), Models(minilm.tokenizer))
    assert found.documents == 1
    assert 1 <= found.worst <= 3
