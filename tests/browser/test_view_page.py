"""The page of ``faircut view``: lanes without questions, also of a document as long as a book."""

import random

import pytest
from looking import serious, until

from faircut.chunkers import build
from faircut.chunkers.contract import Models
from faircut.records import Block, Document, Span
from faircut.report.pages import render_view
from faircut.report.payload import chunk_lane
from faircut.text.units import CharacterCounter

SPECS = ("recursive(max=400c)", "fixed(900c, overlap=100c)")


def view_of(documents, folder):
    models = Models(CharacterCounter())
    lanes = []
    for document in documents:
        cut = [build(spec).chunk(document, models) for spec in SPECS]
        lanes.append([chunk_lane(chunks, [len(c.text) for c in chunks], document, None) for chunks in cut])
    path = folder / "view.html"
    path.write_text(render_view(documents, lanes, SPECS), encoding="utf-8")
    return path.as_uri()


@pytest.fixture(scope="module")
def long_view(tmp_path_factory):
    words, chance = ["harbour", "tide", "ferry", "rope", "lantern", "island", "charter", "morning"], random.Random(7)
    text = "".join(chance.choice(words) + chance.choice([" ", " ", " ", ". ", "\n\n"]) for _ in range(95_000))[:700_000]
    assert len(text) > 650_000
    return view_of([Document("book.txt", text)], tmp_path_factory.mktemp("long"))


def test_a_long_document_scrolls_with_few_elements(visiting, long_view):
    with visiting(long_view) as seen:
        page = seen.page
        page.locator(".row").first.wait_for()
        most = page.evaluate("""async () => {
          const view = document.querySelector(".text"), step = view.scrollHeight / 60;
          let most = 0;
          for (let i = 0; i < 60; i++) {
            view.scrollTop += step;
            await new Promise(requestAnimationFrame);
            await new Promise(requestAnimationFrame);
            most = Math.max(most, document.querySelectorAll(".row").length);
          }
          return most;
        }""")
        assert most < 150
        last = page.locator(".row").last.inner_text()
        assert last.strip()


def test_the_end_of_a_long_document_is_reached_and_its_last_chunk_named(visiting, long_view):
    with visiting(long_view) as seen:
        page = seen.page
        page.locator(".row").first.wait_for()
        page.evaluate("document.querySelector('.text').scrollTop = 1e9")
        until(page, "document.querySelector('.text').scrollTop > 1e5")
        page.wait_for_timeout(200)
        page.locator(".row [data-chunk]").last.click()
        assert "chunk " in page.locator(".chosen").inner_text()
        number, count = page.locator(".chosen").inner_text().split("chunk ")[1].split(",")[0].split(" of ")
        assert number == count


def test_several_documents_are_listed_and_opened(visiting, tmp_path):
    table = "| a | b |\n|---|---|\n| 1 | 2 |\n"
    first = Document(
        "one", f"Words.\n\n{table}", (Block("paragraph", Span(0, 8)), Block("table", Span(8, 8 + len(table))))
    )
    address = view_of([first, Document("two/three?", "عربي نص قصير. " * 20)], tmp_path)
    with visiting(address) as seen:
        page = seen.page
        assert page.locator('[data-table="documents"] tbody tr').count() == 2
        assert serious(page) == []
        page.get_by_role("link", name="one").click()
        page.locator(".row.table").first.wait_for()
        page.go_back()
        page.get_by_role("link", name="two/three?").click()
        page.locator(".row", has_text="عربي").first.wait_for()
        assert page.locator(".row").first.get_attribute("dir") == "auto"
        assert serious(page) == []


def test_sizes_are_told_on_hover(visiting, long_view):
    with visiting(long_view) as seen:
        page = seen.page
        page.locator(".row [data-chunk]").first.hover()
        assert "chunk 1 of" in page.locator(".tip").inner_text()
        box = page.locator(".body").bounding_box()
        page.mouse.move(box["x"] + 20, box["y"] + 10)
        assert page.locator(".tip").inner_text().startswith("fixed(900c, overlap=100c): chunk 1 of")
