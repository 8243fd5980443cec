"""The pictures in the documentation: the same page of text cut by every chunker, one SVG each in `docs/images/`.

And `equal-k.svg`: the ranks of `docs/results/presets.md` at equal k and at equal tokens. The same input gives the same
bytes. Run after a change of a chunker, or after `bench/presets.py`; `tests/test_site.py` tells when it was forgotten.
`python bench/pictures.py --report runs/demo` photographs the report of a finished run (`make demo` makes that one) with
Chromium: the pictures of the README and of docs/report.md. `--explorer` starts `faircut serve` and photographs it.
"""

import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import wrap
from xml.sax.saxutils import escape

from faircut import EMBEDDERS, Chunk, Document, Models, build, read

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "docs" / "images"
SOURCE = ROOT / "examples" / "corpus" / "manual-tidebook-api.md"
FIRST, AFTER = "### 1.1 Conventions", "## 3. Sailings"  # the page: a list, code, paragraphs, headings and a table

SPECS = {
    "fixed": "fixed(96t)",
    "recursive": "recursive(max=96t)",
    "paragraph": "paragraph(max=96t)",
    "sentence": "sentence(max=96t)",
    "semantic": "semantic(max=96t)",
    "structure": "structure(max=96t)",
    "hybrid": "hybrid(max=96t)",
    "optimal": "optimal(mean=64t, max=96t)",
    "shuffled": "shuffled(recursive(max=96t))",
}
# These cut as a language model or the user's own splitter says.
NOT_PICTURED = ("llm", "contextual", "propositions", "proposition_paragraph", "proposition_semantic", "python")
NEED_VECTORS = ("semantic", "hybrid")  # elsewhere a cut may move with the last digit of a cosine

COLUMNS, CHARACTER, LINE, LEFT, TOP = 92, 6.3, 15, 14, 34  # columns of text; then pixels

# Light and dark by the reader's setting; the tones differ in lightness too, and labels and bars carry the same facts.
STYLE = """
:root{--paper:#fff;--ink:#1c2430;--faint:#5b6675;--a:#d7e6f7;--b:#fbe3c0;--c:#c9c3e6;--edge-a:#1f5fa8;--edge-b:#a35a00}
@media (prefers-color-scheme:dark){:root{--paper:#14181f;--ink:#e8ecf2;--faint:#a3afbf;--a:#1d3a5c;--b:#573a10;
--c:#46407a;--edge-a:#7db4f0;--edge-b:#f0b35e}}
.paper{fill:var(--paper)}.a{fill:var(--a)}.b{fill:var(--b)}.c{fill:var(--c)}.ea{fill:var(--edge-a)}.eb{fill:var(--edge-b)}
text{font:10.5px ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:var(--ink);white-space:pre}
.label,.head{font-family:system-ui,sans-serif}.label{fill:var(--faint)}.head{font-size:13px;font-weight:600}
.la{stroke:var(--edge-a)}.lb{stroke:var(--edge-b)}line{stroke-width:2}
"""


@dataclass(frozen=True)
class Row:
    """A line as it is drawn: the code points ``[start, end)``, and ``following``, where the next line begins."""

    start: int
    end: int
    following: int


def page() -> Document:
    """The page that all chunkers cut, read as the reader of Markdown reads it."""
    text = SOURCE.read_text(encoding="utf-8")
    with TemporaryDirectory() as folder:
        file = Path(folder) / "page.md"
        file.write_text(text[text.index(FIRST) : text.index(AFTER)], encoding="utf-8")
        return read(file)


def picture(name: str, models: Models) -> str:
    """The SVG of the page as the chunker of that name cuts it."""
    document = page()
    chunks = build(SPECS[name]).chunk(document, models)
    sizes = models.tokenizer.count_many([chunk.embedded_text for chunk in chunks])
    contexts = models.tokenizer.count_many([chunk.context for chunk in chunks])
    rows = list(rows_of(document.text))
    owners = owners_of(document.text, chunks)
    height = TOP + len(rows) * LINE + 12
    title = f"{SPECS[name]}: {len(chunks)} chunks of one page"
    parts = [f'<text class="head" x="{LEFT}" y="20">{escape(title)}</text>']
    parts += bands(rows, owners)
    parts += edges(rows, chunks)
    parts += labels(rows, chunks, sizes, contexts)
    parts += [line(document.text, row, number) for number, row in enumerate(rows) if row.end > row.start]
    return svg(title, describe(document, chunks, sizes), 760, height, parts)


def rows_of(text: str) -> Iterator[Row]:
    """The lines of the text, long ones broken at spaces."""
    start = 0
    for source in text.splitlines(keepends=True):
        content, position = source.rstrip("\n"), start
        for piece in wrap(content, COLUMNS, drop_whitespace=False, break_on_hyphens=False) or [""]:
            last = position + len(piece) == start + len(content)
            yield Row(position, position + len(piece), start + len(source) if last else position + len(piece))
            position += len(piece)
        start += len(source)


def owners_of(text: str, chunks: Sequence[Chunk]) -> list[str]:
    """For each character the class of its band: chunks in turn ``a`` and ``b``, ``c`` where two share it, else none."""
    owners = [""] * len(text)
    for number, chunk in enumerate(chunks):
        for span in chunk.spans:
            for at in range(span.start, span.end):
                owners[at] = "c" if owners[at] else "ab"[number % 2]
    return owners


def bands(rows: Sequence[Row], owners: Sequence[str]) -> Iterator[str]:
    """Rectangles behind the text; full lines of one chunk are joined to one rectangle."""
    width, open_band = COLUMNS * CHARACTER, ("", 0, 0)
    for number, row in enumerate(rows):
        kinds = owners[row.start : row.following]
        whole = kinds[0] if len(set(kinds)) == 1 else ""
        if whole and (whole, number) == (open_band[0], open_band[2]):
            open_band = (whole, open_band[1], number + 1)
            continue
        yield from close(open_band, width)
        open_band = (whole, number, number + 1)
        if not whole:
            yield from pieces(kinds, number, width)
    yield from close(open_band, width)


def close(band: tuple[str, int, int], width: float) -> Iterator[str]:
    kind, first, last = band
    if kind:
        yield rect(kind, LEFT, first, width, last - first)


def pieces(kinds: Sequence[str], number: int, width: float) -> Iterator[str]:
    """The parts of a line that several chunks share; the last one reaches to the edge of the page."""
    cuts = [0, *(at for at in range(1, len(kinds)) if kinds[at] != kinds[at - 1]), len(kinds)]
    for start, end in pairwise(cuts):
        right = width if end == len(kinds) else end * CHARACTER
        if kinds[start] and start * CHARACTER < width:
            yield rect(kinds[start], LEFT + start * CHARACTER, number, right - start * CHARACTER, 1)


def rect(kind: str, x: float, row: int, width: float, rows: int) -> str:
    return f'<rect class="{kind}" x="{x:g}" y="{TOP + row * LINE}" width="{round(width, 1):g}" height="{rows * LINE}"/>'


def edges(rows: Sequence[Row], chunks: Sequence[Chunk]) -> Iterator[str]:
    """A bar in the text where each chunk begins, so that a cut inside a line is seen."""
    for number, chunk in enumerate(chunks):
        at = row_of(rows, chunk.spans[0].start)
        x = LEFT + round((chunk.spans[0].start - rows[at].start) * CHARACTER, 1)
        yield f'<rect class="e{"ab"[number % 2]}" x="{x - 2:g}" y="{TOP + at * LINE}" width="2" height="{LINE}"/>'


def labels(rows: Sequence[Row], chunks: Sequence[Chunk], sizes: Sequence[int], contexts: Sequence[int]) -> list[str]:
    """Number and size of each chunk at the right of the line in which it begins."""
    told: dict[int, list[str]] = {}
    for number, (chunk, size, context) in enumerate(zip(chunks, sizes, contexts, strict=True), 1):
        repeated = f", {context} context" if chunk.context else ""
        told.setdefault(row_of(rows, chunk.spans[0].start), []).append(f"{number}: {size} t{repeated}")
    x = LEFT + COLUMNS * CHARACTER + 8
    return [
        f'<text class="label" x="{x:g}" y="{TOP + at * LINE + 11}">{escape("; ".join(texts))}</text>'
        for at, texts in told.items()
    ]


def row_of(rows: Sequence[Row], position: int) -> int:
    return next(number for number, row in enumerate(rows) if position < row.following)


def line(text: str, row: Row, number: int) -> str:
    """A line of text, held to its columns whatever font the reader has."""
    shown = text[row.start : row.end]
    length = round(len(shown) * CHARACTER, 1)
    return f'<text x="{LEFT}" y="{TOP + number * LINE + 11}" textLength="{length:g}">{escape(shown)}</text>'


def describe(document: Document, chunks: Sequence[Chunk], sizes: Sequence[int]) -> str:
    """The same in words, for who does not see the picture."""

    def told(number: int, chunk: Chunk, size: int) -> str:
        first = " ".join(document.text[chunk.spans[0].start : chunk.spans[-1].end].split())[:32]
        return f"Chunk {number}, {size} tokens, begins: {first}"

    return ". ".join(told(n, *pair) for n, pair in enumerate(zip(chunks, sizes, strict=True), 1))


def svg(title: str, description: str, width: int, height: int, parts: Sequence[str]) -> str:
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            'role="img" aria-labelledby="title desc" xml:space="preserve">',
            f'<title id="title">{escape(title)}</title><desc id="desc">{escape(description)}</desc>',
            f"<style>{STYLE.strip()}</style>",
            f'<rect class="paper" width="{width}" height="{height}"/>',
            *parts,
            "</svg>\n",
        ]
    )


# ---------------------------------------------------------------- equal k and equal tokens

PRESETS = ROOT / "docs" / "results" / "presets.md"
CORPUS = "contractnli_dev"  # where the difference is largest; the other two are on the same page of results


def equal_k() -> str:
    """Two columns of ranks, a line for each chunker from its score at 5 chunks to its score at 1,000 tokens."""
    scores = scores_of(PRESETS.read_text(encoding="utf-8").partition(f"## {CORPUS}\n")[2].partition("\n## ")[0])
    at_k = sorted(scores, key=lambda name: -scores[name][0])
    at_tokens = sorted(scores, key=lambda name: -scores[name][2])
    title = "The ranks at 5 chunks and at 1,000 tokens"
    parts = [
        text_at(250, 24, "recall of the first 5 chunks", "head", "end"),
        text_at(470, 24, "recall of the first 1,000 tokens", "head", "start"),
    ]
    for rank, name in enumerate(at_k):
        score, tokens, at_budget = scores[name]
        left, right = 56 + 30 * rank, 56 + 30 * at_tokens.index(name)
        kind = "lb" if right > left else "la"
        parts.append(f'<line class="{kind}" x1="262" y1="{left}" x2="458" y2="{right}"/>')
        parts.append(text_at(250, left + 4, f"{name}  {score:.3f} ({tokens} t)", "", "end"))
        parts.append(text_at(470, right + 4, f"{at_budget:.3f}  {name}", "", "start"))
    words = "; ".join(f"{n}: {s:.3f} with {t} tokens, {b:.3f} at 1,000 tokens" for n, (s, t, b) in scores.items())
    return svg(title, words, 720, 56 + 30 * len(scores), parts)


def scores_of(section: str) -> dict[str, tuple[float, str, float]]:
    """For each chunker: recall at 5 chunks, the tokens that they took, recall at 1,000 tokens."""
    cells = [[c.strip(" `") for c in row.split("|")[1:-1]] for row in section.splitlines() if row.startswith("| `")]
    budget = {row[0]: float(row[3]) for row in cells if len(row) == 8}
    five = {row[0]: re.split(" at ", row[3]) for row in cells if len(row) == 6}
    return {name: (float(five[name][0]), five[name][1], budget[name]) for name in budget}


def text_at(x: int, y: int, content: str, kind: str, anchor: str) -> str:
    return f'<text class="{kind}" x="{x}" y="{y}" text-anchor="{anchor}">{escape(content)}</text>'


# ---------------------------------------------------------------- the report, photographed

# The page's address and its height in pixels.
SHOTS = {
    "report-overview.png": ("#/", 1290),
    "report-question.png": ("#/question/a-003", 1100),
    "report-document.png": ("#/document/manual-tidebook-api.md", 1000),
}
ARGUMENTS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"]
LARGEST = 300_000  # bytes of a picture


def photograph(run: Path) -> None:
    """Pictures of three pages of a run's report, made anew, with Playwright and a Chromium on this machine."""
    from playwright.sync_api import sync_playwright

    from faircut.report.pages import write_report

    page = write_report([run], run / "report.html").resolve().as_uri()
    with sync_playwright() as playwright:
        found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        for name, (address, height) in SHOTS.items():
            tab = browser.new_page(viewport={"width": 1280, "height": height}, color_scheme="light")
            tab.goto(page + address)
            tab.locator("h1:visible, h2:visible").first.wait_for()
            tab.wait_for_timeout(4000)  # figures and lanes are drawn
            tab.screenshot(path=OUT / name)
            tab.close()
            check_size(OUT / name)
        browser.close()


def photograph_explorer() -> None:
    """A picture of `faircut serve`: a document of the examples, two chunkers, a question that is answered."""
    from playwright.sync_api import sync_playwright

    command = [Path(sys.executable).with_name("faircut"), "serve", ROOT / "examples" / "corpus", "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout
        address = server.stdout.readline().split()[1]
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
            tab = browser.new_page(viewport={"width": 1200, "height": 860}, color_scheme="light")
            tab.goto(address)
            tab.get_by_role("button", name="manual-tidebook-api.md").click()
            tab.locator(".viewer .row").first.wait_for()
            tab.get_by_label("Question", exact=True).fill("How many requests may an agent make in a minute?")
            tab.get_by_role("button", name="Ask", exact=True).click()
            tab.locator(".ranking").nth(1).wait_for()
            tab.mouse.wheel(0, -10_000)
            tab.wait_for_timeout(1000)
            whole = {"x": 0, "y": 0, "width": 1200, "height": 1260}
            tab.screenshot(path=OUT / "explorer.png", full_page=True, clip=whole)
            browser.close()
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(20)
    check_size(OUT / "explorer.png")


def check_size(picture: Path) -> None:
    """A page of the documentation opens fast."""
    size = picture.stat().st_size
    if size > LARGEST:
        sys.exit(f"{picture} has {size:,} bytes, at most {LARGEST:,} are wanted")
    print(f"{picture.name}: {size:,} bytes")


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    if sys.argv[1:2] == ["--report"]:
        photograph(Path(sys.argv[2]))
        return
    if sys.argv[1:2] == ["--explorer"]:
        photograph_explorer()
        return
    models = Models.of(EMBEDDERS.build("minilm"))
    for name in sys.argv[1:] or SPECS:
        (OUT / f"cuts-{name}.svg").write_text(picture(name, models), encoding="utf-8", newline="\n")
    (OUT / "equal-k.svg").write_text(equal_k(), encoding="utf-8", newline="\n")
    print(*sorted(path.name for path in OUT.glob("*.svg")), sep="\n")


if __name__ == "__main__":
    main()
