"""Sections of a document: blocks in; the headings above each block, its level and where its section ends out.

A section begins with a heading and ends before the next one of the same or a higher level. Which sections may share a
chunk, and how long a path may be, is left to the chunkers.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from faircut.documents.plain import plain_blocks
from faircut.records import Block, Document, Span

__all__ = [
    "Section", "blocks_of", "heading_paths", "heading_title", "regions", "section_ends",
    "section_levels", "sections",
]  # fmt: skip

_OPENING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]+")
_CLOSING = re.compile(r"[ \t]+#+[ \t]*\Z")
_UNDERLINE = re.compile(r"[ \t]{0,3}(?:=+|-+)[ \t]*\Z")
_MAX_TITLE = 1000  # characters of a heading that are looked at


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with all that stands under it, deeper headings included.

    ``path`` holds the titles from the highest heading to its own. The text before the first heading is a section of
    level 0 without a path.
    """

    span: Span
    level: int
    path: tuple[str, ...] = ()


def blocks_of(document: Document) -> tuple[Block, ...]:
    """The document's blocks, or its paragraphs where it has none."""
    return document.blocks or plain_blocks(document.text)


def heading_title(source: str) -> str:
    """The words of a heading on one line, without the marks of Markdown (``## title ##``, underlines)."""
    lines = source[:_MAX_TITLE].strip().splitlines()
    if len(lines) > 1 and _UNDERLINE.match(lines[-1]):
        lines.pop()
    title = " ".join(" ".join(lines).split())
    return _CLOSING.sub("", _OPENING.sub("", title)).strip()


def heading_paths(document: Document, blocks: Sequence[Block]) -> list[tuple[str, ...]]:
    """For each block the titles of the headings above it, the highest first; a heading is not above itself."""
    paths: list[tuple[str, ...]] = []
    levels: tuple[int, ...] = ()
    path: tuple[str, ...] = ()
    for block in blocks:
        if block.kind != "heading":
            paths.append(path)
            continue
        level = _level(block)
        depth = next((at for at, other in enumerate(levels) if other >= level), len(levels))
        paths.append(path[:depth])
        title = heading_title(document.text[block.span.start : block.span.end])
        levels, path = (*levels[:depth], level), (*path[:depth], title)
    return paths


def section_levels(blocks: Sequence[Block]) -> list[int]:
    """For each block the level of the heading that it stands under or is, 0 before the first."""
    levels: list[int] = []
    level = 0
    for block in blocks:
        level = _level(block) if block.kind == "heading" else level
        levels.append(level)
    return levels


def section_ends(blocks: Sequence[Block]) -> list[int]:
    """For each block the number of the block at which its section ends; O(blocks x levels)."""
    levels = section_levels(blocks)
    ends = [len(blocks)] * len(blocks)
    following: dict[int, int] = {}  # the next heading of each level, as seen from the end
    for at in range(len(blocks) - 1, -1, -1):
        ends[at] = min((place for level, place in following.items() if level <= levels[at]), default=len(blocks))
        if blocks[at].kind == "heading":
            following = {level: place for level, place in following.items() if level < levels[at]}
            following[levels[at]] = at
    return ends


def sections(document: Document) -> list[Section]:
    """All sections in the order in which they begin; one with the whole text where there are no headings."""
    blocks = blocks_of(document)
    paths, levels, ends = heading_paths(document, blocks), section_levels(blocks), section_ends(blocks)
    found: list[Section] = []
    for at, block in enumerate(blocks):
        end = blocks[ends[at] - 1].span.end
        if block.kind == "heading":
            title = heading_title(document.text[block.span.start : block.span.end])
            found.append(Section(Span(block.span.start, end), levels[at], (*paths[at], title)))
        elif at == 0:
            first = next((b for b in blocks if b.kind == "heading"), None)
            found.append(Section(Span(0, first.span.start if first else end), 0))
    return found


BlockTest = Callable[[int, int], bool]
"""Whether something holds for the blocks from one number up to, not including, another."""


def regions(blocks: Sequence[Block], fits: BlockTest, is_small: BlockTest) -> list[tuple[int, int]]:
    """The blocks in ranges of which each is cut by itself: no chunk reaches into two.

    A section that fits is one region with its subsections. Of a longer one, the text before its first subsection is a
    region, and each subsection is looked at in turn. Text that is small, or a heading alone, goes with the subsection
    that follows it. The text before the first heading is taken as a section over all others, but never whole.
    """
    ends, levels = section_ends(blocks), section_levels(blocks)
    headings = [at for at, block in enumerate(blocks) if block.kind == "heading"]
    following = _following(headings, len(blocks))
    found: list[tuple[int, int]] = []
    first = 0
    while first < len(blocks):
        start = at = first
        while True:
            whole = levels[at] > 0 and fits(start, ends[at])
            first = ends[at] if whole else following[at]
            alone = all(block.kind == "heading" for block in blocks[start:first])
            deeper = first < ends[at]
            if not deeper or not (alone or is_small(start, first)):
                break
            at = first
        found.append((start, first))
    return found


def _following(headings: Sequence[int], count: int) -> list[int]:
    """For each block the number of the next heading after it, ``count`` where there is none."""
    following = [count] * count
    for before, heading in zip([0, *headings], headings, strict=False):
        following[before:heading] = [heading] * (heading - before)
    return following


def _level(block: Block) -> int:
    return block.level or 1
