"""Questions of other tools come in with their evidence found in the text, and go out so that they come in again."""

import csv
import json
from zipfile import ZipFile

import pytest

from faircut.errors import FaircutWarning, PlanError, QuestionError
from faircut.questions import read_questions
from faircut.questions.document_level import check_measures, is_document_level
from faircut.questions.formats import FORMATS, IDS, WITHIN, find_format, format_named, read_foreign, write_foreign
from faircut.records import Document, Evidence, Question, Span

TEXTS = {
    "rules/harbour.md": "# Quay\n\nBoats moor at the outer quay. It has “twelve” places.\n\nA night costs 11 crowns.",
    "library.txt": "Books are lent for a month. Maps stay here.\n\nA night costs 11 crowns. Keys are with a keeper.",
}
DOCUMENTS = {name: Document(name, text, title=name.split(".")[0]) for name, text in TEXTS.items()}


def at(document, quote):
    start = TEXTS[document].index(quote)
    return Evidence(document, Span(start, start + len(quote)))


def asked(identity, text, *evidence, **more):
    return Question(identity, text, evidence, **more)


MOOR = asked("q1", "Where do I tie up?", at("rules/harbour.md", "Boats moor at the outer quay."))
MAPS = asked("q2", "Can I take a chart home?", at("library.txt", "Maps stay here."))
BOTH = asked(
    "q3", "How long, and who has the key?",
    at("library.txt", "Books are lent for a month."), at("library.txt", "Keys are with a keeper."),
)  # fmt: skip
EITHER = asked(
    "q4", "What does it cost?",
    at("library.txt", "A night costs 11 crowns."), at("rules/harbour.md", "A night costs 11 crowns."), match="any",
)  # fmt: skip


def written(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def read(path, documents=DOCUMENTS, **more):
    reading = read_foreign(path, documents, **more)
    assert reading.problems.total == 0, reading.problems.lines
    return reading


def told(path, documents=DOCUMENTS, **more):
    reading = read_foreign(path, documents, **more)
    assert reading.problems.total > 0
    return "\n".join(reading.problems.lines)


def content(questions):
    """What a question says; alternatives have no order."""
    return [(q.text, q.evidence if q.match == "all" else set(q.evidence), q.match) for q in questions]


NAMES = {
    "native": "q.jsonl", "squad": "q.json", "beir": "q", "chroma": "q.csv", "legalbench-rag": "q.json",
    "ragas": "q.jsonl", "llamaindex": "q.json", "pairs": "q.json", "table": "q.csv",
}  # fmt: skip
KEEPS = {
    "native": [MOOR, MAPS, BOTH, EITHER], "squad": [MOOR, MAPS], "chroma": [MOOR, MAPS, BOTH],
    "legalbench-rag": [MOOR, MAPS, BOTH], "ragas": [MOOR, MAPS, BOTH], "llamaindex": [MOOR, MAPS, EITHER],
    "pairs": [MOOR, MAPS], "table": [MOOR, MAPS],
}  # fmt: skip


def test_every_format_is_tested():
    assert list(NAMES) == [form.name for form in FORMATS]


@pytest.mark.parametrize("name", KEEPS)
def test_what_is_written_is_recognised_and_read_back_as_it_was(name, tmp_path):
    path = tmp_path / NAMES[name]
    left = write_foreign(path, format_named(name), KEEPS[name], DOCUMENTS)
    assert left.keys() <= ({IDS} if name in ("chroma", "legalbench-rag", "ragas", "pairs") else set())
    assert find_format(path).name == name
    reading = read(path)
    assert content(reading.questions) == content(KEEPS[name])
    again = tmp_path / "again" / path.name
    write_foreign(again, format_named(name), reading.questions, DOCUMENTS)
    if name in ("native", "chroma", "legalbench-rag", "ragas", "pairs", "table"):
        assert again.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("native", "beir")])
def test_what_a_format_cannot_say_is_counted(name, tmp_path):
    everything = [MOOR, MAPS, BOTH, EITHER, asked("w", "Whole?", *read_beir(tmp_path).questions[0].evidence)]
    left = write_foreign(tmp_path / NAMES[name], format_named(name), everything, DOCUMENTS)
    assert sum(left.values()) > 0
    assert all(len(reason) > 10 for reason in left)


def test_a_file_that_is_named_for_another_format_is_refused(tmp_path):
    with pytest.raises(PlanError, match=r"ends in \.csv"):
        write_foreign(tmp_path / "q.json", format_named("chroma"), [MOOR], DOCUMENTS)
    with pytest.raises(PlanError, match="did you mean 'squad'"):
        format_named("sqad")


# ---------------------------------------------------------------- SQuAD

CONTEXTS = ["Cats sleep by day.", "Owls hunt by night. Owls see well."]


def squad(**changes):
    answers = [{"text": "Owls hunt by night.", "answer_start": 0}, {"text": "by night", "answer_start": 10}]
    qas = [
        {"id": "a", "question": "When do owls hunt?", "answers": [*answers, answers[0]]},
        {"id": "b", "question": "When do dogs hunt?", "answers": [], "is_impossible": True},
    ]
    first = {
        "context": CONTEXTS[0],
        "qas": [{"id": "c", "question": "When?", "answers": [{"text": "by day", "answer_start": 11}]}],
    }
    value = {
        "version": "v2.0",
        "data": [{"title": "Night", "paragraphs": [first, {"context": CONTEXTS[1], "qas": qas}]}],
    }
    return value | changes


def test_the_articles_of_squad_become_documents_and_impossible_questions_are_counted(tmp_path):
    reading = read(written(tmp_path / "dev.json", squad()), None)
    text = "\n\n".join(CONTEXTS)
    assert {name: d.text for name, d in reading.documents.items()} == {"Night": text}
    assert reading.own_documents
    day, night = reading.questions
    assert [text[e.span.start : e.span.end] for e in night.evidence] == ["Owls hunt by night.", "by night"]
    assert (night.match, day.match, day.id) == ("any", "all", "c")
    assert text[day.evidence[0].span.start : day.evidence[0].span.end] == "by day"
    assert reading.left_out == {"questions marked as impossible to answer: a question needs evidence here": 1}


def test_wrong_offsets_of_squad_are_corrected_where_the_answer_stands_once(tmp_path):
    value = squad()
    value["data"][0]["paragraphs"][0]["qas"][0]["answers"][0]["answer_start"] = 3
    reading = read(written(tmp_path / "dev.json", value), None)
    assert reading.questions[0].evidence == (Evidence("Night", Span(11, 17)),)
    assert reading.notes == {"offsets corrected to those of the quote": 1}


def test_broken_parts_of_squad_are_told_with_their_place(tmp_path):
    value = squad()
    value["data"] += [{"title": "x"}]
    value["data"][0]["paragraphs"][1]["qas"][0]["answers"][1]["answer_start"] = "ten"
    value["data"][0]["paragraphs"][0]["qas"][0]["answers"][0]["text"] = "by noon"
    said = told(written(tmp_path / "dev.json", json.dumps(value, indent=1)), None)
    assert 'data[0].paragraphs[1].qas[0]: each answer needs "text"' in said
    assert "data[1]: an article needs" in said
    assert "not the quote 'by noon', which is not there" in said
    line = json.dumps(value, indent=1).split('"x"')[0].count("\n")
    assert f"dev.json:{line}: data[1]" in said


# ---------------------------------------------------------------- BEIR


def read_beir(folder, **files):
    parts = {
        "corpus.jsonl": [{"_id": name, "title": "T", "text": text} for name, text in TEXTS.items()],
        "queries.jsonl": [{"_id": "1", "text": "Where do boats go?"}, {"_id": "2", "text": "Nobody knows"}],
    }
    for name, lines in parts.items():
        written(folder / "set" / name, "".join(json.dumps(line) + "\n" for line in files.get(name, lines)))
    rows = files.get("qrels", "1\trules/harbour.md\t2\n1\tlibrary.txt\t0\n")
    written(folder / "set" / "qrels" / "test.tsv", f"query-id\tcorpus-id\tscore\n{rows}")
    return read_foreign(folder / "set", files.get("documents"))


def test_the_judgements_of_beir_are_whole_documents_and_say_so(tmp_path):
    reading = read_beir(tmp_path)
    assert reading.format.name == "beir"
    (question,) = reading.questions
    assert [e.document_id for e in question.evidence] == ["rules/harbour.md"]
    assert is_document_level(question)
    assert reading.left_out == {"queries without a document in test.tsv": 1}


def test_beir_round_trips_and_the_mark_survives_the_native_form(tmp_path):
    reading = read_beir(tmp_path)
    write_foreign(tmp_path / "again", format_named("beir"), reading.questions, reading.documents)
    again = read(tmp_path / "again", None)
    assert again.questions == reading.questions
    assert list(again.documents) == list(reading.documents)
    write_foreign(tmp_path / "q.jsonl", format_named("native"), reading.questions, reading.documents)
    assert read(tmp_path / "q.jsonl", reading.documents).questions == reading.questions
    assert read_questions(tmp_path / "q.jsonl", reading.documents) == reading.questions


def test_measures_that_need_a_place_are_refused_for_whole_documents(tmp_path):
    whole = read_beir(tmp_path).questions
    check_measures(["recall@1000t"], [MOOR, EITHER])
    with pytest.warns(FaircutWarning, match=r"These questions only name a document.*`faircut questions`"):
        check_measures(["document_recall@5", "document_mrr@10", "context_precision@5"], whole)
    with pytest.raises(PlanError, match=r"recall@1000t, semantic_hit\(0.7\)@5: needs to know where.* 1 of 2 questions"):
        check_measures(["recall@1000t", "document_recall@5", "semantic_hit(0.7)@5"], [MOOR, *whole])


def test_broken_lines_of_beir_are_told(tmp_path):
    reading = read_beir(
        tmp_path,
        qrels="1\tlibrary.txt\n1\tnowhere\t1\n",
        **{"queries.jsonl": [{"_id": "1"}, {"_id": "1", "text": "a"}]},
    )
    said = "\n".join(reading.problems.lines)
    assert "test.tsv:2: expected query-id, corpus-id and score" in said
    assert 'queries.jsonl:1: a query needs "_id" and "text"' in said
    assert "queries.jsonl:2: no document 'nowhere'" in said
    empty = tmp_path / "empty"
    written(empty / "queries.jsonl", "")
    with pytest.raises(QuestionError, match=r"no \.tsv file"):
        read_foreign(empty, None)


# ---------------------------------------------------------------- the others


def test_the_questions_of_chroma_find_their_corpus_by_its_name(tmp_path):
    quote = "Boats moor at the outer quay."
    start = TEXTS["rules/harbour.md"].index(quote)
    references = json.dumps([{"content": quote, "start_index": start, "end_index": start + len(quote)}])
    path = tmp_path / "questions_df.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["question", "references", "corpus_id"], ["Where, so?", references, "harbour"]])
    assert content(read(path).questions) == [("Where, so?", MOOR.evidence, "all")]
    path.write_text(path.read_text() + "Why?,[{}],harbour\nWho?,[],lighthouse\n")
    said = told(path)
    assert 'questions_df.csv:3: "references" must be a JSON list' in said
    assert "questions_df.csv:4: there is no evidence" in said
    path.write_text("question,refs\na,b\n")
    assert "no column references, corpus_id" in told(path, form=format_named("chroma"))


def test_legalbench_rag_paths_and_spans(tmp_path):
    start, end = MOOR.evidence[0].span.start, MOOR.evidence[0].span.end
    tests = [
        {"query": "Where?", "snippets": [{"file_path": "corpus/rules/harbour.md", "span": [start, end]}], "tags": []},
        {"query": "Who?", "snippets": [{"file_path": "rules/harbour.md", "span": [5, 9999]}]},
        {"query": "What?", "snippets": [{"file_path": "rules/harbour.md"}]},
    ]
    path = written(tmp_path / "b.json", json.dumps({"tests": tests}, indent=1))
    reading = read_foreign(path, DOCUMENTS)
    assert content(reading.questions) == [("Where?", MOOR.evidence, "all")]
    said = "\n".join(reading.problems.lines)
    assert "tests[1]: [5, 9999) is no text of 'rules/harbour.md'" in said
    assert 'tests[2]: needs a "query" and "snippets"' in said


@pytest.mark.parametrize("ending", ["jsonl", "json", "csv", "python.csv"])
@pytest.mark.parametrize("keys", [("user_input", "reference_contexts"), ("question", "contexts")])
def test_the_contexts_of_ragas_are_found_in_the_documents(ending, keys, tmp_path):
    contexts = ['It has "twelve"  places.', "Maps stay here."]
    record = dict(zip(keys, ["Two things?", contexts], strict=True)) | {"reference": "twelve"}
    path = tmp_path / f"set.{ending}"
    if ending.endswith("csv"):
        told_as = repr(contexts) if ending.startswith("python") else json.dumps(contexts)
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([keys, ["Two things?", told_as]])
    else:
        written(path, [record] if ending == "json" else json.dumps(record) + "\n")
    reading = read(path)
    assert reading.format.name == "ragas"
    expected = (at("rules/harbour.md", "It has “twelve” places."), MAPS.evidence[0])
    assert content(reading.questions) == [("Two things?", expected, "all")]


def test_llamaindex_nodes_are_found_in_the_documents_or_become_documents(tmp_path):
    value = {
        "queries": {"a": "Where?", "b": "What?", "c": "Who?"},
        "corpus": {"n1": "Boats moor at the outer quay.", "n2": "Maps stay here."},
        "relevant_docs": {"a": ["n1"], "b": ["n2", "n1"], "c": ["n9"]},
    }
    path = written(tmp_path / "set.json", value)
    reading = read_foreign(path, DOCUMENTS)
    assert content(reading.questions)[0] == ("Where?", MOOR.evidence, "all")
    assert reading.questions[1].match == "any"
    assert "queries['c']: the node 'n9' is not in" in reading.problems.lines[0]
    own = read_foreign(path, None)
    assert own.questions[0].evidence == (Evidence("n1", Span(0, 29)),)
    examples = {"examples": [{"query": "Two?", "reference_contexts": ["Maps stay here.", "It has 'twelve' places."]}]}
    (two,) = read(written(tmp_path / "rag.json", examples)).questions
    assert (two.match, len(two.evidence)) == ("all", 2)


def test_pairs_of_a_question_and_a_chunk(tmp_path):
    value = [
        {"question": "Where?", "ground_truth_chunk": "Boats moor at the\nouter quay.", "source_file": "data/harbour.md"}
    ]
    assert content(read(written(tmp_path / "q.json", value)).questions) == [("Where?", MOOR.evidence, "all")]
    value += [
        {"question": "A?", "ground_truth_chunk": "", "source_file": "x"},
        3,
        value[0] | {"source_file": "harbor.md"},
    ]
    said = told(written(tmp_path / "q.json", json.dumps(value, indent=1)))
    assert ":7: the quote is missing or blank" in said
    assert ":12: expected an object" in said
    assert ":13: no document 'harbor.md'; did you mean" in said


@pytest.mark.parametrize(("delimiter", "name"), [(",", "q.csv"), (";", "q.csv"), ("\t", "q.tsv")])
def test_a_table_of_questions_and_quotes(delimiter, name, tmp_path):
    path = tmp_path / name
    rows = [
        ["Question", "Quote"],
        ["Where, then?", "Boats moor at the outer quay."],
        ["", ""],
        ["Cost?", "A night costs 11 crowns."],
    ]
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        file.write("sep=;\r\n" if delimiter == ";" else "")
        csv.writer(file, delimiter=delimiter).writerows(rows)
    reading = read(path)
    assert content(reading.questions)[0] == ("Where, then?", MOOR.evidence, "all")
    assert set(reading.questions[1].evidence) == set(EITHER.evidence)
    assert reading.questions[1].match == "any"
    assert list(reading.notes) == ["quotes found in several places, listed as alternatives"]


SHEET = (
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{}</sheetData></worksheet>'
)
PARTS = {
    "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="xml" ContentType="application/xml"/><Default Extension="rels" '
    'ContentType="application/vnd.openxmlformats-package.relationships+xml"/></Types>',
    "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship '
    'Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
    'Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="S" '
    'sheetId="1" r:id="r1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" '
    'Target="worksheets/sheet1.xml"/></Relationships>',
}


def test_a_spreadsheet_of_questions_and_quotes(tmp_path):
    rows = [
        ["question", "quote", "document"],
        ["Where?", "Boats moor at the outer quay.", "harbour"],
        ["A?", "no", "library"],
    ]
    cells = [
        f'<row r="{r}">'
        + "".join(f'<c r="{"ABC"[c]}{r}" t="inlineStr"><is><t>{text}</t></is></c>' for c, text in enumerate(row))
        + "</row>"
        for r, row in enumerate(rows, start=1)
    ]
    path = tmp_path / "q.xlsx"
    with ZipFile(path, "w") as archive:
        for name, text in (PARTS | {"xl/worksheets/sheet1.xml": SHEET.format("".join(cells))}).items():
            archive.writestr(name, text)
    reading = read_foreign(path, DOCUMENTS)
    assert content(reading.questions) == [("Where?", MOOR.evidence, "all")]
    assert "q.xlsx:row 3: the quote 'no' is not in 'library.txt'" in reading.problems.lines[0]


# ---------------------------------------------------------------- what is wrong


def test_wrong_columns_are_told_with_what_is_wanted(tmp_path):
    said = told(written(tmp_path / "q.csv", "Frag,Antwort\na,b\n"))
    assert "q.csv:2: the columns are 'frag', 'antwort'; name one of them question and one quote" in said


def test_a_short_quote_that_is_everywhere_is_no_evidence(tmp_path):
    documents = {str(n): Document(str(n), f"The fee is {n}.") for n in range(9)}
    said = told(written(tmp_path / "q.csv", "question,quote\nWhat?,The fee\n"), documents)
    assert "in any document in more than 5 places; quote more of its sentence" in said


def test_a_name_that_fits_several_documents_is_not_guessed(tmp_path):
    documents = {name: Document(name, "One text.") for name in ("a/x.md", "b/x.md")}
    said = told(written(tmp_path / "q.csv", "question,quote,document\nWhat?,One text.,x.md\n"), documents)
    assert "'x.md' may be any of 2 documents ('a/x.md', 'b/x.md', ...)" in said


def test_problems_are_told_all_at_once_and_bounded(tmp_path):
    path = written(tmp_path / "q.csv", "question,quote\n" + "What?,nowhere to be found\n" * 1000)
    reading = read_foreign(path, DOCUMENTS, shown=5)
    assert reading.problems.total == 1000
    assert len(reading.problems.lines) == 6
    assert reading.problems.lines[-1] == "... and 995 more."
    assert "q.csv:6: " in reading.problems.lines[4]
    assert str(reading.problems.error("so")).startswith(f"{path}: 1,000 problems; so.\n")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("q.json", '{"a": 1', r"q\.json:1: broken JSON at column 8"),
        ("q.json", '{"a": 1}', "not a known form of questions: found 'a'"),
        ("q.json", "3", "not a known form"),
        ("q.json", "[" * 100_000, "nested too deeply"),
        ("q.json", "9" * 10_000, "broken JSON"),
        ("q.jsonl", "", "the file is empty"),
        ("q.jsonl", "{", r"q\.jsonl:1: broken JSON"),
        ("q.jsonl", '{"x": 1}', "not a known form"),
    ],
)
def test_a_file_that_is_nothing_known_says_so(name, text, said, tmp_path):
    with pytest.raises(QuestionError, match=said):
        read_foreign(written(tmp_path / name, text), DOCUMENTS)


def test_hostile_lists_in_cells_are_text(tmp_path):
    cell = "[" * 3000 + "__import__('os').system('true')"
    path = tmp_path / "q.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["question", "contexts"], ["A?", cell], ["B?", "[1, 2]"]])
    said = told(path)
    assert "is not in any document" in said
    assert "q.csv:3: needs user_input or question" in said


def test_a_file_without_documents_needs_a_corpus(tmp_path):
    with pytest.raises(QuestionError, match="name them with --corpus"):
        read_foreign(written(tmp_path / "q.csv", "question,quote\na,b\n"), None)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:evidence that is only white space")
@pytest.mark.parametrize("name", ["covidqa", "contractnli_dev", "xquad_zh", "jsquad_valid"])
def test_real_questions_survive_another_format_and_back(name, shared_data, tmp_path):
    from faircut.documents import read_corpus
    from faircut.questions import read_questions

    documents = {d.id: d for d in read_corpus(shared_data / name / "corpus.jsonl.gz")}
    questions = read_questions(shared_data / name / "questions.jsonl.gz", documents)
    alternatives = any(q.match == "any" and len(q.evidence) > 1 for q in questions)
    form = format_named("squad" if alternatives else "legalbench-rag")
    path = tmp_path / "q.json"
    left = write_foreign(path, form, questions, documents)
    assert set(left) - {IDS} == ({WITHIN} if questions[0].within else set())
    reading = read(path, documents)
    assert reading.notes == {}
    key = lambda q: (q.text, sorted(q.evidence))  # noqa: E731  # what is compared, once
    assert sorted(map(key, reading.questions)) == sorted(map(key, questions))
