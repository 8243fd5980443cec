"""Questions are checked against the documents before any work, and every problem says its line and its fix."""

import gzip
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faircut.documents import read_corpus
from faircut.errors import FaircutWarning, QuestionError, StoreError
from faircut.questions import read_questions, write_questions
from faircut.questions.locate import find_loosely, find_quote
from faircut.records import Document, Evidence, Question, Span

TEXT = "The fee is 30 euros. It is due\nin May. Nobody pays the fee twice.  \n\nGrüße aus Köln"
DOCUMENTS = {"fees.md": Document("fees.md", TEXT), "other.md": Document("other.md", "aaaa")}
GOLD = [{"document": "fees.md", "start": 0, "end": 20}]


def read_lines(tmp_path, *values, documents=DOCUMENTS, **options):
    path = tmp_path / "questions.jsonl"
    path.write_text("".join((v if isinstance(v, str) else json.dumps(v)) + "\n" for v in values), encoding="utf-8")
    return read_questions(path, documents, **options)


def problem(tmp_path, **changes):
    value = {"id": "q", "question": "How much?", "gold": GOLD} | changes
    with pytest.raises(QuestionError) as caught:
        read_lines(tmp_path, {k: v for k, v in value.items() if v != "absent"})
    text = str(caught.value)
    assert text.startswith(f"{tmp_path}/questions.jsonl:1: ")
    assert "\n" not in text
    return text.removeprefix(f"{tmp_path}/questions.jsonl:1: ")


def test_offsets_and_quotes_become_evidence(tmp_path):
    several = [*GOLD, {"document": "fees.md", "quote": "due\nin May"}]
    one, two, three = read_lines(
        tmp_path,
        {"id": "1", "question": "How much?", "gold": GOLD, "note": "unknown keys are left alone"},
        {"id": "2", "question": "When?", "gold": several, "gold_is": "any", "within": "fees.md"},
        "",
        {
            "id": "3",
            "question": "Where?",
            "gold": [{"document": "fees.md", "quote": "Köln"}],
            "gold_is": None,
            "within": None,
        },
    )
    assert one == Question("1", "How much?", (Evidence("fees.md", Span(0, 20)),))
    assert (two.match, two.within, two.evidence[1].span) == ("any", "fees.md", Span(27, 37))
    assert TEXT[slice(*(three.evidence[0].span.start, three.evidence[0].span.end))] == "Köln"


def test_a_quote_beside_offsets_must_agree_with_them(tmp_path):
    gold = [GOLD[0] | {"quote": "The fee is 30 euros."}]
    assert read_lines(tmp_path, {"id": "q", "question": "x", "gold": gold})[0].evidence[0].span == Span(0, 20)
    assert "is 'The fee is 30 euros.', not the quote 'It is due'" in problem(
        tmp_path, gold=[GOLD[0] | {"quote": "It is due"}]
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"id": "absent"}, '"id" must be a text that is not blank, found nothing.'),
        ({"id": 7}, '"id" must be a text that is not blank, found 7.'),
        ({"id": "q\ud800"}, "the id 'q\\ud800' has half a character (a lone surrogate); give the question another id."),
        ({"question": " "}, "\"question\" must be a text that is not blank, found ' '."),
        ({"gold": "absent"}, '"gold" must be a list with at least one piece of evidence, found nothing.'),
        ({"gold": []}, '"gold" must be a list with at least one piece of evidence, found [].'),
        ({"gold": ["x"]}, "evidence 1 must be an object with document, start and end, found 'x'."),
        ({"gold_is": "some"}, '"gold_is" must be "all" or "any", found \'some\'.'),
        ({"gold_is": ["all"]}, '"gold_is" must be "all" or "any", found [\'all\'].'),
        ({"within": "fee.md"}, "\"within\": no document 'fee.md'; did you mean 'fees.md'?"),
        ({"within": "zzz"}, "\"within\": no document 'zzz'; the corpus has 2 documents."),
        ({"within": 1}, '"within" must be the id of a document, found 1.'),
        ({"within": "other.md"}, "evidence 1 is in 'fees.md', but \"within\" limits the search to 'other.md'"),
    ],
)
def test_each_wrong_field_is_told_with_line_and_finding(tmp_path, changes, said):
    assert said in problem(tmp_path, **changes)


@pytest.mark.parametrize(
    ("piece", "said"),
    [
        ({"start": 0, "end": 3}, 'evidence 1, "document" must be the id of a document, found nothing.'),
        ({"document": "Fees.md", "start": 0, "end": 3}, "no document 'Fees.md'; did you mean 'fees.md'?"),
        ({"document": "fees.md"}, "evidence 1 needs start and end, or a quote that is not blank, found nothing."),
        ({"document": "fees.md", "start": 3}, "needs whole numbers start and end, found 3 and nothing."),
        ({"document": "fees.md", "start": True, "end": 3}, "needs whole numbers start and end, found True and 3."),
        ({"document": "fees.md", "start": 0.0, "end": 3.5}, "needs whole numbers start and end, found 0.0 and 3.5."),
        ({"document": "fees.md", "start": 5, "end": 5}, "[5, 5) is empty; start must be before end."),
        ({"document": "fees.md", "start": 9, "end": 5}, "[9, 5) is empty; start must be before end."),
        ({"document": "fees.md", "start": -1, "end": 5}, "[-1, 5) lies outside of 'fees.md', which has 83 characters."),
        ({"document": "fees.md", "start": 80, "end": 900}, "lies outside of 'fees.md', which has 83 characters."),
        ({"document": "fees.md", "start": 80, "end": 86}, "these may be bytes"),
        (
            {"document": "fees.md", "start": 65, "end": 69},
            "the evidence is blank: 'fees.md' [65, 69) is only white space",
        ),
        ({"document": "fees.md", "quote": " \n"}, "a quote that is not blank, found ' \\n'."),
        ({"document": "fees.md", "quote": "in June"}, "'in June' is not in 'fees.md'; copy it from the document."),
        (
            {"document": "fees.md", "quote": "due in  May"},
            "with other white space it is at [27, 37): give start and end.",
        ),
        (
            {"document": "fees.md", "quote": "fee"},
            "is in 'fees.md' more than once: [4, 7), [55, 58); give start and end.",
        ),
        ({"document": "other.md", "quote": "aa"}, "more than once: [0, 2), [1, 3), [2, 4); give start and end."),
    ],
)
def test_each_wrong_piece_of_evidence_is_told_with_its_fix(tmp_path, piece, said):
    assert said in problem(tmp_path, gold=[piece])


def test_blank_evidence_beside_other_evidence_is_left_out_and_said(tmp_path):
    gold = [*GOLD, {"document": "fees.md", "start": 66, "end": 67}]
    with pytest.warns(FaircutWarning, match=r"left out of 1 question: .*questions\.jsonl:1: 'fees\.md' \[66, 67\)"):
        (question,) = read_lines(tmp_path, {"id": "q", "question": "x", "gold": gold})
    assert question.evidence == (Evidence("fees.md", Span(0, 20)),)


def test_all_problems_are_told_at_once_with_their_lines(tmp_path):
    good = {"id": "q", "question": "x", "gold": GOLD}
    with pytest.raises(QuestionError) as caught:
        read_lines(
            tmp_path,
            good,
            good | {"gold_is": 1, "within": 2},
            '{"id": "q',
            good,
            good | {"id": "r", "gold": [GOLD[0], {}]},
        )
    head, *lines = str(caught.value).split("\n")
    assert head.endswith("5 problems in the questions; nothing was run.")
    assert [line.split(": ")[0].rsplit(":")[-1] for line in lines] == ["2", "2", "3", "4", "5"]
    assert "broken JSON at column 8" in lines[2]
    assert "the id 'q' is taken by line 1" in lines[3]


def test_problems_beyond_the_shown_are_counted(tmp_path):
    bad = [{"id": str(i), "question": "x", "gold": [{"document": "nope", "start": 0, "end": 1}]} for i in range(50)]
    with pytest.raises(QuestionError) as caught:
        read_lines(tmp_path, *bad, shown=3)
    lines = str(caught.value).split("\n")
    assert lines[0].endswith("50 problems in the questions; nothing was run.")
    assert len(lines) == 5
    assert lines[-1] == "... and 47 more."


def test_a_file_that_is_missing_damaged_or_empty_is_told(tmp_path):
    with pytest.raises(QuestionError, match="No such file"):
        read_questions(tmp_path / "none.jsonl", DOCUMENTS)
    with pytest.raises(QuestionError, match="there are no questions"):
        read_lines(tmp_path, "", " ")
    (tmp_path / "q.jsonl.gz").write_bytes(gzip.compress(json.dumps({"id": "q"}).encode())[:-4])
    with pytest.raises(QuestionError, match="damaged gzip"):
        read_questions(tmp_path / "q.jsonl.gz", DOCUMENTS)


@pytest.mark.parametrize("name", ["q.jsonl", "q.jsonl.gz"])
def test_what_is_written_is_read_back_and_equal_questions_give_equal_bytes(tmp_path, name):
    questions = [
        Question("1", "Wo? 👩‍🚀\u2028", (Evidence("fees.md", Span(0, 3)),)),
        Question("2\0", "lone \udfff", (Evidence("fees.md", Span(0, 3)), Evidence("fees.md", Span(4, 9))), "any"),
        Question("3", "x", (Evidence("other.md", Span(1, 3)),), "any", "other.md"),
    ]
    write_questions(tmp_path / name, questions)
    assert read_questions(tmp_path / name, DOCUMENTS) == questions
    first = (tmp_path / name).read_bytes()
    write_questions(tmp_path / name, questions)
    assert (tmp_path / name).read_bytes() == first
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_a_failed_write_keeps_the_earlier_file(tmp_path):
    path = tmp_path / "q.jsonl"
    write_questions(path, [Question("1", "x", (Evidence("d", Span(0, 1)),))])
    before = path.read_bytes()

    def questions():
        yield Question("2", "x", (Evidence("d", Span(0, 1)),))
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):  # of the questions, not of the file
        write_questions(path, questions())
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(StoreError, match=r"cannot write: (Not a directory|File exists)"):
        write_questions(path / "q.jsonl", [])


@given(st.text("ab \n", max_size=30), st.text("ab \n", min_size=1, max_size=4))
def test_a_quote_is_found_at_all_its_places(text, quote):
    places = find_quote(text, quote, limit=100)
    assert [p.start for p in places] == [i for i in range(len(text)) if text.startswith(quote, i)]
    assert all(text[p.start : p.end] == quote for p in places)


@given(st.text("ab \n\t", max_size=30), st.text("ab \n", max_size=6))
def test_the_hint_is_the_quote_with_other_white_space(text, quote):
    near = find_loosely(text, quote)
    if near is not None:
        assert text[near.start : near.end].split() == quote.split()
    else:
        assert not quote.split() or " ".join(quote.split()) not in " ".join(text.split())


def test_ten_thousand_quotes_are_checked_in_seconds(tmp_path):
    text = "".join(f"Sentence number {i} says something of its own.\n" for i in range(5_000))
    documents = {"d": Document("d", text)}
    lines = [
        {"id": str(i), "question": "x", "gold": [{"document": "d", "quote": f"number {i % 5_000} says"}]}
        for i in range(10_000)
    ]
    start = time.process_time()
    assert len(read_lines(tmp_path, *lines, documents=documents)) == 10_000
    for line in lines:
        line["gold"][0]["quote"] += " nothing"
    with pytest.raises(QuestionError, match="10000 problems"):
        read_lines(tmp_path, *lines, documents=documents)
    assert time.process_time() - start < 15


@pytest.mark.filterwarnings("ignore:evidence that is only white space")
def test_real_questions_fit_their_documents(shared_data):
    for name, count in (("chroma", 472), ("contractnli_dev", 614), ("jsquad_valid", 4442), ("qmsum_val", 237)):
        documents = {d.id: d for d in read_corpus(shared_data / name / "corpus.jsonl.gz")}
        assert len(read_questions(shared_data / name / "questions.jsonl.gz", documents)) == count


def test_a_line_end_in_the_name_of_the_file_cannot_make_a_line_of_its_own(tmp_path):
    path = tmp_path / "q\nfaircut: all is well.jsonl"
    path.write_text('{"id": "1"}\n{"id": "2"}\n')
    with pytest.raises(QuestionError) as caught:
        read_questions(path, DOCUMENTS)
    assert not any(line.startswith("faircut: all is well") for line in str(caught.value).splitlines())
