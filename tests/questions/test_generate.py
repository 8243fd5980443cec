"""Questions made by a model: evidence is in the text or the question is refused, and every refusal is counted."""

import json
from collections import Counter

import pytest
from scripted import Scripted, from_list, kind_of, question_of, text_of

from faircut.embedding import EMBEDDERS
from faircut.errors import QuestionError
from faircut.llm import Answer, BudgetReached
from faircut.llm.contract import Failure
from faircut.llm.faults import LlmStopped
from faircut.questions import read_questions
from faircut.questions.generate import REASONS, Settings, generate, planned_requests
from faircut.questions.made import write_made
from faircut.questions.places import Places, passages_of
from faircut.records import Document, Evidence, Span

FACTS = [
    ("Vessels beyond nine metres tie up at the outer quay.", "Where do long boats moor?"),
    ("Every pontoon is open to dogs between May and September.", "When may pets come along?"),
    ("The green kiosk takes cards until midnight.", "How can I pay late in the evening?"),
    ("Oily rags belong in the steel box beside the lathe.", "Where does waste with grease go?"),
    ("Forty books may be borrowed at a time.", "What is the lending limit?"),
    ("Maps can be copied in the reading room for two crowns.", "What does a duplicate of a chart cost?"),
]
NOT_ASKED = Answer(failure=Failure("not_asked", "the budget is reached"))
FILLER = " ".join(f"Nothing of interest happened on day {n} of the calm season." for n in range(8))


def corpus(facts=FACTS):
    return {f"d{n}": Document(f"d{n}", f"{FILLER}\n\n{quote}\n\n{FILLER}") for n, (quote, _) in enumerate(facts)}


def made(model, documents=None, count=4, places=None, **settings):
    documents = documents or corpus()
    settings = Settings(count=count, **settings)
    return generate(model, documents, settings, places=places or Places(documents))


def quotes_of(found, documents):
    return [
        [documents[e.document_id].text[e.span.start : e.span.end] for e in one.question.evidence] for one in found.made
    ]


def test_each_question_has_the_exact_evidence_that_was_quoted(tmp_path):
    documents = corpus()
    found = made(Scripted(ask=from_list(FACTS)), documents)
    expected = {question: [quote] for quote, question in FACTS}
    assert len(found.made) == 4
    assert quotes_of(found, documents) == [expected[one.question.text] for one in found.made]
    write_made(tmp_path / "q.jsonl", found.made)
    assert read_questions(tmp_path / "q.jsonl", documents) == [one.question for one in found.made]
    line = json.loads((tmp_path / "q.jsonl").read_text().splitlines()[0])
    assert (line["made_by"], line["model"], line["style"]) == ("model", "scripted", "plain")


def test_a_question_holds_no_control_characters_and_no_marks_that_turn_text():
    odd = [(quote, f"\x1b[31m{question}\u202e\x00\u2066") for quote, question in FACTS]
    found = made(Scripted(ask=from_list(odd)))
    assert len(found.made) == 4
    assert all(one.question.text.isprintable() for one in found.made)


def test_the_same_answers_give_the_same_questions_and_more_begin_alike():
    four, again, two = (made(Scripted(ask=from_list(FACTS)), count=n) for n in (4, 4, 2))
    assert four == again
    assert two.made == four.made[:2]


def refused(reason, model, count=2, **settings):
    found = made(model, count=count, **settings)
    assert found.refused[reason] > 0
    assert found.made == []
    assert found.windows == found.refused.total() == 8 * count
    assert set(found.refused) <= set(REASONS)


@pytest.mark.parametrize(
    ("reason", "answer"),
    [
        ("no answer", None),
        ("no question", {"question": "", "quotes": []}),
        ("no question", {"question": "Where?", "quotes": [" "]}),
        ("quote not found", {"question": "Where is it?", "quotes": ["It is nowhere in the text."]}),
        ("dangling reference", {"question": "What does this section say?", "quotes": ["Nothing of interest"]}),
    ],
)
def test_what_cannot_be_used_is_refused_and_counted(reason, answer):
    refused(reason, Scripted(ask=lambda prompt: answer))


def test_a_question_that_repeats_its_evidence_is_reworded_once():
    copying = [(quote, quote.replace(".", "?")) for quote, _ in FACTS]
    model = Scripted(ask=from_list(copying))
    refused("word overlap", model)
    assert model.asked["reword"] > 0
    better = {copied: question for (_, copied), (_, question) in zip(copying, FACTS, strict=True)}
    model = Scripted(ask=from_list(copying), reword=lambda prompt: {"question": better[question_of(prompt)]})
    found = made(model)
    assert {one.question.text for one in found.made} <= set(better.values())
    assert found.reworded == 4 == model.asked["reword"] - found.refused["near-duplicate"]
    assert all(one.about["reworded"] for one in found.made)


def test_a_question_that_the_model_answers_without_the_text_is_refused():
    def knows(prompt):
        return {"answer": next(quote for quote, question in FACTS if question == question_of(prompt))}

    refused("answerable without the text", Scripted(ask=from_list(FACTS), blind=knows))


def test_the_same_question_is_made_once():
    found = made(Scripted(ask=from_list(FACTS)), count=6)
    texts = [one.question.text for one in found.made]
    assert len(set(texts)) == len(texts)
    assert found.refused["near-duplicate"] > 0


def test_evidence_that_stands_elsewhere_word_for_word_becomes_an_alternative_or_is_dropped():
    documents = corpus() | {"copy": Document("copy", f"{FILLER}\n\n{FACTS[0][0].replace(' ', '  ')}")}
    model = Scripted(ask=from_list(FACTS[:1]))
    found = made(model, documents, count=1)
    assert found.made[0].question.match == "any"
    assert {e.document_id for e in found.made[0].question.evidence} == {"d0", "copy"}
    assert found.with_alternatives == 1
    boilerplate = {f"c{n}": Document(f"c{n}", documents["copy"].text) for n in range(12)}
    assert made(model, corpus() | boilerplate, count=1).refused["several places"] > 0
    dropped = made(model, documents, count=1, several="drop")
    assert dropped.made == []
    assert dropped.refused["several places"] > 0


ELSEWHERE = "Long ships and big boats moor where the harbour master points, at the outer quay."


def answers_elsewhere(prompt):
    wrong = [{"passage": 9, "quote": "x"}, {"passage": 1, "quote": "not there"}]
    return {"places": [{"passage": 1, "quote": ELSEWHERE}, *wrong]}


@pytest.mark.parametrize("judge", [None, "minilm"])
def test_another_place_that_the_model_finds_to_answer_becomes_an_alternative(judge):
    documents = corpus() | {"other": Document("other", f"{FILLER}\n\n{ELSEWHERE}\n\n{FILLER}")}
    places = Places(documents, EMBEDDERS.build(judge) if judge else None)
    model = Scripted(ask=from_list(FACTS[:1]), elsewhere=answers_elsewhere)
    (one,) = made(model, documents, count=1, places=places).made
    asked = next(prompt for prompt in model.prompts if "Which of these passages" in prompt)
    assert asked.index(ELSEWHERE) < asked.index("</text>")
    where = [documents[e.document_id].text[e.span.start : e.span.end] for e in one.question.evidence]
    assert where == [FACTS[0][0], ELSEWHERE]
    assert one.question.match == "any"


def test_several_places_are_wanted_where_asked_for_and_one_alone_is_refused():
    documents = {"d": Document("d", f"{FILLER}\n\n{FACTS[0][0]} {FILLER} {FACTS[2][0]}\n\n{FILLER}")}

    def both(prompt):
        quotes = [FACTS[2][0], FACTS[0][0]]
        there = all(quote in text_of(prompt) for quote in quotes)
        return {"question": "Where do I moor and pay?" if there else "", "quotes": quotes if there else []}

    (one,) = made(Scripted(ask=both), documents, count=1, multi=1.0).made
    assert one.question.match == "all"
    assert quotes_of(made(Scripted(ask=both), documents, count=1, multi=1.0), documents) == [[FACTS[0][0], FACTS[2][0]]]
    refused("one place only", Scripted(ask=from_list(FACTS)), multi=1.0)


def test_styles_take_turns_and_the_language_is_asked_for():
    model = Scripted(ask=from_list(FACTS))
    made(model, styles=("short", "technical"), language="de")
    asked = [prompt for prompt in model.prompts if "Write one question" in prompt]
    assert ["search box" in prompt for prompt in asked[:4]] == [True, False, True, False]
    assert all("the code de" in prompt for prompt in asked)
    assert [Settings(1, multi=0.25).is_multi(n) for n in range(8)] == [False, False, False, True] * 2
    with pytest.raises(QuestionError, match=r"no style 'loud'; possible: plain, short"):
        Settings(1, styles=("loud",))


def test_a_stop_keeps_the_rounds_that_are_through():
    class Stopping(Scripted):
        def complete(self, requests, *, progress=None):
            if self.asked["ask"] > 4:
                raise BudgetReached("the budget is reached", (NOT_ASKED,) * len(requests))
            return super().complete(requests)

    found = made(Stopping(ask=from_list(FACTS[:2])), count=3)
    assert isinstance(found.stopped, BudgetReached)
    assert 0 < len(found.made) <= 2
    assert found.windows == found.refused.total() + len(found.made)


class Limited(Scripted):
    """Answers so many prompts, those that it has answered before for nothing; then its budget is spent."""

    def __init__(self, budget, known=(), **answers):
        super().__init__(**answers)
        self.budget, self.known = budget, set(known)

    def complete(self, requests, *, progress=None):
        answers = []
        for request in requests:
            prompt = request.messages[-1].content
            if prompt not in self.known and self.budget == 0:
                answers.append(NOT_ASKED)
                continue
            self.budget -= prompt not in self.known
            self.known.add(prompt)
            answers.append(self.answer(request))
        if NOT_ASKED in answers:
            raise BudgetReached("the budget is reached", tuple(answers))
        return answers


def test_what_is_judged_when_the_budget_ends_is_in_the_output_and_nothing_unjudged_is():
    whole = made(Scripted(ask=from_list(FACTS[:3])), count=3)
    texts = {one.question.text for one in whole.made}
    seen = []
    for budget in range(40):
        model = Limited(budget, ask=from_list(FACTS[:3]))
        found = made(model, count=3)
        kept = [one.question.text for one in found.made]
        assert set(kept) <= texts
        blind = [prompt for prompt in model.prompts if kind_of(prompt) == "blind"]
        assert len(kept) <= len(blind)  # each was asked without the text before it was kept
        assert found.windows == found.refused.total() + len(kept)
        assert (found.stopped is None) == (found.begun == 0)
        seen.append(len(kept))
    assert seen == sorted(seen)
    assert set(seen) == {0, 1, 2, 3}  # not all or nothing


def test_a_stopped_run_goes_on_to_the_same_questions_without_asking_twice():
    whole = made(Scripted(ask=from_list(FACTS[:3])), count=3)
    known, spent = set(), Counter()
    for _ in range(60):
        model = Limited(3, known, ask=from_list(FACTS[:3]))
        before = set(known)
        found = made(model, count=3)
        known = model.known
        spent.update(known - before)
        if found.stopped is None:
            break
    assert found.made == whole.made
    assert set(spent.values()) == {1}


def test_a_server_that_is_gone_is_not_asked_again_in_the_steps_that_are_left():
    class Gone(Scripted):
        calls = 0

        def complete(self, requests, *, progress=None):
            self.calls += 1
            raise LlmStopped("the server is gone", (NOT_ASKED,) * len(requests))

    model = Gone(ask=from_list(FACTS))
    found = made(model, count=3)
    assert model.calls == 1
    assert (found.made, found.windows) == ([], 0)
    assert found.begun > 0


def test_a_dry_run_has_a_request_for_every_window_and_two_that_judge():
    requests = planned_requests(corpus(), Settings(5))
    assert len(requests) == 15
    model = Scripted(ask=from_list(FACTS))
    made(model, count=5)
    assert requests[0].messages[-1].content == model.prompts[0]


def test_passages_hold_all_of_the_text():
    document = Document("d", "word " * 1000)
    covered = set()
    for passage in passages_of(document):
        covered |= set(range(passage.span.start, passage.span.end))
    assert covered == set(range(len(document.text)))
    assert Places({"d": document}).candidates("elephant", [Evidence("d", Span(0, 10))]) == []
