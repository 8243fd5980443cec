"""What the explorer does for people: documents come in, are cut, asked, and forgotten."""

import json
import tempfile
from pathlib import Path

import pytest

from faircut.chunkers import build
from faircut.chunkers.contract import Models
from faircut.documents import read
from faircut.embedding import EMBEDDERS
from small_server import SMALL, serving

TEXT = (
    "# Rules\n\nThe berth is paid by card. Dogs stay on a lead.\n\n"
    "## Hours\n\nThe harbour closes at noon. It opens at six.\n"
)
LONG = "".join(
    f"Sentence {n} tells of the {n * n} boats that came in that year, and where they lay.\n\n" for n in range(300)
)


def starts(lane):
    total, found = 0, []
    for difference in lane["lane"]["starts"]:
        total += difference
        found.append(total)
    return found


def test_a_pasted_text_is_cut_as_the_library_cuts_it(user, tmp_path):
    address = user.paste(LONG)
    (tmp_path / "long.md").write_text(LONG, encoding="utf-8")
    document, models = read(tmp_path / "long.md"), Models.of(EMBEDDERS.build("minilm"))
    specs = ["recursive(max=64t)", "sentence(max=40t, overlap=10t)", "fixed(30w)"]
    for spec, lane in zip(specs, user.lanes(address, *specs), strict=True):
        chunks = build(spec).chunk(document, models)
        assert starts(lane) == [c.spans[0].start for c in chunks]
        assert lane["lane"]["tokens"] == models.tokenizer.count_many([c.embedded_text for c in chunks])


def test_moving_a_threshold_moves_the_cuts_and_the_curve_has_it(user):
    address = user.paste(TEXT)
    low, high = user.lanes(address, "semantic(threshold=0, min_sentences=1)", "semantic(threshold=1, min_sentences=1)")
    assert len(starts(low)) < len(starts(high))
    assert (low["lane"]["curve"]["threshold"], high["lane"]["curve"]["threshold"]) == (0, 1)


def test_a_form_tells_every_parameter_with_its_value_and_the_ways_to_give_it(user):
    (lane,) = user.lanes(user.paste(TEXT), "semantic(p85, max=300t)")
    fields = {f["name"]: f for f in lane["form"]["fields"]}
    assert (fields["threshold"]["value"], fields["threshold"]["way"]) == ("p85", "p")
    assert (fields["max"]["value"], fields["max"]["way"]) == ("300t", "t")
    assert [w["name"] for w in fields["max"]["ways"]] == ["t", "w", "c", "none"]
    assert lane["spec"] == "semantic(threshold=p85, max=300t)"


def test_a_wrong_spec_is_told_in_its_row_and_the_others_are_cut(user):
    wrong, right = user.lanes(user.paste(TEXT), "recursiv", "recursive")
    assert "did you mean 'recursive'?" in wrong["problem"]
    assert right["lane"]["starts"] == [0]


def test_an_uploaded_file_is_read_by_its_kind(user, repository):
    table = b"name,price\nberth,12\ncrane,40\n"
    answer = user.upload("prices.csv", table)
    assert answer.status_code == 201
    document = user.client.get(answer.json()["address"] + "/text").json()
    assert [block[0] for block in document["blocks"]] == ["table"]
    assert document["id"] == "prices.csv"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("empty.txt", b"", "empty"),
        ("a.exe", b"MZ", "files of this kind are not read"),
        ("corpus.jsonl", b"{}", "faircut serve corpus.jsonl"),
        ("broken.pdf", b"%PDF-1.4 nothing", "broken.pdf"),
        ("broken.docx", b"PK\x03\x04 nothing", "broken.docx"),
    ],
)
def test_a_file_that_cannot_be_read_is_told_in_a_sentence_without_a_place_on_this_computer(user, name, content, said):
    answer = user.upload(name, content)
    assert answer.status_code in (400, 422)
    assert said in answer.json()["error"]
    assert tempfile.gettempdir() not in answer.text
    assert "Traceback" not in answer.text


def test_a_question_finds_its_chunk_with_a_score_and_a_budget(user):
    address = user.paste(TEXT)
    one, two = user.answers(address, "When does the harbour close?", "sentence(max=12t)", "recursive", budget=20)
    best = one["hits"][0]
    assert "closes at noon" in TEXT[best["spans"][0][0] : best["spans"][0][1]]
    assert one["hits"] == sorted(one["hits"], key=lambda hit: -hit["score"])
    assert one["tokens"] <= 20
    states = [hit["delivered"] for hit in one["hits"]]
    assert states == sorted(states, key=["whole", "part", "not"].index)
    assert states[0] == "whole"
    assert sum(state != "not" for state in states) == one["delivered"] < one["chunks"]
    assert two["hits"][0]["delivered"] == "part"
    (start, end), *_ = two["hits"][0]["part"]
    assert (start, end) != (0, len(TEXT))
    assert start == 0


@pytest.mark.parametrize("search", ["bm25", "zscore", "rrf"])
def test_it_is_also_searched_by_words_and_by_both(user, search):
    (found,) = user.answers(user.paste(TEXT), "noon", "sentence(max=12t)", search=search)
    start, end = found["hits"][0]["spans"][0]
    assert "noon" in TEXT[start:end]


def test_a_search_by_words_that_nothing_fits_finds_nothing(user):
    (found,) = user.answers(user.paste(TEXT), "zeppelin", "sentence", search="bm25")
    assert (found["hits"], found["delivered"], found["tokens"]) == ([], 0, 0)


def test_long_work_tells_how_far_it_is(user):
    lines = user.stream(f"{user.paste(LONG)}/cut", {"chunkers": ["semantic(threshold=0.5, window=1)"]})
    told = [(line["done"], line["total"]) for line in lines if line["is"] == "progress"]
    assert told == sorted(told)
    assert len(told) > 2


def test_documents_named_at_the_start_are_listed_and_opened(small):
    from faircut.documents.reading import list_sources

    with serving(shared=tuple(list_sources(small / "corpus"))) as served, served.user() as user:
        page = user.client.get("/").text
        assert "harbour.md" in page
        number = [s.id for s in list_sources(small / "corpus")].index("harbour.md")
        address = user.post("/shared", {"number": number}).json()["address"]
        assert "Harbour rules" in user.client.get(address).text
        assert user.post("/shared", {"number": 99}).status_code == 404


def test_runs_are_listed_with_their_verdict_and_open_their_report(small_run):
    with serving(runs=small_run.parent) as served, served.user() as user:
        page = user.client.get("/runs").text
        assert 'href="/report?run=small"' in page
        report = user.client.get("/report", params={"run": "small"})
        assert report.status_code == 200
        assert "recursive(max=60t)" in report.text
        assert report.headers["content-security-policy"].startswith("sandbox ")
        assert "allow-same-origin" not in report.headers["content-security-policy"]


@pytest.mark.slow
def test_a_damaged_run_is_listed_as_such(tmp_path):
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "leaderboard.json").write_text('{"rows": 3}', encoding="utf-8")
    with serving(runs=tmp_path) as served, served.user() as user:
        assert "cannot be read" in user.client.get("/runs").text
        assert user.client.get("/report", params={"run": "bad"}).status_code == 404


def test_nothing_is_kept_unless_asked(user, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with serving() as served, served.user() as one:
        address = one.upload("note.txt", b"The harbour closes at noon.").json()["address"]
        one.lanes(address, "semantic")
        (scratch,) = tmp_path.iterdir()
        assert scratch.stat().st_mode & 0o077 == 0
        assert list(scratch.iterdir()) == []
        assert one.client.delete(address, headers={"origin": one.url}).status_code == 204
        assert one.client.get(address).status_code == 404
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_with_keep_what_comes_in_is_kept_under_its_name_and_a_hash(tmp_path):
    (tmp_path / "kept").mkdir()
    with serving(keep=tmp_path / "kept") as served, served.user() as user:
        user.upload("../../note.txt", b"The harbour closes at noon.")
        user.upload("note.txt", b"The harbour opens at six.")
        user.paste("A pasted text.", "text/plain")
    names = sorted(path.name for path in (tmp_path / "kept").iterdir())
    assert [name.split("-")[0] for name in names] == ["note", "note", "pasted"]
    assert {p.name for p in tmp_path.iterdir()} == {"kept"}
    assert json.dumps(names).count(".txt") == 3


@pytest.mark.slow
def test_what_cannot_be_kept_is_told_and_not_opened(tmp_path):
    with serving(keep=tmp_path / "kept") as served, served.user() as user:
        (tmp_path / "kept").write_text("a file where a folder should be", encoding="utf-8")
        answer = user.upload("note.txt", b"The harbour closes at noon.")
        assert answer.status_code == 422
        assert "cannot" in answer.json()["error"]
        assert "note.txt" not in user.client.get("/").text


@pytest.mark.slow
def test_a_text_that_is_too_long_to_show_is_told(user):
    with serving(limits=type(SMALL)(characters=1000)) as served, served.user() as one:
        answer = one.post("/texts", {"text": "word " * 400})
        assert answer.status_code == 422
        assert "up to 1,000" in answer.json()["error"]


def test_every_page_is_a_page_and_every_asset_is_there(user):
    import re

    address = user.paste(TEXT)
    for place in ("/", "/runs", address):
        page = user.client.get(place)
        assert page.headers["content-type"].startswith("text/html")
        for asset in re.findall(r'(?:src|href)="(/static/[^"]+)"', page.text):
            answer = user.client.get(asset)
            assert answer.status_code == 200
            again = user.client.get(asset, headers={"if-none-match": answer.headers["etag"]})
            assert again.status_code == 304


def test_the_names_of_the_pasted_are_their_first_line(user):
    page = user.client.get(user.paste("\n\n## The tide\n\nIt comes twice.")).text
    assert "<bdi>The tide</bdi></h1>" in page
    assert Path("The tide").name in page
