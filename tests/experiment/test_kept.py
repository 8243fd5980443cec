"""The inputs of a run come back from its folder as they went in."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faircut.errors import StoreError
from faircut.experiment.kept import keep_documents, keep_questions, kept_documents, kept_questions
from faircut.experiment.store import RunStore
from faircut.records import Block, Document, Evidence, Question, Span

TEXT = st.text(st.characters(exclude_categories=()), max_size=20)


@settings(max_examples=25, deadline=None)  # each example writes two files to disk
@given(TEXT, TEXT, st.text(st.characters(exclude_categories=()), min_size=1, max_size=30))
def test_documents_and_questions_come_back_as_they_were(tmp_path_factory, name, title, text):
    store = RunStore(tmp_path_factory.mktemp("kept"))
    whole = Span(0, len(text))
    document = Document(name, text, (Block("heading", whole, 2, 7),), title, "file.md", "text/markdown", "de")
    plain = Document(f"{name}-2", text)
    question = Question(title, text, (Evidence(name, whole),), "any", name)
    keep_documents(store, [document, plain])
    keep_questions(store, [question, Question("q2", "?", ())])
    assert kept_documents(store) == {document.id: document, plain.id: plain}
    assert kept_questions(store) == (question, Question("q2", "?", ()))


def test_what_is_not_there_or_damaged_is_told(tmp_path):
    store = RunStore(tmp_path)
    with pytest.raises(StoreError, match=r"documents\.parquet: not found"):
        kept_documents(store)
    (tmp_path / "questions.parquet").write_bytes(b"PAR1 nonsense")
    with pytest.raises(StoreError, match=r"questions\.parquet: cannot be read"):
        kept_questions(store)
