"""How large the report of a large run is, how fast it opens, how smoothly a long document scrolls:
`docs/results/report_size.md`.

Needs ../shared/data/qasper_dev and Chromium. Vectors are hashed words, not the model's: the page is as large, the
scores mean nothing. 8 chunkers, 1,000 questions, the documents of the corpus and one of 700,000 characters.
"""

import gzip
import json
import re
import shutil
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from zlib import crc32

import numpy as np

from faircut import Plan, run
from faircut.embedding.minilm import Minilm
from faircut.report.pages import write_report

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data" / "qasper_dev"
OUT = ROOT / "docs" / "results" / "report_size.md"
CHUNKERS = (
    "recursive(max=256t)", "paragraph_500", "simple_500", "fixed_512", "sentence(max=128t)", "semantic", "hybrid",
    "structure",
)  # fmt: skip
QUESTIONS, LONG = 1000, 700_000
ARGUMENTS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]


def hashed(_model, texts, _role, *, progress=None):  # noqa: ARG001
    """Vectors ``(n, 384)``: words counted by their hashes."""
    vectors = np.zeros((len(texts), 384), dtype=np.float32)
    for row, text in enumerate(texts):
        places = [crc32(word.encode()) % 384 for word in re.findall(r"\w+", text.lower())]
        np.add.at(vectors[row], places or [0], 1)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def inputs(folder: Path) -> None:
    """The corpus with one long document, and the first questions."""
    with gzip.open(DATA / "corpus.jsonl.gz", "rt", encoding="utf-8") as file:
        documents = [json.loads(line) for line in file][:300]
    joined = "\n\n".join(d["text"] for d in documents)
    documents.append({"id": "long", "title": "All of it", "text": (joined * (1 + LONG // len(joined)))[:LONG]})
    known = {d["id"] for d in documents}
    with gzip.open(DATA / "questions.jsonl.gz", "rt", encoding="utf-8") as file:
        questions = [q for q in map(json.loads, file) if all(g["document"] in known for g in q["gold"])]
    questions = [q | {"id": f"{q['id']}-{i}"} for i in range(3) for q in questions][:QUESTIONS]
    for name, lines in (("corpus", documents), ("questions", questions)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(x) + "\n" for x in lines), encoding="utf-8")


def seen(page_path: Path) -> dict:
    """What a browser needs: milliseconds to open, to the first figure, the longest frame of a scroll."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        started = time.perf_counter()
        page.goto(page_path.as_uri())
        page.locator(".headline").first.wait_for()
        opened = time.perf_counter() - started
        page.locator("[data-figure]").first.scroll_into_view_if_needed()  # drawn when it comes near the view
        page.locator("[data-drawn]").first.wait_for()
        drawn = time.perf_counter() - started
        started = time.perf_counter()
        page.goto(page_path.as_uri() + "#/questions")
        page.locator('[data-table="questions"] tbody tr').first.wait_for()
        listed = time.perf_counter() - started
        started = time.perf_counter()
        page.goto(page_path.as_uri() + "#/document/long")
        page.locator(".row").first.wait_for()
        document = time.perf_counter() - started
        page.wait_for_timeout(1000)
        frames = page.evaluate(SCROLL)
        browser.close()
    return {"opened": opened, "drawn": drawn, "listed": listed, "document": document, "frames": frames}


SCROLL = """() => new Promise((done) => {
  const view = document.querySelector(".text"), frames = [];
  const step = view.scrollHeight / 400;
  let before = performance.now(), left = 400;
  function frame(now) {
    frames.push(now - before);
    before = now;
    view.scrollTop += step;
    if (--left) requestAnimationFrame(frame); else done(frames.slice(2));
  }
  requestAnimationFrame(frame);
})"""


def page(size: int, made: float, found: dict) -> str:
    frames = np.array(found["frames"])
    return f"""\
# The report of a large run

Made by `bench/report_size.py`: {len(CHUNKERS)} chunkers, {QUESTIONS:,} questions, 301 documents, one of them of {LONG:,} characters.

| | |
|---|---|
| size of `report.html` | {size / 1e6:.1f} MB |
| made from the run folder in | {made:.1f} s |
| opened (the verdict is there) after | {found["opened"]:.1f} s |
| first figure, scrolled to at once, drawn after | {found["drawn"]:.1f} s |
| list of {QUESTIONS:,} questions shown after | {found["listed"]:.1f} s |
| the long document shown after | {found["document"]:.1f} s |
| frames while it scrolls from begin to end: median, longest | {np.median(frames):.0f} ms, {frames.max():.0f} ms |
"""


def main() -> None:
    Minilm.embed = hashed
    with TemporaryDirectory() as place:
        folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(place)
        folder.mkdir(parents=True, exist_ok=True)
        inputs(folder)
        plan = Plan(str(folder / "corpus.jsonl"), str(folder / "questions.jsonl"), CHUNKERS, name="large")
        run(plan, folder / "large", cache=folder / "vectors.sqlite")
        started = time.perf_counter()
        report = write_report([folder / "large"], folder / "large" / "report.html")
        made = time.perf_counter() - started
        OUT.write_text(page(report.stat().st_size, made, seen(report)), encoding="utf-8")
    print(OUT.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
