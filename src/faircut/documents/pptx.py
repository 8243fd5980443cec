"""PPTX -> a document with a heading a slide, its text in reading order, tables, charts and the speaker's notes.

Pages are the numbers of slides. Comments, footers and slide numbers are left out, comments and footers are counted.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree.ElementTree import Element

from faircut.documents.building import DocumentBuilder
from faircut.documents.contract import Reader
from faircut.documents.marked_items import BULLET, MarkedItem, list_text
from faircut.documents.office_charts import add_chart
from faircut.documents.open_packaging import Package, open_package, titled, warn_left_out
from faircut.documents.pptx_shapes import A, P, Shape, in_reading_order, is_title, same_place, shapes_of
from faircut.documents.pptx_text import add_body, add_table, body_text
from faircut.errors import DocumentError
from faircut.records import Document

__all__ = ["PPTX"]

_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
_CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_MAX_PLACES = 200  # shapes of a layout that are looked at for what they hand down
_RUNNING = ("ftr", "hdr", "dt", "sldNum")

_MEDIA = {
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ".pptm": "application/vnd.ms-powerpoint.presentation.macroenabled.12",
    ".ppsx": "application/vnd.openxmlformats-officedocument.presentationml.slideshow",
    ".potx": "application/vnd.openxmlformats-officedocument.presentationml.template",
}


@dataclass
class _Layer:
    """A layout or master: its shapes, and the styles of its text."""

    root: Element
    shapes: list[Shape]

    def styles(self, shape: Shape) -> Iterator[Element]:
        """What it says of the text in a placeholder."""
        found = same_place(shape.placeholder, self.shapes) if shape.placeholder else None
        if found is not None:
            yield from found.element.findall(f"{P}txBody/{A}lstStyle")
        kind = "bodyStyle" if shape.placeholder else "otherStyle"
        yield from self.root.findall(f"{P}txStyles/{P}{kind}")


@dataclass
class _Slides:
    """The slides of a package on their way into a builder."""

    package: Package
    builder: DocumentBuilder = field(default_factory=DocumentBuilder)
    left_out: Counter[str] = field(default_factory=Counter)
    _layers: dict[str, list[_Layer]] = field(default_factory=dict)

    def add(self, part: str, number: int) -> None:
        """One slide: its title or number as heading, its shapes, its notes."""
        content = _Slides(self.package, left_out=self.left_out, _layers=self._layers)
        layers = self._layers_of(part)
        shapes = in_reading_order(shapes_of(self.package.xml(part), [layer.shapes for layer in layers]))
        title = " ".join(body_text(s.element) for s in shapes if is_title(s)).strip()
        for shape in shapes:
            if not is_title(shape):
                content._add_shape(shape, part, layers)
        content._add_notes(part)
        self._count_comments(part)
        if title or not content.builder.is_empty:
            self.builder.page = number
            self.builder.heading(title or f"Slide {number}", 1)  # else it would read as part of the slide before
            self._take(content.builder)

    def _take(self, content: DocumentBuilder) -> None:
        inner = content.build("", title="", source="", media_type="")
        for block in inner.blocks:
            self.builder.add(block.kind, inner.text[block.span.start : block.span.end], block.level)

    def _layers_of(self, slide: str) -> list[_Layer]:
        """The layout and the master of a slide, nearest first."""
        layout = next(iter(self.package.related(slide, "slideLayout")), None)
        if layout is None:
            return []
        if layout not in self._layers:
            masters = self.package.related(layout, "slideMaster")[:1]
            roots = [self.package.xml(part) for part in (layout, *masters)]
            self._layers[layout] = [_Layer(root, shapes_of(root)[:_MAX_PLACES]) for root in roots]
        return self._layers[layout]

    def _add_shape(self, shape: Shape, slide: str, layers: list[_Layer]) -> None:
        if shape.placeholder and shape.placeholder.kind in _RUNNING:
            self.left_out["footer"] += shape.placeholder.kind == "ftr" and bool(body_text(shape.element).strip())
            return
        styles = [
            *shape.element.findall(f"{P}txBody/{A}lstStyle"),
            *(s for layer in layers for s in layer.styles(shape)),
        ]
        add_body(self.builder, shape.element, styles)
        for data in shape.element.findall(f"{A}graphic/{A}graphicData"):
            self._add_graphic(data, slide)

    def _add_graphic(self, data: Element, slide: str) -> None:
        """A table, a chart, a diagram; what else there may be (a video, a spreadsheet) has no text of its own."""
        relations = self.package.relations(slide)
        for element in data:
            if element.tag == f"{A}tbl":
                add_table(self.builder, element)
            elif element.tag == f"{_CHART}chart" and (found := relations.get(element.get(f"{_R}id", ""))):
                add_chart(self.builder, self.package.xml(found.target))
            elif element.tag == f"{_DIAGRAM}relIds" and (found := relations.get(element.get(f"{_R}dm", ""))):
                texts = [body_text(point) for point in self.package.xml(found.target).iter(f"{_DIAGRAM}pt")]
                self.builder.add("list", list_text([MarkedItem(BULLET, text) for text in texts if text.strip()]), 1)

    def _add_notes(self, slide: str) -> None:
        for part in self.package.related(slide, "notesSlide"):
            for shape in shapes_of(self.package.xml(part)):
                text = body_text(shape.element).strip()
                if shape.placeholder and shape.placeholder.kind == "body" and text:
                    self.builder.add("paragraph", f"Notes: {text}")

    def _count_comments(self, slide: str) -> None:
        for part in self.package.related(slide, "comments"):
            self.left_out["comment"] += sum(1 for e in self.package.xml(part).iter() if e.tag.endswith("}cm"))


def _slide_parts(package: Package, main: str) -> list[str]:
    """The parts of the slides in the order of the presentation."""
    relations = package.relations(main)
    ids = (slide.get(f"{_R}id", "") for slide in package.xml(main).iter(f"{P}sldId"))
    return [relations[id_].target for id_ in ids if id_ in relations]


def _read(path: Path, document_id: str) -> Document:
    with open_package(path) as package:
        slides = _Slides(package)
        for number, part in enumerate(_slide_parts(package, package.main_part("ppt/presentation.xml")), 1):
            slides.add(part, number)
        if slides.builder.is_empty:
            raise DocumentError(f"{path}: no text on its slides, perhaps pictures only; remove it or give it a text.")
        warn_left_out(path, slides.left_out)
        return titled(slides.builder, document_id, package, _MEDIA[path.suffix.lower()])


PPTX = Reader("PowerPoint", tuple(_MEDIA), _read)
