"""The report as people use it: sort, filter, open, follow, switch, by mouse and by keyboard, in light and dark."""

import json
import re
from urllib.parse import quote

import polars as pl
import pytest
from looking import serious, until

from faircut.experiment.plan import Plan
from faircut.experiment.run import run
from faircut.report.pages import write_report
from faircut.report.run_data import load_run
from small_run import CHUNKERS

PAGES = ["#/", "#/questions", "#/question/q3", "#/documents", "#/document/harbour.md", "#/integrity", "#/run"]


def texts(page, selector):
    return page.locator(selector).all_inner_texts()


def leaderboard(page, column):
    return texts(page, f'[data-table="leaderboard"] tbody tr > :nth-child({column})')


def shown(board):
    """The rows in the order of the page: controls come last."""
    return sorted(board["rows"], key=lambda row: row["is_control"])


def wait_for_heading(page, text):
    page.locator("h1:visible", has_text=text).wait_for()


def test_the_leaderboard_sorts_by_a_button_and_says_so(visiting, report):
    with visiting(report) as seen:
        heads = seen.page.locator('[data-table="leaderboard"] thead th')
        head = heads.nth(1)
        head.get_by_role("button").click()
        assert head.get_attribute("aria-sort") == "descending"
        scores = [float(s) for s in leaderboard(seen.page, 2)]
        assert scores == sorted(scores, reverse=True)
        head.get_by_role("button").click()
        assert head.get_attribute("aria-sort") == "ascending"
        assert [float(s) for s in leaderboard(seen.page, 2)] == sorted(scores)
        heads.nth(0).get_by_role("button").click()
        assert head.get_attribute("aria-sort") is None


def test_the_filter_narrows_the_table_and_tells_how_far(visiting, report):
    with visiting(report + "#/questions") as seen:
        rows = seen.page.locator('[data-table="questions"] tbody tr')
        rows.first.wait_for()
        assert rows.count() == 7
        seen.page.get_by_label("Filter: Questions with the score of every row").fill("dogs LEAD")
        until(seen.page, "document.querySelectorAll('[data-table=questions] tbody tr').length === 1")
        until(seen.page, "document.getElementById('announce').textContent === '1 row of 7'")


def test_a_question_leads_to_its_evidence_in_the_document_and_back(visiting, report):
    with visiting(report + "#/questions") as seen:
        page = seen.page
        page.get_by_role("link", name="How is the berth paid for?").click()
        wait_for_heading(page, "How is the berth paid for?")
        assert "Payment is by card" in page.locator("blockquote mark").inner_text()
        page.get_by_role("link", name="open in").click()
        wait_for_heading(page, "Harbour rules")
        flash = page.locator(".row mark.flash")
        flash.first.wait_for()
        assert "".join(flash.all_inner_texts()).strip() == "Payment is by card at the green kiosk."
        page.go_back()
        wait_for_heading(page, "How is the berth paid for?")
        page.go_back()
        wait_for_heading(page, "Questions")


def test_every_row_of_a_question_tells_what_it_retrieved_and_how_much_it_covered(visiting, report, small_run):
    with visiting(report + "#/question/q3") as seen:
        page = seen.page
        wait_for_heading(page, "How is the berth paid for?")
        assert page.locator(".ranking").count() == 2 * len(CHUNKERS)
        board = json.loads((small_run / "leaderboard.json").read_text())
        keys = {row["row"]: row["scores"] for row in json.loads((small_run / "manifest.json").read_text())["rows"]}
        for place, row in enumerate(shown(board)):
            scores = pl.read_parquet(small_run / "scores" / f"{keys[row['row']]}.parquet")
            score = scores.filter(pl.col("question") == "q3")["recall@1000t"].item()
            assert page.locator(".covered").nth(place).inner_text() == f"{round(100 * score)} %"
            assert page.locator(".ranking").nth(place).locator("li.delivered").count() > 0


def test_switching_lanes_moves_the_marked_cuts(visiting, report):
    places = (
        "JSON.stringify([...document.querySelectorAll('.cut')].map((c) => [c.parentElement.style.top, c.offsetLeft]))"
    )
    with visiting(report + "#/document/harbour.md") as seen:
        page, found = seen.page, set()
        radios = page.get_by_role("radio")
        page.locator(".cut").first.wait_for(state="attached")
        for lane in reversed(range(radios.count())):
            radios.nth(lane).check()
            label = page.locator(".lane bdi").nth(lane).inner_text()
            assert page.locator(".chosen").inner_text().startswith(f"{label}: ")
            found.add(page.evaluate(places))
        assert len(found) > len(CHUNKERS) / 2
        radios.nth(2).check()
        assert "lane=2" in page.url
        page.reload()
        page.locator(".cut").first.wait_for(state="attached")
        assert radios.nth(2).is_checked()


def test_the_cuts_in_the_text_are_those_of_the_run(visiting, report, small_run):
    manifest = json.loads((small_run / "manifest.json").read_text())
    board = json.loads((small_run / "leaderboard.json").read_text())
    first = next(r for r in manifest["rows"] if r["row"] == board["rows"][0]["row"])
    chunks = pl.read_parquet(small_run / "chunks" / f"{first['chunks']}.parquet").filter(
        pl.col("document") == "harbour.md"
    )
    with visiting(report + "#/document/harbour.md", height=1600) as seen:
        seen.page.locator(".cut").first.wait_for(state="attached")
        assert seen.page.locator(".cut").count() == len(chunks)
        seen.page.locator(".chunk-list summary").click()
        starts = texts(seen.page, '[data-table="chunks"] tbody tr > :nth-child(2)')
        assert [int(s.replace(",", "")) for s in starts] == [spans[0][0] for spans in chunks["spans"].to_list()]


def test_the_next_cut_is_told_in_words(visiting, report):
    with visiting(report + "#/document/harbour.md") as seen:
        seen.page.get_by_role("button", name="Next cut of the chosen chunker").click()
        told = seen.page.locator(".chosen").inner_text()
        assert "chunk 1 of" in told
        assert "tokens" in told
        seen.page.locator(".text").press("n")
        assert "chunk 2 of" in seen.page.locator(".chosen").inner_text()


def test_tables_of_a_document_are_shown_as_such(visiting, report):
    with visiting(report + "#/document/workshop.md") as seen:
        seen.page.locator(".row.table").first.wait_for()
        assert seen.page.locator(".row .kind").inner_text() == "table"


def test_the_theme_follows_the_system_until_it_is_chosen(visiting, report):
    paper = "getComputedStyle(document.body).backgroundColor"
    with visiting(report, scheme="dark") as seen:
        dark = seen.page.evaluate(paper)
        button = seen.page.locator("#theme")
        assert button.inner_text() == "Theme: system"
        button.click()
        assert (button.inner_text(), seen.page.evaluate(paper)) == ("Theme: dark", dark)
        button.click()
        assert button.inner_text() == "Theme: light"
        assert seen.page.evaluate(paper) != dark
        seen.page.reload()
        assert button.inner_text() == "Theme: light"


def test_all_can_be_reached_with_the_keyboard_alone(visiting, report):
    with visiting(report) as seen:
        page = seen.page
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"
        page.keyboard.press("Shift+Tab")
        for _ in range(40):
            page.keyboard.press("Shift+Tab")
            if page.evaluate("document.activeElement.textContent") == "Questions":
                break
        page.keyboard.press("Enter")
        wait_for_heading(page, "Questions")
        until(page, "document.activeElement.tagName === 'H1'")
        for _ in range(40):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.matches('tbody a')"):
                break
        page.keyboard.press("Enter")
        page.locator("blockquote:visible").first.wait_for()
        for _ in range(60):
            page.keyboard.press("Tab")
            if "open in" in page.evaluate("document.activeElement.textContent"):
                break
        page.keyboard.press("Enter")
        page.locator(".row mark.flash").first.wait_for()
        for _ in range(20):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.name") == "lane":
                break
        page.keyboard.press("ArrowDown")
        assert page.evaluate("document.activeElement.value") == "1"
        assert page.locator(".lane input").nth(1).is_checked()


def test_every_figure_is_drawn_and_every_one_has_its_numbers(visiting, report):
    with visiting(report, height=6000) as seen:
        until(seen.page, "[...document.querySelectorAll('[data-figure]')].every((f) => 'drawn' in f.dataset)")
        kinds = seen.page.evaluate("[...document.querySelectorAll('[data-figure]')].map((f) => f.dataset.figure)")
        assert set(kinds) == {"forest", "budget", "hits", "controls", "sizes", "times", "frontier", "heat"}
        assert seen.page.locator(".plot details [data-table]").count() == len(kinds) - 1
        seen.page.locator("[data-legend] button").first.click()
        assert seen.page.locator("[data-legend] button").first.get_attribute("aria-pressed") == "false"
        seen.settled()


def test_controls_are_not_in_the_figures_until_they_are_asked_for(visiting, report):
    points = "document.querySelector('[data-figure=frontier]').data[1].x.length"
    with visiting(report, height=6000) as seen:
        until(seen.page, "[...document.querySelectorAll('[data-figure]')].every((f) => 'drawn' in f.dataset)")
        assert seen.page.evaluate(points) == len(CHUNKERS)
        assert seen.page.locator('[data-control][aria-pressed="false"]').count() == len(CHUNKERS)
        seen.page.get_by_role("button", name="show all").click()
        until(seen.page, f"{points} === {2 * len(CHUNKERS)}")
        seen.page.get_by_role("button", name="hide all").click()
        until(seen.page, f"{points} === {len(CHUNKERS)}")


OUTSIDE = """[...document.querySelectorAll("[data-figure]")].flatMap((figure) => {
  const box = figure.getBoundingClientRect();
  return [...figure.querySelectorAll(".xtitle, .x2title, .ytitle, .annotation-text")]
    .map((t) => [t.getBoundingClientRect(), t.textContent])
    .filter(([r]) => r.width && (r.left < box.left - 1 || r.right > box.right + 1)).map(([, text]) => text);
})"""

ON_ONE_ANOTHER = """["budget", "hits", "frontier"].flatMap((name) => {
  const boxes = [...document.querySelectorAll(`[data-figure=${name}] .annotation-text`)]
    .map((t) => [t.getBoundingClientRect(), t.textContent]);
  return boxes.flatMap(([a, first], i) => boxes.slice(i + 1).filter(([b]) => Math.min(a.right, b.right)
    - Math.max(a.left, b.left) > 2 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 5)
    .map(([, second]) => `${name}: ${first}, ${second}`));
})"""


@pytest.mark.parametrize("width", [390, 1440])
def test_words_in_figures_are_whole_and_not_on_one_another_with_all_rows(visiting, tight_report, width):
    with visiting(tight_report, width=width, height=9000) as seen:
        until(seen.page, "[...document.querySelectorAll('[data-figure]')].every((f) => 'drawn' in f.dataset)")
        seen.page.get_by_role("button", name="show all").click()
        seen.page.wait_for_timeout(600)
        assert seen.page.evaluate(OUTSIDE) == []
        assert seen.page.evaluate(ON_ONE_ANOTHER) == []


def test_at_1440_pixels_no_column_of_the_leaderboard_is_out_of_sight(visiting, report):
    with visiting(report, width=1440, height=1000) as seen:
        hidden = "(box) => box.scrollWidth - box.clientWidth"
        assert seen.page.locator('[data-table="leaderboard"] .scroll').evaluate(hidden) <= 0


def test_a_question_says_in_a_sentence_who_hit_it_and_folds_what_is_long(visiting, report, small_run):
    with visiting(report + "#/question/q3") as seen:
        page = seen.page
        wait_for_heading(page, "How is the berth paid for?")
        said = page.locator("#made > p", has_text="Hit by").inner_text()
        assert f" of {len(CHUNKERS)} chunkers and " in said
        assert page.locator(".rankings").count() == 2
        opened = "[...document.querySelectorAll('.ranking > details')].filter((d) => d.open).length"
        assert page.evaluate(opened) <= 2
        last = 2 * len(CHUNKERS) - 1
        page.locator('[data-table="question-q3"] tbody a').nth(last).click()
        assert page.locator(f"#ranking-{last} details").get_attribute("open") is not None
        page.get_by_role("button", name="Open all lists").click()
        assert page.evaluate(opened) == 2 * len(CHUNKERS)


def test_a_miss_is_told_in_a_sentence_that_leads_to_the_place_in_the_document(visiting, tight_report, tight_run):
    causes = {
        question: cause
        for row in load_run(tight_run).rows
        for question, cause in row.diagnosis.select("question", "cause").iter_rows()
        if cause
    }
    question, cause = next(iter(causes.items()))
    with visiting(f"{tight_report}#/question/{question}") as seen:
        box = seen.page.locator(".diagnosis", has_text=cause).first
        box.wait_for()
        assert box.locator("p").first.inner_text().startswith(f"{cause}: ")
        link = box.locator("li a").first
        assert "at=" in link.get_attribute("href")
        link.click()
        seen.page.locator(".viewer .row").first.wait_for()


def test_what_a_hit_brings_beside_its_chunk_is_drawn_paler_and_counted(visiting, small, tmp_path):
    chunkers = ("sentence(max=30t)", "fixed(30t)")
    plan = Plan(
        str(small / "corpus"), str(small / "questions.jsonl"), chunkers, index="exact", deliver="window(1)",
        measure="recall@60t",
    )  # fmt: skip
    run(plan, tmp_path / "wide", cache=tmp_path / "vectors.sqlite")
    address = write_report([tmp_path / "wide"], tmp_path / "report.html").as_uri()
    with visiting(address + "#/question/q3") as seen:
        wait_for_heading(seen.page, "How is the berth paid for?")
        assert "window(1)" in seen.page.locator(".lead").last.inner_text()
        assert seen.page.locator("li.delivered .around").count() > 0
        told = seen.page.locator("li.delivered .of").first.inner_text()
        brought, own = re.search(r"brought ([\d,]+) characters \(the chunk has ([\d,]+)\)", told).groups()
        assert int(brought.replace(",", "")) > int(own.replace(",", ""))


def test_the_marks_of_a_document_are_explained_and_controls_fold_away_on_a_phone(visiting, report):
    with visiting(report + "#/document/harbour.md", width=390, height=844) as seen:
        marks = seen.page.locator(".marks")
        marks.wait_for()
        for words in ("a cut", "every second chunk", "evidence", "next cut"):
            assert words in marks.inner_text()
        more = seen.page.locator(".more-lanes")
        assert more.get_attribute("open") is None
        narrow = seen.page.evaluate("document.querySelector('.lanes').clientWidth")
        more.locator("summary").click()
        until(seen.page, f"document.querySelector('.lanes').clientWidth > {narrow}")
        assert serious(seen.page) == []


def test_many_rows_have_letters_at_the_heads_and_names_in_the_files(visiting, report, tmp_path):
    with visiting(report + "#/documents", accept_downloads=True) as seen:
        seen.page.locator(".letters").wait_for()
        assert seen.page.locator(".letters li").count() == 2 * len(CHUNKERS)
        with seen.page.expect_download() as asked:
            seen.page.get_by_role("button", name="Save as JSON: Documents and their chunks").click()
        asked.value.save_as(tmp_path / "documents.json")
        assert CHUNKERS[0] in json.loads((tmp_path / "documents.json").read_text(encoding="utf-8"))[0]


def test_tables_are_saved_as_csv_and_json_with_full_precision(visiting, report, small_run, tmp_path):
    board = json.loads((small_run / "leaderboard.json").read_text())
    with visiting(report, accept_downloads=True) as seen:
        with seen.page.expect_download() as asked:
            seen.page.get_by_role("button", name="Save as JSON: Leaderboard: embedder and chunker, best first").click()
        asked.value.save_as(tmp_path / "leaderboard.json")
        saved = json.loads((tmp_path / "leaderboard.json").read_text(encoding="utf-8"))
        assert [row["chunker"] for row in saved] == [row["row"] for row in shown(board)]
        assert [row["recall@1000t"] for row in saved] == [row["score"]["mean"] for row in shown(board)]
        with seen.page.expect_download() as asked:
            seen.page.get_by_role("button", name="Save as CSV: Leaderboard: embedder and chunker, best first").click()
        asked.value.save_as(tmp_path / "leaderboard.csv")
        assert len(pl.read_csv(tmp_path / "leaderboard.csv")) == len(board["rows"])


def test_a_narrow_page_does_not_scroll_sideways(visiting, report):
    with visiting(report, width=390, height=844) as seen:
        for address in PAGES:
            seen.page.goto(report + address)
            seen.settled()
            assert seen.page.evaluate("document.documentElement.scrollWidth") <= 390, address


def test_an_address_that_leads_nowhere_says_so(visiting, report):
    with visiting(report + "#/question/" + quote("<b>none</b>", safe="")) as seen:
        wait_for_heading(seen.page, "No such question")
        assert "<b>none</b>" in seen.page.locator("#made").inner_text()
        seen.page.goto(report + "#/%E0%A4%A")
        seen.settled()
        assert seen.page.locator(".headline").is_visible()


# ------------------------------------------------------------ accessibility


def test_axe_finds_nothing_serious_on_the_pages_that_are_looked_at_most(visiting, report):
    with visiting(report) as seen:
        for address in ("#/", "#/document/harbour.md"):
            seen.page.goto(report + address)
            seen.settled()
            assert serious(seen.page) == [], address


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_on_any_page(visiting, report, scheme):
    with visiting(report, scheme=scheme, height=4000) as seen:
        for address in PAGES:
            seen.page.goto(report + address)
            seen.page.wait_for_timeout(800)
            seen.page.locator("details:visible").evaluate_all("(all) => all.forEach((d) => { d.open = true; })")
            assert serious(seen.page) == [], address
