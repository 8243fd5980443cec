"""Pages as one file each: templates, styles, scripts and data in; HTML that asks nothing of any network out.

Data lies in the page compressed, in parts that a script opens when they are looked at. The page's policy lets run only
the scripts that were put in here, known by their hashes. What the parts hold is left to ``payload.py``.
"""

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from faircut import __version__

__all__ = ["Part", "asset", "filled", "packed", "plotly_script", "render", "script_hash", "visible"]

_FOLDER = Path(__file__).resolve().parent
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]")


@dataclass(frozen=True)
class Part:
    """A compressed part of a page's data, under the id by which scripts ask for it."""

    id: str
    content: str


def packed(part: str, value: Any) -> Part:
    """A JSON value as a part: gzip, then base64, so that nothing in it can be read as markup."""
    return _part(part, json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode())


def _part(part: str, raw: bytes) -> Part:
    return Part(part, base64.b64encode(gzip.compress(raw, 7, mtime=0)).decode())


@cache
def _library() -> Part:
    return _part("plotly", plotly_script().encode())


def visible(text: object) -> str:
    """Text whose control and direction characters are signs that can be seen and do nothing; its length stays."""
    return _CONTROLS.sub(lambda m: chr(0x2400 + ord(m[0])) if m[0] < " " else "\u25af", str(text))


def render(
    template: str, context: Mapping[str, Any], parts: Sequence[Part], scripts: Iterable[str], *, plots: bool
) -> str:
    """A page of one file.

    Args:
        template: a file of ``templates/`` that extends ``base.html``.
        context: what the template shows.
        parts: the data.
        scripts: files of ``assets/`` in the order in which they run.
        plots: whether the plotting library goes in, as a part of its own.
    """
    script = "\n".join(asset(name) for name in ("core.js", *scripts))
    library = [plotly_script()] if plots else []
    hashes = [script_hash(s) for s in (script, *library)]
    page: str = (
        _environment()
        .get_template(template)
        .render(
            **context,
            style=asset("page.css"),
            script=script,
            policy=_policy(hashes),
            parts=[*parts, _library()] if plots else parts,
            version=__version__,
            plotly=_licence(library[0]) if library else "",
        )
    )
    return page


def filled(template: str, context: Mapping[str, Any]) -> str:
    """A page from a template alone, for a server that sends styles, scripts and data as files of their own."""
    page: str = _environment().get_template(template).render(**context)
    return page


def _policy(hashes: Iterable[str]) -> str:
    """Nothing from anywhere; scripts by hash; styles inline, because the plotting library sets them on its marks."""
    scripts = " ".join(f"'{h}'" for h in hashes)
    return (
        f"default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; "
        "form-action 'none'"
    )


def script_hash(script: str) -> str:
    """The hash by which a content security policy knows a script."""
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}"


@cache
def asset(name: str) -> str:
    """The text of a file of ``assets/``."""
    return (_FOLDER / "assets" / name).read_text(encoding="utf-8")


@cache
def plotly_script() -> str:
    """The script of plotly.js as the plotly package holds it, its licence in the first lines."""
    from importlib.resources import files

    return (files("plotly") / "package_data" / "plotly.min.js").read_text(encoding="utf-8")


def _licence(script: str) -> str:
    """Name, version, holder and licence of the library, from its first lines."""
    return " · ".join(line.strip("* ") for line in script[:300].split("*/")[0].splitlines()[1:] if line.strip("* "))


@cache
def _environment() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    found = Environment(
        loader=FileSystemLoader(_FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters["visible"] = visible
    found.filters["letter"] = _letter
    return found


def _letter(number: int) -> str:
    """A, B, ... Z, AA, AB, ...: the letter of a row, so that no colour has to be told from another."""
    return (_letter(number // 26 - 1) if number >= 26 else "") + chr(65 + number % 26)
