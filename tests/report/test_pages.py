"""Reports and views as files: all data in, nothing asked of anybody, unfinished and damaged runs refused."""

import base64
import gzip
import html
import json
import re
import shutil
from dataclasses import replace

import polars as pl
import pytest

from faircut.documents import read_corpus
from faircut.errors import PlanError, StoreError
from faircut.experiment.store import RunStore
from faircut.report.html import script_hash
from faircut.report.pages import render_report, render_view, write_report
from faircut.report.payload import chunk_lane
from faircut.report.run_data import data_sets, load_run, load_runs
from faircut.report.tables import leaderboard_table, stability_table
from small_run import CHUNKERS


@pytest.fixture(scope="module")
def page(small_run):
    return render_report([small_run])


def parts_of(page):
    found = re.findall(r'<script type="text/plain" id="part-([^"]+)">([^<]*)</script>', page)
    return {name: gzip.decompress(base64.b64decode(content)) for name, content in found}


def data_of(page):
    return {name: json.loads(raw) for name, raw in parts_of(page).items() if name != "plotly"}


def shown_rows(run):
    """The rows of a run in the order of the page: controls come last."""
    return sorted(load_run(run).rows, key=lambda row: row.entry["is_control"])


def copied(run, folder):
    """A copy of a run without its index, which no report reads."""
    return shutil.copytree(run, folder, ignore=shutil.ignore_patterns("index"))


def test_the_page_holds_the_documents_and_every_cut_exactly(page, small_run):
    data = data_of(page)
    documents = {d["id"]: d for name, part in data.items() if name.startswith("documents-") for d in part.values()}
    texts = dict(pl.read_parquet(small_run / "documents.parquet").select("id", "text").iter_rows())
    assert {d: documents[d]["text"] for d in documents} == texts
    for lane, row in enumerate(shown_rows(small_run)):
        for document in texts:
            chunks = row.chunks.filter(pl.col("document") == document)
            shown = documents[document]["lanes"][lane]
            starts = [sum(shown["starts"][: i + 1]) for i in range(len(shown["starts"]))]
            ends = [s + n for s, n in zip(starts, shown["lengths"], strict=True)]
            assert [[[a, b]] for a, b in zip(starts, ends, strict=True)] == chunks["spans"].to_list()
            assert shown["tokens"] == chunks["tokens"].to_list()


def test_what_was_delivered_is_what_the_scores_are_made_of(page, small_run):
    data = data_of(page)
    questions = data["set-0"]["questions"]
    for lane, row in enumerate(shown_rows(small_run)):
        for number, question in enumerate(questions):
            found = data["questions-0-0"][str(number)][lane]
            covered = sum(end - start for _, start, end in found["covered"])
            size = sum(end - start for _, start, end in question["evidence"])
            assert covered / size == pytest.approx(row.scores["recall@1000t"][number], abs=1e-9)
            assert data["set-0"]["hits"][lane][number] == row.scores["hit@1000t"][number]
            assert found["tokens"] == row.scores["tokens@1000t"][number]


def test_chunkers_come_before_their_controls_everywhere(page):
    controls = [row["control"] for row in data_of(page)["set-0"]["rows"]]
    assert controls == sorted(controls)
    assert sum(controls) == len(CHUNKERS)
    cells = re.findall(r"<bdi>shuffled\([^<]*</bdi> <span class=\"tag\">control</span>", page)
    assert len(cells) == len(CHUNKERS)


def test_every_column_of_the_leaderboard_that_needs_it_is_explained_in_sight(page):
    board = page[page.index('data-table="leaderboard"') :]
    told = board[board.index('class="means"') : board.index("</dl>")]
    for name in ("recall@5", "tokens@5", "p (Holm)", "embedded/token", "integrity"):
        assert f"<dt>{name}</dt>" in told


def test_a_semantic_row_shows_its_similarities_and_the_threshold(page):
    data = data_of(page)
    rows = [row["name"] for row in data["set-0"]["rows"]]
    with_curve = {
        rows[lane]
        for name, part in data.items()
        if name.startswith("documents-")
        for document in part.values()
        for lane, values in enumerate(document["lanes"])
        if values.get("curve", {}).get("threshold") == 0.65
    }
    assert with_curve == {"minilm::semantic(max=60t)"}


def test_misses_carry_their_diagnosis(page):
    data = data_of(page)
    causes = [cause for row in data["set-0"]["causes"] for cause in row or []]
    hits = [hit for row in data["set-0"]["hits"] for hit in row]
    assert [bool(cause) for cause in causes] == [not hit for hit in hits]
    assert set(filter(None, causes)) <= set(data["set-0"]["causeWords"])


def test_only_the_scripts_that_were_put_in_may_run_and_nothing_may_be_fetched(page):
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)[1].replace("&#39;", "'")
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert len(scripts) == 1
    library = parts_of(page)["plotly"].decode()
    assert policy.startswith("default-src 'none'; ")
    assert f"script-src '{script_hash(scripts[0])}' '{script_hash(library)}';" in policy
    assert not re.search(r"<(link|img|iframe)[^>]+(href|src)=(?!\"data:,)", page)


def test_the_plotting_library_keeps_its_licence_and_is_in_the_page_once(page):
    assert "Licensed under the MIT license" in parts_of(page)["plotly"].decode()[:300]
    assert page.count('id="part-plotly"') == 1
    assert "Licensed under the MIT license" in page


def test_scripts_hold_nothing_that_would_end_their_block(page):
    script = re.search(r"<script>(.*?)</script>", page, re.DOTALL)[1].lower()
    assert "<!--" not in script
    assert "<script" not in script


def test_a_hostile_run_leaves_no_markup_of_its_own(hostile_run):
    page = render_report([hostile_run])
    shell = re.sub(r"<script.*?</script>|<style.*?</style>", "", page, flags=re.DOTALL)
    assert "window.owned=1<" not in shell.replace("&lt;", "")
    assert "<img" not in shell
    assert not set("\x1b\u202e\u2066\x00") & set(page)
    titles = {
        d["title"] for part in data_of(page) if part.startswith("documents") for d in data_of(page)[part].values()
    }
    assert '"><img src=x onerror="window.owned=1">' in titles


def test_the_same_run_gives_the_same_page(page, small_run):
    assert render_report([small_run]) == page


def test_two_runs_on_the_same_questions_share_one_leaderboard_and_others_stand_beside(small_run, hostile_run, tmp_path):
    again = tmp_path / "again"
    copied(small_run, again)
    board = json.loads((again / "leaderboard.json").read_text())
    data = data_of(render_report([small_run, again, hostile_run]))
    assert [len(data[name]["rows"]) for name in ("set-0", "set-1")] == [2 * len(board["rows"]), 2]
    labels = [row["label"] for row in data["set-0"]["rows"]]
    assert len(set(labels)) == len(labels)
    assert labels[0].startswith("small: ")
    assert labels[-1].startswith("again: ")


def test_a_folder_without_a_run_is_refused(tmp_path):
    with pytest.raises(StoreError, match="no such run folder"):
        load_run(tmp_path / "missing")
    with pytest.raises(StoreError, match=r"leaderboard\.json: not found"):
        load_run(tmp_path)


@pytest.mark.parametrize("name", ["chunks", "hits", "scores", "delivered"])
def test_a_run_with_a_table_missing_or_damaged_is_refused_with_its_name(small_run, tmp_path, name):
    folder = tmp_path / "run"
    copied(small_run, folder)
    table = next((folder / name).glob("*.parquet"))
    table.write_bytes(table.read_bytes()[:100])
    with pytest.raises(StoreError, match=name):
        render_report([folder])
    table.unlink()
    with pytest.raises(StoreError, match=name):
        render_report([folder])


@pytest.mark.parametrize("name", ["documents.parquet", "questions.parquet"])
def test_a_run_without_its_inputs_is_refused(small_run, tmp_path, name):
    folder = tmp_path / "run"
    copied(small_run, folder)
    (folder / name).unlink()
    with pytest.raises(StoreError, match=name):
        render_report([folder])


@pytest.mark.parametrize("content", ["[]", "{}", '{"schema": "other/9"}', "{"])
def test_a_damaged_leaderboard_is_refused(small_run, tmp_path, content):
    folder = tmp_path / "run"
    copied(small_run, folder)
    (folder / "leaderboard.json").write_text(content)
    with pytest.raises(StoreError, match=r"leaderboard|schema"):
        load_run(folder)


def test_a_manifest_without_a_row_is_refused(small_run, tmp_path):
    folder = tmp_path / "run"
    copied(small_run, folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | {"rows": []}))
    with pytest.raises(StoreError, match="damaged"):
        load_run(folder)


def test_the_report_is_written_by_atomic_rename_where_it_is_asked(small_run, tmp_path):
    out = write_report([small_run], tmp_path / "new" / "page.html")
    assert out.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert [p.name for p in out.parent.iterdir()] == ["page.html"]


def test_edit_stability_is_shown_where_a_run_has_it(page, small_run, tmp_path):
    assert "Edit stability" in page
    folder = tmp_path / "run"
    copied(small_run, folder)
    board = json.loads((folder / "leaderboard.json").read_text())
    for row in board["rows"]:
        row["stability"] = None
    RunStore(folder).write_json("leaderboard.json", board)
    assert "Edit stability" not in render_report([folder])


def test_edit_stability_that_no_document_was_long_enough_for_is_no_row_of_zeros(small_run):
    (data,) = data_sets([load_run(small_run)])
    nothing = {"documents": 0, "chunks": 0.0, "worst": 0}
    nothing |= {edit: {"mean": 0.0, "worst": 0} for edit in ("replaced", "inserted", "removed")}
    for row in data.rows:
        row.entry["stability"] = nothing
    table = stability_table(data)
    assert [column.name for column in table.columns] == ["chunker", "result"]
    said = "not measured: no document with 20 sentences or more"
    assert {cells[1].text for cells in table.rows} == {said}


def test_the_interval_of_the_score_stands_beside_the_score_and_that_of_the_difference_below_it(small_run):
    (data,) = data_sets([load_run(small_run)])
    table = leaderboard_table(data)
    names = [column.name for column in table.columns][1:6]
    assert names == ["recall@1000t", "95 % interval", "difference", "p (Holm)", "verdict"]
    for cells, row in zip(table.rows, data.rows, strict=True):
        assert cells[2].bar[0] == cells[1].value == row.entry["score"]["mean"]
        if row.entry["contrast"]:
            interval = row.entry["contrast"]["interval"]
            low, high = cells[3].below.replace("−", "-").split(" to ")
            assert (float(low), float(high)) == (round(interval["low"], 3), round(interval["high"], 3))


def test_runs_of_one_name_are_told_apart_and_one_run_is_not_read_twice(small_run, tmp_path):
    folders = [tmp_path / "a" / "demo", tmp_path / "b" / "demo"]
    for folder in folders:
        copied(small_run, folder)
    assert [run.name for run in load_runs(folders)] == ["a/demo", "b/demo"]
    with pytest.raises(StoreError, match="named twice"):
        load_runs([small_run, small_run])


# ------------------------------------------------------------ the view


def test_a_view_holds_the_text_and_a_lane_for_each_chunker():
    from faircut.chunkers import build
    from faircut.chunkers.contract import Models
    from faircut.embedding import EMBEDDERS
    from faircut.records import Document

    models = Models.of(EMBEDDERS.build("minilm"))
    document = Document("one.txt", "First words here. " * 40)
    lanes = []
    for spec in CHUNKERS[:2]:
        chunks = build(spec).chunk(document, models)
        lanes.append(chunk_lane(chunks, models.tokenizer.count_many([c.text for c in chunks]), document, None))
    page = render_view([document], [lanes], CHUNKERS[:2])
    data = data_of(page)
    assert data["documents-0-0"]["0"]["text"] == document.text
    assert [len(lane["starts"]) for lane in data["documents-0-0"]["0"]["lanes"]] == data["set-0"]["documents"][0][
        "chunks"
    ]
    assert "part-plotly" not in page


def test_the_page_must_be_named_as_one(tmp_path):
    from faircut.cli.report import check_page

    with pytest.raises(PlanError, match=r"must end in \.html"):
        check_page(tmp_path / "page.pdf")
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(PlanError, match="is a file, found the folder"):
        check_page(tmp_path / "folder.html")


def test_a_page_tells_nothing_of_the_folders_above_the_documents_and_the_run(page, small_run, small):
    content = "\n".join([page, *(raw.decode() for name, raw in parts_of(page).items() if name != "plotly")])
    assert str(small) in (small_run / "plan.toml").read_text()  # what is needed to run it again stays in the folder
    for folder in (small, small_run, small_run.parent, *small.parents):
        if len(folder.parts) > 2:
            assert str(folder) not in content, folder
    assert 'corpus = "corpus"\nquestions = "questions.jsonl"\n' in html.unescape(load_run(small_run).shown_plan)
    assert "questions = &#34;questions.jsonl&#34;" in page


def test_a_view_tells_nothing_of_the_folders_above_the_documents(small):
    documents = list(read_corpus(small / "corpus"))
    assert all(str(small) in document.source for document in documents)
    page = render_view(documents, [[] for _ in documents], [])
    content = "\n".join([page, *(raw.decode() for raw in parts_of(page).values())])
    assert "harbour.md" in content
    assert str(small) not in content


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ('corpus = "/home/me/secret/data"', 'corpus = "data"'),
        ('corpus = "C:\\\\Users\\\\me\\\\data.jsonl"', 'corpus = "data.jsonl"'),
        ("questions = '/home/me/secret/q.jsonl'", 'questions = "q.jsonl"'),
        ('corpus = "../x/*.md"', 'corpus = "*.md"'),
        ('corpus = "/home/me/secret/data/"', 'corpus = "data"'),
        ('chunkers = ["fixed(6w)"]', 'chunkers = ["fixed(6w)"]'),
    ],
)
def test_of_the_paths_of_a_plan_the_last_name_is_shown(small_run, line, shown):
    run = replace(load_run(small_run), plan=f"{line}\nseed = 0\n")
    assert run.shown_plan == f"{shown}\nseed = 0\n"
