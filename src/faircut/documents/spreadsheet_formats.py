"""Which cells of an XLSX file are shown as a percentage, which the engine does not say: 0.25 would be read for 25 %."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from xml.etree.ElementTree import Element

from faircut.documents.archive import open_archive
from faircut.documents.open_packaging import Package
from faircut.documents.spreadsheet_bounds import column_number

__all__ = ["Columns", "percent_cells"]

_S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_BUILT_IN = {"9", "10"}  # 0% and 0.00%
_NO_SIGN = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]|_.')  # text, escaped characters and conditions in a format

Columns = Mapping[int, set[int]]  # by row; both counted from 0


def percent_cells(path: Path) -> dict[str, Columns]:
    """The cells by sheet name and row. Nothing for other kinds of spreadsheets."""
    with path.open("rb") as file:
        if file.read(2) != b"PK":
            return {}
    with open_archive(path) as archive:
        package = Package(archive)
        workbook = "xl/workbook.xml"
        if archive.find(workbook) is None:
            return {}
        styles = {number for part in package.related(workbook, "styles") for number in _styles(package.xml(part))}
        if not styles:
            return {}
        relations = package.relations(workbook)
        named = package.xml(workbook).iter(f"{_S}sheet")
        sheets = {e.get("name", ""): relations.get(e.get(f"{_R}id", "")) for e in named}
        found = {name: sheet.target for name, sheet in sheets.items() if sheet and archive.find(sheet.target)}
        return {name: _cells(archive.read(part), styles) for name, part in found.items()}


def _styles(root: Element) -> Iterator[int]:
    """The numbers of the cell styles with a percent sign."""
    formats = {e.get("numFmtId", ""): e.get("formatCode", "") for e in root.iter(f"{_S}numFmt")}
    for number, style in enumerate(root.findall(f"{_S}cellXfs/{_S}xf")):
        format_id = style.get("numFmtId", "")
        if format_id in _BUILT_IN or "%" in _NO_SIGN.sub("", formats.get(format_id, "")):
            yield number


def _cells(data: bytes, styles: set[int]) -> Columns:
    numbers = "|".join(map(str, sorted(styles))).encode()
    styled = re.compile(rb'\bs="(?:%b)"' % numbers)
    found: defaultdict[int, set[int]] = defaultdict(set)
    for attributes in _CELL.findall(data):
        place = _PLACE.search(attributes)
        if place and styled.search(attributes):
            found[int(place[2]) - 1].add(column_number(place[1]))
    return found


_CELL = re.compile(rb"<c ([^<>]*+)>")
_PLACE = re.compile(rb'\br="([A-Z]{1,3})(\d{1,7})"')
