"""Cuts where meaning turns."""

import numpy as np
import pytest

from faircut.chunkers import build
from faircut.chunkers.contract import Models
from faircut.documents.markdown import markdown_blocks
from faircut.embedding.minilm import Minilm
from faircut.errors import SpecError
from faircut.records import Document


class TopicVectors:
    """A real embedder with as many dimensions as topics: the vector of a sentence counts the topics' words in it."""

    topics = ("cat", "bank", "moon", "rain")
    max_tokens = 512
    dimensions = len(topics) + 1
    fingerprint = "topics"

    def __init__(self, tokenizer):
        self.tokenizer = tokenizer
        self.seen = []

    def prefix(self, role):
        return ""

    def overhead(self, role):
        return 2

    def embed(self, texts, role, *, progress=None):
        assert role == "sentence"
        self.seen += texts
        counts = np.array([[*(text.lower().count(t) for t in self.topics), 0.1] for text in texts], dtype=np.float32)
        return counts / np.linalg.norm(counts, axis=1, keepdims=True)


@pytest.fixture
def models():
    return Models.of(TopicVectors(Minilm().tokenizer))


def topic(word, count):
    return "".join(f"Here is sentence {i} about the {word}. " for i in range(count))


def texts(spec, text, models, blocks=()):
    return [chunk.text.strip() for chunk in build(spec).chunk(Document("d", text, blocks), models)]


def counts(spec, text, models):
    return [chunk.count("sentence") for chunk in texts(spec, text, models)]


def test_a_cut_falls_where_the_topic_turns(models):
    text = topic("cat", 4) + topic("bank", 5) + topic("moon", 3)
    assert counts("semantic", text, models) == [4, 5, 3]
    assert counts("semantic(threshold=p80, max=none)", text, models) == [4, 5, 3]
    assert counts("semantic(threshold=deviation(1.5))", text, models) == [4, 5, 3]
    assert counts("semantic(threshold=interquartile(1.5))", text, models) == [4, 5, 3]


def test_every_sentence_is_embedded_once_whatever_the_window(models):
    text = topic("cat", 4) + topic("bank", 5)
    for spec in ("semantic", "semantic(window=3)", "semantic_p85"):
        models.embedder.seen.clear()
        build(spec).chunk(Document("d", text), models)
        assert len(models.embedder.seen) == 9
        assert models.embedder.seen[0] == "Here is sentence 0 about the cat."


def test_no_cut_before_so_many_sentences(models):
    text = topic("cat", 1) + topic("bank", 2) + topic("moon", 4) + topic("rain", 2)
    assert counts("semantic(min_sentences=1)", text, models) == [1, 2, 4, 2]
    assert counts("semantic(min_sentences=2)", text, models) == [3, 4, 2]
    assert counts("semantic(min_sentences=3)", text, models) == [3, 4, 2]
    assert counts("semantic(min_sentences=4)", text, models) == [7, 2]


def test_the_minimum_size_is_held_and_a_last_group_below_it_joins_its_neighbour(models):
    text = topic("cat", 1) + topic("bank", 2) + topic("moon", 4) + topic("rain", 1)
    sizes = [models.tokenizer.count(t) for t in texts("semantic(min_sentences=1, min=20t)", text, models)]
    assert len(sizes) == 2
    assert min(sizes) >= 20


def test_a_last_group_below_the_minimum_stays_alone_where_both_do_not_fit(models):
    text = topic("cat", 6) + topic("bank", 1)
    size = models.tokenizer.count(topic("cat", 6)) + models.overhead
    assert counts(f"semantic(min=20t, max={size}t)", text, models) == [6, 1]
    assert counts(f"semantic(min=20t, max={size + 20}t)", text, models) == [7]


def test_a_group_above_the_maximum_is_cut_at_its_weakest_gap_in_the_second_half_of_what_fits(models):
    text = topic("cat", 5) + topic("cat and the bank", 3) + topic("cat", 2)
    limit = models.tokenizer.count(text) - 5
    uncut = counts("semantic(threshold=-1.0, max=none)", text, models)
    assert uncut == [10]
    assert counts(f"semantic(threshold=-1.0, max={limit}t)", text, models) == [8, 2]


def test_without_a_turn_a_long_text_is_cut_at_sentences_under_the_ceiling(models):
    chunks = texts("semantic(max=64t)", topic("cat", 100), models)
    sizes = [models.tokenizer.count(c) + models.overhead for c in chunks]
    assert max(sizes) <= 64
    assert all(c.startswith("Here") and c.endswith("cat.") for c in chunks)
    assert min(sizes[:-1]) > 32


def test_the_parts_of_a_long_table_keep_their_header_and_stay_alone(models):
    table = "| cat | price |\n|---|---|\n" + "".join(f"| cat number {i} | {i}00 |\n" for i in range(40))
    text = f"{topic('cat', 3)}\n\n{table}\n{topic('cat', 3)}"
    chunks = build("semantic(max=96t)").chunk(Document("d", text, markdown_blocks(text)), models)
    with_header = [c for c in chunks if c.context]
    assert len(with_header) > 2
    assert {c.context for c in with_header} == {"| cat | price |\n|---|---|"}
    assert all("sentence" not in c.text for c in with_header)


def test_equal_sentences_are_one_group(models):
    text = "The cat sat. " * 30
    for threshold in ("p85", "deviation(1.0)", "interquartile(1.5)", "gradient(p95)"):
        assert len(texts(f"semantic(threshold={threshold}, min_sentences=1)", text, models)) == 1


@pytest.mark.parametrize("text", ["One sentence.", "One sentence. Another one."])
def test_one_or_two_sentences_are_one_chunk_by_percentile(text, models):
    assert texts("semantic_p85", text, models) == [text]


def test_the_curve_shows_what_the_rule_saw(models):
    text = topic("cat", 3) + topic("bank", 3)
    curve = build("semantic(threshold=p75)").curve(Document("d", text), models)
    assert curve.positions.tolist() == [i for i in range(1, len(text)) if text.startswith("Here", i)]
    assert curve.similarities.argmin() == 2
    assert curve.cuts.tolist() == [False, False, True, False, False]
    assert curve.similarities[2] < curve.threshold <= 1
    assert build("semantic(threshold=0.3)").curve(Document("d", text), models).threshold == 0.3
    assert build("semantic(threshold=gradient(p95))").curve(Document("d", text), models).threshold is None


def test_the_curve_of_a_single_sentence_is_empty(models):
    curve = build("semantic").curve(Document("d", "One."), models)
    assert curve.positions.shape == curve.similarities.shape == curve.cuts.shape == (0,)


@pytest.mark.parametrize(
    ("spec", "what"),
    [
        ("semantic(window=0)", "window must be a whole number of at least 1, found 0"),
        ("semantic(min_sentences=0)", "min_sentences must be"),
        ("semantic(max=0)", "max must be at least 1t"),
        ("semantic(min=600t)", "min must not exceed max and have its unit, found 600t and 512t"),
        ("semantic(min=100c)", "min must not exceed max and have its unit"),
    ],
)
def test_parameters_out_of_range_are_refused(spec, what):
    with pytest.raises(SpecError, match=what):
        build(spec)


def test_minilm_finds_the_turn_between_two_real_topics():
    cooking = "Melt the butter in a small pan. Stir in the flour and let it brown. Pour in the milk while stirring. "
    space = (
        "The probe reached Mars in May. Its camera sent pictures of the crater. The rover left the lander a day later."
    )
    models = Models.of(Minilm())
    curve = build("semantic").curve(Document("d", cooking + space), models)
    assert int(curve.similarities.argmin()) == 2
    chunks = build("semantic(threshold=deviation(1.0))").chunk(Document("d", cooking + space), models)
    assert [c.text for c in chunks] == [cooking.strip(), space]
