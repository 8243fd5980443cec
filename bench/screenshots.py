"""The picture of the report in the README: `docs/images/report.png`. Those of the docs are made by `bench/pictures.py`.

Needs Chromium and a finished run: `python bench/screenshots.py runs/demo` (`make demo` makes one).
"""

import shutil
import sys
from pathlib import Path

from faircut.report.pages import write_report

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "images" / "report.png"
ARGUMENTS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"]
LARGEST = 300_000  # bytes


def main() -> None:
    from playwright.sync_api import sync_playwright

    run = Path(sys.argv[1] if len(sys.argv) > 1 else "runs/demo")
    address = write_report([run], run / "report.html").resolve().as_uri()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 1280, "height": 1290})
        page.goto(address)
        page.locator("[data-drawn]").nth(1).wait_for(timeout=60_000)
        page.wait_for_timeout(500)
        page.screenshot(path=PICTURE)
        browser.close()
    size = PICTURE.stat().st_size
    if size > LARGEST:
        sys.exit(f"{PICTURE} has {size:,} bytes, at most {LARGEST:,} are wanted")
    print(f"{PICTURE}: {size:,} bytes")


if __name__ == "__main__":
    main()
