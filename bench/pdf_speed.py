"""Pages a CPU second of the PDF reader, side by side with pdfplumber, pypdf and markitdown on the same files.

Writes docs/results/pdf_speed.md. Needs: pip install reportlab pdfplumber pypdf "markitdown[pdf]" beside faircut.
Each tool reads each file in a process of its own; CPU time is that process's, without imports. Every tool is asked for
the text of all pages; only faircut and markitdown also look for structure.
"""

import argparse
import random
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from importlib.metadata import version
from pathlib import Path

RESULT = Path(__file__).resolve().parent.parent / "docs" / "results" / "pdf_speed.md"
WORDS = [
    "the",
    "of",
    "retrieval",
    "document",
    "chunk",
    "boundary",
    "measure",
    "context",
    "embedding",
    "vector",
    "model",
    "passage",
    "question",
    "evidence",
    "budget",
    "token",
    "sentence",
    "paragraph",
    "structure",
    "similarity",
    "threshold",
    "window",
    "overlap",
    "recall",
    "precision",
    "index",
    "search",
    "corpus",
    "language",
    "page",
    "table",
    "column",
    "heading",
    "reading",
    "order",
    "engine",
    "character",
    "line",
]


# ---------------------------------------------------------------- the files


def sentence(rng):
    return " ".join(rng.choices(WORDS, k=rng.randint(8, 22))).capitalize() + "."


def paragraph(rng):
    return " ".join(sentence(rng) for _ in range(rng.randint(3, 8)))


def report(path, columns=1, chapters=75):
    """Headings with an outline, paragraphs, ruled tables, code, running header and page numbers."""
    from reportlab.lib import colors
    from reportlab.lib.pagesizes import A4
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import BaseDocTemplate, Frame, PageTemplate, Paragraph, Preformatted, Table

    rng = random.Random(columns)
    styles = getSampleStyleSheet()

    class Template(BaseDocTemplate):
        def afterFlowable(self, flowable):  # noqa: N802  # the library's name
            if isinstance(flowable, Paragraph) and flowable.style.name.startswith("Heading"):
                key = str(id(flowable))
                self.canv.bookmarkPage(key)
                self.canv.addOutlineEntry(flowable.getPlainText(), key, int(flowable.style.name[-1]) - 1, 0)

    def furniture(canvas, document):
        canvas.setFont("Helvetica", 9)
        canvas.drawString(72, 810, "A long report on chunking")
        canvas.drawCentredString(300, 30, f"Page {document.page}")

    width = 451 / columns
    frames = [Frame(72 + n * width, 60, width - 6 * (columns > 1), 730) for n in range(columns)]
    template = Template(str(path), pagesize=A4, title="Report")
    template.addPageTemplates(PageTemplate(frames=frames, onPage=furniture))
    story = []
    for chapter in range(chapters):
        story.append(Paragraph(f"{chapter + 1} Chapter about {rng.choice(WORDS)}", styles["Heading1"]))
        for part in range(3):
            story.append(Paragraph(f"{chapter + 1}.{part + 1} Section of {rng.choice(WORDS)}", styles["Heading2"]))
            story += [Paragraph(paragraph(rng), styles["BodyText"]) for _ in range(4)]
        if chapter % 3 == 0:
            rows = [["Name", "Value", "Note"]] + [
                [rng.choice(WORDS), str(rng.randint(1, 999)), "yes"] for _ in range(8)
            ]
            story.append(Table(rows, style=[("GRID", (0, 0), (-1, -1), 0.5, colors.black)]))
        if chapter % 4 == 0:
            story.append(Preformatted("def f(x):\n    if x:\n        return 1\n    return 2", styles["Code"]))
    template.build(story)


def tables(path):
    """One table without rules over 100 pages."""
    from reportlab.lib.pagesizes import A4
    from reportlab.platypus import SimpleDocTemplate, Table

    rng = random.Random(3)
    rows = [[f"Item {n}", rng.choice(WORDS), str(rng.randint(1, 9999)), f"{rng.random():.2f}"] for n in range(3900)]
    SimpleDocTemplate(str(path), pagesize=A4).build([Table([["Name", "Kind", "Count", "Share"], *rows], repeatRows=1)])


FILES = {"report, one column": report, "report, two columns": lambda p: report(p, 2), "one table": tables}


# ---------------------------------------------------------------- the tools


def with_faircut(path):
    from faircut.documents.pdf import PDF

    return lambda: len(PDF.read(Path(path), "x").text)


def with_pdfplumber(path):
    import pdfplumber

    def run():
        with pdfplumber.open(path) as file:
            return sum(len(page.extract_text()) for page in file.pages)

    return run


def with_pypdf(path):
    from pypdf import PdfReader

    return lambda: sum(len(page.extract_text()) for page in PdfReader(path).pages)


def with_markitdown(path):
    from markitdown import MarkItDown

    tool = MarkItDown(enable_plugins=False)
    return lambda: len(tool.convert(path).text_content)


TOOLS = {
    "faircut": with_faircut,
    "pypdf": with_pypdf,
    "pdfplumber": with_pdfplumber,
    "markitdown": with_markitdown,
}


def measure(tool, path):
    """Run in a process of its own: seconds of CPU, characters, and the peak of memory in MiB."""
    warnings.simplefilter("ignore")
    run = TOOLS[tool](path)
    start = time.process_time()
    characters = run()
    seconds = time.process_time() - start
    print(seconds, characters, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args().measure
    if given:
        measure(*given)
        return
    RESULT.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        RESULT.write_text(page(Path(folder)), encoding="utf-8")
    print(RESULT.read_text(encoding="utf-8"))


def page(folder):
    from pypdfium2 import PdfDocument

    lines = [
        "# PDF: pages a CPU second",
        "",
        "Made by `bench/pdf_speed.py`. Each tool reads each file in a process of its own; CPU time without imports.",
        "faircut gives blocks (headings, paragraphs, tables joined over pages), the others text or Markdown.",
        "",
        "| file | pages | tool | pages / CPU second | CPU seconds | characters | peak memory, MiB |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, make in FILES.items():
        path = folder / "file.pdf"
        make(path)
        count = len(PdfDocument(path))
        for tool in TOOLS:
            command = [sys.executable, __file__, "--measure", tool, str(path)]
            output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            seconds, characters, memory = map(float, output.split()[-3:])
            rate = f"{count / seconds:.0f} | {seconds:.2f} | {characters:,.0f} | {memory:.0f}"
            lines.append(f"| {name} | {count} | {tool} | {rate} |")
    versions = ", ".join(f"{t} {version(t)}" for t in ("pypdfium2", "liteparse", "pypdf", "pdfplumber", "markitdown"))
    return "\n".join([*lines, "", f"Versions: {versions}."]) + "\n"


if __name__ == "__main__":
    main()
