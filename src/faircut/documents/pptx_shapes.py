"""The shapes of a slide -> the same shapes in reading order, with their places on the slide.

Groups are dissolved, places inherited from the layout. What is in a shape is left to ``pptx_text.py``.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from xml.etree.ElementTree import Element

from faircut.documents.open_packaging import ALTERNATE, alternative

__all__ = ["A", "P", "Placeholder", "Shape", "in_reading_order", "placeholder_of", "shapes_of"]

A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"

MAX_CUT = 1000
"""Shapes of a slide up to which columns are looked for; more are read from the top."""

_SHAPES = frozenset({f"{P}sp", f"{P}graphicFrame"})


class Placeholder(NamedTuple):
    """What a shape stands for in its layout: ``title``, ``body`` ..., and which of several (its ``idx``)."""

    kind: str
    number: str


class Box(NamedTuple):
    """A rectangle, in units of the slide (914,400 an inch)."""

    left: float
    top: float
    right: float
    bottom: float


class Scale(NamedTuple):
    """From the coordinates inside a group to those of the slide: ``factor * x + offset``."""

    x: float = 1.0
    y: float = 1.0
    dx: float = 0.0
    dy: float = 0.0

    def box(self, box: Box) -> Box:
        """The rectangle on the slide."""
        return Box(
            box.left * self.x + self.dx,
            box.top * self.y + self.dy,
            box.right * self.x + self.dx,
            box.bottom * self.y + self.dy,
        )


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape with its place; no box where neither it nor its layout says one."""

    element: Element
    placeholder: Placeholder | None
    box: Box | None


def placeholder_of(shape: Element) -> Placeholder | None:
    """What a shape stands for; None for one that the author added."""
    found = next(
        iter(shape.findall(f"{P}nvSpPr/{P}nvPr/{P}ph") + shape.findall(f"{P}nvGraphicFramePr/{P}nvPr/{P}ph")), None
    )
    return None if found is None else Placeholder(found.get("type", "body"), found.get("idx", "0"))


def shapes_of(root: Element, inherited: Sequence[Sequence[Shape]] = ()) -> list[Shape]:
    """The shapes of a slide, layout or master, in the order in which they were drawn.

    Args:
        root: the root element of its part.
        inherited: the shapes of the layout and of the master, nearest first.
    """
    shapes = []
    for element, scale in _flat(root):
        placeholder = placeholder_of(element)
        box = _box(element)
        if box is None and placeholder:
            box = next((s.box for layer in inherited if (s := same_place(placeholder, layer)) and s.box), None)
        shapes.append(Shape(element, placeholder, scale.box(box) if box else None))
    return shapes


def same_place(placeholder: Placeholder, shapes: Sequence[Shape]) -> Shape | None:
    """The shape of a layout or master that this one inherits from: by its index, else by its kind."""
    candidates = [s for s in shapes if s.placeholder]
    by_index = [s for s in candidates if s.placeholder and s.placeholder.number == placeholder.number != "0"]
    kind = {"ctrTitle": "title", "subTitle": "body"}.get(placeholder.kind, placeholder.kind)
    by_kind = [s for s in candidates if s.placeholder and s.placeholder.kind in (placeholder.kind, kind)]
    return next(iter([*by_index, *by_kind]), None)


def _flat(root: Element) -> Iterator[tuple[Element, Scale]]:
    """The shapes with the scale of the groups around them, in their order."""
    todo = [(tree, Scale()) for tree in root.findall(f"{P}cSld/{P}spTree")]
    while todo:
        element, scale = todo.pop()
        if element.tag in _SHAPES:
            yield element, scale
        elif element.tag == ALTERNATE:
            todo += [(child, scale) for child in reversed(alternative(element) or [])]
        elif element.tag in (f"{P}grpSp", f"{P}spTree"):
            inner = _group_scale(element, scale)
            todo += [(child, inner) for child in reversed(element)]


def _group_scale(group: Element, outer: Scale) -> Scale:
    place = group.find(f"{P}grpSpPr/{A}xfrm")
    if place is None:
        return outer
    (x, y), (width, height), (inner_x, inner_y), (inner_width, inner_height) = (
        _pair(place.find(A + name), *keys)
        for name, keys in (("off", "xy"), ("ext", ("cx", "cy")), ("chOff", "xy"), ("chExt", ("cx", "cy")))
    )
    fx = width / inner_width if inner_width else 1.0
    fy = height / inner_height if inner_height else 1.0
    return Scale(
        fx * outer.x,
        fy * outer.y,
        (x - inner_x * fx) * outer.x + outer.dx,
        (y - inner_y * fy) * outer.y + outer.dy,
    )


def _box(shape: Element) -> Box | None:
    place = next(iter(shape.findall(f"{P}spPr/{A}xfrm") + shape.findall(f"{P}xfrm")), None)
    if place is None or place.find(f"{A}off") is None:
        return None
    left, top = _pair(place.find(f"{A}off"), "x", "y")
    width, height = _pair(place.find(f"{A}ext"), "cx", "cy")
    return Box(left, top, left + width, top + height)


def _pair(element: Element | None, first: str, second: str) -> tuple[float, float]:
    try:
        return (0.0, 0.0) if element is None else (float(element.get(first, 0)), float(element.get(second, 0)))
    except ValueError:
        return 0.0, 0.0


# ---------------------------------------------------------------- reading order


def in_reading_order(shapes: Sequence[Shape]) -> list[Shape]:
    """Titles, then the others: columns from the left where a gap parts them, rows from the top in each.

    Boxes that stand in at least three rows side by side are read row by row, as a table is. Shapes without a place keep
    their order behind the title.
    """
    titles = [s for s in shapes if is_title(s)]
    free = [s for s in shapes if s.box is None and not is_title(s)]
    placed = [s for s in shapes if s.box is not None and not is_title(s)]
    return [*titles, *free, *_ordered(placed)]


def is_title(shape: Shape) -> bool:
    """Whether a shape is the title of its slide."""
    return shape.placeholder is not None and shape.placeholder.kind in ("title", "ctrTitle")


def _ordered(shapes: list[Shape]) -> list[Shape]:
    """Cut at gaps, first between columns, then between rows (XY-cut); what cannot be cut goes from the top."""
    ordered: list[Shape] = []
    todo = [shapes]
    while todo:
        part = todo.pop()
        few = len(part) <= MAX_CUT
        columns, rows = (_parted(part, 0, 2), _parted(part, 1, 3)) if few else ([part], [part])
        if len(columns) > 1 and not _is_grid(columns):
            todo += reversed(columns)
        elif len(rows) > 1:
            todo += reversed(rows)
        elif len(columns) > 1:
            todo += reversed(columns)
        else:
            ordered += sorted(part, key=_top_left)
    return ordered


def _parted(shapes: list[Shape], near: int, far: int) -> list[list[Shape]]:
    """Groups of shapes whose projections on one axis do not touch, in the order of the axis."""
    groups: list[list[Shape]] = []
    end = float("-inf")
    for shape in sorted(shapes, key=lambda s: _edge(s, near)):
        if not groups or _edge(shape, near) >= end - _TOUCH:
            groups.append([])
        groups[-1].append(shape)
        end = max(end, _edge(shape, far))
    return groups


_TOUCH = 45_720  # a twentieth of an inch: boxes drawn by hand overlap a little


def _edge(shape: Shape, side: int) -> float:
    return shape.box[side] if shape.box else 0.0


def _top_left(shape: Shape) -> tuple[float, float]:
    return _edge(shape, 1), _edge(shape, 0)


def _is_grid(columns: list[list[Shape]]) -> bool:
    """At least three rows, each with a shape at the same height in every column."""
    if len({len(column) for column in columns}) != 1 or len(columns[0]) < 3:
        return False
    rows = zip(*(sorted(column, key=_top_left) for column in columns), strict=True)
    return all(max(tops) - min(tops) < 8 * _TOUCH for tops in ([_edge(s, 1) for s in row] for row in rows))
