"""What moving a boundary would have done equals a whole new run with it; the table of causes in the run folder."""

import json
from dataclasses import replace
from itertools import groupby, pairwise

import polars as pl
import pytest

from faircut import Plan, run
from faircut.embedding import EMBEDDERS
from faircut.embedding.cache import CachedEmbedder
from faircut.evaluation.diagnosis import Cutting, diagnose, is_hit, seen_ranges
from faircut.evaluation.measures import parse_measure
from faircut.evaluation.misses import CAUSES, Boundary
from faircut.experiment.counterfactual import Ceiling, Counterfactuals, ceiling_of, moves
from faircut.experiment.inputs import Inputs
from faircut.experiment.retrieve import Ranking
from faircut.index.exact import ExactIndex
from faircut.records import Block, Chunk, Document, Evidence, Question, Span
from faircut.specs import Size

SENTENCES = [
    "The ferry leaves the harbour at six in the morning.",
    "It carries bicycles without a fee.",
    "Tickets are sold on board by the mate.",
    "Dogs travel for half the price of a child.",
    "The crossing takes forty minutes in calm weather.",
    "In a storm the ferry stays in the harbour.",
]
FERRY = Document("ferry", " ".join(SENTENCES))
STARTS = [FERRY.text.index(s) for s in SENTENCES] + [len(FERRY.text)]
FILLER = [Document(f"filler{i}", f"Number {i} of the shelf holds old maps and a lamp.") for i in range(4)]


@pytest.fixture(scope="module")
def embedder(tmp_path_factory):
    return CachedEmbedder(EMBEDDERS.build("minilm"), tmp_path_factory.mktemp("vectors") / "v.sqlite")


def cut_at(document, *places):
    """Chunks between the places, trimmed as chunkers do."""
    edges, chunks = [0, *places, len(document.text)], []
    for a, b in pairwise(edges):
        text = document.text[a:b]
        start = a + len(text) - len(text.lstrip())
        chunks.append(Chunk(document.id, (Span(start, start + len(text.strip())),), text.strip()))
    return chunks


def no_ceiling(embedder):
    return Ceiling(None, embedder)


def texts(move):
    return [chunk.text for _, chunk in move.changed]


# ---------------------------------------------------------------- moving a boundary


def moved(document, chunks, embedder, size=None):
    boundary = Boundary(0, 1, chunks[0].spans[-1].end, chunks[1].spans[0].start)
    back, forward = moves([boundary], chunks, document, Ceiling(size, embedder))
    assert (back.direction, forward.direction) == ("back", "forward")
    return back, forward


def test_a_boundary_between_sentences_moves_by_a_whole_one(embedder):
    back, forward = moved(FERRY, cut_at(FERRY, STARTS[3]), embedder)
    assert texts(back) == [" ".join(SENTENCES[:2]), " ".join(SENTENCES[2:])]
    assert texts(forward) == [" ".join(SENTENCES[:4]), " ".join(SENTENCES[4:])]
    assert (back.start, forward.start) == (STARTS[2], STARTS[4])


def test_a_boundary_inside_a_sentence_moves_to_its_begin_and_to_its_end(embedder):
    back, forward = moved(FERRY, cut_at(FERRY, STARTS[3] + 5), embedder)
    assert texts(back) == [" ".join(SENTENCES[:3]), " ".join(SENTENCES[3:])]
    assert texts(forward) == [" ".join(SENTENCES[:4]), " ".join(SENTENCES[4:])]


def test_a_chunk_that_loses_all_its_text_is_gone(embedder):
    back, forward = moved(FERRY, cut_at(FERRY, STARTS[1])[:2], embedder)
    assert texts(back) == [FERRY.text]
    assert [position for position, _ in back.changed] == [1]
    assert texts(forward) == [" ".join(SENTENCES[:2]), " ".join(SENTENCES[2:])]


def test_sentences_end_with_their_block(embedder):
    text = "A heading\n\nOne sentence here. Another one there."
    blocks = (Block("heading", Span(0, 11), 1), Block("paragraph", Span(11, len(text))))
    document = Document("d", text, blocks)
    back, _ = moved(document, cut_at(document, text.index("Another")), embedder)
    assert texts(back) == ["A heading", "One sentence here. Another one there."]


def test_chunks_that_overlap_keep_their_overlap(embedder):
    chunks = [
        Chunk("ferry", (Span(0, STARTS[3] - 1),), FERRY.text[: STARTS[3] - 1]),
        Chunk("ferry", (Span(STARTS[2], len(FERRY.text)),), FERRY.text[STARTS[2] :]),
    ]
    back, forward = moved(FERRY, chunks, embedder)
    assert texts(back) == [" ".join(SENTENCES[:2]), " ".join(SENTENCES[1:])]
    assert texts(forward) == [" ".join(SENTENCES[:4]), " ".join(SENTENCES[3:])]


def test_contexts_stay_and_every_changed_chunk_is_verbatim(embedder):
    chunks = [replace(c, context="Timetable") for c in cut_at(FERRY, STARTS[3])]
    for move in moved(FERRY, chunks, embedder):
        assert all(c.context == "Timetable" and c.is_verbatim(FERRY) for _, c in move.changed)


def test_a_move_that_breaks_the_ceiling_is_not_possible_and_says_so(embedder):
    chunks = cut_at(FERRY, STARTS[3])
    longest = max(len(c.text) for c in chunks)
    for size in (Size(longest, "c"), Size(28, "w")):
        back, forward = moved(FERRY, chunks, embedder, size)
        assert not back.possible or not forward.possible
        assert "are allowed" in back.reason + forward.reason
    tokens = max(embedder.tokenizer.count_many([c.text for c in chunks])) + embedder.overhead("passage")
    assert not all(move.possible for move in moved(FERRY, chunks, embedder, Size(tokens, "t")))


def test_a_rewritten_text_has_no_boundary_to_move(embedder):
    first, second = cut_at(FERRY, STARTS[3])
    back, _ = moved(FERRY, [replace(first, text="Reworded."), second], embedder)
    assert back.reason == "a rewritten text has no boundary in the document"


def test_a_chunk_of_several_places_gives_and_takes_only_at_the_place_beside_the_boundary(embedder):
    ends = [s - 1 for s in STARTS]
    first = (Span(0, ends[1]), Span(STARTS[2], ends[3]))
    chunks = [
        Chunk("ferry", first, "".join(FERRY.text[s.start : s.end] for s in first)),
        Chunk("ferry", (Span(STARTS[3], ends[4]),), SENTENCES[3]),
    ]
    back, forward = moved(FERRY, chunks, embedder)
    assert "several places" in back.reason
    assert texts(forward) == [SENTENCES[0] + " ".join(SENTENCES[2:4])]


@pytest.mark.parametrize(
    ("spec", "size"),
    [
        ("recursive(max=120t)", Size(120)),
        ("fixed(300c)", Size(300, "c")),
        ("shuffled(recursive(max=90t))", Size(90)),
        ("semantic_p85", None),
    ],
)
def test_the_ceiling_is_the_chunkers_own(spec, size):
    from faircut import build

    assert ceiling_of(build(spec)) == size


# ---------------------------------------------------------------- the ranking is recomputed exactly


def inputs_of(question, embedder):
    documents = {d.id: d for d in (FERRY, *FILLER)}
    return Inputs(documents, (question,), embedder.tokenizer, "", "")


def ranking_of(chunks, question, embedder, depth=None):
    index = ExactIndex()
    index.add(chunks, embedder.embed([c.embedded_text for c in chunks], "passage"))
    positions, scores = index.search(embedder.embed([question.text], "query"), len(chunks), [question.within])
    found = positions[0] >= 0
    return Ranking(positions[0][found][:depth], scores[0][found][:depth])


def by_a_whole_run(chunks, move, question, cut, embedder, inputs):
    """Whether it is a hit when the corpus is cut with the moved boundary and everything is embedded and ranked anew."""
    new = dict(move.changed)
    cut_anew = [new.get(at, c) for at, c in enumerate(chunks) if at not in move.replaced or at in new]
    passages = inputs.passages(cut_anew)
    ranked = [passages[p] for p in ranking_of(cut_anew, question, embedder).positions.tolist()]
    return is_hit(question, ranked, cut, inputs.token_index)


def counterfactual(chunks, question, cut, embedder, *, depth=None, size=None):
    inputs = inputs_of(question, embedder)
    passages = inputs.passages(chunks)
    ranking = ranking_of(chunks, question, embedder, depth)
    cutting = Cutting(
        chunks, passages, lambda d: inputs.documents[d].text, lambda at: seen_ranges(chunks[at], embedder)
    )
    diagnosis = diagnose(question, ranking.positions.tolist(), cutting, cut, inputs.token_index)
    if diagnosis.cause != "cut":
        return [], inputs
    asked = Counterfactuals(inputs, chunks, passages, [ranking], cut, embedder, Ceiling(size, embedder))
    return asked.ask({0: diagnosis.miss})[0], inputs


def test_evidence_that_a_moved_boundary_makes_whole_would_have_been_a_hit(embedder):
    question = Question("q", SENTENCES[3], (Evidence("ferry", Span(STARTS[3], STARTS[4] - 1)),))
    chunks = [*cut_at(FERRY, STARTS[3] + 12, STARTS[4], STARTS[5]), *(c for d in FILLER for c in cut_at(d))]
    (back, forward), _ = counterfactual(chunks, question, parse_measure("hit@1").cut, embedder)
    assert back.hit is True
    (back, forward), _ = counterfactual(chunks, question, parse_measure("hit@1").cut, embedder, size=Size(50, "c"))
    assert (back.hit, forward.hit) == (True, None)
    assert "are allowed" in forward.reason


def test_evidence_cut_twice_needs_more_than_one_boundary_moved(embedder):
    question = Question("q", "When is a price paid?", (Evidence("ferry", Span(STARTS[1], STARTS[4] - 1)),))
    chunks = [*cut_at(FERRY, *STARTS[1:-1]), *(c for d in FILLER for c in cut_at(d))]
    listed, _ = counterfactual(chunks, question, parse_measure("hit@1").cut, embedder)
    assert [(m.boundary, m.direction) for m in listed] == [
        (0, "back"), (0, "forward"), (1, "back"), (1, "forward"),
    ]  # fmt: skip
    assert not any(m.hit for m in listed)


@pytest.mark.parametrize("depth", [None, 3])
@pytest.mark.parametrize("within", [None, "ferry"])
def test_the_answer_is_that_of_a_whole_new_run(embedder, depth, within):
    answers = []
    for cut in (parse_measure(m).cut for m in ("hit@1", "hit@2", "hit@12t", "hit@25t", "hit@40t")):
        for shift in (5, 17, 30):
            chunks = [*cut_at(FERRY, *(s + shift for s in STARTS[1:-1])), *(c for d in FILLER for c in cut_at(d))]
            for number in range(1, 6):
                evidence = Evidence("ferry", Span(STARTS[number], STARTS[number + 1] - (number < 5)))
                question = Question("q", SENTENCES[number], (evidence,), within=within)
                listed, inputs = counterfactual(chunks, question, cut, embedder, depth=depth)
                for move in listed:
                    assert move.hit == by_a_whole_run(chunks, move, question, cut, embedder, inputs)
                    answers.append(move.hit)
    assert answers.count(True) > 10
    assert answers.count(False) > 10


# ---------------------------------------------------------------- the stage


@pytest.fixture(scope="module")
def finished(small, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    plan = Plan(
        corpus=str(small / "corpus"),
        questions=str(small / "questions.jsonl"),
        chunkers=("fixed(40c)", "recursive(max=40t)"),
        measure="recall@30t",
        measures=("hit@30t",),
        index="exact",
    )
    return run(plan, folder / "run", cache=folder / "v.sqlite"), folder / "run"


def tables(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    for row in manifest["rows"]:
        place = folder / "diagnosis" / f"{row['scores']}.parquet"
        scores = pl.read_parquet(folder / "scores" / f"{row['scores']}.parquet")
        yield row, pl.read_parquet(place), json.loads(place.with_suffix(".json").read_text()), scores


def test_the_run_folder_has_the_cause_of_every_miss(finished):
    _, folder = finished
    for _, table, facts, scores in tables(folder):
        assert (table["missed"] == (scores["hit@30t"] == 0)).all()
        assert table.columns == ["question", "missed", "cause", "detail", "counterfactual"]
        assert table["question"].to_list() == ["q1", "q2", "q3", "q4", "q5", "q6", "q7"]
        assert (table["missed"] == table["cause"].is_not_null()).all()
        counts = {cause: len(list(group)) for cause, group in groupby(sorted(table["cause"].drop_nulls().to_list()))}
        assert facts["causes"] == {cause: counts.get(cause, 0) for cause in CAUSES}
        assert facts["missed"] == table["missed"].sum()
        assert sum(facts["moved"].values()) == facts["causes"]["cut"]


def test_fixed_windows_of_forty_characters_cut_evidence_and_the_boundary_is_told(finished):
    _, folder = finished
    _, table, facts, _ = next(iter(tables(folder)))
    assert facts["causes"]["cut"] >= 3
    for row in table.filter(pl.col("cause") == "cut").iter_rows(named=True):
        detail, asked = json.loads(row["detail"]), json.loads(row["counterfactual"])
        assert all(detail["start"] < b["end"] < detail["end"] for b in detail["boundaries"])
        assert len(asked["moves"]) == 2 * len(detail["boundaries"])
        assert all(m["possible"] == (m["reason"] == "") == (m["hit"] is not None) for m in asked["moves"])
    assert table.filter(pl.col("cause") != "cut")["counterfactual"].is_null().all()


def test_the_leaderboard_counts_the_causes_of_each_row(finished):
    board, folder = finished
    by_row = {row["row"]: facts["causes"] for row, _, facts, _ in tables(folder)}
    assert {row["row"]: row["causes"] for row in board["rows"]} == by_row


@pytest.mark.parametrize(
    "retrieval", [{"search": "bm25"}, {"search": "rrf"}, {"deliver": "window(1)"}, {"best_sentence": True}], ids=str
)
def test_other_ways_to_retrieve_are_diagnosed_and_the_boundaries_left_for_a_stated_reason(small, tmp_path, retrieval):
    plan = Plan(
        corpus=str(small / "corpus"),
        questions=str(small / "questions.jsonl"),
        chunkers=("fixed(12c)",),
        measure="recall@20t",
        index="exact",
        **retrieval,
    )
    run(plan, tmp_path / "run", cache=tmp_path / "v.sqlite")
    _, table, facts, _ = next(tables(tmp_path / "run"))
    assert facts["missed"] == sum(facts["causes"].values())
    assert facts["moved"]["skipped"] == facts["causes"]["cut"] > 0
    answers = [json.loads(a) for a in table["counterfactual"].drop_nulls().to_list()]
    assert all(a["skipped"].startswith("with ") and a["hit"] is None for a in answers)


def test_a_finished_diagnosis_is_not_made_again(finished, small):
    board, folder = finished
    before = {p: p.stat().st_mtime_ns for p in (folder / "diagnosis").iterdir()}
    plan = Plan(
        corpus=str(small / "corpus"),
        questions=str(small / "questions.jsonl"),
        chunkers=("fixed(40c)", "recursive(max=40t)"),
        measure="recall@30t",
        measures=("hit@30t",),
        index="exact",
    )
    assert run(plan, folder, cache=folder.parent / "v.sqlite")["rows"][0]["causes"] == board["rows"][0]["causes"]
    assert {p: p.stat().st_mtime_ns for p in (folder / "diagnosis").iterdir()} == before
