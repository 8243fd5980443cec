"""Structure first, then similarity: with the real small model, on texts whose subject turns at a known place."""

import warnings

import pytest

from faircut.chunkers import build
from faircut.chunkers.contract import Models
from faircut.documents.markdown import markdown_blocks
from faircut.embedding.minilm import Minilm
from faircut.errors import EmbeddingError, SpecError
from faircut.evaluation.audit import audit
from faircut.records import Document

CATS = [
    "The cat sleeps on the warm windowsill.",
    "Kittens need milk and a quiet place to sleep.",
    "A cat purrs when somebody strokes its fur.",
    "Most cats hate water and love fish.",
]
TAXES = [
    "Corporate income tax is due at the end of March.",
    "The tax office accepts returns in electronic form only.",
    "Late tax payments are charged with interest.",
    "Companies may deduct losses from taxable income.",
]
HEAD = "| item | price |\n|---|---|"
TABLE = f"{HEAD}\n" + "".join(f"| lease {n} | {n}00 |\n" for n in range(30))
CODE = "```python\n" + "".join(f"def rent_{n}():\n    return {n}\n\n" for n in range(20)) + "```\n"


def markdown(text):
    return Document("d", text, markdown_blocks(text))


@pytest.fixture(scope="module")
def models():
    return Models.of(Minilm())


def cut(spec, document, models):
    return [chunk.text for chunk in build(spec).chunk(document, models)]


def test_a_section_is_cut_where_its_subject_turns(models):
    text = " ".join(CATS + TAXES)
    assert cut("hybrid(threshold=0.2, min=60c)", markdown(text), models) == [" ".join(CATS), " ".join(TAXES)]


def test_where_no_gap_is_below_the_threshold_only_the_maximum_cuts_at_the_least_similar_gap(models):
    text = " ".join(CATS + TAXES)
    assert cut("hybrid(threshold=-1.0)", markdown(text), models) == [text]
    found = cut("hybrid(threshold=-1.0, min=60c, max=300c)", markdown(text), models)
    assert found == [" ".join(CATS), " ".join(TAXES)]


def test_structure_comes_first_however_alike_the_texts_are(models):
    text = f"# Pets\n\n{' '.join(CATS)}\n\n# More pets\n\n{' '.join(CATS)}\n"
    found = cut("hybrid(threshold=-1.0)", markdown(text), models)
    assert found == [f"# Pets\n\n{' '.join(CATS)}", f"# More pets\n\n{' '.join(CATS)}"]


def test_text_below_the_minimum_goes_with_its_first_subsection_and_no_part_is_left_below_it(models):
    text = f"# Book\n\nShort.\n\n## Pets\n\n{' '.join(CATS * 3)}\n\n## Taxes\n\n{' '.join(TAXES * 3)}\n"
    found = cut("hybrid(threshold=0.9)", markdown(text), models)
    assert found[0].startswith("# Book\n\nShort.\n\n## Pets\n\nThe cat")
    assert min(map(len, found)) >= 190  # 200 with the white space that a chunk does not keep
    assert max(map(len, found)) <= 800


def test_a_heading_is_never_parted_from_its_text(models):
    text = "".join(f"## Part {n}\n\n{' '.join((CATS + TAXES)[: n % 8 + 1])}\n\n" for n in range(16))
    for chunk in cut("hybrid(threshold=0.9, min=20c, max=200c)", markdown(text), models):
        assert not chunk.splitlines()[-1].startswith("##")


@pytest.mark.parametrize("block", [TABLE[:420], CODE[:400] + "\n```\n", "".join(f"- {s}\n" for s in CATS + TAXES)])
def test_a_block_that_fits_is_whole(block, models):
    text = f"{' '.join(CATS * 3)}\n\n{block}\n{' '.join(TAXES * 3)}\n"
    assert any(block.strip() in chunk for chunk in cut("hybrid(threshold=0.9)", markdown(text), models))


def test_a_table_above_the_maximum_is_cut_between_rows_and_code_between_lines(models):
    found = build("hybrid(max=200c)").chunk(markdown(TABLE), models)
    assert {chunk.context for chunk in found[1:]} == {HEAD}
    rows = [line for chunk in found for line in chunk.text.splitlines() if "lease" in line]
    assert rows == TABLE.splitlines()[2:]
    lines = [line for chunk in cut("hybrid(max=200c)", markdown(CODE), models) for line in chunk.splitlines() if line]
    assert lines == [line for line in CODE.splitlines() if line]


def test_whole_keeps_tables_and_code_above_the_maximum_and_the_audit_says_what_is_not_seen(models):
    long_table = TABLE + "".join(f"| deposit {n} | {n}00 |\n" for n in range(60))
    text = f"{' '.join(CATS)}\n\n{long_table}\n{' '.join(TAXES)}\n"
    document = markdown(text)
    with warnings.catch_warnings(record=True):  # tables are not embedded as sentences
        warnings.simplefilter("error")
        chunks = build("hybrid(threshold=-1.0, max=300c, whole=true)").chunk(document, models)
    assert [chunk.text for chunk in chunks] == [" ".join(CATS), long_table.strip(), " ".join(TAXES)]
    found = audit(document, chunks, models)
    assert (found.tables_cut, found.beyond_limit) == (0, 1)
    assert found.unseen_tokens > 300


def test_whole_up_to_the_embedder_cuts_what_it_does_not_read(models):
    spec = "hybrid(max=200c, whole=embedder)"
    small = "\n".join(TABLE.splitlines()[:20])
    assert cut(spec, markdown(small), models) == [small]
    assert len(small) > 200
    assert len(cut(spec, markdown(TABLE * 3), models)) > 1


def test_a_percentile_is_taken_over_the_gaps_of_the_document(models):
    text = " ".join(CATS + TAXES)
    assert cut("hybrid(threshold=p90, min=60c)", markdown(text), models) == [" ".join(CATS), " ".join(TAXES)]


def test_what_cannot_be_is_refused_before_any_work(models):
    with pytest.raises(EmbeddingError, match="needs an embedder"):
        build("hybrid").chunk(Document("d", "One. Two."), Models(models.tokenizer))
    for spec in ("hybrid(min=900c)", "hybrid(min=20t)", "hybrid(min=1.5)", "hybrid(threshold=7.0)", "hybrid(whole=x)"):
        with pytest.raises(SpecError):
            build(spec)


@pytest.mark.parametrize("least", ["0.0", "1c"])
def test_without_a_minimum_long_text_is_cut_and_nothing_is_lost(models, least):
    chunker = build(f"hybrid(min={least}, max=60c, threshold=1.0)")
    document = markdown(" ".join(CATS) + "\n\n" + TABLE + "\n" + "x" * 300)
    chunks = chunker.chunk(document, models)
    assert len(chunks) > 10
    assert audit(document, chunks, models, ceiling=chunker.max).ok
