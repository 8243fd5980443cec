"""The documentation as a site, built as ``make docs`` builds it, and the pictures in it.

Nothing that a page needs comes from another host, all links inside lead somewhere, and the committed pictures are those
that ``bench/pictures.py`` makes from the chunkers as they are.
"""

import functools
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import threading
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

import pytest

from faircut import EMBEDDERS, Models
from faircut.chunkers import CHUNKERS

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
TELLS_ONLY = {"canonical", "next", "prev", "alternate", "edit"}  # relations of <link> that load nothing


def load_pictures():
    spec = importlib.util.spec_from_file_location("pictures", ROOT / "bench" / "pictures.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["pictures"] = module  # its dataclass looks itself up there
    spec.loader.exec_module(module)
    return module


pictures = load_pictures()


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The built site. ``--strict`` makes errors of broken links and anchors and of pages outside the nav."""
    # Without --quiet: it would silence the warnings before --strict counts them.
    if importlib.util.find_spec("mkdocs") is None or importlib.util.find_spec("material") is None:
        pytest.skip("mkdocs-material is not installed: pip install '.[dev]'")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


class Page(HTMLParser):
    """What a page loads, where its links lead, and what can be linked to in it."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.text = file.read_text(encoding="utf-8")
        self.feed(self.text)

    def handle_starttag(self, tag, attributes):
        given = {name: value or "" for name, value in attributes}
        self.ids |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a":
            self.links += [given["href"]] if "href" in given else []
        elif tag == "link":
            self.loads += [given["href"]] if not TELLS_ONLY & set(given.get("rel", "").split()) else []
        else:
            self.loads += [given[name] for name in ("src", "data", "poster") if name in given and tag != "input"]
            self.loads += [part.split()[0] for part in given.get("srcset", "").split(",") if part.strip()]


@pytest.fixture(scope="module")
def pages(site):
    return {file: Page(file) for file in sorted(site.rglob("*.html"))}


def is_elsewhere(address: str) -> bool:
    parts = urlsplit(address)
    return bool(parts.netloc) or parts.scheme not in ("", "data")


def test_every_page_of_the_documentation_is_in_the_site(site):
    for page in (ROOT / "docs").rglob("*.md"):
        built = site / page.relative_to(ROOT / "docs").with_suffix(".html")
        assert built.exists() or (page.name == "README.md" and built.with_name("index.html").exists()), page


def test_no_page_loads_anything_from_another_host(pages):
    assert pages
    for file, page in pages.items():
        found = page.loads + re.findall(r"(?:url\(|@import\s+)[\"']?([^\"')\s;]+)", page.text)
        assert not [address for address in found if is_elsewhere(address)], file.name


def test_no_style_sheet_or_picture_loads_anything_from_another_host(site):
    for file in [*site.rglob("*.css"), *site.rglob("*.svg")]:
        text = file.read_text(encoding="utf-8")
        found = re.findall(r"(?:url\(|@import\s+|href=|src=)[\"']?([^\"')\s;]+)", text)
        assert not [address for address in found if is_elsewhere(address)], file.name


def test_every_link_inside_the_site_leads_to_a_page_and_an_anchor(pages, site):
    for file, page in pages.items():
        if file.name == "404.html":
            continue  # its addresses begin at the root of a server
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            target = target / "index.html" if target.is_dir() else target
            assert target.exists(), f"{file.relative_to(site)}: {link}"
            if parts.fragment and target in pages:
                assert unquote(parts.fragment) in pages[target].ids, f"{file.relative_to(site)}: {link}"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.mark.slow
def test_a_browser_asks_no_other_host_and_finds_pages_by_search(site):
    playwright = pytest.importorskip("playwright.sync_api")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no Chromium on this machine")
    handler = functools.partial(Quiet, directory=site)
    asked, errors = [], []
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, playwright.sync_playwright() as running:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser = running.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        tab = browser.new_page()
        tab.on("request", lambda request: asked.append(urlsplit(request.url)))
        tab.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        home = f"http://127.0.0.1:{server.server_port}/"
        for page in ("index.html", "chunkers.html", "report.html"):
            tab.goto(home + page)
        tab.locator("input[name=query]").click()
        tab.locator("input[name=query]").press_sequentially("counterfactual")
        tab.locator(".md-search-result__link").first.wait_for(state="attached", timeout=60_000)
        found = [link.get_attribute("href") for link in tab.locator(".md-search-result__link").all()]
        browser.close()
        server.shutdown()
    assert any("diagnosis" in address for address in found), found
    assert {part.hostname for part in asked if part.scheme not in ("data", "blob")} == {"127.0.0.1"}
    assert not errors


# ---------------------------------------------------------------- the pictures


@pytest.fixture(scope="module")
def models():
    return Models.of(EMBEDDERS.build("minilm"))


@pytest.mark.parametrize("name", sorted(set(pictures.SPECS) - set(pictures.NEED_VECTORS)))
def test_the_picture_of_a_chunker_is_what_it_does_now(name, models):
    made = pictures.picture(name, models)
    assert made == (IMAGES / f"cuts-{name}.svg").read_text(encoding="utf-8"), "run bench/pictures.py"


def test_the_picture_of_ranks_is_that_of_the_results():
    made = pictures.equal_k()
    assert made == (IMAGES / "equal-k.svg").read_text(encoding="utf-8"), "run bench/pictures.py"


@pytest.mark.parametrize("file", sorted(IMAGES.glob("*.svg")), ids=lambda file: file.stem)
def test_a_picture_is_small_and_says_in_words_what_it_shows(file):
    assert file.stat().st_size < 40_000
    root = ElementTree.fromstring(file.read_bytes())  # noqa: S314  # our own file
    said = {child.tag.rpartition("}")[2]: child for child in root}
    assert root.get("aria-labelledby").split() == [said["title"].get("id"), said["desc"].get("id")]
    assert said["title"].text.strip()
    assert said["desc"].text.strip()


def test_every_chunker_stands_beside_its_picture():
    page = (ROOT / "docs" / "chunkers.md").read_text(encoding="utf-8")
    for cls in CHUNKERS.classes:
        if cls.name in pictures.NOT_PICTURED:
            continue
        section = page.partition(f"\n## {cls.name}\n")[2].partition("\n## ")[0]
        assert f"(images/cuts-{cls.name}.svg)" in section, f"docs/chunkers.md, section {cls.name}, has no picture"
        assert (IMAGES / f"cuts-{cls.name}.svg").exists(), f"add {cls.name} to bench/pictures.py and run it"


def test_bands_hold_exactly_the_characters_of_their_chunks(models):
    """Read back from the picture: the tones under a line change exactly where the owners of its characters change."""
    text = pictures.page().text
    chunks = pictures.build("fixed(40t, overlap=8t)").chunk(pictures.page(), models)
    rows, owners = list(pictures.rows_of(text)), pictures.owners_of(text, chunks)
    assert "".join(text[row.start : row.following] for row in rows) == text
    assert {owners[span.start] for chunk in chunks[1:] for span in chunk.spans} == {"c"}  # where overlap begins
    drawn = [drawn_band(band) for band in pictures.bands(rows, owners)]
    for number, row in enumerate(rows):
        y = pictures.TOP + number * pictures.LINE
        for at in range(row.start, row.end):
            x = pictures.LEFT + (at - row.start + 0.5) * pictures.CHARACTER
            under = [kind for kind, (left, top, right, bottom) in drawn if left <= x < right and top <= y < bottom]
            assert under == [owners[at]] * bool(owners[at]), (number, at)


def drawn_band(band: str) -> tuple[str, tuple[float, float, float, float]]:
    found = re.match(r'<rect class="(\w)" x="([\d.]+)" y="(\d+)" width="([\d.]+)" height="(\d+)"', band)
    left, top, width, height = map(float, found.groups()[1:])
    return found[1], (left, top, left + width, top + height)
