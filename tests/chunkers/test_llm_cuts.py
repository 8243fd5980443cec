"""Cuts by a language model: numbers only, checked; windows that overlap; rules where the model fails; sizes hold."""

import json
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from invariants import MINILM, check
from scripted_model import LINE, ScriptedModel

from faircut.chunkers import build
from faircut.chunkers.contract import Models, Tally
from faircut.chunkers.windows import excerpt, windows_of
from faircut.documents.markdown import markdown_blocks
from faircut.errors import LlmError, SpecError
from faircut.llm import ChatModel, Endpoint, LlmStopped
from faircut.records import Document
from faircut.specs import Size

sys.path.append(str(Path(__file__).parent.parent / "llm"))
from fault_server import chosen, serving, status  # the server of the tests of the models
from real_server import real_server as real_server

SENTENCES = [f"Sentence number {n} is about this and that and one thing more." for n in range(1, 61)]
LONG = Document("d", " ".join(SENTENCES))


class Says(ScriptedModel):
    """Gives these answers one after the other, the last one for ever."""

    def __init__(self, *answers):
        super().__init__()
        self.answers = list(answers)

    def starts(self, prompt):
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def cut(model, document=LONG, spec="llm", tally=None):
    return build(spec).chunk(document, Models(MINILM, 2, None, model, tally))


def firsts(chunks):
    return [SENTENCES.index(chunk.text.partition(".")[0] + ".") + 1 for chunk in chunks]


def test_chunks_begin_where_the_model_says():
    for starts in ([1, 11, 41], [11, 41]):
        chunks = cut(Says(starts), spec="llm(max=2000t)")
        assert firsts(chunks) == [1, 11, 41]
        check(LONG, chunks, Size(2000))


def test_the_model_sees_numbered_sentences_and_answers_with_numbers_only():
    model = Says([1])
    cut(model, spec="llm(words=none)")
    [request] = model.asked
    assert request.messages[-1].content.splitlines()[:2] == [f"1 {SENTENCES[0]}", f"2 {SENTENCES[1]}"]
    assert request.schema["properties"]["starts"]["items"] == {"type": "integer"}
    assert request.max_tokens < 6 * len(SENTENCES)


@pytest.mark.parametrize("wrong", [[11, 5], [5, 5], [0, 5], [5, 61], [-3], [10**15]])
def test_numbers_that_cannot_be_are_asked_for_once_more_with_what_was_wrong(wrong):
    model, tally = Says(wrong, [1, 31]), Tally()
    assert firsts(cut(model, spec="llm(max=2000t)", tally=tally)) == [1, 31]
    assert len(model.asked) == 2
    assert "cannot be used: " in model.asked[1].messages[-1].content
    assert model.asked[1].messages[-2].content == json.dumps({"starts": wrong})
    assert (tally.asked, tally.fallbacks) == (1, 0)


def test_after_two_wrong_answers_the_window_is_cut_by_rule_and_counted():
    model, tally = Says([3, 2]), Tally()
    chunks = cut(model, spec="llm(max=200t)", tally=tally)
    assert len(model.asked) == 2
    assert (tally.asked, tally.fallbacks) == (1, 1)
    assert chunks == build("optimal(mean=60t, max=200t)").chunk(LONG, Models(MINILM, 2))


def test_only_the_window_that_failed_is_cut_by_rule():
    class FailsAtFirst(ScriptedModel):
        def starts(self, prompt):
            return [9, 1] if "number 1 is" in prompt else [1]

    tally = Tally()
    chunks = cut(FailsAtFirst(), spec="llm(max=200t, window=30, shared=6, words=none)", tally=tally)
    assert (tally.asked, tally.fallbacks) == (3, 1)
    by_rule = firsts(build("optimal(mean=60t, max=200t)").chunk(LONG, Models(MINILM, 2)))
    assert [n for n in firsts(chunks) if n < 27] == [n for n in by_rule if n < 27]


def test_prose_falls_back_after_the_clients_own_second_try():
    with serving() as server:
        server.text = lambda body: "Sure! The passages begin at sentences 1 and 7."
        tally = Tally()
        with ChatModel(Endpoint(server.url, "tiny")) as model:
            chunks = cut(model, spec="llm(max=200t)", tally=tally)
        assert len(server.bodies) == 2
    assert tally.fallbacks == 1
    check(LONG, chunks, Size(200))


def test_an_answer_without_an_end_is_asked_for_once_more():
    with serving() as server:
        server.faults.append(chosen('{"starts": [1, 2, 3', "length"))
        server.text = lambda body: '{"starts": [1, 31]}'
        with ChatModel(Endpoint(server.url, "tiny")) as model:
            assert firsts(cut(model, spec="llm(max=2000t)")) == [1, 31]


def test_a_server_that_refuses_the_key_stops_the_cutting():
    with serving() as server:
        server.always = status(401)
        with ChatModel(Endpoint(server.url, "tiny")) as model, pytest.raises(LlmStopped, match="refuses the key"):
            cut(model)


def test_a_passage_above_the_ceiling_is_cut_by_paragraphs_and_sentences():
    chunks = cut(Says([1]), spec="llm(max=100t)")
    check(LONG, chunks, Size(100))
    assert all(chunk.text.startswith("Sentence number") for chunk in chunks)
    paragraphs = Document("d", "\n\n".join(" ".join(SENTENCES[at : at + 4]) for at in range(0, 60, 4)))
    parts = cut(Says([1]), paragraphs, spec="llm(max=70t)")
    assert [len(part.text) for part in parts] == [len(text) for text in paragraphs.text.split("\n\n")]


def test_tables_and_code_are_one_line_each_and_a_long_table_repeats_its_header():
    rows = "".join(f"| row {n} | value {n} |\n" for n in range(60))
    text = f"# Prices\n\nThey follow.\n\n| a | b |\n|---|---|\n{rows}\n```\ncode()\n\nmore()\n```\n\nThe end.\n"
    document = Document("d", text, markdown_blocks(text))
    model = Says([1])
    chunks = cut(model, document, spec="llm(max=2000t)")
    lines = LINE.findall(model.asked[0].messages[-1].content)
    assert len(lines) == 5
    check(document, chunks, Size(2000))
    small = cut(Says([1]), document, spec="llm(max=90t)")
    check(document, small, Size(90))
    assert all(c.context.startswith("| a | b |") for c in small if c.text.startswith("| row") and "| a |" not in c.text)


@given(count=st.integers(1, 400), size=st.integers(2, 60), share=st.floats(0, 0.49))
def test_windows_overlap_and_each_boundary_is_judged_once_away_from_the_edges(count, size, share):
    shared = int(size * share)
    windows = windows_of(count, size, shared)
    assert [at for w in windows for at in range(w.begin, w.end)] == list(range(count))
    for before, after in pairwise(windows):
        assert before.last - after.first == shared
        assert before.end == after.begin
        assert after.begin - after.first == shared // 2
    assert all(w.first <= w.begin < w.end <= w.last and w.last - w.first <= size for w in windows)


@given(text=st.text(max_size=400), words=st.integers(3, 20))
def test_an_excerpt_is_one_printable_line_of_bounded_length(text, words):
    shown = excerpt(text, words)
    assert shown.isprintable() or "\u200c" in shown or "\u200d" in shown
    assert len(shown.split()) <= words + 2
    assert len(shown) <= 10 * words + 5
    assert excerpt("one two three four five six", 4) == "one two three ... six"


def test_the_same_answers_give_the_same_chunks_and_the_control_has_their_lengths():
    chunks = cut(ScriptedModel(), spec="llm(max=100t)")
    assert cut(ScriptedModel(), spec="llm(max=100t)") == chunks
    control = cut(ScriptedModel(), spec="shuffled(llm(max=100t))")
    check(LONG, control, Size(100))
    assert abs(len(control) - len(chunks)) <= 2


def test_without_a_language_model_the_error_names_the_flags():
    with pytest.raises(LlmError, match=r"--llm URL .* --model NAME"):
        cut(None)


@pytest.mark.parametrize("wrong", ["max=0", "window=1", "window=8, shared=4", "shared=-1", "words=2"])
def test_parameters_out_of_range_are_refused_when_built(wrong):
    with pytest.raises(SpecError, match="llm"):
        build(f"llm({wrong})")


@pytest.mark.slow
def test_a_real_small_model_cuts_and_nothing_is_lost(real_server, tmp_path):
    tally, spec = Tally(), "llm(max=100t, window=12, shared=4)"
    document = Document("d", " ".join(SENTENCES[:20]))
    with ChatModel(Endpoint(real_server.url, real_server.model, concurrency=1), cache=tmp_path / "a.sqlite") as model:
        chunks = cut(model, document, spec, tally)
        assert cut(model, document, spec) == chunks
    check(document, chunks, Size(100))
    assert tally.asked == 2


def test_cuts_by_numbers_take_less_than_a_third_of_the_tokens_of_echoing(shared_data):
    from faircut.documents import read_corpus

    text = next(iter(read_corpus(str(shared_data / "chroma" / "corpus.jsonl.gz")))).text[:40_000]
    model = ScriptedModel()
    cut(model, Document("d", text, language="en"))
    messages = [message.content for request in model.asked for message in request.messages]
    answers = [json.dumps({"starts": model.starts(request.messages[-1].content)}) for request in model.asked]
    assert sum(map(MINILM.count, messages + answers)) < 0.32 * 2 * MINILM.count(text)
