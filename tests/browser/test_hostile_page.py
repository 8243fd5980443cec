"""Documents, questions and names that try to be markup, scripts, links or directions do nothing in a page."""

from urllib.parse import quote

import pytest

from small_run import LINK, SCRIPT

PAGES = [
    "#/", "#/questions", "#/documents", "#/integrity", "#/run",
    f"#/document/{quote(SCRIPT, safe='')}", f"#/document/{quote(LINK, safe='')}",
    f"#/document/{quote('../../etc?x=1#/&%2F é😀', safe='')}", f"#/question/{quote(SCRIPT + LINK, safe='')}",
    f"#/question/{quote('<img src=x onerror=window.owned=1>', safe='')}",
]  # fmt: skip


@pytest.mark.parametrize("address", PAGES)
def test_hostile_text_is_shown_and_does_nothing(visiting, hostile_report, address):
    with visiting(hostile_report + address, height=3000) as seen:
        page = seen.page
        page.locator("h1").first.wait_for(state="attached")
        page.wait_for_timeout(250)
        assert page.evaluate("window.owned") is None
        assert page.locator("main img, main script, main iframe").count() == 0
        shown = page.evaluate("document.body.innerText")
        assert not set("\x1b\u202e\u2066\x00") & set(shown)
        links = page.evaluate("[...document.querySelectorAll('a[href]')].map((a) => a.getAttribute('href'))")
        assert all(link.startswith("#") for link in links)


def test_links_to_documents_with_any_id_lead_to_them(visiting, hostile_report):
    with visiting(hostile_report + "#/documents") as seen:
        links = seen.page.locator('[data-table="documents"] tbody a')
        links.first.wait_for()
        for place in range(links.count()):
            seen.page.goto(hostile_report + "#/documents")
            seen.page.locator('[data-table="documents"] tbody a').nth(place).click()
            seen.page.locator(".viewer .row").first.wait_for()


def test_evidence_behind_wide_characters_is_marked_at_its_place(visiting, hostile_report):
    with visiting(hostile_report + "#/question/q3") as seen:
        seen.page.locator("blockquote mark").wait_for()
        assert seen.page.locator("blockquote mark").inner_text() == "the mooring is at the pier"
        seen.page.get_by_role("link", name="open in").click()
        seen.page.locator(".row mark.flash").first.wait_for()
        marked = "".join(seen.page.locator(".row mark.flash").all_inner_texts())
        assert marked == "the mooring is at the pier"


def test_saved_tables_hold_no_formulas(visiting, hostile_report, tmp_path):
    with visiting(hostile_report + "#/questions", accept_downloads=True) as seen:
        seen.page.locator('[data-table="questions"] tbody tr').first.wait_for()
        with seen.page.expect_download() as asked:
            seen.page.get_by_role("button", name="Save as CSV: Questions").click()
        asked.value.save_as(tmp_path / "questions.csv")
        assert "\"'=HYPERLINK(" in (tmp_path / "questions.csv").read_text(encoding="utf-8")
