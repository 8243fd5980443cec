"""Sets that rebuild the setting of published comparisons: labelled documents in, smaller or stitched ones out.

A passage is what stands between blank lines. Evidence moves with its passage; a question whose evidence is in more than
one passage at once is left out and counted. Nothing is copied into the repository: files go to the folder that the caller names.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from faircut.records import content_id
from labelled import DATA, read_lines, write_lines

__all__ = ["LabelledSet", "of_passages", "one_each", "passage_as_evidence", "sampled", "stitched", "whole", "written"]

BREAK = "\n\n"


@dataclass(frozen=True)
class LabelledSet:
    """Documents and questions as the native form has them; ``left_out`` questions could not be moved."""

    name: str
    documents: list[dict]
    questions: list[dict]
    left_out: int = 0


@dataclass(frozen=True)
class Passage:
    """A piece of a document, where it begins there, and its text."""

    document: str
    start: int
    text: str


def whole(name: str) -> LabelledSet:
    """The set as it is."""
    return LabelledSet(
        name, read_lines(DATA / name / "corpus.jsonl.gz"), read_lines(DATA / name / "questions.jsonl.gz")
    )


def sampled(given: LabelledSet, documents: int) -> LabelledSet:
    """The first documents by a hash of their ids, and the questions whose evidence lies in them."""
    kept = sorted(given.documents, key=lambda d: content_id(str(d["id"])))[:documents]
    ids = {d["id"] for d in kept}
    asked = [q for q in given.questions if {g["document"] for g in q["gold"]} <= ids]
    return LabelledSet(f"{given.name}-{documents}", kept, asked)


def one_each(given: LabelledSet) -> list[int]:
    """Places of one question for each document that has any: the first by a hash of its id."""
    first: dict[str, tuple[str, int]] = {}
    for place, question in enumerate(given.questions):
        entry = (content_id(str(question["id"])), place)
        document = question["gold"][0]["document"]
        first[document] = min(first.get(document, entry), entry)
    return sorted(place for _, place in first.values())


def of_passages(given: LabelledSet) -> LabelledSet:
    """Every passage is a document of its own: documents too short to cut."""
    passages = _passages(given.documents)
    made = [[passage] for passage in passages]
    return _rebuilt(f"{given.name}-passages", given, made)


def stitched(given: LabelledSet, seed: int = 0) -> LabelledSet:
    """The same passages in random order over all documents; each document has as many as before."""
    passages = _passages(given.documents)
    sizes = [sum(p.document == d["id"] for p in passages) for d in given.documents]
    random.Random(seed).shuffle(passages)
    left = iter(passages)
    return _rebuilt(f"{given.name}-stitched", given, [[next(left) for _ in range(size)] for size in sizes if size])


def passage_as_evidence(given: LabelledSet) -> LabelledSet:
    """Each piece of evidence becomes the passage that it stands in: what document retrieval is judged by."""
    passages = _passages(given.documents)
    moved = []
    for question in given.questions:
        found = [next(p for p in passages if _holds(p, gold)) for gold in question["gold"]]
        gold = [{"document": p.document, "start": p.start, "end": p.start + len(p.text)} for p in dict.fromkeys(found)]
        moved.append({**question, "gold": gold})
    return replace(given, name=f"{given.name}-evidence", questions=moved)


def written(given: LabelledSet, folder: Path) -> tuple[Path, Path]:
    """The set as two files in the native form: corpus, questions."""
    target = folder / given.name
    target.mkdir(parents=True, exist_ok=True)
    return write_lines(target / "corpus.jsonl.gz", given.documents), write_lines(
        target / "questions.jsonl.gz", given.questions
    )


def _passages(documents: Sequence[dict]) -> list[Passage]:
    found = []
    for document in documents:
        start = 0
        for text in document["text"].split(BREAK):
            if text.strip():
                found.append(Passage(document["id"], start, text))
            start += len(text) + len(BREAK)
    return found


def _holds(passage: Passage, gold: dict) -> bool:
    inside = passage.start <= gold["start"] and gold["end"] <= passage.start + len(passage.text)
    return passage.document == gold["document"] and inside


def _rebuilt(name: str, given: LabelledSet, groups: Sequence[Sequence[Passage]]) -> LabelledSet:
    """Documents of the passages of each group, with the questions moved."""
    documents, places = [], {}
    for number, group in enumerate(groups):
        start = 0
        for passage in group:
            places[passage] = (f"{name}-{number}", start)
            start += len(passage.text) + len(BREAK)
        documents.append({"id": f"{name}-{number}", "title": "", "text": BREAK.join(p.text for p in group)})
    moved = [_moved(question, places) for question in given.questions]
    kept = [question for question in moved if question]
    return LabelledSet(name, documents, kept, len(moved) - len(kept))


def _moved(question: dict, places: dict[Passage, tuple[str, int]]) -> dict | None:
    golds = []
    for gold in question["gold"]:
        passage = next((p for p in places if _holds(p, gold)), None)
        if passage is None:
            return None
        document, start = places[passage]
        shift = start - passage.start
        golds.append({"document": document, "start": gold["start"] + shift, "end": gold["end"] + shift})
    return {key: value for key, value in question.items() if key != "within"} | {"gold": golds}
