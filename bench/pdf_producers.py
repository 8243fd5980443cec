"""Markdown -> PDFs by five other programs, so that the PDF reader is judged on files that none of its rules saw made.

Used by pdf_headings.py and pdf_tables.py. Needs: pip install reportlab fpdf2 weasyprint typst, and LibreOffice Writer
(``soffice``); a program that is missing is left out and said so. Each has two designs: the first is its own default.
"""

import json
import shutil
import subprocess
import tempfile
from html import escape
from importlib.util import find_spec

EVIDENCE = ("outline", "fonts alone")

# ---------------------------------------------------------------- Markdown taken apart


def parser():
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable("table")


def plain(node):
    """The words of a node's inline content."""
    if node.type in ("text", "code_inline"):
        return node.content
    if node.type in ("softbreak", "hardbreak"):
        return " "
    return "".join(map(plain, node.children))


def items(node, depth=0):
    for number, item in enumerate(node.children, int(node.attrs.get("start", 1))):
        mark = f"{number}." if node.type == "ordered_list" else "-"
        words = " ".join(plain(c) for c in item.children if not c.type.endswith("_list"))
        yield depth, mark, words
        for child in item.children:
            if child.type.endswith("_list"):
                yield from items(child, depth + 1)


def content(text):
    """(kind, level, what it holds) of each block: text, items (depth, mark, text) or rows of cells."""
    from markdown_it.tree import SyntaxTreeNode

    for node in SyntaxTreeNode(parser().parse(text)).children:
        if node.type == "heading":
            yield "heading", int(node.tag[1]), plain(node)
        elif node.type in ("bullet_list", "ordered_list"):
            yield "list", None, list(items(node))
        elif node.type == "table":
            yield "table", None, [[plain(c) for c in row.children] for part in node.children for row in part.children]
        elif node.type in ("fence", "code_block"):
            yield "code", None, node.content.rstrip("\n")
        elif node.type != "hr":
            yield "paragraph", None, plain(node)


# ---------------------------------------------------------------- weasyprint and LibreOffice: by way of HTML

STYLES = {
    1: "table, td, th {border: 1px solid black; border-collapse: collapse}",
    2: """@page {size: Letter; margin: 2.2cm; @bottom-right {content: counter(page)}}
body {font-family: "DejaVu Sans"; font-size: 9pt} h1, h2, h3 {font-family: "DejaVu Serif"; font-weight: normal}
h1 {font-size: 17pt; text-align: center; color: #224466} h2 {font-size: 12.5pt; color: #224466}
h3 {font-size: 10.5pt; font-style: italic} h4 {font-size: 9pt; font-weight: bold} table {border-collapse: collapse}
td, th {padding: 2pt 6pt; text-align: left; border-bottom: 0.5pt solid grey} li {margin: 2pt 0}""",
}


def page_of(text, design, more=""):
    style = STYLES[design] + more
    return f'<html><head><meta charset="utf-8"><style>{style}</style></head><body>{parser().render(text)}</body></html>'


def weasyprint_pdf(texts, folder, evidence, design):
    from weasyprint import HTML

    without = "" if evidence == "outline" else " h1, h2, h3, h4, h5, h6 {bookmark-level: none}"
    for name, text in texts.items():
        HTML(string=page_of(text, design, without)).write_pdf(folder / f"{name}.pdf")


def libreoffice_pdf(texts, folder, evidence, design):
    for name, text in texts.items():
        (folder / f"{name}.html").write_text(page_of(text, design), encoding="utf-8")
    convert(list(folder.glob("*.html")), folder, outline=evidence == "outline")


def convert(paths, folder, *, outline=False, tags=False):
    """Any files that LibreOffice Writer opens, to PDF."""
    options = {"UseTaggedPDF": tags, "ExportBookmarks": outline}
    given = {key: {"type": "boolean", "value": str(value).lower()} for key, value in options.items()}
    with tempfile.TemporaryDirectory() as home:
        command = ["soffice", f"-env:UserInstallation=file://{home}", "--headless"]
        command += ["--infilter=HTML (StarWriter)"] if paths[0].suffix == ".html" else []
        command += ["--convert-to", f"pdf:writer_pdf_Export:{json.dumps(given)}", "--outdir", str(folder)]
        subprocess.run([*command, *map(str, paths)], check=True, capture_output=True)


# ---------------------------------------------------------------- typst

TYPST = {
    1: "",
    2: '#set page(columns: 2, margin: 2cm, numbering: "1")\n#set text(size: 9.5pt, font: "DejaVu Serif")\n'
    '#set par(justify: true)\n#set heading(numbering: "1.1")\n#show heading.where(level: 3): set text(size: 9.5pt)\n',
}


def quoted(text):
    return json.dumps(text, ensure_ascii=False).replace("\\u0000", "")


def typst_source(text, evidence, design):
    shown = "true" if evidence == "outline" else "false"
    parts = [TYPST[design] + f"#set heading(bookmarked: {shown})"]
    for kind, level, held in content(text):
        if kind == "heading":
            parts.append(f"#heading(level: {level}, {quoted(held)})")
        elif kind == "list":
            parts.append("\n".join("  " * d + ("+ " if m[0].isdigit() else "- ") + f"#{quoted(t)}" for d, m, t in held))
        elif kind == "table":
            cells = ", ".join(quoted(c) for row in held for c in row)
            parts.append(f"#table(columns: {len(held[0])}, {cells})")
        elif kind == "code":
            parts.append(f"#raw(block: true, {quoted(held)})")
        else:
            parts.append(f"#{quoted(held)}")
    return "\n\n".join(parts)


def typst_pdf(texts, folder, evidence, design):
    import typst

    for name, text in texts.items():
        source = folder / f"{name}.typ"
        source.write_text(typst_source(text, evidence, design), encoding="utf-8")
        typst.compile(str(source), output=str(folder / f"{name}.pdf"), pdf_tags=False)


# ---------------------------------------------------------------- fpdf2

FPDF = {  # font, sizes and styles of the headings, size of the body
    1: ("Helvetica", [(24, ""), (18, "B"), (14, "B"), (12, "B")], 12),
    2: ("Times", [(15, "B"), (12, "BU"), (10.5, "BI"), (10.5, "I")], 10.5),
}


def latin(text):
    return text.encode("cp1252", "replace").decode("cp1252").encode("latin-1", "replace").decode("latin-1")


def fpdf_pdf(texts, folder, evidence, design):
    for name, text in texts.items():
        fpdf_file(text, folder / f"{name}.pdf", evidence, *FPDF[design])


def fpdf_file(text, path, evidence, font, heads, size):
    import fpdf

    pdf = fpdf.FPDF()
    pdf.add_page()
    last = -1
    for kind, level, held in content(text):
        pdf.set_font(font, size=size)
        if kind == "heading":
            points, style = heads[min(level, len(heads)) - 1]
            pdf.ln(0.25 * points)
            if evidence == "outline":
                last = min(level - 1, last + 1)
                pdf.start_section(latin(held), level=last)
            pdf.set_font(font, style, points)
            pdf.multi_cell(0, 0.42 * points, latin(held), new_x="LMARGIN", new_y="NEXT")
            pdf.ln(1)
        elif kind == "table":
            with pdf.table() as table:
                for cells in held:
                    table.row([latin(c) for c in cells])
        elif kind == "code":
            pdf.set_font("Courier", size=size - 1)
            pdf.multi_cell(0, 0.4 * size, latin(held), new_x="LMARGIN", new_y="NEXT")
        else:
            lines = [f"{'    ' * d}{m} {t}" for d, m, t in held] if kind == "list" else [held]
            for line in lines:
                pdf.multi_cell(0, 0.42 * size, latin(line), new_x="LMARGIN", new_y="NEXT")
        pdf.ln(0.2 * size)
    pdf.output(str(path))


# ---------------------------------------------------------------- reportlab


def reportlab_pdf(texts, folder, evidence, design):
    for name, text in texts.items():
        reportlab_file(text, folder / f"{name}.pdf", evidence, design)


def reportlab_styles(design):
    from reportlab.lib.styles import getSampleStyleSheet

    styles = getSampleStyleSheet()
    if design == 2:
        for n, (font, size) in enumerate([("Helvetica-Bold", 13), ("Helvetica-Bold", 10), ("Helvetica-Oblique", 10)]):
            styles[f"Heading{n + 1}"].fontName, styles[f"Heading{n + 1}"].fontSize = font, size
            styles[f"Heading{n + 1}"].leading = 1.2 * size
        styles["Heading1"].alignment = 1
        styles["BodyText"].fontName, styles["BodyText"].firstLineIndent = "Times-Roman", 12
        styles["BodyText"].spaceBefore, styles["BodyText"].alignment = 0, 4
    return styles


def reportlab_file(text, path, evidence, design):
    from reportlab.lib import colors
    from reportlab.platypus import (
        ListFlowable,
        Paragraph,
        Preformatted,
        SimpleDocTemplate,
        Spacer,
        Table,
    )

    class Template(SimpleDocTemplate):
        last = -1

        def afterFlowable(self, flowable):  # noqa: N802  # the library's name
            level = getattr(flowable, "level", None)
            if evidence == "outline" and level:
                self.canv.bookmarkPage(str(id(flowable)))
                self.last = min(level - 1, self.last + 1)
                self.canv.addOutlineEntry(flowable.getPlainText(), str(id(flowable)), self.last, 0)

    def running(canvas, document):
        canvas.setFont("Times-Italic", 9)
        canvas.drawString(72, 800, "Collected papers")
        canvas.drawRightString(520, 30, str(document.page))

    styles = reportlab_styles(design)
    story = []
    for kind, level, held in content(text):
        if kind == "heading":
            item = Paragraph(escape(held), styles[f"Heading{min(level, 6)}"])
            item.level = level
            story.append(item)
        elif kind == "list":
            story.append(ListFlowable([Paragraph(escape(t), styles["BodyText"]) for _, _, t in held], bulletType="1"))
        elif kind == "table":
            rows = [[Paragraph(escape(c), styles["BodyText"]) for c in row] for row in held]
            rule = ("GRID", (0, 0), (-1, -1), 0.5, colors.black) if design == 1 else ("TOPPADDING", (0, 0), (-1, -1), 1)
            story += [Table(rows, style=[rule]), Spacer(1, 6)]
        elif kind == "code":
            story.append(Preformatted(held, styles["Code"]))
        else:
            story.append(Paragraph(escape(held), styles["BodyText"]))
    Template(str(path)).build(story, **({"onLaterPages": running} if design == 2 else {}))


def present():
    """The programs that are installed, and the names of those that are not."""
    made = {name: (make, found()) for name, (make, found) in PRODUCERS.items()}
    return {n: make for n, (make, found) in made.items() if found}, [n for n, (_, found) in made.items() if not found]


PRODUCERS = {
    "LibreOffice": (libreoffice_pdf, lambda: shutil.which("soffice") is not None),
    "weasyprint": (weasyprint_pdf, lambda: find_spec("weasyprint") is not None),
    "typst": (typst_pdf, lambda: find_spec("typst") is not None),
    "fpdf2": (fpdf_pdf, lambda: find_spec("fpdf") is not None),
    "reportlab": (reportlab_pdf, lambda: find_spec("reportlab") is not None),
}
