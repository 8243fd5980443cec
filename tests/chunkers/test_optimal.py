"""The chunks of least cost: sizes, limits and what cuts prefer; `test_segmentation` shows that they are the best."""

import numpy as np
import pytest

from faircut.chunkers import build
from faircut.chunkers.contract import Models
from faircut.chunkers.sentence import sentence_places
from faircut.documents.markdown import markdown_blocks
from faircut.embedding.minilm import Minilm
from faircut.errors import EmbeddingError, SpecError
from faircut.records import Document

LENGTHS = [3, 9, 14, 5, 22, 7, 11, 17, 4, 12]
WORDS = ["the", "tenant", "pays", "rent", "for", "a", "house", "in", "the", "town", "and", "keeps", *["receipts"] * 12]


def prose(sentences=300, paragraph=6):
    ends = ("\n\n" if n % paragraph == paragraph - 1 else " " for n in range(sentences))
    return "".join(f"No {n} {' '.join(WORDS[: LENGTHS[n * 7 % 10]])}.{end}" for n, end in enumerate(ends))


def markdown(text):
    return Document("d", text, markdown_blocks(text))


@pytest.fixture(scope="module")
def minilm():
    return Minilm()


@pytest.fixture(scope="module")
def models(minilm):
    return Models(minilm.tokenizer, overhead=2)


def sizes(spec, document, models):
    return np.array(models.tokenizer.count_many([c.text for c in build(spec).chunk(document, models)]))


@pytest.mark.parametrize("mean", [60, 100, 150, 300])
def test_chunks_have_about_the_wanted_mean_in_tokens(mean, models):
    document = markdown(prose())
    assert sizes(f"optimal(mean={mean}t)", document, models).mean() == pytest.approx(mean, rel=0.08)
    assert sizes(f"optimal(mean={mean}t, local=true)", document, models).mean() == pytest.approx(mean, rel=0.25)


def test_the_mean_may_be_in_another_unit_than_the_maximum(models):
    chunks = build("optimal(mean=60w, max=256t)").chunk(markdown(prose()), models)
    assert np.mean([len(chunk.text.split()) for chunk in chunks]) == pytest.approx(60, rel=0.06)


def test_a_larger_penalty_makes_fewer_chunks(models):
    counts = [len(sizes(f"optimal(penalty={p})", markdown(prose()), models)) for p in (0.1, 0.5, 2.0, 8.0)]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > 3 * counts[-1]


def test_minimum_and_maximum_hold_however_small_the_penalty(models):
    found = sizes("optimal(penalty=0.001, min=50t, max=100t)", markdown(prose()), models)
    assert found.min() >= 50
    assert found.max() <= 98  # two tokens are the embedder's own
    assert sizes("optimal(min=50t)", markdown("Too short."), models).tolist() == [3]


def test_cuts_fall_on_blank_lines_rather_than_on_sentences_and_on_headings_rather_than_both(models):
    document = markdown(prose())
    chunks = build("optimal").chunk(document, models)
    paragraphs = {b.span.start for b in document.blocks}
    assert np.mean([c.spans[0].start in paragraphs for c in chunks]) > 0.8
    text = "".join(f"{'## Head' + chr(10) * 2 if n % 3 == 0 else ''}{prose(6)}" for n in range(30))
    headed = markdown(text)
    starts = {c.spans[0].start for c in build("optimal(mean=160t)").chunk(headed, models)}
    headings = {b.span.start for b in headed.blocks if b.kind == "heading"}
    assert len(starts & headings) >= 0.8 * len(headings)
    assert not any(c.text.endswith("## Head") for c in build("optimal(mean=40t)").chunk(headed, models))


def test_no_sentence_table_or_code_block_that_fits_is_cut(models):
    table = "| a | b |\n|---|---|\n" + "| one | two |\n" * 12
    code = "```\n" + "def rent():\n    return 1\n\n" * 6 + "```\n"
    document = markdown(f"{prose(20)}\n\n{table}\n{prose(20)}\n\n{code}\n{prose(20)}")
    chunks = build("optimal(mean=30t)").chunk(document, models)
    assert any(table.strip() in c.text for c in chunks)
    assert any(code.strip() in c.text for c in chunks)
    places = set(sentence_places(document))
    assert all(c.spans[0].start in places for c in chunks)


def test_with_vectors_a_cut_falls_where_the_subject_turns(minilm):
    cats = "The cat sleeps on the sofa. Kittens drink milk. A cat purrs when it is stroked. Cats love fish."
    taxes = "Income tax is due in March. The tax office accepts returns. Late tax costs interest. Losses reduce tax."
    document = Document("d", f"{cats} {taxes}")
    chunks = build("optimal(vectors=true, penalty=1.0)").chunk(document, Models.of(minilm))
    assert [c.text for c in chunks] == [cats, taxes]


def test_what_cannot_be_is_refused_before_any_work(models):
    with pytest.raises(EmbeddingError, match="needs an embedder"):
        build("optimal(vectors=true)").chunk(Document("d", "One. Two."), models)
    with pytest.raises(SpecError, match="local with vectors needs a penalty"):
        build("optimal(vectors=true, local=true)")
    for spec in (
        "optimal(penalty=0.0)",
        "optimal(min=600t)",
        "optimal(min=50c)",
        "optimal(mean=0)",
        "optimal(max=none)",
    ):
        with pytest.raises(SpecError):
            build(spec)
