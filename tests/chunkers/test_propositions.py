"""Statements written by a model: nothing of the text is lost, what is not in the sources does not stand, sizes hold."""

import json
import sys
import types
from contextlib import nullcontext
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from invariants import MINILM, TEXTS, length_of
from scripted_model import HashedEmbedder, ScriptedModel, WildModel

from faircut.chunkers import build
from faircut.chunkers.contract import Models, Tally
from faircut.chunkers.faithfulness import known_forms, unfounded
from faircut.chunkers.propositionizer import aligned, parse_statements, prompt_for
from faircut.chunkers.sources import Pack
from faircut.documents.markdown import markdown_blocks
from faircut.embedding import EMBEDDERS
from faircut.errors import EmbeddingError, LlmError, SpecError
from faircut.experiment.job import open_job
from faircut.records import Document
from faircut.specs import Size

sys.path.append(str(Path(__file__).parent.parent / "llm"))
from real_server import real_server as real_server  # a fixture of the tests of the models

REWRITERS = ("propositions", "proposition_paragraph", "proposition_semantic")
every_rewriter = pytest.mark.parametrize("spec", REWRITERS)
TEXT = "Ada Lovelace wrote the notes. She was 27. They describe the Analytical Engine of Charles Babbage."


class Tells(ScriptedModel):
    """Answers the first requests as it is told, then copies the sentences."""

    def __init__(self, *told):
        super().__init__()
        self.told = list(told)

    def statements(self, prompt):
        found = self.told.pop(0) if self.told else super().statements(prompt)
        return [{"text": text, "sentences": list(numbers)} for text, *numbers in found] if self._short(found) else found

    @staticmethod
    def _short(found):
        return found and isinstance(found[0], tuple)


def models_of(model, *, tally=None):
    return Models(MINILM, 2, EMBEDDERS.build("minilm"), model, tally)


def markdown(text, title=""):
    return Document("d", text, markdown_blocks(text), title=title)


def check(document, chunks, size):
    """Nothing lost, in order, not blank, printable, under the ceiling."""
    covered = bytearray(len(document.text))
    for chunk in chunks:
        assert chunk.text.strip()
        assert length_of(size, chunk.embedded_text) <= size.amount or len(chunk.text) == 1, chunk
        for span in chunk.spans:
            assert span.end <= len(document.text)
            covered[span.start : span.end] = b"\1" * len(span)
    assert not [c for c, seen in zip(document.text, covered, strict=True) if not seen and not c.isspace()]
    starts = [chunk.spans[0].start for chunk in chunks]
    assert starts == sorted(starts)
    assert len(set(chunks)) == len(chunks)


# ---------------------------------------------------------------- nothing is lost


@every_rewriter
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=TEXTS, size=st.sampled_from([Size(512), Size(20), Size(60, "c"), Size(9, "w")]), pack=st.integers(1, 60))
def test_whatever_the_model_answers_the_whole_text_is_covered_in_order_under_the_ceiling(spec, text, size, pack):
    chunker = replace(build(spec), max=size, pack=pack)
    document = markdown(text)
    models = Models(MINILM, 2, HashedEmbedder(), WildModel())
    chunks = chunker.chunk(document, models)
    check(document, chunks, size)
    assert chunker.chunk(document, models) == chunks, "deterministic"


@every_rewriter
def test_a_document_without_text_asks_nothing(spec):
    model = ScriptedModel()
    assert build(spec).chunk(Document("d", " \n "), models_of(model)) == []
    assert not any(model.asked)


def test_an_answer_that_cannot_be_used_is_asked_for_in_halves_and_at_last_the_sentence_stands_for_itself():
    class Breaks(ScriptedModel):
        def answer(self, request):
            hopeless = "three" in request.messages[-1].content
            return self.failed("truncated", "length") if hopeless else super().answer(request)

    tally = Tally()
    model = Breaks()
    document = Document("d", "Number one. Number two. Number three. Number four.")
    chunks = build("propositions").chunk(document, models_of(model, tally=tally))
    assert [c.text for c in chunks] == ["Number one.", "Number two.", "Number three.", "Number four."]
    assert [len(r.messages[-1].content.partition("Content:\n")[2].splitlines()) for r in model.asked] == [4, 2, 2, 1, 1]
    assert (tally.asked, tally.fallbacks, tally.statements) == (4, 1, 3)


def test_a_sentence_that_no_statement_cites_stands_for_itself():
    tally = Tally()
    model = Tells([("Ada Lovelace wrote the notes.", 1)])
    chunks = build("propositions").chunk(Document("d", TEXT), models_of(model, tally=tally))
    assert [c.text for c in chunks][1:] == TEXT.split(". ", 1)[1].replace("27. ", "27.\n").split("\n")
    assert (tally.uncited, tally.fallbacks, tally.unfaithful) == (2, 0, 0)


# ---------------------------------------------------------------- provenance and faithfulness


def test_a_statement_keeps_the_spans_of_all_its_sources():
    told = [("Ada Lovelace was 27.", 1, 2), ("The notes describe the Analytical Engine.", 1, 3)]
    document = Document("d", TEXT)
    first, second = build("propositions").chunk(document, models_of(Tells(told)))
    assert first.text == "Ada Lovelace was 27."
    assert [TEXT[s.start : s.end] for s in first.spans] == ["Ada Lovelace wrote the notes. She was 27."]
    assert [TEXT[s.start : s.end] for s in second.spans] == [
        "Ada Lovelace wrote the notes.",
        "They describe the Analytical Engine of Charles Babbage.",
    ]
    assert not second.is_verbatim(document)


@pytest.mark.parametrize(
    "told",
    [
        ("Ada Lovelace was 28.", 1, 2),
        ("Ada Lovelace wrote the first program.", 1),
        ("She was not 27.", 2),
        ("Charles Babbage was 27.", 2),
    ],
)
def test_a_statement_that_says_more_than_its_sources_gives_way_to_them(told):
    tally = Tally()
    rest = [("Ada Lovelace wrote the notes.", 1), ("They describe the Analytical Engine.", 3)]
    chunks = build("propositions").chunk(Document("d", TEXT), models_of(Tells([told, *rest]), tally=tally))
    assert told[0] not in [c.text for c in chunks]
    assert "She was 27." in [c.text for c in chunks]
    assert tally.unfaithful == 1
    assert tally.statements == 3


@pytest.mark.parametrize("numbers", [[], [0], [4], [-1], [10**12]])
def test_numbers_of_sentences_that_do_not_exist_are_no_sources(numbers):
    tally = Tally()
    told = [{"text": "Ada Lovelace wrote the notes.", "sentences": numbers}]
    chunks = build("propositions").chunk(Document("d", TEXT), models_of(Tells(told), tally=tally))
    assert len(chunks) == 3
    assert all(chunk.is_verbatim(Document("d", TEXT)) for chunk in chunks)
    assert tally.unfaithful == 1


def test_names_from_the_headings_and_the_title_are_faithful_and_the_model_is_given_them():
    document = markdown("# Tidebook\n\n## Refunds\n\nIt pays them in 5 days.\n", title="Manual")
    model = Tells([("Tidebook pays refunds in 5 days.", 1)])
    [chunk] = build("propositions").chunk(document, models_of(model))
    assert chunk.text == "Tidebook pays refunds in 5 days."
    prompt = model.asked[0].messages[-1].content
    assert prompt.splitlines()[:2] == ["Title: Manual", "Section: Tidebook > Refunds"]
    assert document.text[chunk.spans[0].start : chunk.spans[0].end].startswith("# Tidebook")


def test_tables_and_code_are_shown_to_no_model_and_stand_whole():
    table, code = "| a | b |\n|---|---|\n| one | two |", "```\nprint(1)\n```"
    document = markdown(f"Before.\n\n{table}\n\n{code}\n\nAfter.\n")
    model = ScriptedModel()
    for spec in REWRITERS:
        texts = [c.text for c in build(spec).chunk(document, models_of(model))]
        assert table in texts
        assert any("print(1)" in text for text in texts)
    assert not any("|" in r.messages[-1].content or "print" in r.messages[-1].content for r in model.asked)


def test_control_characters_of_an_answer_are_gone():
    told = [("Ada \x1b[31mLovelace\u202e wrote\n\nthe \ud800notes.", 1)]
    first, *_ = build("propositions").chunk(Document("d", TEXT), models_of(Tells([("Ada Lovelace wrote notes.", 1)])))
    assert first.text == "Ada Lovelace wrote notes."
    texts = [c.text for c in build("propositions").chunk(Document("d", TEXT), models_of(Tells(told)))]
    assert all(text.isprintable() for text in texts)


def test_a_statement_above_the_ceiling_gives_way_to_its_source():
    tally = Tally()
    told = [("the notes " * 30, 1), ("She was 27.", 2)]
    chunks = build("propositions(max=60c)").chunk(Document("d", TEXT), models_of(Tells(told), tally=tally))
    assert chunks[0].text == "Ada Lovelace wrote the notes."
    assert max(len(c.text) for c in chunks) <= 60
    assert tally.overlong == 1


@pytest.mark.parametrize(
    ("statement", "source", "missing"),
    [
        ("The tenants paid 1200 euros.", "Tenant X paid 1,200 Euro.", []),
        ("Increasing rents are usual.", "It is usual to increase the rent.", []),
        ("He paid 1200.", "He paid 1300.", ["1200"]),
        ("Rent isn't due.", "Rent is due.", ["not"]),
        ("Rent isn't due.", "Rent is never due.", []),
        ("The contract ends.", "The contact ends.", ["contract"]),
        ("Der Mieter zahlt die Miete.", "Mieter zahlen Miete", []),
        ("人間は平等である", "人間は自由である", ["平", "等"]),
    ],
)
def test_words_that_are_not_in_the_sources_are_found_capitals_and_endings_forgiven(statement, source, missing):
    language = {"D": "de", "人": "ja"}.get(statement[0], "en")
    assert unfounded(statement, [source], language) == missing


# ---------------------------------------------------------------- groups


def sentences(count):
    kinds = ("The harbour of {} closes at night.", "Violins of maker {} have four strings.")
    return [kinds[n // 6 % 2].format(f"Town{n}") for n in range(count)]


def test_paragraphs_of_statements_are_as_full_as_the_size_allows():
    document = Document("d", " ".join(sentences(40)))
    statements = build("propositions").chunk(document, models_of(ScriptedModel()))
    paragraphs = build("proposition_paragraph").chunk(document, models_of(ScriptedModel()))
    check(document, paragraphs, Size(500, "c"))
    assert " ".join(p.text for p in paragraphs) == " ".join(s.text for s in statements)
    assert all(len(a.text) + len(b.text) > 450 for a, b in pairwise(paragraphs))


def test_statements_are_put_together_until_their_meaning_turns():
    document = Document("d", " ".join(sentences(24)))
    groups = build("proposition_semantic(threshold=0.4)").chunk(document, models_of(ScriptedModel()))
    assert [("harbour" in g.text, "Violins" in g.text) for g in groups] == [(True, False), (False, True)] * 2
    small = build("proposition_semantic(threshold=0.4, max=90c)").chunk(document, models_of(ScriptedModel()))
    check(document, small, Size(90, "c"))


@pytest.mark.parametrize("inner", REWRITERS)
def test_the_size_matched_control_of_statements_covers_the_text_word_for_word(inner):
    document = Document("d", " ".join(sentences(60)))
    chunks = build(f"shuffled({inner})").chunk(document, models_of(ScriptedModel()))
    assert all(c.is_verbatim(document) for c in chunks)
    check(document, chunks, Size(10_000, "c"))


# ---------------------------------------------------------------- what is asked


@every_rewriter
def test_without_a_language_model_the_error_names_the_flags(spec):
    with pytest.raises(LlmError, match=r"--llm URL .* --model NAME"):
        build(spec).chunk(Document("d", TEXT), models_of(None))


def test_without_an_embedder_the_semantic_one_asks_no_model():
    model = ScriptedModel()
    with pytest.raises(EmbeddingError, match="needs an embedder"):
        build("proposition_semantic").chunk(Document("d", TEXT), Models(MINILM, 2, None, model))
    assert model.asked == []


def test_other_sizes_groups_and_embedders_ask_for_nothing_new():
    document = markdown("# A\n\n" + " ".join(sentences(30)) + "\n\n## B\n\n" + " ".join(sentences(8)))
    asked = []
    for spec in ("propositions", "propositions(max=100t)", *REWRITERS[1:]):
        model = ScriptedModel()
        build(spec).chunk(document, models_of(model))
        asked.append(model.asked)
    assert all(requests == asked[0] for requests in asked)


@every_rewriter
@pytest.mark.parametrize("wrong", ["max=0", "pack=0", "model=gpt", 'model="t5:"'])
def test_parameters_out_of_range_are_refused_when_built(spec, wrong):
    with pytest.raises(SpecError, match=spec):
        build(f"{spec}({wrong})")


# ---------------------------------------------------------------- T5


PACK = Pack("Town", ("History", "1900"), (4, 5, 6), ("Ada wrote notes.", "She was 27.", "They describe an engine."))


def test_the_frame_of_the_trained_model_is_its_own():
    assert prompt_for(PACK) == (
        "Title: Town. Section: History > 1900. Content: Ada wrote notes. She was 27. They describe an engine."
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('["One.", " Two\\n.", ""]', ["One.", "Two ."]),
        ("[]", []),
        ('["One.", "Tw', None),
        ('{"a": 1}', None),
        ("[1, 2]", None),
        ("", None),
        ("[" * 100_000, None),
    ],
)
def test_what_the_trained_model_writes_is_read_or_refused(text, found):
    assert parse_statements(text) == found


@pytest.mark.parametrize(
    ("statement", "sources"),
    [
        ("Ada wrote notes.", (4,)),
        ("Ada was 27.", (4, 5)),
        ("The notes describe an engine.", (4, 6)),
        ("The engine was described by the notes which Ada wrote at the age of 27", (4, 5, 6)),
        ("In the history of the town, Ada was an engine.", (4, 6)),
        ("Nothing in common.", ()),
    ],
)
def test_statements_of_the_trained_model_are_traced_to_their_sentences_by_their_words(statement, sources):
    known = [known_forms([sentence]) for sentence in PACK.sentences]
    assert aligned(PACK, known, statement, "en") == sources


class Prompts(dict):
    def to(self, device):
        return self


class StandIn:
    """For the trained model, whose weights are gigabytes: one answer is cut off, the others are lists of statements.

    With transformers and torch a real model is run in test_propositionizer_t5.py.
    """

    device = "cpu"

    def __call__(self, prompts, **_):
        return Prompts(input_ids=prompts, attention_mask=None)

    def from_pretrained(self, folder, **how):
        assert how["trust_remote_code"] is False
        return self

    def itself(self, *_):
        return self

    float = eval = to = itself

    def generate(self, prompts, **_):
        return prompts

    def batch_decode(self, prompts, **_):
        return [self.answer(prompt.partition("Content: ")[2]) for prompt in prompts]

    def answer(self, content):
        return '["Ada Lovelace wro' if "27. They" in content else json.dumps([content, "Martians came."])


@pytest.fixture
def trained(monkeypatch, tmp_path):
    """The spec of the trained model, with something that stands in for it."""
    transformers, torch = types.ModuleType("transformers"), types.ModuleType("torch")
    transformers.AutoTokenizer = transformers.AutoModelForSeq2SeqLM = StandIn()
    torch.inference_mode, torch.cuda = nullcontext, types.SimpleNamespace(is_available=lambda: False)
    monkeypatch.setitem(sys.modules, "transformers", transformers)
    monkeypatch.setitem(sys.modules, "torch", torch)
    (tmp_path / "model.safetensors").touch()
    return f'propositions(model="t5:{tmp_path.as_posix()}")'


def test_a_document_goes_through_the_trained_model_and_what_is_cut_off_in_halves(trained):
    tally = Tally()
    chunks = build(trained).chunk(Document("d", TEXT), models_of(None, tally=tally))
    assert " | ".join(chunk.text for chunk in chunks) == TEXT.replace(". ", ". | ")
    assert (tally.statements, tally.unfaithful, tally.fallbacks) == (6, 3, 0)


def test_a_job_has_the_trained_model_in_memory_once_in_its_own_process(trained, tmp_path):
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for name in "ab":
        (corpus / f"{name}.txt").write_text(f"{TEXT} {name}.")
    with open_job(str(corpus), chunker=trained) as job:
        assert [(outcome.state, outcome.chunks) for outcome in job.outcomes()] == [("cut", 3), ("cut", 3)]


@pytest.mark.parametrize("missing", ["transformers", "torch"])
def test_without_the_extra_the_error_names_what_to_install_before_anything_is_fetched(missing, monkeypatch):
    monkeypatch.setitem(sys.modules, missing, None)
    chunker = build('propositions(model="t5:nobody/nothing")')
    for ask in (lambda: chunker.fingerprint, lambda: chunker.chunk(Document("d", TEXT), models_of(None))):
        with pytest.raises(LlmError, match=r'pip install "faircut\[t5\]"'):
            ask()


# ---------------------------------------------------------------- real texts, a real model


@pytest.mark.slow
@every_rewriter
def test_every_document_of_chroma_is_covered_whatever_the_model_answers(spec, shared_data):
    from faircut.documents import read_corpus

    for document in read_corpus(str(shared_data / "chroma" / "corpus.jsonl.gz")):
        tally = Tally()
        chunks = build(spec).chunk(document, Models(MINILM, 2, HashedEmbedder(), WildModel(), tally))
        check(document, chunks, build(spec).max)
        assert tally.unfaithful > tally.statements / 10
        assert tally.fallbacks > 0


@pytest.mark.slow
def test_the_bad_answers_of_a_real_small_model_lose_nothing(real_server, shared_data, tmp_path):
    from faircut.documents import read_corpus
    from faircut.llm import ChatModel, Endpoint

    whole = next(iter(read_corpus(str(shared_data / "chroma" / "corpus.jsonl.gz"))))
    document = Document("d", whole.text[:480], title=whole.title)
    tally = Tally()
    with ChatModel(Endpoint(real_server.url, real_server.model, concurrency=2), cache=tmp_path / "a.sqlite") as model:
        chunks = build("propositions(pack=60)").chunk(document, models_of(model, tally=tally))
        spent = model.spent
        assert build("propositions(pack=60)").chunk(document, models_of(model)) == chunks
        assert model.spent == spent, "a second run asks nothing"
    check(document, chunks, Size(512))
    assert tally.asked >= 2
    assert tally.unfaithful <= tally.statements
    print(f"{tally}; {spent}")  # the share of unfaithful statements, with `pytest -s`
