"""The explorer as people use it: paste, drop, move sliders, ask, in light and dark, by keyboard, two at once."""

import pytest
from looking import serious, until

from small_run import ESCAPES, IMAGE, LINK, SCRIPT
from small_server import explorer, serving  # noqa: F401  # a fixture

TEXT = "# The tide\n\n" + "".join(
    f"On day {n} the tide came in at {n} o'clock. The boats of quay {n} lay dry until then. Nobody minded the wait.\n\n"
    for n in range(1, 40)
)
PLACES = "JSON.stringify([...document.querySelectorAll('.cut')].map((c) => [c.parentElement.style.top, c.offsetLeft]))"


@pytest.fixture
def visit(visiting, explorer):  # noqa: F811
    """Open a page of the explorer; at the end nothing was complained of or asked of another host."""

    def at(address="/", **options):
        return visiting(explorer.url + address, own=explorer.url, **options)

    return at


def paste(page, text=TEXT):
    page.get_by_label("Text to cut").fill(text)
    page.get_by_role("button", name="Cut this text").click()
    settled(page)


def settled(page):
    """Wait until all chunkers are cut and their lanes drawn."""
    page.locator(".viewer .row").first.wait_for(timeout=30_000)
    quiet = "document.getElementById('bar').hidden && !document.getElementById('doing').textContent"
    for _ in range(3):  # a request may begin a moment after the last movement
        page.wait_for_timeout(120)
        until(page, quiet)


def counts(page):
    return [int(text.split()[0].replace(",", "")) for text in page.locator(".chunker > .count").all_inner_texts()]


def ask(page, question):
    page.get_by_label("Question", exact=True).fill(question)
    page.get_by_role("button", name="Ask", exact=True).click()
    page.locator(".hits li").first.wait_for(timeout=30_000)
    settled(page)


def wait_for_heading(page, text):
    page.locator("h1:visible", has_text=text).wait_for()


def slide(page, label, chunker, value):
    page.get_by_role("group", name=f"Chunker {chunker}").get_by_role("slider", name=label).fill(str(value))


# ------------------------------------------------------------ cutting


def test_a_pasted_text_is_cut_and_a_slider_moves_the_cuts(visit):
    with visit() as seen:
        page = seen.page
        paste(page)
        wait_for_heading(page, "The tide")
        many, places = counts(page), page.evaluate(PLACES)
        slide(page, "threshold", "B", 0)
        settled(page)
        assert page.get_by_label("spec").nth(1).input_value() == "semantic(threshold=0, max=256t)"
        assert counts(page)[0] == many[0]
        assert counts(page)[1] < many[1]
        assert page.evaluate(PLACES) != places
        page.get_by_role("radio").first.check()
        places = page.evaluate(PLACES)
        slide(page, "largest", "A", 64)
        settled(page)
        assert counts(page)[0] > many[0]
        assert page.evaluate("document.querySelectorAll('.cut').length") > 0
        assert page.locator(".lane bdi").first.inner_text() == "recursive(max=64t)"
        assert page.get_by_role("radio").first.is_checked()


def test_only_the_last_of_many_movements_counts(visit):
    with visit() as seen:
        page = seen.page
        paste(page)
        before = len([url for url in seen.requests if url.endswith("/cut")])
        for size in (40, 80, 120, 160, 200, 240, 280, 320, 48):
            slide(page, "largest", "A", size)
        settled(page)
        assert len([url for url in seen.requests if url.endswith("/cut")]) - before < 9
        assert page.locator(".lane bdi").first.inner_text() == "recursive(max=48t)"
        largest = page.locator(".chunker > .count").first.inner_text().split("–")[1].rstrip(")")
        assert int(largest) <= 48


def test_a_unit_is_changed_and_a_limit_taken_away(visit):
    with visit() as seen:
        page = seen.page
        paste(page)
        group = page.get_by_role("group", name="Chunker A")
        group.get_by_label("Unit of largest").select_option("characters")
        settled(page)
        assert group.get_by_label("spec").input_value() == "recursive(max=1000c)"
        group.get_by_label("Unit of overlap").select_option("characters")
        settled(page)
        assert group.get_by_label("spec").input_value() == "recursive(max=1000c, overlap=250c)"
        assert group.get_by_role("slider", name="overlap").is_visible()
        assert group.get_by_role("alert").is_hidden()


def test_a_wrong_spec_is_told_where_it_stands_and_the_others_stay(visit):
    with visit() as seen:
        page = seen.page
        paste(page)
        before = counts(page)
        spec = page.get_by_label("spec").first
        spec.fill("recursive(largest=9)")
        spec.press("Enter")
        page.get_by_text("has no parameter 'largest'").wait_for()
        assert spec.get_attribute("aria-invalid") == "true"
        assert page.locator(".chunker > .count").nth(1).inner_text().startswith(str(before[1]))
        spec.fill("recursive(max=64t)")
        spec.press("Enter")
        settled(page)
        assert page.locator(".chunker .problem").first.is_hidden()
        assert counts(page)[0] > before[0]


def test_what_was_chosen_is_never_hidden_and_a_kind_is_explained_before_it_is_added(visit):
    with visit() as seen:
        page = seen.page
        paste(page)
        group = page.get_by_role("group", name="Chunker B")
        assert group.get_by_role("slider", name="largest").is_visible()  # not behind "more": it has been given
        told = page.locator("#offered-what")
        before = told.inner_text()
        page.get_by_label("Chunker to add").select_option("optimal")
        assert told.inner_text() not in ("", before)


def test_a_question_to_a_wrong_spec_says_why_there_is_no_answer(visit):
    with visit() as seen:
        page = seen.page
        paste(page)
        page.get_by_label("spec").nth(1).fill("semantic(treshold=0.5)")
        page.get_by_label("spec").nth(1).press("Enter")
        settled(page)
        page.get_by_label("Question", exact=True).fill("When did the tide come in?")
        page.get_by_role("button", name="Ask", exact=True).click()
        told = page.locator("#ask-problem")
        told.wait_for()
        assert told.inner_text().startswith("B cannot be asked")
        page.locator("#right").select_option("0")
        ask(page, "When did the tide come in?")
        assert told.is_hidden()


def test_the_question_is_one_click_away_and_the_address_keeps_the_specs(visit):
    with visit() as seen:
        page = seen.page
        paste(page)
        address = page.url
        page.get_by_role("link", name="Ask a question").click()
        assert page.evaluate("document.activeElement.id") == "question"
        assert page.url == address
        assert page.locator("#caution").is_hidden()
        ask(page, "When did the tide come in?")
        assert page.locator("#caution").is_visible()  # one question proves nothing


def test_chunkers_are_added_and_removed_and_stay_when_the_page_is_loaded_again(visit):
    with visit() as seen:
        page = seen.page
        paste(page)
        page.get_by_label("Chunker to add").select_option("sentence")
        page.get_by_role("button", name="Add", exact=True).click()
        settled(page)
        assert page.get_by_role("radio").count() == 3
        page.get_by_role("button", name="Remove chunker A").click()
        settled(page)
        assert page.locator(".lane bdi").all_inner_texts() == ["semantic(max=256t)", "sentence"]
        page.reload()
        settled(page)
        assert page.locator(".lane bdi").all_inner_texts() == ["semantic(max=256t)", "sentence"]
        page.get_by_role("group", name="Chunker B").get_by_label("Kind of chunker").select_option("structure")
        settled(page)
        assert page.locator(".lane bdi").all_inner_texts() == ["semantic(max=256t)", "structure"]


# ------------------------------------------------------------ asking


def test_two_chunkers_answer_side_by_side_and_a_hit_leads_to_its_chunk(visit):
    with visit() as seen:
        page = seen.page
        paste(page)
        ask(page, "When did the tide come in on day 7?")
        assert page.locator(".ranking h3 bdi").all_inner_texts() == ["recursive(max=256t)", "semantic(max=256t)"]
        assert page.locator(".ranking .score").first.inner_text().startswith("0.")
        best = page.locator(".ranking").nth(1).locator("li").first
        assert "day 7 " in best.locator(".excerpt").inner_text()
        number = best.get_by_role("button").inner_text()
        best.get_by_role("button").click()
        assert f"semantic(max=256t): {number} of" in page.locator(".chosen").inner_text()
        assert page.locator(".row .chosen-text").count() > 0
        page.get_by_label("budget").fill("100")
        page.get_by_label("budget").dispatch_event("change")
        until(page, "document.querySelectorAll('.hits .budget').length === 2")
        assert (
            page.locator(".hits .budget").first.inner_text().endswith("of 100 tokens delivered; below: not delivered")
        )


def test_answers_follow_the_cuts(visit):
    with visit() as seen:
        page = seen.page
        paste(page)
        ask(page, "What lay dry at quay 7?")
        slide(page, "largest", "A", 64)
        page.locator(".ranking h3 bdi", has_text="recursive(max=64t)").wait_for()
        page.get_by_label("search").select_option("by words (BM25)")
        until(page, "[...document.querySelectorAll('.score')].some((s) => Number(s.textContent) > 1.1)")


# ------------------------------------------------------------ files


def test_a_file_is_chosen_or_dropped(visit, tmp_path):
    (tmp_path / "notes.md").write_text(TEXT.replace("The tide", "Notes"), encoding="utf-8")
    with visit() as seen:
        seen.page.locator("#file").set_input_files(tmp_path / "notes.md")
        settled(seen.page)
        wait_for_heading(seen.page, "Notes")
        seen.page.get_by_role("link", name="Documents").click()
        seen.page.locator("#drop").wait_for()
        seen.page.evaluate(
            """() => {
              const data = new DataTransfer();
              data.items.add(new File(["# Dropped\\n\\nIt fell here. It stayed.\\n"], "fallen.md"));
              const drop = new DragEvent("drop", { dataTransfer: data, bubbles: true });
              document.getElementById("drop").dispatchEvent(drop);
            }"""
        )
        settled(seen.page)
        wait_for_heading(seen.page, "Dropped")


def test_a_file_that_is_too_large_is_told_and_not_sent(visit, tmp_path):
    (tmp_path / "large.txt").write_bytes(b"word " * 70_000)
    with visit() as seen:
        seen.page.locator("#file").set_input_files(tmp_path / "large.txt")
        said = seen.page.get_by_role("alert")
        said.wait_for()
        assert "large.txt has 0.4 MB; a file may have up to 300 kB here" in said.inner_text()
        assert [url for url in seen.requests if "/documents" in url] == []


def test_a_document_is_forgotten_when_it_is_asked(visit):
    with visit() as seen:
        page = seen.page
        paste(page)
        page.get_by_role("link", name="Documents").click()
        page.get_by_role("button", name="Forget The tide").click()
        page.get_by_role("button", name="Forget The tide").wait_for(state="detached")
        page.reload()
        assert page.get_by_text("Opened in this browser").count() == 0


def test_two_users_at_once_see_their_own_documents(visit):
    with visit() as one, visit() as two:
        for seen, name in ((one, "First"), (two, "Second")):
            seen.page.get_by_label("Text to cut").fill(TEXT.replace("The tide", name))
        for seen in (one, two):
            seen.page.get_by_role("button", name="Cut this text").click()
        for seen, size in ((one, 64), (two, 128)):
            settled(seen.page)
            slide(seen.page, "largest", "A", size)
        for seen, name, size in ((one, "First", 64), (two, "Second", 128)):
            settled(seen.page)
            wait_for_heading(seen.page, name)
            assert seen.page.locator(".lane bdi").first.inner_text() == f"recursive(max={size}t)"
        for seen, mine, other in ((one, "First", "Second"), (two, "Second", "First")):
            seen.page.get_by_role("link", name="Documents").click()
            listed = seen.page.locator(".documents")
            listed.wait_for()
            assert mine in listed.inner_text()
            assert other not in listed.inner_text()


def test_a_run_is_chosen_and_its_report_opens(visiting, small_run):
    with serving(runs=small_run.parent) as served, visiting(served.url + "/runs", own=served.url) as seen:
        seen.page.get_by_role("link", name="small").click()
        seen.page.locator('[data-table="leaderboard"] tbody tr').first.wait_for()
        seen.page.get_by_role("link", name="Documents").click()
        wait_for_heading(seen.page, "Documents")


# ------------------------------------------------------------ looks, keyboard, hostile text


def test_dark_follows_the_system_and_can_be_chosen(visit):
    paper = "getComputedStyle(document.body).backgroundColor"
    with visit(scheme="dark") as seen:
        dark = seen.page.evaluate(paper)
        paste(seen.page)
        assert seen.page.evaluate(paper) == dark
        seen.page.locator("#theme").click()
        seen.page.locator("#theme").click()
        assert seen.page.evaluate(paper) != dark
        seen.page.reload()
        assert seen.page.evaluate(paper) != dark


def tab_to(page, condition):
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate(f"((e) => {condition})(document.activeElement)"):
            return
    raise AssertionError(condition)


def test_all_is_done_with_the_keyboard_alone(visit):
    with visit() as seen:
        page = seen.page
        tab_to(page, "e.id === 'file'")
        tab_to(page, "e.id === 'text'")
        page.keyboard.insert_text(TEXT)
        tab_to(page, "e.textContent === 'Cut this text'")
        page.keyboard.press("Enter")
        settled(page)
        before = counts(page)
        tab_to(page, "e.type === 'range'")
        page.keyboard.press("Home")
        settled(page)
        assert counts(page)[0] > before[0]
        assert page.evaluate("document.activeElement.type") == "range"
        tab_to(page, "e.id === 'question'")
        page.keyboard.insert_text("When did the tide come in on day 7?")
        page.keyboard.press("Enter")
        page.locator(".hits li").first.wait_for(timeout=30_000)
        settled(page)
        tab_to(page, "e.textContent.startsWith('chunk ')")
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.className") == "text"
        assert "chunk " in page.locator(".chosen").inner_text()


def test_a_hostile_document_does_nothing(visit, tmp_path):
    text = f"# {SCRIPT}{IMAGE}\n\n{LINK} {ESCAPES} <a href='{LINK}'>x</a>. {IMAGE} is here."
    text += f"\n\n| {SCRIPT} | b |\n|---|---|\n| 1 | 2 |\n"
    text = text.replace("\x00", "")  # a file with it is no text
    (tmp_path / "<img src=x onerror=alert(1)>\u202e.md").write_text(text, encoding="utf-8")
    with visit() as seen:
        page = seen.page
        page.locator("#file").set_input_files(next(tmp_path.iterdir()))
        settled(page)
        for spec in ("structure(max=40t)", SCRIPT[:200], f'"{IMAGE}"'):
            page.get_by_label("spec").first.fill(spec)
            page.get_by_label("spec").first.press("Enter")
            settled(page)
        page.get_by_label("spec").first.fill("structure(max=40t)")
        page.get_by_label("spec").first.press("Enter")
        settled(page)
        ask(page, f"{SCRIPT}{IMAGE} what is here?")
        page.locator(".chunk-list summary").click()
        page.get_by_role("link", name="Documents").click()
        page.locator(".documents").wait_for()
        assert page.evaluate("window.owned") is None
        page.go_back()
        settled(page)
        assert page.evaluate("window.owned") is None
        assert page.locator("main img, main script, main iframe, main a[href^='javascript']").count() == 0
        assert not set("\x1b\u202e\u2066\x00") & set(page.evaluate("document.body.innerText"))


def test_a_narrow_page_does_not_scroll_sideways(visit):
    with visit(width=390, height=844) as seen:
        page = seen.page
        wide = "document.documentElement.scrollWidth"
        assert page.evaluate(wide) <= 390
        paste(page)
        ask(page, "Who minded the wait?")
        assert page.evaluate(wide) <= 390


def test_axe_finds_nothing_serious_on_a_document(visit):
    with visit() as seen:
        paste(seen.page)
        ask(seen.page, "Who minded the wait?")
        assert serious(seen.page) == []


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_axe_finds_nothing_serious_on_any_page(visiting, small_run, scheme, width):
    looks = {"scheme": scheme, "width": width, "height": 1400}
    with serving(runs=small_run.parent) as served, visiting(served.url, own=served.url, **looks) as seen:
        page = seen.page
        assert serious(page) == []
        paste(page)
        ask(page, "Who minded the wait?")
        spec = page.get_by_label("spec").first
        spec.fill("recursive(largest=9)")
        spec.press("Enter")
        page.get_by_text("has no parameter 'largest'").wait_for()
        page.locator("details:visible").evaluate_all("(all) => all.forEach((d) => { d.open = true; })")
        page.wait_for_timeout(200)
        assert serious(page) == []
        for address in ("/", "/runs"):
            page.goto(served.url + address)
            assert serious(page) == [], address
