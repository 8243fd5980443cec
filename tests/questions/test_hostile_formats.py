"""Files of questions as they come from the world: broken, half right, or written to do harm; each is told or mended."""

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faircut.errors import PlanError, QuestionError
from faircut.questions.document_level import WholeDocument
from faircut.questions.formats import LABELS, format_named, read_foreign, write_foreign
from faircut.questions.formats.table_rows import as_cell, table_rows, write_csv
from faircut.questions.locate import find_chunks_everywhere
from faircut.records import Document, Evidence, Question, Span

TEXTS = {
    "a.md": "Boats 😀 longer than nine metres moor at the outer quay. Nobody moors there at night.\n\nCafé costs 11.",
    "dir/b.txt": "The library lends forty books at a time. Late books cost a crown a week.",
}
DOCUMENTS = {name: Document(name, text) for name, text in TEXTS.items()}
AT = TEXTS["a.md"].index("moor at")


def read(path, value, documents=DOCUMENTS, form=None):
    """The reading of a file with this content: text, bytes, or a value that is written as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = value if isinstance(value, str | bytes) else json.dumps(value)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_foreign(path, documents, form=format_named(form) if form else None)


def quotes(reading):
    return [
        [reading.documents[e.document_id].text[e.span.start : e.span.end] for e in q.evidence]
        for q in reading.questions
    ]


def table(*rows):
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


# ---------------------------------------------------------------- SQuAD


def squad(*asked, title="A", text=TEXTS["a.md"]):
    return {"data": [{"title": title, "paragraphs": [{"context": text, "qas": list(asked)}]}]}


def qa(text="moor at", start=AT, name: object = "1", **more):
    return {"id": name, "question": "Where?", "answers": [{"text": text, "answer_start": start}], **more}


@pytest.mark.parametrize("shift", [1, len("😀".encode()) - 1, -3, 10**30])
def test_squad_offsets_in_other_units_are_corrected_where_the_answer_stands_once(shift, tmp_path):
    reading = read(tmp_path / "s.json", squad(qa(start=AT + shift)), None)
    assert quotes(reading) == [["moor at"]]
    assert reading.notes == {"offsets corrected to those of the quote": 1}


def test_only_impossible_questions_are_no_questions_and_the_number_is_said(tmp_path):
    reading = read(tmp_path / "s.json", squad(qa(is_impossible=True), qa(name="2", is_impossible=True)), None)
    assert "left out are 2 questions marked as impossible to answer" in reading.problems.lines[0]


@pytest.mark.parametrize(
    ("change", "said"),
    [({"qas": None}, 'needs a list "qas"'), ({"questions": []}, 'needs a list "qas"'),
     ({"qas": [qa() | {"answers": "moor"}]}, '"answers" must be a list'),
     ({"qas": [qa() | {"answers": {"text": ["moor"], "answer_start": [1]}}]}, '"answers" must be a list'),
     ({"qas": [qa(start=float("nan"))]}, 'a whole number "answer_start"')],
)  # fmt: skip
def test_squad_of_another_shape_is_told_with_its_line(change, said, tmp_path):
    paragraph = {"context": TEXTS["a.md"]} | change
    reading = read(tmp_path / "s.json", {"data": [{"title": "A", "paragraphs": [paragraph]}]}, None)
    assert said in reading.problems.lines[0]
    assert reading.problems.lines[0].startswith(f"{tmp_path / 's.json'}:1: data[0].paragraphs[0]")


def test_articles_with_the_names_that_repeated_titles_would_get_stay_apart(tmp_path):
    articles = [squad(qa(name=n), title=title)["data"][0] for n, title in enumerate(["A", "A", "A-2"])]
    reading = read(tmp_path / "s.json", {"data": articles}, None)
    assert reading.problems.total == 0
    assert len(reading.documents) == 3
    assert [q.id for q in reading.questions] == ["0", "1", "2"]


# ---------------------------------------------------------------- BEIR


def beir(folder, qrels, documents=None, **files):
    parts = {
        "corpus.jsonl": "".join(json.dumps({"_id": i, "text": t}) + "\n" for i, t in TEXTS.items()),
        "queries.jsonl": '{"_id": "1", "text": "Where?"}\n{"_id": "2", "text": "Who?"}\n',
    } | {name.replace("_", "."): text for name, text in files.items()}
    (folder / "set" / "qrels").mkdir(parents=True)
    for name, text in parts.items():
        if text is not None:
            (folder / "set" / name).write_text(text)
    (folder / "set" / "qrels" / "test.tsv").write_text(qrels)
    return read_foreign(folder / "set", documents)


@pytest.mark.parametrize("score", ["nan", "inf", "-inf", "high", ""])
def test_scores_of_beir_that_are_no_numbers_are_told_with_their_line(score, tmp_path):
    reading = beir(tmp_path, f"query-id\tcorpus-id\tscore\n1\ta.md\t1\n2\ta.md\t{score}\n")
    assert len(reading.questions) == 1
    assert "test.tsv:3: expected query-id, corpus-id and score (a number)" in reading.problems.lines[0]


def test_judgements_that_contradict_or_name_unknown_queries_are_told(tmp_path):
    reading = beir(tmp_path, "1\ta.md\t1\n1\ta.md\t0\n2\ta.md\t1\n2\ta.md\t1\n77\ta.md\t1\n")
    assert "test.tsv:2: 'a.md' answers '1' and does not" in reading.problems.lines[0]
    assert reading.left_out == {"queries of test.tsv missing in queries.jsonl": 1}


def test_trecs_four_columns_are_told_apart(tmp_path):
    assert "found 4 cells; correct the line (of TREC's" in beir(tmp_path, "1\t0\ta.md\t1\n").problems.lines[0]


def test_beir_takes_numbers_as_ids_and_leaves_documents_without_text_out(tmp_path):
    corpus = '{"_id": 5, "text": "x y"}\n{"_id": 6, "title": "only", "text": ""}\n'
    reading = beir(tmp_path, "1\t5\t1\n", corpus_jsonl=corpus, queries_jsonl='{"_id": 1, "text": "Where?"}\n')
    assert [q.evidence[0].document_id for q in reading.questions] == ["5"]
    assert reading.left_out == {"documents without a text": 1}


def test_a_document_of_beir_that_is_there_twice_is_told_with_its_line(tmp_path):
    corpus = '{"_id": "a.md", "text": "x"}\n{"_id": "a.md", "text": "y"}\n'
    assert "corpus.jsonl:2: the document 'a.md' is there twice" in beir(
        tmp_path, "1\ta.md\t1\n", corpus_jsonl=corpus
    ).problems.lines[0]  # fmt: skip


def test_beir_without_documents_takes_those_that_are_named_and_asks_for_them(tmp_path):
    assert len(beir(tmp_path, "1\ta.md\t1\n", DOCUMENTS, corpus_jsonl=None).questions) == 1
    with pytest.raises(QuestionError, match=r"no documents came with these questions .* --corpus"):
        read_foreign(tmp_path / "set", None)


def test_what_beir_cannot_say_of_places_is_counted(tmp_path):
    both = Question("2", "Both?", (Evidence("a.md", Span(0, 5)), Evidence("dir/b.txt", Span(0, 5))))
    left = write_foreign(tmp_path / "b", format_named("beir"), [both], DOCUMENTS)
    assert left == {
        "places of the evidence: BEIR names documents only": 1,
        "marks that several documents are needed together: BEIR's are alternatives": 1,
    }


def test_questions_that_only_name_documents_are_not_written_where_places_are_needed(tmp_path):
    whole = Question("1", "Which?", (WholeDocument("a.md", Span(0, 9)),))
    with pytest.raises(QuestionError, match="the format squad needs places in them; nothing was written"):
        write_foreign(tmp_path / "s.json", format_named("squad"), [whole], DOCUMENTS)
    assert not (tmp_path / "s.json").exists()


# ---------------------------------------------------------------- tables


def test_a_short_row_is_one_problem_and_the_rows_behind_it_are_read(tmp_path):
    references = json.dumps([{"content": "moor at", "start_index": AT, "end_index": AT + 7}])
    rows = table(("question", "references", "corpus_id"), ("Short?",), ("Q?", references, "a.md"))
    reading = read(tmp_path / "c.csv", rows)
    assert [line.split(": ", 1)[0] for line in reading.problems.lines] == [f"{tmp_path / 'c.csv'}:2"]
    assert quotes(reading) == [["moor at"]]


def test_two_columns_of_one_name_are_told(tmp_path):
    with pytest.raises(QuestionError, match=r"c\.csv:1: two columns are named 'question'"):
        read(tmp_path / "c.csv", "question,Question,quote\na,b,c\n")


def test_a_header_alone_is_no_question(tmp_path):
    assert "there are no questions in this file" in read(tmp_path / "c.csv", "question,quote\n").problems.lines[0]


FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "'=1", "''-x", "＝1"]  # spreadsheets take the wide one too


@pytest.mark.parametrize("name", ["t.csv", "t.tsv"])
def test_no_cell_that_is_written_is_a_formula_and_it_is_read_back_as_it_was(name, tmp_path):
    write_csv(tmp_path / name, ("question", "quote"), [(as_cell(f), "x") for f in FORMULAS])
    raw = csv.reader(io.StringIO((tmp_path / name).read_text(), newline=""), delimiter="\t" if "tsv" in name else ",")
    assert all(row[0].startswith("'") for row in list(raw)[1:])
    assert [cells["question"] for _, cells in table_rows(tmp_path / name)] == FORMULAS


@given(st.text(alphabet="'=+-@ab\t\n ", max_size=6))
def test_every_cell_comes_back(text):
    from faircut.questions.formats.table_rows import _from_cell

    assert _from_cell(as_cell(text)) == text


@pytest.mark.parametrize("name", ["chroma", "table"])
def test_questions_that_look_like_formulas_survive_a_round_trip(name, tmp_path):
    asked = [Question(f"q{n}", f"{f} where?", (Evidence("a.md", Span(AT, AT + 7)),)) for n, f in enumerate(FORMULAS)]
    write_foreign(tmp_path / "q.csv", format_named(name), asked, DOCUMENTS)
    assert [q.text for q in read_foreign(tmp_path / "q.csv", DOCUMENTS).questions] == [q.text for q in asked]


def test_a_spreadsheet_is_not_written_and_csv_is_proposed(tmp_path):
    with pytest.raises(PlanError, match=r"ends in \.csv or \.tsv or \.tab; write CSV, which every spreadsheet opens"):
        write_foreign(tmp_path / "q.xlsx", format_named("table"), [], DOCUMENTS)


# ---------------------------------------------------------------- contexts of other tools


def test_contexts_that_begin_and_end_inside_words_are_found(tmp_path):
    context = TEXTS["a.md"][AT - 6 : AT + 29]
    assert context[0].isalpha()
    assert TEXTS["a.md"][AT - 7].isalpha()
    reading = read(tmp_path / "r.jsonl", json.dumps({"user_input": "Q?", "reference_contexts": [context]}) + "\n")
    assert reading.problems.total == 0
    assert quotes(reading) == [[context]]


@given(st.integers(0, 60), st.integers(40, 100))
def test_any_long_piece_of_a_text_is_found_where_it_stands(start, length):
    text = TEXTS["a.md"][start : start + length].strip()
    found = find_chunks_everywhere(DOCUMENTS, [text])[0]
    begin = TEXTS["a.md"].index(text)
    if len(text.split()) >= 9:
        assert found == [Evidence("a.md", Span(begin, begin + len(text)))]
    assert len(found) <= 1


def test_words_whose_cut_ends_do_not_fit_are_not_found():
    assert find_chunks_everywhere(DOCUMENTS, ["xnger than nine metres moor at the outer qu"]) == [[]]
    assert find_chunks_everywhere(DOCUMENTS, ["nger than nine metres moor at the outer qx"]) == [[]]


def test_a_query_of_llamaindex_is_told_with_its_line(tmp_path):
    value = {
        "queries": {"p": "P?", "q": "Q?"},
        "corpus": {"n": "moor at the outer quay"},
        "relevant_docs": {"p": ["n"]},
    }
    reading = read(tmp_path / "i.json", json.dumps(value, indent=1))
    assert reading.problems.lines[0].startswith(f"{tmp_path / 'i.json'}:4: queries['q']: needs a text")


def test_evidence_outside_of_the_document_that_is_searched_is_told(tmp_path):
    line = {"id": "1", "question": "Q?", "gold": [{"document": "a.md", "start": 0, "end": 5}], "within": "dir/b.txt"}
    reading = read(tmp_path / "n.jsonl", json.dumps(line) + "\n")
    assert "evidence is in 'a.md', but the search is within 'dir/b.txt'" in reading.problems.lines[0]


# ---------------------------------------------------------------- labels


def test_the_label_of_a_smoke_test_is_kept_or_its_loss_is_counted(tmp_path):
    line = {"id": "1", "question": "Q?", "gold": [{"document": "a.md", "start": 0, "end": 5}], "label": "smoke test"}
    reading = read(tmp_path / "n.jsonl", json.dumps(line) + "\n")
    assert reading.labels == {"1": "smoke test"}
    again = tmp_path / "again.jsonl"
    assert write_foreign(again, format_named("native"), reading.questions, DOCUMENTS, labels=reading.labels) == {}
    assert json.loads(again.read_text())["label"] == "smoke test"
    squad = format_named("squad")
    left = write_foreign(tmp_path / "s.json", squad, reading.questions, DOCUMENTS, labels=reading.labels)
    assert left == {LABELS: 1}
