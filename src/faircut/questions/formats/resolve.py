"""Rows of a foreign file and the documents -> questions with checked evidence, and what is wrong with the others.

File names of other tools find their document by id, path or name where only one fits. Offsets that do not fit their
quote are corrected where the quote stands once. Nothing is guessed beyond that.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import PurePath
from typing import Any, Literal

from faircut.files import is_utf8
from faircut.questions.check import Placed
from faircut.questions.document_level import WholeDocument
from faircut.questions.formats.contract import Piece, Problems, Row
from faircut.questions.locate import LooseText, find_chunks_everywhere, find_quote
from faircut.questions.made import question_id
from faircut.records import Document, Evidence, Question, Span

__all__ = ["MOST_ALTERNATIVES", "Resolved", "resolve"]

MOST_ALTERNATIVES = 5
"""Places of one quote that are taken as alternatives; a quote in more of them is too short to mean one."""


@dataclass
class Resolved:
    """What became of the rows.

    Attributes:
        placed: the questions with their places in the file.
        notes: what was mended, by what it was.
        labels: those of the questions that have one, by the question's id.
        about: what else is said of the questions, by the question's id.
    """

    placed: list[Placed] = field(default_factory=list)
    notes: Counter[str] = field(default_factory=Counter)
    labels: dict[str, str] = field(default_factory=dict)
    about: dict[str, Mapping[str, Any]] = field(default_factory=dict)


def resolve(rows: Sequence[Row], documents: Mapping[str, Document], problems: Problems) -> Resolved:
    """Find the evidence of all rows; what cannot be found is a problem with its place. Linear in rows and documents."""
    return _Resolver(documents, problems, _everywhere(rows, documents)).run(rows)


def _everywhere(rows: Iterable[Row], documents: Mapping[str, Document]) -> dict[str, list[Evidence]]:
    """The places of all quotes whose document is not said."""
    loose = [p.quote for row in rows for p in row.pieces if p.document is None and p.quote and not p.whole]
    quotes = list(dict.fromkeys(loose))
    return dict(zip(quotes, find_chunks_everywhere(documents, quotes, limit=MOST_ALTERNATIVES + 1), strict=True))


@dataclass
class _Resolver:
    documents: Mapping[str, Document]
    problems: Problems
    everywhere: Mapping[str, list[Evidence]]
    place: str = ""
    resolved: Resolved = field(default_factory=Resolved)
    _loose: dict[str, LooseText] = field(default_factory=dict)
    _ids: dict[str, str] = field(default_factory=dict)
    _made: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._names = _names(self.documents)

    def run(self, rows: Iterable[Row]) -> Resolved:
        for row in rows:
            self.place = row.place
            before = self.problems.total
            question = self._question(row)
            if question is not None and self.problems.total == before:
                self.resolved.placed.append(Placed(row.place, question))
                self.resolved.labels |= {question.id: row.label} if row.label else {}
                self.resolved.about |= {question.id: row.about} if row.about else {}
        return self.resolved

    # ------------------------------------------------------------ one question

    def _question(self, row: Row) -> Question | None:
        if not row.text.strip():
            self._problem("the question is blank; write one or drop the row.")
            return None
        if not row.pieces:
            self._problem("there is no evidence; give a quote or drop the row.")
            return None
        found = [self._piece(piece, alone=len(row.pieces) == 1 or row.match == "any") for piece in row.pieces]
        evidence = tuple(dict.fromkeys(one for places in found for one in places))
        if not evidence or not all(found):
            return None
        several = any(len(places) > 1 for places in found)
        match: Literal["all", "any"] = "any" if several or (row.match == "any" and len(evidence) > 1) else "all"
        within = self._document(row.within) if row.within else None
        if within and (outside := next((e.document_id for e in evidence if e.document_id != within.id), None)):
            self._problem(f"evidence is in {outside!r}, but the search is within {within.id!r}; change one of them.")
            return None
        identity = self._id(row, evidence)
        return Question(identity, row.text, evidence, match, within.id if within else None)

    def _id(self, row: Row, evidence: tuple[Evidence, ...]) -> str:
        """The row's own id; else one made of its content, with a number where a question is there twice."""
        if row.id.strip() and is_utf8(row.id):
            first = self._ids.setdefault(row.id, self.place)
            if first != self.place:
                self._problem(f"the id {row.id!r} is taken by {first}; give each its own, or drop one of the two.")
            return row.id
        made = question_id(row.text, evidence)
        times = self._made[made] = self._made.get(made, 0) + 1
        return made if times == 1 else f"{made}-{times}"

    def _problem(self, what: str) -> None:
        self.problems.add(self.place, what)

    # ------------------------------------------------------------ documents

    def _document(self, name: str) -> Document | None:
        """The one document that a name fits: its id, the end of its path, its file name, or that without ending."""
        if name in self.documents:
            return self.documents[name]
        fitting = (
            self._names.get(_key(name)) or self._names.get(PurePath(_key(name)).name) or self._names.get(_stem(name))
        )
        if fitting and len(fitting) == 1:
            return self.documents[next(iter(fitting))]
        if fitting:
            shown = ", ".join(map(repr, sorted(fitting)[:3]))
            self._problem(f"{name!r} may be any of {len(fitting)} documents ({shown}, ...); name one by its id.")
            return None
        close = get_close_matches(name, list(self.documents), n=1, cutoff=0.5) if self.problems.has_room else []
        hint = (
            f"did you mean {close[0]!r}?"
            if close
            else f"the corpus has {len(self.documents):,}; add it or drop the row."
        )
        self._problem(f"no document {name!r}; {hint}")
        return None

    # ------------------------------------------------------------ evidence

    def _piece(self, piece: Piece, *, alone: bool) -> list[Evidence]:
        """The places of a piece, more than one only where it is alone; none when there is a problem, which is noted."""
        if piece.document is None:
            return self._anywhere(piece.quote or "", alone=alone)
        document = self._document(piece.document)
        if document is None:
            return []
        if piece.whole:
            return [WholeDocument(document.id, Span(0, len(document.text)))]
        if piece.start is None or piece.end is None:
            return self._quoted(document, piece.quote or "", alone=alone)
        return self._ranged(document, piece, piece.start, piece.end)

    def _ranged(self, document: Document, piece: Piece, start: int, end: int) -> list[Evidence]:
        size = len(document.text)
        if piece.quote is None:
            if 0 <= start < end <= size and document.text[start:end].strip():
                return [Evidence(document.id, Span(start, end))]
            self._problem(f"[{start}, {end}) is no text of {document.id!r}, which has {size:,} characters; correct it.")
            return []
        if 0 <= start < end <= size and document.text[start:end] == piece.quote:
            return [Evidence(document.id, Span(start, end))]
        places = self._places(document, piece.quote)
        if len(places) == 1:
            self.resolved.notes["offsets corrected to those of the quote"] += 1
            return [Evidence(document.id, places[0])]
        there = "is there more than once" if places else "is not there"
        self._problem(
            f"[{start}, {end}) of {document.id!r} is not the quote {_shown(piece.quote)}, which {there}; "
            "correct the offsets, or use the documents that the file was made from."
        )
        return []

    def _quoted(self, document: Document, quote: str, *, alone: bool) -> list[Evidence]:
        if not quote.strip():
            self._problem("the quote is blank; copy it from the document.")
            return []
        places = [Evidence(document.id, span) for span in self._places(document, quote)]
        return self._chosen(places, quote, f"in {document.id!r}", alone=alone)

    def _anywhere(self, quote: str, *, alone: bool) -> list[Evidence]:
        if not quote.strip():
            self._problem("the quote is blank; copy it from a document.")
            return []
        return self._chosen(self.everywhere[quote], quote, "in any document", alone=alone)

    def _chosen(self, places: list[Evidence], quote: str, where: str, *, alone: bool) -> list[Evidence]:
        if len(places) == 1:
            return places
        if not places:
            self._problem(
                f"the quote {_shown(quote)} is not {where} (other spacing and quotation marks were allowed for); copy "
                "it from the document, or drop the row."
            )
            return []
        if alone and len(places) <= MOST_ALTERNATIVES:
            self.resolved.notes["quotes found in several places, listed as alternatives"] += 1
            return places
        many = f"more than {MOST_ALTERNATIVES}" if len(places) > MOST_ALTERNATIVES else str(len(places))
        self._problem(f"the quote {_shown(quote)} is {where} in {many} places; quote more of its sentence.")
        return []

    def _places(self, document: Document, quote: str) -> list[Span]:
        exact = find_quote(document.text, quote.strip(), MOST_ALTERNATIVES + 1)
        if exact:
            return exact
        if document.id not in self._loose:
            self._loose[document.id] = LooseText(document.text)
        return self._loose[document.id].find(quote, MOST_ALTERNATIVES + 1)


def _key(name: str) -> str:
    return name.replace("\\", "/").strip("/")


def _stem(name: str) -> str:
    return PurePath(_key(name)).stem


def _names(documents: Mapping[str, Document]) -> dict[str, set[str]]:
    """Ids of documents by every name that may mean them: the ends of their path, and their name without ending."""
    names: dict[str, set[str]] = {}
    for identity, document in documents.items():
        parts = PurePath(_key(identity)).parts
        ends = {"/".join(parts[at:]) for at in range(max(len(parts) - 6, 0), len(parts))}
        for name in ends | {_stem(identity), document.title} - {""}:
            names.setdefault(name, set()).add(identity)
    return names


def _shown(quote: str) -> str:
    text = repr(" ".join(quote.split()))
    return text if len(text) <= 60 else f"{text[:57]}..."
