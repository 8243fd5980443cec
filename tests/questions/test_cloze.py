"""Questions without a model are labelled as a smoke test, in their records and wherever they are read."""

import json

import pytest

from faircut.documents import read_corpus
from faircut.errors import FaircutWarning, QuestionError
from faircut.questions import read_questions
from faircut.questions.cloze import BLANK, smoke_test
from faircut.questions.made import write_made
from faircut.records import Document


@pytest.fixture
def documents(small):
    return {document.id: document for document in read_corpus(small / "corpus")}


def test_a_sentence_with_its_rarest_word_blanked_has_the_sentence_as_evidence(documents):
    made = smoke_test(documents, 12)
    clozes = [one for one in made if one.about["made_by"] == "cloze"]
    assert len(clozes) > 5
    for one in clozes:
        (piece,) = one.question.evidence
        sentence = " ".join(documents[piece.document_id].text[piece.span.start : piece.span.end].split())
        before, after = one.question.text.split(BLANK)
        assert sentence.startswith(before)
        assert sentence.endswith(after)
        assert 0 < len(sentence) - len(before) - len(after) < 20


def test_a_heading_has_its_section_as_evidence(documents):
    headings = {
        o.question.text: o.question.evidence[0] for o in smoke_test(documents, 15) if o.about["made_by"] == "heading"
    }
    assert len(headings) == 3
    fees = headings["Fees"]
    text = documents[fees.document_id].text[fees.span.start : fees.span.end]
    assert text.startswith("A night costs eleven crowns")
    assert text.endswith("until midnight.")


def test_every_record_has_the_label_and_reading_them_warns(documents, tmp_path):
    path = tmp_path / "q.jsonl"
    write_made(path, smoke_test(documents, 5))
    assert {json.loads(line)["label"] for line in path.read_text().splitlines()} == {"smoke test"}
    with pytest.warns(FaircutWarning, match=r"5 of 5 questions are a smoke test.*not which chunker is better"):
        assert len(read_questions(path, documents)) == 5


def test_the_same_seed_gives_the_same_questions(documents):
    assert smoke_test(documents, 6) == smoke_test(documents, 6)
    assert smoke_test(documents, 6, seed=1) != smoke_test(documents, 6)


def test_text_without_a_sentence_is_refused():
    with pytest.raises(QuestionError, match="no document has a sentence"):
        smoke_test({"d": Document("d", "Short.")}, 3)
