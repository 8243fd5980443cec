"""A model's context in front of each chunk: counted in the ceiling, made harmless, missing where the model fails."""

import pytest
from invariants import MINILM, check, length_of
from scripted_model import HashedEmbedder, ScriptedModel, WildModel

from faircut.chunkers import build
from faircut.chunkers.asking import rewrites
from faircut.chunkers.contract import Models, Tally
from faircut.documents.markdown import markdown_blocks
from faircut.errors import LlmError, SpecError
from faircut.records import Document
from faircut.specs import Size

TEXT = "# Harbours\n\n" + " ".join(f"Harbour number {n} closes at night and opens in the morning." for n in range(80))
DOCUMENT = Document("d", TEXT, markdown_blocks(TEXT), title="Atlas")


class Says(ScriptedModel):
    def __init__(self, text):
        super().__init__()
        self.text = text

    def context(self, prompt):
        return self.text


def cut(spec, model, document=DOCUMENT, tally=None):
    return build(spec).chunk(document, Models(MINILM, 2, HashedEmbedder(), model, tally))


def test_each_chunk_gets_a_context_and_keeps_its_text():
    chunks = cut("contextual(recursive(max=100t))", Says("It is about harbours."))
    assert {chunk.context for chunk in chunks} == {"It is about harbours."}
    check(DOCUMENT, chunks, Size(100))
    inner = build("recursive(max=75t)").chunk(DOCUMENT, Models(MINILM, 2))
    assert [c.text for c in chunks] == [c.text for c in inner]


@pytest.mark.parametrize("inner", ["recursive(max=60t)", "fixed(200c, at=space)", "fixed(40w, overlap=5w)", "hybrid"])
def test_the_ceiling_holds_with_a_context_of_any_length(inner):
    size = getattr(build(inner), "max", None) or build(inner).size
    chunks = cut(f"contextual({inner})", Says("word " * 1000))
    assert all(length_of(size, chunk.embedded_text) <= size.amount for chunk in chunks)
    assert all(chunk.context for chunk in chunks)


def test_the_context_of_the_inner_chunker_stays_behind_the_models():
    text = "# Harbours\n\n## Opening\n\n" + " ".join(f"Harbour {n} closes at night." for n in range(60))
    document = Document("d", text, markdown_blocks(text))
    chunks = cut("contextual(structure(max=100t))", Says("About harbours."), document)
    assert chunks[-1].context == "About harbours.\nHarbours > Opening"
    check(document, chunks, Size(100))


def test_a_context_is_cut_after_a_word_and_can_be_bounded():
    chunks = cut("contextual(recursive(max=100t), context=5t)", Says("Unbelievable harbours everywhere around us."))
    assert all(0 < MINILM.count(chunk.context) <= 5 for chunk in chunks)
    assert "Unbelievable harbours everywhere around us.".startswith(chunks[0].context)
    assert chunks[0].context.split()[-1] in ("harbours", "everywhere", "around")


def test_the_model_sees_the_title_the_headings_and_a_bounded_part_of_the_text_around():
    model = ScriptedModel()
    chunks = cut("contextual(recursive(max=100t), window=200)", model)
    lines = dict(line.split(": ", 1) for line in model.asked[3].messages[-1].content.splitlines())
    assert list(lines) == ["Title", "Section", "Before", "Passage", "After"]
    assert (lines["Title"], lines["Section"]) == ("Atlas", "Harbours")
    assert lines["Passage"] == chunks[3].text
    assert 80 < len(lines["Before"]) <= 100 >= len(lines["After"]) > 80
    assert TEXT.find(lines["Before"]) < TEXT.find(lines["Passage"]) < TEXT.find(lines["After"])


def test_where_the_model_fails_the_chunk_goes_without_and_is_counted():
    class FailsOnce(ScriptedModel):
        def answer(self, request):
            return self.failed("unusable") if len(self.asked) and request is self.asked[1] else super().answer(request)

    tally = Tally()
    chunks = cut("contextual(recursive(max=100t))", FailsOnce(), tally=tally)
    assert [bool(c.context) for c in chunks[:3]] == [True, False, True]
    assert (tally.asked, tally.fallbacks) == (len(chunks), 1)


def test_control_characters_and_what_turns_text_round_are_gone():
    [chunk, *_] = cut("contextual(recursive(max=100t))", Says("A\x1b[2J\u202e\x00 red\n\nharbour\ud800."))
    assert chunk.context == "A[2J red harbour."
    [chunk, *_] = cut("contextual(recursive(max=100t))", Says(" \x00\n"))
    assert chunk.context == ""


def test_it_goes_around_cuts_by_a_model_and_under_a_control():
    chunks = cut("contextual(llm(max=120t))", WildModel())
    check(DOCUMENT, chunks, Size(120))
    assert len(cut("shuffled(contextual(recursive(max=100t)))", ScriptedModel())) > 5


def test_statements_of_a_model_can_have_a_context_too():
    chunks = cut("contextual(propositions(max=100t))", ScriptedModel())
    assert all(length_of(Size(100), c.embedded_text) <= 100 for c in chunks)
    assert rewrites(build("contextual(propositions)"))
    assert not rewrites(build("contextual(recursive)"))


def test_without_a_language_model_the_error_names_the_flags():
    with pytest.raises(LlmError, match=r"--llm URL .* --model NAME"):
        cut("contextual(recursive)", None)


@pytest.mark.parametrize(
    "wrong",
    [
        "contextual(7)",
        "contextual(recursive, window=-1)",
        "contextual(recursive, context=512t)",
        "contextual(recursive, context=100c)",
        "contextual(recursive(max=1t))",
        "contextual(fixed(64t, overlap=60t))",
    ],
)
def test_parameters_out_of_range_are_refused_when_built(wrong):
    with pytest.raises(SpecError):
        build(wrong)


@pytest.mark.parametrize("said", ["{}", "...", " 12 (3) ", "[]"])
def test_an_answer_without_a_letter_is_no_context_and_is_counted(said):
    tally = Tally()
    chunks = cut("contextual(recursive(max=100t))", Says(said), tally=tally)
    assert {chunk.context for chunk in chunks} == {""}
    assert tally.fallbacks == tally.asked == len(chunks)
