"""The writing system of a piece of text, found cheaply.

A string comes in, the name of the script most of its letters belong to goes out. Which language it is, is not asked.
"""

import re
from typing import Final, Literal

Script = Literal["latin", "cyrillic", "greek", "arabic", "devanagari", "thai", "cjk", "other"]

_SAMPLE: Final = 2_000  # characters looked at: a paragraph's script does not change later
_LETTERS: Final[dict[Script, re.Pattern[str]]] = {
    "latin": re.compile("[A-Za-z\u00c0-\u024f\u1e00-\u1eff]"),
    "cyrillic": re.compile("[\u0400-\u052f]"),
    "greek": re.compile("[\u0370-\u03ff\u1f00-\u1fff]"),
    "arabic": re.compile("[\u0620-\u06d3\u0750-\u077f\u08a0-\u08ff]"),
    "devanagari": re.compile("[\u0904-\u0963\u0970-\u097f]"),
    "thai": re.compile("[\u0e01-\u0e3a\u0e40-\u0e4e]"),
    "cjk": re.compile(
        "[\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9d\U00020000-\U0003ffff]"
    ),
}
_OTHER: Final = re.compile("[\u0530-\u061f\u0700-\u074f\u0780-\u08ff\u0980-\u0dff\u0e80-\u1dff\ua000-\ud7ff]")
_CJK_WEIGHT: Final = 3  # one Han character carries about as much text as three letters


def script_of(text: str) -> Script:
    """The script of most letters among the first 2,000 characters; `latin` where there are no letters."""
    if text.isascii():
        return "latin"
    sample = text[:_SAMPLE]
    counts: dict[Script, int] = {script: len(letters.findall(sample)) for script, letters in _LETTERS.items()}
    counts["cjk"] *= _CJK_WEIGHT
    counts["other"] = len(_OTHER.findall(sample))
    return max(counts, key=lambda script: counts[script])
