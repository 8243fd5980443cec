"""A language model is asked about many documents at a time, and cuts are the same as one document after the other."""

import warnings
from dataclasses import replace

import pytest
from invariants import MINILM
from scripted_model import ScriptedModel, WildModel

from faircut.chunkers import build
from faircut.chunkers.ahead import DOCUMENTS_AHEAD, asked_ahead, groups
from faircut.chunkers.contract import Models, Tally
from faircut.llm import Answer, BudgetReached, Failure
from faircut.records import Document

ASKING = ("propositions", "llm", "contextual(recursive(40w))", "contextual(llm)", "shuffled(llm)")
DOCUMENTS = [
    Document(
        f"d{n}", "\n\n".join(f"Report {n} says that point {m} is true. It is. Nobody denies it." for m in range(6))
    )
    for n in range(5)
]


class Batches(ScriptedModel):
    """Remembers what was asked together."""

    def __init__(self):
        super().__init__()
        self.batches = []

    def complete(self, requests, *, progress=None):
        self.batches.append(len(requests))
        return super().complete(requests, progress=progress)


class Poor(ScriptedModel):
    """Has money for a number of requests; the others fail in some way."""

    def __init__(self, money, kind):
        super().__init__()
        self.money, self.kind = money, kind

    def complete(self, requests, *, progress=None):
        answers = []
        for request in requests:
            can = len(self.asked) < self.money
            none = Answer(failure=Failure(self.kind, "no money."))
            answers += super().complete([request]) if can else [none]
        if any(a.failure for a in answers):
            raise BudgetReached("the budget is reached.", tuple(answers))
        return answers


def cut(spec, model, documents=DOCUMENTS, *, ahead=True):
    chunker, tallies = build(spec), [Tally() for _ in documents]
    models = Models(MINILM, 2, None, model)
    ready = asked_ahead(chunker, documents, models) if ahead else models
    return [
        chunker.chunk(document, replace(ready, tally=tally)) for document, tally in zip(documents, tallies, strict=True)
    ], tallies


@pytest.mark.parametrize("model", [ScriptedModel, WildModel])
@pytest.mark.parametrize("spec", ASKING)
def test_cuts_and_tallies_are_those_of_one_document_after_the_other(spec, model):
    assert cut(spec, model()) == cut(spec, model(), ahead=False)


@pytest.mark.parametrize("spec", ASKING)
def test_nothing_is_asked_twice(spec):
    together, apart = ScriptedModel(), ScriptedModel()
    cut(spec, together)
    cut(spec, apart, ahead=False)
    assert sorted(r.messages[-1].content for r in together.asked) == sorted(r.messages[-1].content for r in apart.asked)


def test_the_first_requests_of_all_documents_are_asked_together():
    model = Batches()
    cut("llm", model)
    assert model.batches == [len(DOCUMENTS)]


def test_a_document_alone_and_a_chunker_that_asks_nothing_need_no_more():
    models = Models(MINILM, 2, None, Batches())
    assert asked_ahead(build("llm"), DOCUMENTS[:1], models) is models
    assert asked_ahead(build("recursive"), DOCUMENTS, models) is models
    assert models.language_model.batches == []


@pytest.mark.parametrize("kind", ["not_asked", "refused", "server", "connection"])
def test_what_was_paid_for_before_it_stopped_is_cut_and_then_it_stops(kind):
    model, chunker = Poor(3, kind), build("llm")
    ready = asked_ahead(chunker, DOCUMENTS, Models(MINILM, 2, None, model))
    for document in DOCUMENTS[:3]:
        assert chunker.chunk(document, ready)
    with pytest.raises(BudgetReached, match="the budget is reached"):
        chunker.chunk(DOCUMENTS[3], ready)
    assert len(model.asked) == 3


def test_a_document_that_cannot_be_cut_fails_when_its_turn_comes():
    bad = Document("bad", "Some text.")
    object.__setattr__(bad, "text", None)
    chunker = build("llm")
    ready = asked_ahead(chunker, [DOCUMENTS[0], bad, DOCUMENTS[1]], Models(MINILM, 2, None, ScriptedModel()))
    assert chunker.chunk(DOCUMENTS[1], ready)
    with pytest.raises(Exception, match=r".+"), warnings.catch_warnings():
        chunker.chunk(bad, ready)


def test_groups_hold_all_documents_in_order_and_no_more_than_they_should():
    small = [Document(str(n), "x") for n in range(150)]
    large = [Document(f"l{n}", "y" * 400_000) for n in range(3)]
    found = list(groups([*large, *small]))
    assert [d.id for group in found for d in group] == [d.id for d in [*large, *small]]
    assert [len(group) for group in found] == [2, DOCUMENTS_AHEAD, DOCUMENTS_AHEAD, 23]
