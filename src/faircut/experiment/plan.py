"""What a comparison is: corpus, questions, rows, baseline and measure, fixed before anything is run.

Comes in as TOML or as the flags of the command line, goes out as a ``Plan`` whose components are built and checked.
Running it is left to ``run.py``.
"""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from faircut.chunkers import build
from faircut.chunkers.contract import Chunker
from faircut.chunkers.shuffled import Shuffled
from faircut.embedding import EMBEDDERS
from faircut.errors import MetricError, PlanError, nearest
from faircut.evaluation.measures import Measure, parse_measure
from faircut.experiment.searching import Retrieval
from faircut.experiment.units import DELIVERIES, WholeChunk
from faircut.files import is_utf8
from faircut.index import INDEXES, SEARCHES
from faircut.questions.document_level import needs_places

__all__ = ["BUDGETS", "DEFAULT_MEASURE", "MEASURES_BESIDE", "Plan", "Row", "control_of", "is_control", "load_plan"]

DEFAULT_MEASURE = "recall@1000t"
RANGE = (0.0001, 0.5)
"""Of ``band`` and ``alpha``: below, no number of questions is enough; above, they would accept anything."""
LARGEST_SEED = 2**32 - 1
BUDGETS = (250, 500, 1000, 2000, 4000)
MEASURES_BESIDE = (
    *(f"recall@{b}t" for b in BUDGETS),
    "precision@1000t",
    "iou@1000t",
    "f1@1000t",
    "hit@1000t",
    "full@1000t",
    "recall@5",
    "precision@5",
    "iou@5",
    "hit@1",
    "hit@3",
    "hit@5",
    "hit@10",
    "mrr@10",
    "document_recall@5",
    "document_mrr@10",
    "context_precision@5",
)


@dataclass(frozen=True)
class Row:
    """One line of the leaderboard: a chunker with an embedder, under the name that the user gave."""

    embedder: str
    chunker: str

    def __str__(self) -> str:
        return f"{self.embedder}::{self.chunker}"

    def build_chunker(self) -> Chunker:
        """The chunker of this row."""
        return build(self.chunker)


@dataclass(frozen=True)
class Plan:
    """A comparison as the user asked for it.

    ``measure`` decides; ``measures`` are shown beside it (those of ``MEASURES_BESIDE`` are always computed, where the
    questions have what they need).
    ``search``, ``deliver`` and ``best_sentence`` say how chunks are found and what is handed over, for all rows alike.
    ``band`` is half the width of the equivalence band,
    ``controls`` adds to every chunker its size-matched control. ``baseline`` names a chunker or a whole row; empty
    means the first row. ``llm`` is the URL of an OpenAI-compatible server for chunkers that ask a language model,
    ``llm_model`` a model's name on it, ``llm_key_env`` the environment variable with the key where there is one.
    ``skip_unreadable`` leaves out documents that cannot be read, and the questions with evidence in them, and says so.

    Raises:
        PlanError: the rows, the baseline or a number do not fit together.
        SpecError, MetricError: a spec or measure is wrong.
    """

    corpus: str
    questions: str
    chunkers: tuple[str, ...]
    embedders: tuple[str, ...] = ("minilm",)
    baseline: str = ""
    measure: str = DEFAULT_MEASURE
    measures: tuple[str, ...] = ()
    index: str = "qdrant"
    search: str = "dense"
    deliver: str = "chunk"
    best_sentence: bool = False
    controls: bool = False
    budget_tokenizer: str = "minilm"
    band: float = 0.03
    alpha: float = 0.05
    seed: int = 0
    skip_unreadable: bool = False
    name: str = ""
    llm: str = ""
    llm_model: str = ""
    llm_key_env: str = ""

    def __post_init__(self) -> None:
        if not self.chunkers or not self.embedders:
            raise PlanError("a comparison needs at least one chunker and one embedder; name them with --chunker.")
        self._check_text()
        low, high = RANGE
        if not low <= self.band <= high or not low <= self.alpha <= high:
            raise PlanError(
                f"band and alpha lie between {low:g} and {high:g}, found band={self.band:g}, alpha={self.alpha:g}."
            )
        if not 0 <= self.seed <= LARGEST_SEED:
            raise PlanError(f"the seed is a whole number from 0 to {LARGEST_SEED:,}, found {self.seed}.")
        if bool(self.llm.strip()) != bool(self.llm_model.strip()):
            raise PlanError("a language model is a server and a name on it: give both llm and llm_model.")
        self._check_specs()
        self._check_duplicates()
        _ = self.baseline_row

    def _check_text(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            for text in value if isinstance(value, tuple) else (value,):
                if isinstance(text, str) and ("\0" in text or not is_utf8(text)):
                    raise PlanError(f"{item.name}: {text!r} holds NUL or what is not UTF-8; rename it.")

    def _check_specs(self) -> None:
        for chunker in self.chunkers:
            build(chunker)
        for embedder in (*self.embedders, self.budget_tokenizer):
            EMBEDDERS.build(embedder)
        INDEXES.build(self.index)
        try:
            names = {measure.name for measure in self.all_measures}
        except MetricError as error:  # in a plan it is a matter of usage
            raise PlanError(str(error)) from error
        self._check_retrieval(names)

    def _check_retrieval(self, measures: set[str]) -> None:
        retrieval = self.retrieval
        if retrieval.best_sentence and not retrieval.uses_vectors:
            raise PlanError(f"best_sentence needs vectors, and search={self.search!r} has none; take dense or zscore.")
        if "semantic_hit" in measures and not isinstance(retrieval.delivery, WholeChunk):
            raise PlanError(f"semantic_hit judges whole chunks, not what deliver={self.deliver!r} hands over.")

    def _check_duplicates(self) -> None:
        names = [str(row) for row in self.rows]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise PlanError(f"{twice[0]!r} stands twice in the plan; every row needs a name of its own.")

    @property
    def retrieval(self) -> Retrieval:
        """How chunks are found and what is delivered, built."""
        return Retrieval(SEARCHES.build(self.search), DELIVERIES.build(self.deliver), self.best_sentence)

    @property
    def rows(self) -> tuple[Row, ...]:
        """Every embedder with every chunker, then the controls, in the order of the plan."""
        chunkers = [*self.chunkers, *(self._missing_controls() if self.controls else ())]
        return tuple(Row(e, c) for e in self.embedders for c in chunkers)

    def _missing_controls(self) -> list[str]:
        """Specs of the controls that no row is yet, whatever its spelling."""
        built = [build(chunker) for chunker in self.chunkers]
        missing = []
        for name, chunker in zip(self.chunkers, tuple(built), strict=True):
            control = chunker if isinstance(chunker, Shuffled) else Shuffled(chunker)
            if control not in built:
                built.append(control)
                missing.append(control_of(name))
        return missing

    @property
    def control_pairs(self) -> tuple[tuple[Row, Row], ...]:
        """Each row that has a size-matched control among the rows, with that control; controls have none themselves.

        A control is known by what its spec builds, not by its spelling. Where there are several (other seeds), the
        one with the default seed is taken, else the first.
        """
        rows = [(row, row.build_chunker()) for row in self.rows]
        pairs = []
        for row, chunker in rows:
            if isinstance(chunker, Shuffled):
                continue
            found = [
                (control != Shuffled(chunker), place, other)
                for place, (other, control) in enumerate(rows)
                if isinstance(control, Shuffled) and control.chunker == chunker and other.embedder == row.embedder
            ]
            pairs += [(row, min(found)[2])] if found else []
        return tuple(pairs)

    @property
    def baseline_row(self) -> Row:
        """The row that all others are compared with."""
        rows = self.rows
        if not self.baseline:
            return rows[0]
        for row in rows:
            if self.baseline in (row.chunker, str(row)):
                return row
        choices = list(self.chunkers) + [str(row) for row in rows]
        raise PlanError(f"the baseline {self.baseline!r} is not among the rows{nearest(self.baseline, choices)}")

    @property
    def all_measures(self) -> tuple[Measure, ...]:
        """The deciding measure first, then those beside it, each once."""
        return tuple(dict.fromkeys(parse_measure(m) for m in (self.measure, *self.measures, *MEASURES_BESIDE)))

    def measures_for(self, *, document_level: bool) -> tuple[Measure, ...]:
        """The measures that are taken: all, or those that need no place where questions only name documents."""
        return tuple(m for m in self.all_measures if not (document_level and needs_places(str(m))))

    def to_toml(self) -> str:
        """The plan as TOML; ``load_plan`` of it gives the plan again."""
        lines = [f"{item.name} = {_toml_value(getattr(self, item.name))}" for item in fields(self)]
        return "\n".join(lines) + "\n"


def is_control(chunker: str) -> bool:
    """Whether a spec builds a size-matched control, however it is written."""
    return isinstance(build(chunker), Shuffled)


def control_of(chunker: str) -> str:
    """The spec of a chunker's size-matched control; a control is its own."""
    return chunker if is_control(chunker) else f"{Shuffled.name}({chunker.strip()})"


def _toml_value(value: Any) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(_toml_value(v) for v in value) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # JSON allows DEL, TOML does not
    return str(value).lower()


def load_plan(path: Path, changes: Mapping[str, Any] | None = None) -> Plan:
    """Read a plan from TOML. Paths in it are relative to its folder; ``changes`` win over the file.

    Raises:
        PlanError: the file cannot be read, is not TOML, or has a wrong or missing key.
    """
    given = _read_toml(path)
    for key in ("corpus", "questions"):
        if isinstance(given.get(key), str) and given[key].strip():
            given[key] = str(path.parent / given[key])
    return plan_from(given | dict(changes or {}), str(path))


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PlanError(f"{path}: the plan cannot be read: {error.strerror}.") from error
    except RecursionError:
        raise PlanError(f"{path}: the plan is not valid TOML: nested too deeply.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PlanError(f"{path}: the plan is not valid TOML: {error}.") from error
    except ValueError:  # what Python says of thousands of digits
        raise PlanError(f"{path}: the plan is not valid TOML: a number has too many digits.") from None


def plan_from(given: Mapping[str, Any], source: str) -> Plan:
    """Build a plan from plain values, with every key and type checked.

    Raises:
        PlanError: unknown or missing key, or a value of the wrong type.
    """
    kinds = {f.name: f.type for f in fields(Plan)}
    for key in given:
        if key not in kinds:
            raise PlanError(f"{source}: unknown key {key!r}{nearest(key, list(kinds))}")
    for key in ("corpus", "questions", "chunkers"):
        value = given.get(key)
        if not value or (isinstance(value, str) and not value.strip()):  # an empty path would be the current folder
            raise PlanError(f"{source}: the plan needs {key!r}.")
    return Plan(**{key: _checked(source, key, value, kinds[key]) for key, value in given.items()})


def _checked(source: str, key: str, value: Any, kind: Any) -> Any:
    if kind == tuple[str, ...]:
        listed = [value] if isinstance(value, str) else value
        if isinstance(listed, (list, tuple)) and all(isinstance(v, str) for v in listed):
            return tuple(listed)
    elif kind is float and isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    elif isinstance(value, kind) and (kind is bool or not isinstance(value, bool)):
        return value
    wanted = {tuple[str, ...]: "a list of text", float: "a number", bool: "true or false", int: "a whole number"}
    raise PlanError(f"{source}: {key} must be {wanted.get(kind, 'text')}, found {value!r}.")
