"""What a gate says, for a terminal, a pull request and a build server: its result in, text out."""

from xml.etree import ElementTree as ET

from faircut.evaluation.gate import LossTest
from faircut.experiment.gate import GateResult, GateRow
from faircut.report.markdown import code, plain, table
from faircut.report.safe import printable

__all__ = ["gate_junit", "gate_lines", "gate_markdown", "gate_sentence"]


_SMOKE_TEST = (
    "SMOKE TEST: questions of this run were made without a model or a person; they show that everything runs, not "
    "whether a cut got worse."
)


def gate_sentence(result: GateResult) -> str:
    """One sentence: whether it passed, by what, and by how much."""
    failed = [row for row in result.rows if not row.passed]
    word = ("failed" if failed else "passed") + (" on a smoke test" if result.smoke_tests else "")
    if len(result.rows) == 1:
        (row,) = result.rows
        return f"gate {word}: {_named(row)} by {result.measure} on {_questions(result)}: {_said(row)}."
    which = f"{len(failed)} of {len(result.rows)} rows" if failed else f"all {len(result.rows)} rows"
    return f"gate {word}: {which} against {result.base} by {result.measure} on {_questions(result)}."


def gate_lines(result: GateResult) -> list[str]:
    """A line for each of several rows, then what a reader has to know beside."""
    rows = [f"{_mark(row)} {_named(row)}: {_said(row)}." for row in result.rows] if len(result.rows) > 1 else []
    return [*rows, *_notes(result)]


def _mark(row: GateRow) -> str:
    return "passed" if row.passed else "FAILED"


def _named(row: GateRow) -> str:
    return row.row if row.row == row.base_row else f"{row.row} against {row.base_row}"


def _questions(result: GateResult) -> str:
    return f"{result.questions:,} question{'s' * (result.questions > 1)}"


def _said(row: GateRow) -> str:
    """The scores, the difference with its interval, the outcome, and the defects."""
    loss, contrast = row.loss, row.loss.contrast
    scores = f"{contrast.estimate.mean:.3f}, base {loss.base_mean:.3f}"
    level = f"{100 * loss.interval.level:.4g} %"
    interval = f"{contrast.difference:+.3f}, {level} interval {loss.interval.low:+.3f} to {loss.interval.high:+.3f}"
    defects = f"; {', '.join(row.defects)}" if row.defects else ""
    return f"{scores} ({interval}), {_outcome(row)}{defects}"


def _outcome(row: GateRow) -> str:
    return row.loss.outcome.replace("the margin", f"{row.loss.margin:g}")


def _notes(result: GateResult) -> list[str]:
    notes = [_SMOKE_TEST] if result.smoke_tests else []
    if not result.same_corpus:
        notes.append("The documents differ between the runs: a difference may be theirs and not the cut's.")
    if result.left_out:
        notes.append(f"Left out: {result.left_out:,} questions that are not the same or whose documents changed.")
    losses = [row.loss for row in result.rows]
    notes += _about_power([loss for loss in losses if loss.outcome == "no measured loss" and _changed(loss)])
    if not any(map(_changed, losses)):
        notes.append("The score of no question changed.")
    if any(loss.outcome == "loss not shown to be above the margin" for loss in losses):
        notes.append("A loss was measured; the questions do not show that it is larger than the margin.")
    return notes


def _changed(loss: LossTest) -> bool:
    return bool(loss.contrast.wins or loss.contrast.losses)


def _about_power(losses: list[LossTest]) -> list[str]:
    """What a gate that passed for want of evidence has not excluded, and what it would have caught."""
    if not losses:
        return []
    largest = max(-loss.interval.low for loss in losses)
    caught = [loss.caught_from for loss in losses if loss.caught_from is not None and loss.caught_from < 1]
    said = f"one of about {max(caught):.3f} fails with 80 % power" if caught else "they are too few to fail this gate"
    return [f"These questions do not exclude a loss of up to {largest:.3f}; {said}."]


# ---------------------------------------------------------------- Markdown


def gate_markdown(result: GateResult) -> str:
    """The sentence, a table with a line for each row, and the notes."""
    columns = ["row", "gate", "score", "base", "difference", "interval", "outcome", "integrity"]
    rows = [_markdown_row(row) for row in result.rows]
    notes = [f"- {plain(note)}" for note in _notes(result)]
    parts = [f"**{plain(gate_sentence(result))}**", table(columns, rows, left=2), "\n".join(notes)]
    return "\n\n".join(filter(None, parts)) + "\n"


def _markdown_row(row: GateRow) -> list[str]:
    loss = row.loss
    name = code(row.row) if row.row == row.base_row else f"{code(row.row)} against {code(row.base_row)}"
    return [
        name,
        "✅ passed" if row.passed else "❌ **failed**",
        f"{loss.contrast.estimate.mean:.3f}",
        f"{loss.base_mean:.3f}",
        f"{loss.contrast.difference:+.3f}",
        f"{loss.interval.low:+.3f} to {loss.interval.high:+.3f}",
        plain(_outcome(row)),
        plain(", ".join(row.defects)) or "ok",
    ]


# ---------------------------------------------------------------- JUnit


def gate_junit(result: GateResult) -> str:
    """JUnit's XML, as build servers read it: for each row one test of its quality and one of its integrity."""
    failures = sum(row.loss.failed + bool(row.defects) for row in result.rows)
    counts = {"tests": str(2 * len(result.rows)), "failures": str(failures), "errors": "0", "skipped": "0"}
    root = ET.Element("testsuites", {"name": "faircut gate"} | counts)
    suite = ET.SubElement(root, "testsuite", {"name": _xml(f"{result.run} against {result.base}")} | counts)
    for row in result.rows:
        said = f"{_said(row)}, on {_questions(result)}"
        _case(suite, row, result.measure, said, failure=_outcome(row) if row.loss.failed else "")
        _case(suite, row, "integrity", ", ".join(row.defects) or "no new defect", failure=", ".join(row.defects))
    if notes := _notes(result):
        ET.SubElement(suite, "system-out").text = "\n".join(map(_xml, notes))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=False) + "\n"


def _case(suite: ET.Element, row: GateRow, what: str, said: str, *, failure: str) -> None:
    case = ET.SubElement(suite, "testcase", {"classname": "faircut.gate", "name": _xml(f"{_named(row)}: {what}")})
    if failure:
        ET.SubElement(case, "failure", {"message": _xml(failure), "type": "loss"}).text = _xml(said)
    else:
        ET.SubElement(case, "system-out").text = _xml(said)


def _xml(text: str) -> str:
    """Text that XML 1.0 may hold: control characters as visible escapes, and no non-characters."""
    return "".join(c for c in printable(text) if ord(c) & 0xFFFE != 0xFFFE and not 0xFDD0 <= ord(c) <= 0xFDEF)
