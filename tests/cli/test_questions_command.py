"""``faircut questions`` as a person meets it: made, checked, reviewed, converted; a killed run pays nothing twice."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

from faircut.cli.app import run

TESTS = Path(__file__).parent.parent
sys.path += [str(TESTS / "llm"), str(TESTS / "questions")]
from fault_server import half_an_answer, serving, status  # noqa: E402
from real_server import real_server as real_server  # noqa: E402
from scripted import QUIET, from_list, kind_of  # noqa: E402

PROGRAM = [sys.executable, "-c", "from faircut.cli import main; main()"]
FACTS = [
    ("Boats longer than nine metres moor at the outer quay.", "Where do big vessels tie up?"),
    ("They must be kept on a lead between May and September.", "In which season are pets restricted?"),
    ("Payment is by card at the green kiosk.", "How do I settle my bill?"),
    ("The course is held on the first Monday of a month.", "When is the training?"),
    ("Late books cost a crown a week.", "What is the fine for overdue loans?"),
    ("The copier takes coins only.", "How do I pay for duplicates?"),
]


def faircut(*arguments, **options):
    options = {"env": os.environ | {"PYTHONIOENCODING": "utf-8"}} | options
    command = [*PROGRAM, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False, **options)


ASK = from_list(FACTS)


def answer(body):
    prompt = body["messages"][-1]["content"]
    kind = kind_of(prompt)
    return json.dumps(ASK(prompt) if kind == "ask" else QUIET[kind](prompt))


@pytest.fixture
def server():
    with serving() as running:
        running.text = answer
        yield running


@pytest.fixture
def model(server, tmp_path):
    return ["--llm", server.url, "--model", "tiny", "--answers", tmp_path / "answers.sqlite", "--window", 200]


def test_questions_are_made_told_about_and_repeated_without_paying(server, model, small, tmp_path):
    out = tmp_path / "q.jsonl"
    server.faults.extend([None, status(429, Retry_After="0.05"), half_an_answer])
    done = faircut("questions", small / "corpus", *model, "-n", 4, "--out", out, "--style", "short")
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(lines) == 4
    assert {line["question"] for line in lines} <= {question for _, question in FACTS}
    assert {line["style"] for line in lines} == {"short"}
    for said in (
        "4 questions in ",
        "position of evidence",
        "words shared",
        "power: ",
        "refused: no question ",
        "kept: 4 of 4",
    ):
        assert said in done.stdout
    paid = server.paid.total()
    assert max(server.paid.values()) == 1
    again = faircut(
        "questions", "make", small / "corpus", *model, "-n", 4, "--out", tmp_path / "again", "--style", "short"
    )
    assert again.returncode == 0, again.stderr
    assert (tmp_path / "again").read_bytes() == out.read_bytes()
    assert "paid now: 0 requests" in again.stdout
    assert server.paid.total() == paid
    checked = faircut("questions", "check", out, "--corpus", small / "corpus")
    assert checked.returncode == 0, checked.stderr
    assert "questions: 4, on " in checked.stdout


def test_a_dry_run_says_tokens_and_cost_and_asks_nothing(server, model, small, tmp_path):
    prices = ["--price-in", 1, "--price-out", 2]
    done = faircut("questions", small / "corpus", *model, *prices, "-n", 5, "--out", tmp_path / "q", "--dry-run")
    assert done.returncode == 0, done.stderr
    for said in (
        "15 in all",
        "prompts: about ",
        "cost: at most about ",
        "if every window works: about 15 requests, one request about the window and two that judge",
        "in all at most 160 requests, at most about $",
    ):
        assert said in done.stdout
    assert "below the most" not in done.stdout
    limits = ["--max-requests", 20]
    unpriced = faircut("questions", small / "corpus", *model, *limits, "-n", 5, "--out", tmp_path / "q", "--dry-run")
    assert "cost: unknown (give --price-in and --price-out)\n" in unpriced.stdout
    assert "at most 160 requests.\n--max-requests 20 is below the most: the budget may end" in unpriced.stdout
    assert server.paths == []
    assert not (tmp_path / "q").exists()


def test_a_killed_run_goes_on_without_repeating_a_paid_call(server, model, small, tmp_path):
    server.seconds = 0.1
    arguments = ["questions", small / "corpus", *model, "-n", 6, "--out", tmp_path / "q.jsonl", "--concurrency", 1]
    process = subprocess.Popen([*PROGRAM, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while server.paid.total() < 5:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    server.seconds = 0.0
    before = server.paid.total()
    done = faircut(*arguments)
    assert done.returncode == 0, done.stderr
    assert sum(count - 1 for count in server.paid.values()) <= 1  # the one under way
    assert server.paid.total() > before
    assert len((tmp_path / "q.jsonl").read_text().splitlines()) > 0


def test_a_budget_stops_cleanly_and_the_next_run_goes_on(server, model, small, tmp_path):
    arguments = ["questions", small / "corpus", *model, "-n", 4, "--out", tmp_path / "q.jsonl"]
    stopped = faircut(*arguments, "--max-requests", 3)
    assert stopped.returncode == 1
    assert "the budget of 3 requests is reached; run the same again" in stopped.stderr
    assert "Traceback" not in stopped.stderr
    done = faircut(*arguments)
    assert done.returncode == 0, done.stderr
    assert max(server.paid.values()) == 1


def test_a_server_that_refuses_says_what_to_do(server, model, small, tmp_path):
    server.always = status(401)
    done = faircut("questions", small / "corpus", *model, "--out", tmp_path / "q.jsonl")
    assert done.returncode == 1
    assert "--api-key-env" in done.stderr
    assert "paid now" not in done.stdout
    assert "an answer of the model" not in done.stdout


def test_fewer_questions_than_were_asked_for_are_kept_and_end_with_an_exit_code_of_their_own(
    server, model, small, tmp_path
):
    out = tmp_path / "q.jsonl"
    done = faircut("questions", small / "corpus", *model, "-n", 7, "--out", out)
    assert done.returncode == 3, done.stderr
    assert len(out.read_text().splitlines()) < 7
    assert "of 7 questions: too many windows gave none" in done.stderr


@pytest.fixture
def spoilt(small, tmp_path):
    """A corpus with one file that cannot be read, and questions of which one needs it."""
    corpus = tmp_path / "spoilt"
    shutil.copytree(small / "corpus", corpus)
    (corpus / "bad.pdf").write_bytes(b"%PDF-1.4 nothing")
    lines = (small / "questions.jsonl").read_text().splitlines()
    gold = [{"document": "bad.pdf", "start": 0, "end": 3}]
    lost = json.dumps({"id": "lost", "question": "What is in it?", "gold": gold})
    path = tmp_path / "q.jsonl"
    path.write_text("\n".join([lost, *lines]) + "\n")
    return corpus, path


@pytest.mark.parametrize(
    ("command", "more", "said"),
    [
        ("check", [], "left out: 1 question with evidence in a document that could not be read"),
        ("convert", ["--to", "csv", "--out", "t.csv"], "left out: 1 question with evidence in a document"),
        ("review", [], "passed over 1 question with evidence in documents that could not be read"),
    ],
)
def test_a_document_that_cannot_be_read_is_left_out_by_name(command, more, said, spoilt, tmp_path):
    corpus, path = spoilt
    arguments = ["questions", command, path, "--corpus", corpus, *more]
    stopped = faircut(*arguments, cwd=tmp_path, input="q\n")
    assert stopped.returncode == 1
    assert "--skip-unreadable leaves out" in stopped.stderr
    done = faircut(*arguments, "--skip-unreadable", cwd=tmp_path, input="q\n")
    assert done.returncode == 3, done.stderr
    assert said in done.stdout + done.stderr
    assert "bad.pdf: " in done.stderr


def test_what_a_review_decided_survives_a_table_and_other_formats_count_it(small, tmp_path):
    records = [json.loads(line) for line in (small / "questions.jsonl").read_text().splitlines()]
    records[0] |= {"review": "edited", "before_review": "Was?", "made_by": "model", "model": "=tiny", "style": "short"}
    records[1] |= {"label": "smoke test"}
    (tmp_path / "q.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    convert = ["questions", "convert", "--corpus", small / "corpus"]
    assert faircut(*convert, "q.jsonl", "--to", "csv", "--out", "t.csv", cwd=tmp_path).returncode == 0
    back = faircut(*convert, "t.csv", "--to", "native", "--out", "again.jsonl", cwd=tmp_path)
    assert back.returncode == 0, back.stderr
    again = [json.loads(line) for line in (tmp_path / "again.jsonl").read_text().splitlines()]
    by_id = {record["id"]: record for record in again}
    first, second = by_id[records[0]["id"]], by_id[records[1]["id"]]
    kept = ("question", "review", "before_review", "made_by", "model", "style")
    assert [first.get(key) for key in kept] == [records[0][key] for key in kept]
    assert (second["label"], "review" in second) == ("smoke test", False)
    foreign = faircut(*convert, "q.jsonl", "--to", "squad", "--out", "s.json", cwd=tmp_path)
    assert "left out: 1 value of review: only the native form and tables have them" in foreign.stdout
    pairs = faircut(*convert, "q.jsonl", "--to", "pairs", "--out", "p.json", cwd=tmp_path)
    assert f"left out: {len(records)} ids of questions" in pairs.stdout


def test_a_folder_in_the_place_of_questions_hints_at_the_conversion(small, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["faircut", "compare", str(small / "corpus"), str(tmp_path), "-c", "fixed(40w)"])
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    monkeypatch.chdir(tmp_path)
    assert run() == 1
    assert "is a folder, not questions.jsonl; `faircut questions convert" in capsys.readouterr().err


def test_without_a_model_it_is_a_smoke_test_and_every_reader_hears_so(small, tmp_path):
    out = tmp_path / "q.jsonl"
    done = faircut("questions", small / "corpus", "-n", 8, "--out", out)
    assert done.returncode == 0, done.stderr
    assert "not which chunker is better" in done.stderr
    assert "SMOKE TEST: " in done.stdout
    compared = faircut(
        "compare", small / "corpus", out, "-c", "fixed(40w)", "--runs", tmp_path, "--cache", tmp_path / "v.sqlite"
    )
    assert compared.returncode == 0, compared.stderr
    assert "8 of 8 questions are a smoke test" in compared.stderr


def test_a_users_file_is_checked_with_lines_and_fixes(small, tmp_path):
    path = tmp_path / "mine.csv"
    rows = [
        "question,quote,document",
        "Where do I pay?,Payment is by card at the green kiosk.,harbour",
        "Where do I pay??,Payment is by card at the green kiosk.,harbour",
        "What is in the table above?,band saw,workshop.md",
        "What?,Nothing like it,library.txt",
        "Who?,\x1b[31mEvil,nowhere.md",
    ]
    path.write_text("\n".join(rows), encoding="utf-8")
    done = faircut("questions", "check", path, "--corpus", small / "corpus")
    assert done.returncode == 1
    assert "read as table" in done.stderr
    assert "mine.csv:5: the quote 'Nothing like it' is not in 'library.txt'" in done.stderr
    assert "mine.csv:6: no document 'nowhere.md'" in done.stderr
    assert "\x1b" not in done.stderr + done.stdout
    assert "near-duplicate: 1" in done.stdout
    assert "mine.csv:3: nearly the same question as" in done.stdout
    assert "dangling reference: 1" in done.stdout
    path.write_text("\n".join(rows[:3]), encoding="utf-8")
    assert faircut("questions", "check", path, "--corpus", small / "corpus").returncode == 0
    assert faircut("questions", "check", path, "--corpus", small / "corpus", "--strict").returncode == 1


def test_a_native_file_is_held_to_what_a_comparison_wants(small, tmp_path):
    path = tmp_path / "q.jsonl"
    gold = [{"document": "harbour.md", "quote": "Payment is by  card at the green kiosk."}]
    path.write_text(json.dumps({"id": "1", "question": "Where?", "gold": gold}) + "\n", encoding="utf-8")
    done = faircut("questions", "check", path, "--corpus", small / "corpus")
    assert done.returncode == 1
    assert "q.jsonl:1: evidence 1: the quote" in done.stderr
    assert "give start and end" in done.stderr


def test_a_review_takes_answers_from_stdin_and_goes_on_later(small, tmp_path):
    path = tmp_path / "q.jsonl"
    path.write_bytes((small / "questions.jsonl").read_bytes())
    command = ["questions", "review", path, "--corpus", small / "corpus"]
    first = faircut(*command, input="x\na\ne\nv\nSame?\nBetter question?\ne\n\nd\n")
    assert first.returncode == 0, first.stderr
    assert "[[Boats longer than nine metres moor at the outer quay.]]" in first.stdout
    assert "1 accepted, 1 edited, 4 waiting, 1 dropped" in first.stdout
    assert first.stdout.count("that is no question yet") == 2
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert [record.get("review") for record in records] == ["accepted", "edited", None, None, None, None]
    assert records[1]["question"] == "Better question?"
    second = faircut(*command, input="a\nq\n")
    assert "--- 1 of 4: At which bench is the band saw?" not in first.stdout.split("---")[-1]
    assert "2 accepted, 1 edited, 3 waiting, 1 dropped" in second.stdout
    assert faircut("questions", small / "corpus", "--out", path).returncode == 2


def test_squad_becomes_a_corpus_and_questions_that_can_be_compared(small, tmp_path):
    context = "Owls hunt by night. Cats sleep by day, mostly in the sun."
    qas = [{"id": "a", "question": "When do owls hunt?", "answers": [{"text": "by night", "answer_start": 10}]}]
    qas += [{"id": "b", "question": "Why?", "answers": [], "is_impossible": True}]
    value = {"version": "v2.0", "data": [{"title": "Night", "paragraphs": [{"context": context, "qas": qas}]}]}
    (tmp_path / "dev.json").write_text(json.dumps(value))
    done = faircut("questions", "convert", "dev.json", "--to", "native", "--out", "q.jsonl", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "read as squad (found by a look" in done.stderr
    assert "1 question read as squad; native in q.jsonl" in done.stdout
    assert "left out: 1 question marked as impossible to answer" in done.stdout
    checked = faircut("questions", "check", "q.jsonl", "--corpus", "q.corpus.jsonl", cwd=tmp_path)
    assert checked.returncode == 0, checked.stderr


def test_a_conversion_with_problems_writes_nothing_unless_told_to_skip(small, tmp_path):
    rows = ["question,quote", "How is it paid?,Payment is by card at the green kiosk.", "What?,nowhere to be found"]
    (tmp_path / "q.csv").write_text("\n".join(rows))
    command = [
        "questions",
        "convert",
        "q.csv",
        "--corpus",
        small / "corpus",
        "--to",
        "legalbench-rag",
        "--out",
        "b.json",
    ]
    refused = faircut(*command, cwd=tmp_path)
    assert refused.returncode == 1
    assert "q.csv:3: the quote" in refused.stderr
    assert not (tmp_path / "b.json").exists()
    done = faircut(*command, "--skip-bad", cwd=tmp_path)
    assert done.returncode == 0
    assert "left out: 1 question with a problem" in done.stdout
    assert json.loads((tmp_path / "b.json").read_text())["tests"][0]["snippets"][0]["file_path"] == "harbour.md"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["questions", "corpus", "--model", "x"], 2, "--llm URL"),
        (["questions", "corpus", "--style", "loud"], 1, "no style 'loud'"),
        (["questions", "corpus", "--several", "x"], 2, "--several is list or drop"),
        (["questions", "corpus", "--out", "corpus/q.jsonl"], 2, "lies inside"),
        (["questions", "nowhere"], 1, "nowhere: no such file or folder"),
        (["questions", "check", "nowhere"], 1, "no such file"),
        (["questions", "check", "questions.jsonl"], 1, "--corpus"),
        (["questions", "convert", "questions.jsonl", "--to", "sqad", "--out", "x"], 2, "did you mean 'squad'"),
        (["questions", "review", "questions.jsonl"], 2, "--corpus"),
        (["questions", "--nonsense"], 2, "--nonsense"),
    ],
)
def test_what_is_wrong_is_one_sentence(arguments, code, said, small, monkeypatch, capsys):
    monkeypatch.chdir(small)
    monkeypatch.setattr(sys, "argv", ["faircut", *arguments])
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # put back after
    assert run() == code
    assert said in capsys.readouterr().err


def test_a_comparison_by_places_is_refused_for_judgements_of_documents(tmp_path, monkeypatch, capsys):
    texts = {"owls": "Owls hunt by night and see well.", "cats": "Cats sleep by day in the sun."}
    lines = {
        "corpus.jsonl": [{"_id": name, "title": "", "text": text} for name, text in texts.items()],
        "queries.jsonl": [{"_id": "1", "text": "When do owls hunt?"}],
    }
    (tmp_path / "set" / "qrels").mkdir(parents=True)
    for name, records in lines.items():
        (tmp_path / "set" / name).write_text("".join(json.dumps(record) + "\n" for record in records))
    (tmp_path / "set" / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n1\towls\t1\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    monkeypatch.setattr(sys, "argv", ["faircut", "questions", "convert", "set", "--to", "native", "--out", "q.jsonl"])
    assert run() == 0
    monkeypatch.setattr(sys, "argv", ["faircut", "compare", "q.corpus.jsonl", "q.jsonl", "-c", "fixed(3w)"])
    assert run() == 2
    assert "recall@1000t: needs to know where in a document the answer stands" in capsys.readouterr().err


def test_where_nothing_can_be_asked_nothing_is_written(server, model, small, tmp_path):
    server.text = lambda body: '{"question": "", "quotes": []}'
    done = faircut("questions", small / "corpus", *model, "-n", 1, "--out", tmp_path / "q.jsonl")
    assert done.returncode == 1
    assert "nothing was written" in done.stderr
    assert "--window" in done.stderr
    assert "refused: no question 8\n" in done.stdout
    assert 'an answer of the model, for example: {"question": "", "quotes": []}\n' in done.stdout
    assert "completion tokens, at an unknown price" in done.stdout
    assert not (tmp_path / "q.jsonl").exists()


@pytest.mark.slow
def test_a_real_small_model_makes_questions_whose_evidence_is_in_the_text(real_server, small, tmp_path, monkeypatch):
    """Its answers are bad: what counts is that all windows are accounted for and nothing false passes."""
    from faircut.documents import read_corpus
    from faircut.llm import ChatModel, Endpoint
    from faircut.questions import generate as made
    from faircut.questions.generate import Settings, generate
    from faircut.questions.places import Places

    monkeypatch.setattr(made, "WINDOWS_EACH", 3)
    documents = {document.id: document for document in read_corpus(small / "corpus")}
    with ChatModel(Endpoint(real_server.url, real_server.model, concurrency=1), cache=tmp_path / "a.sqlite") as model:
        found = generate(model, documents, Settings(1, window=200), places=Places(documents))
    assert 0 < found.windows <= 3
    assert found.windows == found.refused.total() + len(found.made)
    for one in found.made:
        for piece in one.question.evidence:
            assert documents[piece.document_id].text[piece.span.start : piece.span.end].strip()
