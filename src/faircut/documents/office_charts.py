"""A chart of an Office document -> its title, and its numbers as a table: a row a category, a column a series."""

from xml.etree.ElementTree import Element

from faircut.documents.building import DocumentBuilder

__all__ = ["add_chart"]

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
MAX_POINTS = 100_000
"""Categories of a chart; what a person can see in one is far below."""


def add_chart(builder: DocumentBuilder, root: Element) -> None:
    """The values that the chart was last drawn with. A chart without any adds its title only."""
    for title in root.findall(f"{_C}chart/{_C}title"):
        builder.add("paragraph", "".join(t.text or "" for t in title.iter(f"{_A}t")))
    series = list(root.iter(f"{_C}ser"))
    columns = [_points(one, "val") or _points(one, "yVal") for one in series]
    names: dict[int, str] = {}
    for one in series:
        names = _points(one, "cat") or _points(one, "xVal") | names
    places = sorted({place for column in (names, *columns) for place in column})[:MAX_POINTS]
    if any(columns):
        heads = ["", *(" ".join(_points(one, "tx").values()) for one in series)]
        builder.table([heads, *([names.get(i, ""), *(c.get(i, "") for c in columns)] for i in places)])


def _points(series: Element, kind: str) -> dict[int, str]:
    """The texts of the points of a series by their place."""
    points: dict[int, str] = {}
    for source in series.findall(_C + kind):
        for point in source.iter(f"{_C}pt"):
            place = point.get("idx", "")
            found = point.find(f"{_C}v")
            if place.isdecimal() and found is not None:
                points[int(place)] = found.text or ""
    return points
