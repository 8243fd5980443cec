"""What is delivered for found chunks: each place once, charged in full, the same sections for every chunker."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faircut.chunkers import Models, build
from faircut.chunkers.sentence import sentence_places
from faircut.documents import read
from faircut.errors import SpecError
from faircut.evaluation.context import Context, passage
from faircut.evaluation.measures import parse_measure
from faircut.evaluation.metrics import score
from faircut.experiment.searching import sentences_of
from faircut.experiment.units import DELIVERIES, Units
from faircut.records import Chunk, Document, Evidence, Question, Span
from faircut.text.units import WordCounter

COUNTER = WordCounter()
SPECS = ["chunk", "window", "window(2)", "parent(12)", "parent(40)", "merge(size=12)", "merge(share=0.9, size=30)"]
PIECES = [
    "One two three. ",
    "Four five six seven. ",
    "\n\n",
    "# Heading\n\n",
    "Eight nine. ",
    "Ten.\n\n",
    "漢字。",
    "  ",
]


def units_of(documents, spec, *, verbatim=True):
    models = Models(COUNTER)
    chunks = [chunk for document in documents for chunk in build(spec).chunk(document, models)]
    passages = [
        passage(c, tokens=COUNTER.count(c.text), context_tokens=COUNTER.count(c.context), verbatim=verbatim)
        for c in chunks
    ]
    indexes = {d.id: COUNTER.index(d.text) for d in documents}
    return Units(chunks, passages, {d.id: d for d in documents}, COUNTER, indexes.__getitem__)


def characters(units, document_id, ranges):
    """The places that are not white space."""
    text = units.documents[document_id].text
    return {at for start, end in ranges for at in range(start, end) if not text[at].isspace()}


def walked(spec, units, positions):
    return [p for added in DELIVERIES.build(spec).walk(units, positions) for p in added]


texts = st.lists(st.sampled_from(PIECES), min_size=1, max_size=25).map("".join)


@st.composite
def situations(draw):
    documents = [Document(f"d{i}", draw(texts)) for i in range(draw(st.integers(1, 3)))]
    units = units_of(documents, draw(st.sampled_from(["fixed(6w, overlap=2w)", "sentence(9w)", "recursive(5w)"])))
    positions = draw(st.permutations(range(len(units.chunks))))
    return units, positions[: draw(st.integers(0, len(positions)))]


@settings(max_examples=60, deadline=None)
@given(situations(), st.sampled_from(SPECS))
def test_every_found_chunk_is_delivered_and_no_place_twice(situation, spec):
    units, positions = situation
    seen: dict[str, set[int]] = {}
    for position, added in zip(positions, DELIVERIES.build(spec).walk(units, positions), strict=True):
        for given_now in added:
            new = characters(units, given_now.document_id, given_now.ranges)
            assert new
            if spec != "chunk":
                assert not new & seen.get(given_now.document_id, set())
                assert all(a[1] <= b[0] for a, b in pairwise(given_now.ranges))
            seen.setdefault(given_now.document_id, set()).update(new)
        chunk = units.chunks[position]
        assert characters(units, chunk.document_id, units.ranges(position)) <= seen[chunk.document_id]


@settings(max_examples=60, deadline=None)
@given(situations(), st.sampled_from(SPECS), st.integers(1, 40))
def test_everything_delivered_is_charged_and_no_budget_is_exceeded(situation, spec, budget):
    units, positions = situation
    passages = walked(spec, units, positions)
    for one in passages:
        text = units.documents[one.document_id].text
        if spec != "chunk":
            assert one.text == "".join(text[start:end] for start, end in one.ranges)
            assert one.characters == len(one.text)
            assert one.tokens == sum(COUNTER.count(text[start:end]) for start, end in one.ranges)
    delivery = Context(passages).at(parse_measure(f"recall@{budget}t").cut, units.token_index)
    assert delivery.tokens <= budget


@settings(max_examples=60, deadline=None)
@given(situations(), st.sampled_from(SPECS), st.integers(1, 40), st.data())
def test_recall_of_any_delivery_is_that_counted_place_by_place(situation, spec, budget, data):
    units, positions = situation
    document = data.draw(st.sampled_from(list(units.documents.values())))
    start = data.draw(st.integers(0, len(document.text) - 1))
    gold = Span(start, data.draw(st.integers(start + 1, len(document.text))))
    question = Question("q", "?", (Evidence(document.id, gold),))
    passages = walked(spec, units, positions)
    measure = parse_measure(f"recall@{budget}t")
    table = score([question], {"q": passages}, [measure], token_index=units.token_index)
    left, covered = budget, set()
    for one in passages:
        text = units.documents[one.document_id].text
        for start, end in one.ranges:
            stop = end if COUNTER.count(text[start:end]) <= left else COUNTER.index(text).furthest(start, left, end)
            left -= COUNTER.count(text[start:stop])
            if one.document_id == document.id:
                covered |= set(range(start, stop)) & set(range(gold.start, gold.end))
            if stop < end:
                left = 0
                break
        if left <= 0:
            break
    assert table.mean(measure) == pytest.approx(len(covered) / len(gold))


@settings(max_examples=40, deadline=None)
@given(situations(), st.integers(1, 3))
def test_a_window_holds_the_neighbours_of_the_same_document(situation, count):
    units, positions = situation
    for position in positions:
        (only,) = walked(f"window({count})", units, [position])
        own = units.chunks[position].document_id
        near = [p for p in range(position - count, position + count + 1) if 0 <= p < len(units.chunks)]
        expected = [r for p in near if units.chunks[p].document_id == own for r in units.ranges(p)]
        assert only.document_id == own
        assert characters(units, own, only.ranges) == characters(units, own, expected)


MANUAL = """# Berths

Long boats moor at the outer quay. It has twelve places.

## Fees

A night costs eleven crowns. Larger boats pay more. Payment is by card at the green kiosk. Receipts are printed.

# Dogs

Dogs are welcome. They are on a lead in summer.
"""


@pytest.fixture
def manual(tmp_path):
    (tmp_path / "manual.md").write_text(MANUAL)
    return read(tmp_path / "manual.md")


def text_of(found):
    return "".join(found.text.split())


def test_a_parent_is_the_section_that_structure_makes_whatever_cut_the_chunk(manual):
    sections = [c.text for c in build("structure(max=30w, context=false)").chunk(manual, Models(COUNTER))]
    for spec in ("fixed(4w)", "sentence(10w)", "recursive(7w)"):
        units = units_of([manual], spec)
        inside = next(p for p, c in enumerate(units.chunks) if "green" in c.text)
        (found,) = walked("parent(30w)", units, [inside])
        assert "".join(next(s for s in sections if "green" in s).split()) in text_of(found)


def test_a_chunk_in_two_sections_brings_the_one_that_holds_most_of_it_and_the_rest_of_itself(manual):
    start, end = MANUAL.index("Receipts"), MANUAL.index("# Dogs") + len("# Dogs")
    chunk = Chunk(manual.id, (Span(start, end),), MANUAL[start:end])
    units = Units([chunk], [passage(chunk, tokens=5)], {manual.id: manual}, COUNTER, lambda _: COUNTER.index(MANUAL))
    (found,) = walked("parent(30w)", units, [0])
    assert text_of(found).startswith("##Fees")
    assert text_of(found).endswith("#Dogs")


def test_hits_are_merged_once_two_of_them_cover_the_share(manual):
    units = units_of([manual], "sentence(6w)")
    at = {
        word: next(p for p, c in enumerate(units.chunks) if word in c.text) for word in ("night", "Payment", "Dogs are")
    }
    alone, other, merged = DELIVERIES.build("merge(share=0.4, size=30w)").walk(
        units, [at["night"], at["Dogs are"], at["Payment"]]
    )
    assert [len(alone), len(other), len(merged)] == [1, 1, 2]
    assert "Receipts" in merged[1].text
    later = walked("merge(share=0.9, size=30w)", units, [at["night"], at["Payment"]])
    assert not any("Receipts" in p.text for p in later)


def test_a_long_chunk_alone_does_not_bring_its_section(manual):
    units = units_of([manual], "recursive(28w)")
    for position in range(len(units.chunks)):
        assert len(walked("merge(share=0.1, size=60w)", units, [position])) == 1


def test_rewritten_text_is_delivered_as_the_places_that_it_came_from():
    document = Document("d", "Alpha beta. Gamma delta. Epsilon.")
    chunk = Chunk("d", (Span(0, 12), Span(25, 33)), "Alpha is beta, then epsilon.")
    units = Units(
        [chunk],
        [passage(chunk, tokens=5, verbatim=False)],
        {"d": document},
        COUNTER,
        lambda _: COUNTER.index(document.text),
    )
    (found,) = walked("window", units, [0])
    assert found.text == "Alpha beta. Epsilon."
    assert found.verbatim


@pytest.mark.parametrize(
    "spec", ["window(0)", "parent(0t)", "merge(share=0)", "merge(share=1.5)", "parents", "chunk(1)"]
)
def test_deliveries_that_make_no_sense_are_refused(spec):
    with pytest.raises(SpecError):
        DELIVERIES.build(spec)


@pytest.mark.parametrize("spec", ["chunk", "window", "window(chunks=2)", "parent(size=512t)", "merge(share=0.25)"])
def test_a_delivery_prints_as_what_builds_it(spec):
    assert str(DELIVERIES.build(spec)) == spec


# ---------------------------------------------------------------- the sentences of a chunk


def test_the_sentences_of_a_chunk_are_its_own_parts_of_the_documents(manual):
    places = sentence_places(manual)
    start, end = MANUAL.index("eleven"), MANUAL.index("by card")
    parts = sentences_of(Chunk(manual.id, (Span(start, end),), MANUAL[start:end]), manual, places)
    assert [part.text for part in parts] == ["eleven crowns.", "Larger boats pay more.", "Payment is"]
    assert all(MANUAL[p.spans[0].start : p.spans[0].end].strip() == p.text for p in parts)


def test_a_chunk_of_one_sentence_has_none_of_its_own(manual):
    text = "It has twelve places."
    at = MANUAL.index(text)
    assert sentences_of(Chunk(manual.id, (Span(at, at + len(text)),), text), manual, sentence_places(manual)) == []
    with_path = Chunk(manual.id, (Span(at, at + len(text)),), text, context="Berths")
    assert [s.text for s in sentences_of(with_path, manual, sentence_places(manual))] == [text]


def test_rewritten_text_has_its_own_sentences():
    document = Document("d", "Alpha beta. Gamma delta.")
    chunk = Chunk("d", (Span(0, 24),), "Alpha is beta. Gamma is delta.")
    assert [s.text for s in sentences_of(chunk, document, sentence_places(document))] == [
        "Alpha is beta.",
        "Gamma is delta.",
    ]


@settings(max_examples=50, deadline=None)
@given(texts)
def test_the_sentences_of_all_chunks_hold_every_word_of_them(text):
    document = Document("d", text)
    for chunk in build("fixed(5w, overlap=2w)").chunk(document, Models(COUNTER)):
        parts = sentences_of(chunk, document, sentence_places(document))
        joined = "".join("".join(p.text.split()) for p in parts)
        assert joined in ("".join(chunk.text.split()), "")
