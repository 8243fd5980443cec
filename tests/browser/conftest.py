"""A browser for pages that people look at: Debian's Chromium where it is, driven by Playwright."""

import shutil
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from faircut.report.pages import write_report
from small_run import hostile_run, small_run, tight_run  # noqa: F401  # fixtures

ARGUMENTS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


@dataclass
class Seen:
    """A page with what it complained about and what it asked for."""

    page: object
    complaints: list = field(default_factory=list)
    requests: list = field(default_factory=list)

    def settled(self):
        """Wait until a route or a redraw is done."""
        self.page.wait_for_timeout(120)

    def check(self, own="file:"):
        """Nothing on the console, nothing asked of another host."""
        assert self.complaints == []
        assert [url for url in self.requests if not url.startswith((own, "data:", "blob:"))] == []


@pytest.fixture(scope="session")
def chromium():
    sync = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("no chromium on this machine")
    with sync.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def visiting(chromium):
    """Open a page in a context of its own: ``with visiting(url, width=390, scheme="dark") as seen``."""

    @contextmanager
    def visit(url, *, width=1280, height=900, scheme="light", own="file:", **options):
        context = chromium.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, **options)
        page = context.new_page()
        page.set_default_timeout(10_000)
        seen = Seen(page)
        page.on("console", lambda m: seen.complaints.append(m.text) if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda e: seen.complaints.append(str(e)))
        page.on("dialog", lambda d: (seen.complaints.append(f"dialog {d.message}"), d.dismiss()))
        page.on("request", lambda r: seen.requests.append(r.url))
        page.goto(url)
        try:
            yield seen
        finally:
            context.close()
        seen.check(own)

    return visit


@pytest.fixture(scope="session")
def report(small_run, tmp_path_factory):  # noqa: F811
    """The address of the report of the small run."""
    return write_report([small_run], tmp_path_factory.mktemp("page") / "report.html").as_uri()


@pytest.fixture(scope="session")
def tight_report(tight_run, tmp_path_factory):  # noqa: F811
    """The address of the report of the run with misses."""
    return write_report([tight_run], tmp_path_factory.mktemp("tight-page") / "report.html").as_uri()


@pytest.fixture(scope="session")
def hostile_report(hostile_run, tmp_path_factory):  # noqa: F811
    """The address of the report of the hostile run."""
    return write_report([hostile_run], tmp_path_factory.mktemp("hostile-page") / "report.html").as_uri()
