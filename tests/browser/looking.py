"""What the tests of pages share: waiting for a condition, and what axe finds."""

import pytest


def until(page, condition):
    """Wait for a condition. Playwright's own waiting evaluates strings, which the page's policy forbids."""
    for _ in range(200):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(50)
    raise AssertionError(condition)


def serious(page):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")
    found = axe.Axe().run(page).response["violations"]
    return [(v["id"], v["nodes"][0]["html"][:150]) for v in found if v["impact"] in ("serious", "critical")]
