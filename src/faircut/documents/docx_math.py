"""A formula of Office Math -> the same formula on one line: ``(a)/(b)``, ``x^(2)``, ``√(x)``.

One level at a time: what is inside is given back as elements, for the walker that asked.
"""

from collections.abc import Callable, Iterable
from xml.etree.ElementTree import Element

__all__ = ["M", "linear"]

M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"

Steps = Iterable[Element | str]


def linear(element: Element) -> Steps:
    """The contents of an element of Office Math in reading order, with signs between them."""
    form = _FORMS.get(element.tag)
    return form(element) if form else (child for child in element if not child.tag.endswith("Pr"))


def _part(element: Element, name: str) -> Steps:
    found = element.find(M + name)
    return [] if found is None else [found]


def _property(element: Element, path: str, default: str) -> str:
    found = element.find("/".join(M + name for name in path.split("/")))
    return default if found is None else found.get(f"{M}val", "")


def _wrapped(element: Element, name: str, sign: str) -> Steps:
    inner = list(_part(element, name))
    return [f"{sign}(", *inner, ")"] if inner else []


def _fraction(element: Element) -> Steps:
    return [*_wrapped(element, "num", ""), *_wrapped(element, "den", "/")]


def _scripts(element: Element) -> Steps:
    return [*_part(element, "e"), *_wrapped(element, "sub", "_"), *_wrapped(element, "sup", "^")]


def _root(element: Element) -> Steps:
    degree = _part(element, "deg") if _property(element, "radPr/degHide", "0") in ("0", "off") else []
    return [*degree, *_wrapped(element, "e", "√")]


def _operator(element: Element) -> Steps:
    sign = _property(element, "naryPr/chr", "∫")
    return [sign, *_wrapped(element, "sub", "_"), *_wrapped(element, "sup", "^"), *_part(element, "e")]


def _delimited(element: Element) -> Steps:
    between = _property(element, "dPr/sepChr", "|")
    steps: list[Element | str] = [_property(element, "dPr/begChr", "(")]
    for number, inner in enumerate(element.findall(f"{M}e")):
        steps += [between, inner] if number else [inner]
    return [*steps, _property(element, "dPr/endChr", ")")]


_FORMS: dict[str, Callable[[Element], Steps]] = {
    f"{M}f": _fraction,
    f"{M}sSup": _scripts,
    f"{M}sSub": _scripts,
    f"{M}sSubSup": _scripts,
    f"{M}rad": _root,
    f"{M}nary": _operator,
    f"{M}d": _delimited,
}
