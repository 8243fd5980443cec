"""The audit finds what a cutting did to a document, and nothing else."""

import gzip
import json
from itertools import pairwise

import pytest

from cpu_time import cpu_time
from faircut.chunkers import build
from faircut.chunkers.contract import Models, Tally
from faircut.documents.markdown import markdown_blocks
from faircut.embedding.minilm import Minilm
from faircut.evaluation.audit import Integrity, audit, total
from faircut.records import Chunk, Document, Span
from faircut.specs import Size

TEXT = "The lease begins in May. The rent is due monthly. It is paid in advance. Nobody pays in cash."
DOCUMENT = Document("lease", TEXT)


@pytest.fixture(scope="module")
def models():
    return Models(Minilm().tokenizer, overhead=2)


def cut(*places, document=DOCUMENT, context=""):
    return [Chunk(document.id, (Span(a, b),), document.text[a:b], context) for a, b in places]


def test_a_clean_cutting_is_clean(models):
    found = audit(DOCUMENT, build("sentence(max=12t)").chunk(DOCUMENT, models), models, ceiling=Size(12))
    assert found == Integrity(documents=1, chunks=4, characters=len(TEXT.replace(" ", "")))
    assert found.ok
    assert str(found) == "nothing lost, nothing wrong"


def test_lost_text_is_counted_without_white_space_and_its_places_are_named(models):
    found = audit(DOCUMENT, cut((0, 24), (73, 93)), models)
    assert found.lost == len("The rent is due monthly. It is paid in advance.".replace(" ", ""))
    assert found.lost_at == (("lease", Span(25, 72)),)
    assert not found.ok
    assert str(found) == "38 characters lost (50.67 %)"


def test_only_the_first_few_places_are_named(models):
    document = Document("d", "abc " * 20)
    found = audit(document, cut(*((i, i + 1) for i in range(0, 80, 4)), document=document), models)
    assert found.lost == 40
    assert found.lost_at == tuple(("d", Span(i + 1, i + 3)) for i in range(0, 20, 4))


def test_no_chunk_at_all_loses_everything(models):
    found = audit(DOCUMENT, [], models)
    assert (found.lost, found.characters) == (75, 75)
    assert found.lost_at == (("lease", Span(0, len(TEXT))),)


def test_what_is_delivered_again_is_counted_each_time(models):
    found = audit(DOCUMENT, cut((0, 49), (25, 93), (25, 49)), models)
    assert found.duplicated == 2 * len("Therentisduemonthly.")
    assert found.out_of_order == 0
    assert found.ok


def test_chunks_that_begin_before_the_one_before_them_are_out_of_order(models):
    found = audit(DOCUMENT, cut((25, 93), (0, 24)), models)
    assert found.out_of_order == 1
    assert str(found) == "1 chunk out of order"


def test_text_that_is_not_the_documents_at_its_spans_is_a_wrong_offset(models):
    wrong = [
        Chunk("lease", (Span(1, 25),), TEXT[0:24]),
        Chunk("lease", (Span(24, 500),), TEXT[24:]),
        Chunk("lease", (Span(600, 700),), "elsewhere"),
    ]
    found = audit(DOCUMENT, wrong, models)
    assert found.offsets_wrong == 3
    assert found.lost == 1


def test_several_spans_of_a_chunk_are_joined(models):
    joined = Chunk("lease", (Span(0, 24), Span(49, 72)), TEXT[0:24] + TEXT[49:72])
    found = audit(DOCUMENT, [joined, *cut((25, 49), (73, 93))], models)
    assert (found.lost, found.offsets_wrong, found.duplicated) == (0, 0, 0)


def test_blank_chunks_are_counted(models):
    found = audit(DOCUMENT, cut((0, 93), (24, 25)), models)
    assert found.blank == 1
    assert str(found) == "1 blank chunk"


@pytest.mark.parametrize(
    ("ceiling", "over"),
    [(Size(25), 0), (Size(24), 1), (Size(18, "w"), 1), (Size(19, "w"), 0), (Size(93, "c"), 0), (Size(92, "c"), 1)],
)
def test_the_ceiling_counts_what_is_embedded(ceiling, over, models):
    assert models.tokenizer.count(TEXT) + models.overhead == 25
    assert audit(DOCUMENT, cut((0, 93)), models, ceiling=ceiling).over_ceiling == over
    with_context = cut((0, 93), context="A heading")
    assert audit(DOCUMENT, with_context, models, ceiling=Size(25)).over_ceiling == 1


def test_text_beyond_the_embedders_limit_is_counted_in_tokens(models):
    short = Models.of(Minilm(max_tokens=20))
    found = audit(DOCUMENT, cut((0, 93)), short)
    assert (found.beyond_limit, found.unseen_tokens) == (1, 5)
    assert not found.ok
    assert str(found) == "1 chunk beyond the embedder's limit (5 tokens unseen)"
    assert audit(DOCUMENT, cut((0, 93)), models).beyond_limit == 0


STRUCTURED = """# Lease

It begins in May.

| item | price |
|---|---|
| rent | 1,200 |
| heat | 90 |

## Code

```
rent = 1200

heat = 90
```
"""


def places(*cuts):
    edges = [0, *(STRUCTURED.index(c) for c in cuts), len(STRUCTURED)]
    return list(pairwise(edges))


def test_tables_code_and_headings_that_were_cut_off_are_counted(models):
    document = Document("d", STRUCTURED, markdown_blocks(STRUCTURED))
    whole = audit(document, cut(*places("| item", "## Code"), document=document), models)
    assert (whole.tables_cut, whole.code_cut, whole.headings_orphaned) == (0, 0, 0)
    broken = audit(document, cut(*places("It begins", "| heat", "```", "heat = 90"), document=document), models)
    assert (broken.tables_cut, broken.code_cut, broken.headings_orphaned) == (1, 1, 2)
    assert broken.begin_inside_sentence == 0
    assert broken.ok


def test_a_heading_with_nothing_but_headings_and_white_space_after_it_is_no_orphan(models):
    text = "# One\n\nText.\n\n# Two\n\n## Three\n\n"
    document = Document("d", text, markdown_blocks(text))
    cuts = pairwise([0, text.index("Text"), text.index("# Two"), text.index("## Three"), len(text)])
    assert audit(document, cut(*cuts, document=document), models).headings_orphaned == 1


def test_eight_times_the_headings_take_at_most_about_eight_times_the_cpu(models):
    def seconds(headings):
        text = "".join(f"# Heading {number}\n\n" for number in range(headings))
        document = Document("d", text, markdown_blocks(text))
        chunks = cut(*((b.span.start, b.span.end) for b in document.blocks), document=document)
        with cpu_time() as spent:
            found = audit(document, chunks, models)
        assert found.headings_orphaned == 0
        return spent[0]

    small = min(seconds(1_000) for _ in range(3))
    assert seconds(8_000) <= 24 * small + 0.1  # quadratic would be 64 times; the rest is room for a busy machine


def test_chunks_that_begin_inside_a_sentence_are_counted(models):
    found = audit(DOCUMENT, cut((0, 30), (30, 49), (49, 93)), models)
    assert found.begin_inside_sentence == 1


def test_the_sum_over_a_corpus_adds_the_counts(models):
    parts = [audit(DOCUMENT, cut((0, 24)), models), audit(DOCUMENT, cut((0, 93)), models)]
    both = total(parts)
    assert (both.documents, both.chunks, both.characters, both.lost) == (2, 2, 150, parts[0].lost)
    assert both.lost_at == parts[0].lost_at
    assert total([]) == Integrity()


def test_chunks_of_another_document_are_refused(models):
    with pytest.raises(ValueError, match="of document 'other', not of 'lease'"):
        audit(DOCUMENT, [Chunk("other", (Span(0, 1),), "T")], models)


def test_an_empty_document_is_clean(models):
    assert audit(Document("d", ""), [], models) == Integrity(documents=1)


@pytest.mark.parametrize("spec", ["fixed(size=128t)", "recursive(max=128t)", "python:textwrap:wrap(width=400)"])
def test_real_papers_are_audited(spec, models, shared_data):
    with gzip.open(shared_data / "covidqa" / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(next(lines)) for _ in range(3)]
    documents = [Document(r["id"], r["text"]) for r in rows]
    found = total(audit(d, build(spec).chunk(d, models), models) for d in documents)
    assert found.ok
    assert found.documents == 3
    assert (found.begin_inside_sentence > 0.5 * found.chunks) == (not spec.startswith("recursive"))


def test_a_model_that_wrote_nothing_is_told_in_the_words(models):
    idle = audit(DOCUMENT, cut((0, 93)), models, tally=Tally(asked=81, uncited=81), rewritten=True)
    assert "the model wrote 0 statements for 81 sentences" in str(idle)
    some = audit(DOCUMENT, cut((0, 93)), models, tally=Tally(asked=80, statements=70, uncited=20), rewritten=True)
    assert "20 of 80 sentences in no statement (25.0 %), they stand" in str(some)
