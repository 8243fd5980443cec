"""Headings of the PDF reader: precision and recall on PDFs made from the sample documents, whose headings are known.

Writes docs/results/pdf_headings.md. Needs: pip install reportlab beside faircut; for the files of other programs see
pdf_producers.py; ``--papers FILE`` adds Markdown texts of a corpus (JSONL with ``text``) to those. Each Markdown document of
examples/corpus is set in three designs, with an outline and without. A heading counts when text and level are right;
"text" counts it whatever its level (the levels of a document that begins at level 2 cannot be known from its fonts).
"""

import argparse
import gzip
import json
import re
import tempfile
import warnings
from html import escape
from pathlib import Path

from faircut.documents import read
from faircut.documents.pdf import PDF
from pdf_producers import EVIDENCE, content, present

REPOSITORY = Path(__file__).resolve().parent.parent
RESULT = REPOSITORY / "docs" / "results" / "pdf_headings.md"
DESIGNS = {  # name: sizes of the headings, their font, size of the body
    "larger and bold": ([20, 15, 12.5, 11], "Helvetica-Bold", 10),
    "larger, not bold": ([18, 14, 12, 11.5], "Times-Roman", 10),
    "bold in the size of the body": ([14, 11, 11, 11], "Times-Bold", 11),
}


def plain(text):
    return re.sub(r"[\W_]+", "", text).casefold()


def pieces(document):
    for block in document.blocks:
        text = document.text[block.span.start : block.span.end].strip()
        if block.kind == "heading":
            text = re.sub(r"^#+\s*|\s*#+$", "", text)
        yield block.kind, block.level, re.sub(r"[*_`]", "", text)


def typeset(document, path, design, with_outline):
    from reportlab.lib.pagesizes import A4
    from reportlab.lib.styles import ParagraphStyle
    from reportlab.platypus import Paragraph, Preformatted, SimpleDocTemplate, Spacer

    sizes, font, body = DESIGNS[design]
    text_style = ParagraphStyle("text", fontName=font.split("-")[0].replace("Times", "Times-Roman"), fontSize=body)
    text_style.leading = 1.25 * body
    heads = {
        n: ParagraphStyle(f"h{n}", fontName=font, fontSize=s, leading=1.25 * s, spaceBefore=s, spaceAfter=0.4 * s)
        for n, s in enumerate(sizes, 1)
    }

    class Template(SimpleDocTemplate):
        def afterFlowable(self, flowable):  # noqa: N802  # the library's name
            level = getattr(flowable, "level", None)
            if with_outline and level:
                self.canv.bookmarkPage(str(id(flowable)))
                depth = min(level - 1, self.last + 1)
                self.last = depth
                self.canv.addOutlineEntry(flowable.getPlainText(), str(id(flowable)), depth, 0)

    template = Template(str(path), pagesize=A4)
    template.last = -1
    story = []
    for kind, level, text in pieces(document):
        if kind == "heading":
            item = Paragraph(escape(text), heads[min(level, 4)])
            item.level = level
            story.append(item)
        elif kind in ("list", "table", "code"):
            story += [Preformatted(text, text_style), Spacer(1, 6)]
        else:
            story += [Paragraph(escape(text), text_style), Spacer(1, 6)]
    template.build(story)


def found_texts(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        document = PDF.read(path, "x")
    return [(level, text) for kind, level, text in pieces(document) if kind == "heading"]


def found(path):
    return [(level, plain(text)) for level, text in found_texts(path)]


def score(wanted, got):
    """Right ones of two lists, each counted as often as it is in both."""
    rest = list(got)
    right = 0
    for item in wanted:
        if item in rest:
            rest.remove(item)
            right += 1
    return right


def row(folder, sources, design, with_outline):
    sums = dict.fromkeys(("wanted", "got", "right", "text"), 0)
    for source in sources:
        document = read(source)
        path = folder / "file.pdf"
        typeset(document, path, design, with_outline)
        wanted = [(level, plain(text)) for kind, level, text in pieces(document) if kind == "heading"]
        got = found(path)
        sums["wanted"] += len(wanted)
        sums["got"] += len(got)
        sums["right"] += score(wanted, got)
        sums["text"] += score([t for _, t in wanted], [t for _, t in got])
    precision, recall = sums["text"] / max(sums["got"], 1), sums["text"] / sums["wanted"]
    level = sums["right"] / sums["wanted"]
    name = "outline" if with_outline else "fonts alone"
    return f"| {design} | {name} | {sums['wanted']} | {sums['got']} | {precision:.3f} | {recall:.3f} | {level:.3f} |"


# ---------------------------------------------------------------- other programs


def papers(path, count):
    """The first short documents of a corpus, as a name and a Markdown text each."""
    if not path:
        return {}
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    texts = [text for text in (json.loads(line)["text"] for line in raw.splitlines()) if len(text) < 25_000]
    return {f"paper{n}": text for n, text in enumerate(texts[:count])}


def without_number(text, program, design):
    """Typst sets its own numbers in front of the headings of its second design."""
    return re.sub(r"^\s*\d+(\.\d+)*\s+", "", text) if (program, design) == ("typst", 2) else text


def program_row(make, program, texts, evidence, design):
    sums = dict.fromkeys(("wanted", "got", "right", "text"), 0)
    with tempfile.TemporaryDirectory() as folder:
        make(texts, Path(folder), evidence, design)
        for name, text in texts.items():
            wanted = [(level, plain(held)) for kind, level, held in content(text) if kind == "heading"]
            got = [
                (level, plain(without_number(held, program, design)))
                for level, held in found_texts(Path(folder) / f"{name}.pdf")
            ]
            sums["wanted"] += len(wanted)
            sums["got"] += len(got)
            sums["right"] += score(wanted, got)
            sums["text"] += score([t for _, t in wanted], [t for _, t in got])
    precision, recall = sums["text"] / max(sums["got"], 1), sums["text"] / sums["wanted"]
    shares = f"{precision:.3f} | {recall:.3f} | {sums['right'] / sums['wanted']:.3f}"
    return f"| {program} | {design} | {evidence} | {sums['wanted']} | {sums['got']} | {shares} |"


def programs(sources, corpus):
    """The table of other programs: odd documents in their first design, even ones in the second."""
    made, missing = present()
    yield "| program | design | evidence | headings | found | precision (text) | recall (text) | right level |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    extra = list(papers(corpus, 12).items())
    for design in (1, 2):
        texts = {p.stem: p.read_text(encoding="utf-8") for p in sources[design - 1 :: 2]}
        texts |= dict(extra[6 * (design - 1) : 6 * design])
        for program, make in made.items():
            for evidence in EVIDENCE:
                yield program_row(make, program, texts, evidence, design)
    if missing:
        yield f"\nNot installed, so left out: {', '.join(missing)}."


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--papers", type=Path, help="a JSONL(.gz) file of Markdown documents")
    corpus = parser.parse_args().papers
    sources = sorted((REPOSITORY / "examples" / "corpus").glob("*.md"))
    lines = [
        "# PDF: headings found",
        "",
        f"Made by `bench/pdf_headings.py` from {len(sources)} Markdown documents, each set in three designs.",
        "",
        "| design | evidence | headings | found | precision (text) | recall (text) | recall with the right level |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    with tempfile.TemporaryDirectory() as folder:
        for design in DESIGNS:
            lines += [row(Path(folder), sources, design, with_outline) for with_outline in (True, False)]
    lines += [
        "",
        "## Files of other programs",
        "",
        "The rules were mended on design 1, so its figures are not held out; before that it had, by fonts alone,",
        "precision / recall 0.828 / 0.992 (LibreOffice), 0.910 / 1.000 (weasyprint), 0.996 / 0.960 (typst),",
        "0.988 / 0.996 (fpdf2), 1.000 / 1.000 (reportlab).",
        "Design 2 was read once after that. Held out, it had precision / recall 0.985 / 1.000 (LibreOffice),",
        "0.993 / 1.000 (weasyprint), 0.988 / 0.926 (typst), 0.996 / 0.996 (fpdf2) and 1.000 / 0.747 (reportlab) by fonts",
        "alone, and every heading at its level with an outline but for 2 of 269 of typst. These two led to two faults",
        "that were mended later (a page number that stands between two columns; a heading taken for the head of the table",
        "below it), so the figures of design 2 in the table are no longer held out.",
        "",
        "Not found by fonts alone, and left so: headings in plain italic type of the body's size (the third level of",
        "reportlab's design 2), which look like any sentence in italics.",
        "",
        *programs(sources, corpus),
    ]
    RESULT.parent.mkdir(parents=True, exist_ok=True)
    RESULT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(RESULT.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
