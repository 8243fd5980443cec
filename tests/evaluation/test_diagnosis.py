"""Each cause of a miss, in rankings built so that the cause is known; and that every miss has exactly one."""

import dataclasses
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faircut.embedding import EMBEDDERS
from faircut.evaluation.context import passage
from faircut.evaluation.diagnosis import Cutting, diagnose, seen_ranges
from faircut.evaluation.measures import parse_measure
from faircut.evaluation.metrics import score
from faircut.evaluation.misses import CAUSES
from faircut.evaluation.repetition import without_repeats
from faircut.records import Chunk, Evidence, Question, Span

# ---------------------------------------------------------------- a small exact tokenizer: a character is a token


@dataclass(frozen=True)
class Characters:
    total: int

    def count(self, start, end):
        return end - start

    def furthest(self, start, limit, end=None):
        return min(start + limit, self.total if end is None else end)


LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
TEXTS = {
    "right": " ".join(f"right{a}{b}" for a in LETTERS[:10] for b in LETTERS[:10])[:400],
    "other": " ".join(f"other{a}{b}" for a in LETTERS[:10] for b in LETTERS[:10])[:400],
}
TEXTS["copy"] = TEXTS["other"]


def index_of(document):
    return Characters(len(TEXTS[document]))


def chunk(document, *ranges):
    text = "".join(TEXTS[document][a:b] for a, b in ranges)
    return Chunk(document, tuple(Span(a, b) for a, b in ranges), text)


def windows(document, size, step=None):
    return [chunk(document, (a, min(a + size, 400))) for a in range(0, 400, step or size)]


def cutting_of(chunks, limit=10_000):
    """``limit`` is what the embedder reads of a chunk, in characters."""
    passages = [passage(c, tokens=len(c.text)) for c in chunks]

    def seen(at):
        return [(s.start, min(s.end, s.start + limit)) for s in chunks[at].spans]

    return Cutting(chunks, passages, TEXTS.__getitem__, seen)


def asked(*places, match="all", document="right"):
    return Question("q", "?", tuple(Evidence(document, Span(a, b)) for a, b in places), match)


def found(question, ranking, cutting, cut="100t"):
    return diagnose(question, ranking, cutting, parse_measure(f"hit@{cut}").cut, index_of)


# ---------------------------------------------------------------- each cause


def test_a_hit_has_no_cause():
    diagnosis = found(asked((10, 40)), [0], cutting_of(windows("right", 50)))
    assert (diagnosis.missed, diagnosis.cause, diagnosis.miss) == (False, None, None)


def test_evidence_of_which_more_than_a_twentieth_is_in_no_chunk_is_lost():
    cutting = cutting_of([chunk("right", (0, 50)), chunk("right", (60, 110))])
    diagnosis = found(asked((20, 100)), [0, 1], cutting)
    assert diagnosis.cause == "lost"
    assert diagnosis.miss.lost == ((50, 60),)
    assert [p.position for p in diagnosis.miss.held_by] == [0, 1]


def test_evidence_of_which_less_than_a_twentieth_is_lost_is_not_lost():
    cutting = cutting_of([chunk("right", (0, 99)), *windows("other", 50)])
    diagnosis = found(asked((0, 100)), [1, 2, 0], cutting)
    assert diagnosis.cause == "outranked"


def test_white_space_between_two_chunks_is_not_lost_but_cut():
    blank = TEXTS["right"].index(" ")
    cutting = cutting_of([chunk("right", (0, blank)), chunk("right", (blank + 1, 50))])
    assert found(asked((blank - 5, blank + 5)), [0, 1], cutting).cause == "cut"


def test_white_space_at_the_edge_of_the_evidence_that_no_chunk_has_is_lost():
    blank = TEXTS["right"].index(" ")
    cutting = cutting_of([chunk("right", (0, blank))])
    assert found(asked((blank - 5, blank + 1)), [0], cutting).cause == "lost"


def test_evidence_beyond_what_the_embedder_reads_is_truncated():
    cutting = cutting_of([*windows("right", 200), *windows("other", 50)], limit=60)
    diagnosis = found(asked((100, 140)), [2, 3, 0], cutting)
    assert diagnosis.cause == "truncated"
    (place,) = diagnosis.miss.held_by
    assert (place.position, place.share, place.seen, place.rank) == (0, 1.0, 0.0, 3)


def test_evidence_that_the_embedder_reads_by_half_is_not_truncated():
    cutting = cutting_of([*windows("right", 200), *windows("other", 50)], limit=60)
    assert found(asked((40, 80)), [2, 3, 0], cutting).cause == "outranked"
    assert found(asked((41, 81)), [2, 3, 0], cutting).cause == "truncated"


def test_evidence_that_an_overlapping_chunk_shows_to_the_embedder_is_not_truncated():
    cutting = cutting_of([*windows("right", 200, 100), *windows("other", 50)], limit=60)
    assert found(asked((110, 140)), [5, 6, 0], cutting).cause != "truncated"


def test_a_chunk_that_reaches_the_evidence_only_beyond_the_budget_is_too_long():
    cutting = cutting_of([*windows("right", 200), *windows("other", 50)])
    assert found(asked((110, 140)), [0], cutting).cause == "too long"
    assert found(asked((110, 140)), [0], cutting, "200t").cause is None
    assert found(asked((110, 140)), [0], cutting, "1").cause is None


def test_evidence_longer_than_the_budget_is_too_long_however_it_is_cut():
    cutting = cutting_of(windows("right", 50))
    assert found(asked((0, 200)), [0, 1, 2, 3], cutting).cause == "too long"


@pytest.mark.parametrize("ranking", [[], [4], [1, 4, 5], [0, 4, 5, 1]])
def test_evidence_that_no_one_chunk_holds_is_cut_whether_a_part_was_delivered_or_not(ranking):
    diagnosis = found(asked((30, 70)), ranking, cutting_of(windows("right", 50)))
    assert diagnosis.cause == "cut"
    (boundary,) = diagnosis.miss.boundaries
    assert dataclasses.astuple(boundary) == (0, 1, 50, 50)
    assert diagnosis.miss.covered == pytest.approx(0.5 * bool({0, 1} & set(ranking[:2])))


def test_a_cut_tells_each_boundary_inside_the_evidence_and_with_how_many_tokens_it_would_have_been_a_hit():
    diagnosis = found(asked((30, 120)), [0, 5, 1, 2], cutting_of(windows("right", 50)))
    assert [(b.end, b.start) for b in diagnosis.miss.boundaries] == [(50, 50), (100, 100)]
    assert (diagnosis.miss.rank, diagnosis.miss.tokens_needed) == (4, 150 + 16)  # 95 % of 90 are 86: up to 116


def test_the_boundary_between_chunks_that_overlap_is_told_by_both_edges():
    cutting = cutting_of([chunk("right", (0, 60)), chunk("right", (50, 110)), *windows("other", 50)])
    diagnosis = found(asked((30, 90)), [2, 3], cutting)
    assert diagnosis.cause == "cut"
    assert [(b.end, b.start) for b in diagnosis.miss.boundaries] == [(60, 50)]


def test_a_chunk_within_another_one_bounds_nothing():
    cutting = cutting_of([chunk("right", (0, 50)), chunk("right", (20, 45)), chunk("right", (50, 100))])
    (boundary,) = found(asked((10, 90)), [], cutting).miss.boundaries
    assert dataclasses.astuple(boundary) == (0, 2, 50, 50)


def test_evidence_behind_chunks_that_repeat_each_other_is_crowded_out():
    overlapping = [chunk("other", (a, a + 50)) for a in (0, 5, 10)]
    cutting = cutting_of([*overlapping, *windows("right", 50)])
    diagnosis = found(asked((10, 40)), [0, 1, 2, 3], cutting)
    assert diagnosis.cause == "crowded out"
    assert [round(r.repeated, 2) for r in diagnosis.miss.above] == [0.0, 0.9, 0.9]
    assert diagnosis.miss.tokens_repeated == 100


def test_evidence_behind_a_copy_from_another_document_is_crowded_out():
    cutting = cutting_of([*windows("other", 100), *windows("copy", 100), *windows("right", 50)])
    diagnosis = found(asked((10, 40)), [0, 4, 8], cutting, "150t")
    assert diagnosis.cause == "crowded out"
    assert diagnosis.miss.above[1].repeated == 1.0


def test_repetition_that_does_not_decide_is_not_the_cause():
    cutting = cutting_of([chunk("other", (0, 90)), chunk("other", (60, 130)), *windows("right", 50)])
    diagnosis = found(asked((10, 40)), [0, 1, 2], cutting)
    assert diagnosis.cause == "outranked"
    assert diagnosis.miss.tokens_repeated == 30


def test_at_k_chunks_a_repetition_takes_a_place():
    cutting = cutting_of([chunk("other", (0, 50)), chunk("other", (5, 50)), *windows("right", 50)])
    assert found(asked((10, 40)), [0, 1, 2], cutting, "2").cause == "crowded out"
    assert found(asked((10, 40)), [0, 3, 2], cutting, "2").cause == "outranked"


def test_evidence_that_came_after_the_cut_is_outranked_and_by_what_is_told():
    cutting = cutting_of([*windows("right", 50), *windows("other", 50)])
    diagnosis = found(asked((110, 140)), [8, 0, 9, 2], cutting)
    assert diagnosis.cause == "outranked"
    miss = diagnosis.miss
    assert [(r.rank, r.position, r.document) for r in miss.above] == [
        (1, 8, "other"),
        (2, 0, "right"),
        (3, 9, "other"),
    ]
    assert (miss.above_in_document, miss.above_elsewhere) == (1, 2)
    assert (miss.rank, miss.tokens_delivered, miss.examined) == (4, 100, 4)
    assert miss.tokens_needed == 150 + 39  # 95 % of 30 characters are 29 of them: up to 139, in a chunk from 100
    assert [p.rank for p in miss.held_by] == [4]


def test_the_tokens_needed_are_the_smallest_budget_that_is_a_hit():
    cutting = cutting_of([*windows("right", 50), *windows("other", 50)])
    question, ranking = asked((110, 140)), [8, 0, 9, 2]
    needed = found(question, ranking, cutting).miss.tokens_needed
    assert found(question, ranking, cutting, f"{needed}t").cause is None
    assert found(question, ranking, cutting, f"{needed - 1}t").missed


def test_a_chunk_whose_end_the_budget_took_is_outranked():
    cutting = cutting_of([*windows("other", 80), *windows("right", 80)])
    diagnosis = found(asked((10, 40)), [0, 5], cutting)
    assert diagnosis.cause == "outranked"
    assert diagnosis.miss.covered == pytest.approx(1 / 3)


def test_evidence_that_was_not_retrieved_beside_another_passage_of_its_document_is_the_wrong_passage():
    cutting = cutting_of([*windows("right", 50), *windows("other", 50)])
    diagnosis = found(asked((110, 140)), [8, 0, 9], cutting)
    assert diagnosis.cause == "wrong passage"
    assert (diagnosis.miss.rank, diagnosis.miss.tokens_needed) == (None, None)


def test_a_passage_of_the_right_document_beyond_the_cut_was_not_delivered():
    cutting = cutting_of([*windows("right", 50), *windows("other", 50)])
    assert found(asked((110, 140)), [8, 9, 0], cutting).cause == "wrong document"


@pytest.mark.parametrize("ranking", [[], [8], [8, 9, 10]])
def test_nothing_from_the_evidences_document_is_the_wrong_document(ranking):
    cutting = cutting_of([*windows("right", 50), *windows("other", 50)])
    assert found(asked((110, 140)), ranking, cutting).cause == "wrong document"


# ---------------------------------------------------------------- several pieces of evidence


@pytest.mark.parametrize("match", ["all", "any"])
def test_one_piece_makes_a_hit_also_of_several(match):
    cutting = cutting_of(windows("right", 50))
    assert not found(asked((110, 140), (30, 70), match=match), [2], cutting).missed


@pytest.mark.parametrize("match", ["all", "any"])
def test_of_several_pieces_the_one_nearest_to_a_hit_is_diagnosed(match):
    cutting = cutting_of([*windows("right", 50), *windows("other", 50)])
    diagnosis = found(asked((130, 170), (210, 240), match=match), [8, 9, 4], cutting)
    assert (diagnosis.cause, diagnosis.miss.piece) == ("outranked", 1)
    diagnosis = found(asked((210, 240), (130, 170), match=match), [2, 8], cutting)
    assert (diagnosis.cause, diagnosis.miss.piece) == ("cut", 1)


# ---------------------------------------------------------------- other deliveries than the chunk itself


def with_neighbours(cutting):
    def deliver(positions):
        near = [[p for p in (at - 1, at, at + 1) if 0 <= p < len(cutting.chunks)] for at in positions]
        return [[cutting.passages[p] for p in group] for group in near]

    return deliver


def test_evidence_that_a_chunk_brings_with_its_neighbour_is_not_cut():
    cutting = cutting_of([*windows("right", 50), *windows("other", 50)])
    question, cut = asked((30, 70)), parse_measure("hit@100t").cut
    assert diagnose(question, [12, 0], cutting, cut, index_of).cause == "cut"
    diagnosis = diagnose(question, [12, 0], cutting, cut, index_of, with_neighbours(cutting))
    assert diagnosis.cause == "outranked"
    assert (diagnosis.miss.rank, diagnosis.miss.tokens_needed) == (2, 150 + 68)
    assert [(r.rank, r.position) for r in diagnosis.miss.above] == [(1, 12), (1, 12), (1, 12), (2, 0)]


def test_a_delivery_that_brings_the_evidence_beyond_the_budget_is_too_long():
    cutting = cutting_of([*windows("right", 80), *windows("other", 50)])
    deliver = with_neighbours(cutting)
    question = asked((110, 140))
    assert diagnose(question, [1], cutting, parse_measure("hit@100t").cut, index_of, deliver).cause == "too long"
    assert diagnose(question, [1], cutting, parse_measure("hit@140t").cut, index_of, deliver).cause is None


# ---------------------------------------------------------------- every miss has one cause

ranges = st.tuples(st.integers(0, 390), st.integers(1, 120)).map(lambda r: (r[0], min(r[0] + r[1], 400)))


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_a_miss_is_what_the_measure_says_and_has_one_cause(data):
    document = st.sampled_from(sorted(TEXTS))
    pool = [chunk(d, r) for d, r in data.draw(st.lists(st.tuples(document, ranges), min_size=1, max_size=12))]
    cutting = cutting_of(pool, data.draw(st.sampled_from([20, 60, 10_000])))
    ranking = data.draw(st.permutations(range(len(pool))))[: data.draw(st.integers(0, len(pool)))]
    match = data.draw(st.sampled_from(["all", "any"]))
    question = asked(*data.draw(st.lists(ranges, min_size=1, max_size=3)), match=match, document=data.draw(document))
    measure = parse_measure(data.draw(st.sampled_from(["hit@1", "hit@3", "hit@30t", "hit@100t", "hit@250t"])))
    diagnosis = diagnose(question, ranking, cutting, measure.cut, index_of)
    ranked = {"q": [cutting.passages[p] for p in ranking]}
    assert diagnosis.missed == (score([question], ranked, [measure], token_index=index_of).values[0, 0] == 0)
    if diagnosis.missed:
        assert diagnosis.cause in CAUSES
        assert (diagnosis.cause == "cut") <= bool(diagnosis.miss.boundaries)
        assert (diagnosis.cause in ("crowded out", "outranked")) <= (diagnosis.miss.rank is not None)


# ---------------------------------------------------------------- what the embedder reads


def test_what_the_embedder_reads_of_a_chunk_ends_at_its_limit_and_context_counts():
    embedder = EMBEDDERS.build("minilm(max_tokens=12)")  # two of them special
    words = "one two three four five six seven eight nine ten eleven twelve"
    whole = Chunk("d", (Span(100, 100 + len(words)),), words)
    (seen,) = seen_ranges(whole, embedder)
    assert words[: seen[1] - 100].strip() == "one two three four five six seven eight nine ten"
    (seen,) = seen_ranges(dataclasses.replace(whole, context="a b c d"), embedder)
    assert words[: seen[1] - 100].strip() == "one two three four five six"
    short = Chunk("d", (Span(3, 6), Span(9, 12)), "onetwo")
    assert seen_ranges(short, embedder) == ((3, 6), (9, 12))


def test_what_the_embedder_reads_of_a_chunk_of_several_places_ends_in_one_of_them():
    embedder = EMBEDDERS.build("minilm(max_tokens=6)")
    text = "one two " + "three four five six " + "seven "
    places = Chunk("d", (Span(0, 8), Span(20, 40), Span(50, 56)), text)
    first, second = seen_ranges(places, embedder)
    assert first == (0, 8)
    assert text[8 : 8 + second[1] - 20].strip() == "three four"


def test_of_a_rewritten_text_that_is_too_long_all_places_count_as_read():
    embedder = EMBEDDERS.build("minilm(max_tokens=6)")
    assert seen_ranges(Chunk("d", (Span(0, 8),), "a b c d e f g h i"), embedder) == ((0, 8),)


# ---------------------------------------------------------------- repetition


def test_a_ranking_without_repeats_keeps_every_place_once():
    cutting = cutting_of([chunk("right", (0, 50)), chunk("right", (30, 90)), chunk("right", (40, 80))])
    kept, repeats = without_repeats(cutting.passages, index_of)
    assert [p.ranges for p in kept] == [((0, 50),), ((50, 90),)]
    assert [p.tokens for p in kept] == [50, 40]
    assert [(r.rank, r.tokens) for r in repeats] == [(2, 20), (3, 40)]


def test_a_passage_with_the_evidence_is_not_dropped_for_its_words():
    cutting = cutting_of([chunk("other", (0, 100)), chunk("copy", (0, 100))])
    assert len(without_repeats(cutting.passages, index_of)[0]) == 1
    assert len(without_repeats(cutting.passages, index_of, keep={1})[0]) == 2
