"""A gate's result in words, Markdown and JUnit's XML; names in it are untrusted."""

from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from faircut.evaluation.gate import judge_losses
from faircut.experiment.gate import GateResult, GateRow
from faircut.report.gate import gate_junit, gate_lines, gate_markdown, gate_sentence

HOSTILE = 'x"><script>alert(1)</script>|`a`\x1b[31m\u202e\x00\ufffe]]>@team\n## no'


def result_of(before, after, *, row="minilm::a", base_row="minilm::a", defects=(), margin=0.02, count=1, **options):
    clusters = [str(i) for i in range(len(before))]
    losses = judge_losses({f"{row}{n or ''}": (before, after) for n in range(count)}, clusters, margin=margin)
    rows = tuple(GateRow(loss.name, base_row, loss, tuple(defects)) for loss in losses)
    given = GateResult("new", "old", "recall@1000t", margin, len(before), 0, True, False, rows)
    return replace(given, **options)


def parsed(text):
    return ET.fromstring(text)  # noqa: S314  # our own


LOST = ([1.0] * 50 + [0.5] * 10, [0.0] * 50 + [0.6] * 10)
EQUAL = ([0.2, 0.9, 0.4, 1.0] * 20, [0.4, 0.7, 0.4, 1.0] * 20)
KEPT = ([0.5] * 80, [0.52, 0.49] * 40)


def test_the_sentence_says_whether_by_what_and_by_how_much():
    said = gate_sentence(result_of(*LOST))
    assert said.startswith("gate failed: minilm::a by recall@1000t on 60 questions: 0.100, base 0.917 (-0.817, 95 % ")
    assert said.endswith("), loss above 0.02.")
    assert gate_sentence(result_of(*KEPT)).endswith("), no loss above 0.02.")


def test_several_rows_have_a_line_each():
    result = result_of(*LOST, count=3)
    assert gate_sentence(result) == "gate failed: 3 of 3 rows against old by recall@1000t on 60 questions."
    assert [line.split()[0] for line in gate_lines(result)] == ["FAILED"] * 3


def test_a_gate_that_passes_for_want_of_evidence_says_so():
    result = result_of(*EQUAL)
    assert result.passed
    assert "do not exclude a loss of up to 0.0" in gate_lines(result)[0]
    assert "fails with 80 % power" in gate_lines(result)[0]
    few = result_of([1.0, 0.5, 1.0], [0.5, 1.0, 1.0])
    assert "they are too few to fail this gate" in gate_lines(few)[0]


def test_unchanged_scores_left_out_questions_and_other_documents_are_told():
    result = result_of(EQUAL[0], EQUAL[0], left_out=7, same_corpus=False)
    said = " ".join(gate_lines(result))
    assert "The score of no question changed." in said
    assert "Left out: 7 questions" in said
    assert "The documents differ" in said


def test_a_defect_fails_and_is_named():
    result = result_of(*KEPT, defects=["12 characters lost (base 0)"])
    assert gate_sentence(result).startswith("gate failed")
    assert "no loss above 0.02; 12 characters lost (base 0)." in gate_sentence(result)
    root = parsed(gate_junit(result))
    assert root.get("failures") == "1"
    assert root.find(".//failure").get("message") == "12 characters lost (base 0)"


@pytest.mark.parametrize(("pair", "failures"), [(LOST, 1), (EQUAL, 0)])
def test_junit_counts_a_test_of_quality_and_one_of_integrity_for_each_row(pair, failures):
    root = parsed(gate_junit(result_of(*pair)))
    suite = root.find("testsuite")
    assert (suite.get("tests"), suite.get("failures")) == ("2", str(failures))
    assert [case.get("name") for case in suite.iter("testcase")] == ["minilm::a: recall@1000t", "minilm::a: integrity"]
    assert len(suite.findall("testcase/failure")) == failures


def test_hostile_names_do_nothing_in_xml():
    result = result_of(*LOST, row=HOSTILE, base_row="b", defects=[HOSTILE], run=HOSTILE, base=HOSTILE)
    root = parsed(gate_junit(result))
    assert {element.tag for element in root.iter()} == {"testsuites", "testsuite", "testcase", "failure"}
    text = gate_junit(result)
    assert not {c for c in text if ord(c) < 32 and c != "\n"}
    assert not {"\u202e", "\ufffe"} & set(text)


def test_hostile_names_do_nothing_in_markdown():
    from markdown_it import MarkdownIt

    result = result_of(*LOST, row=HOSTILE, base_row="b", defects=[HOSTILE], run=HOSTILE, base=HOSTILE)
    shown = MarkdownIt("gfm-like", {"html": False, "linkify": False}).render(gate_markdown(result))
    assert "<script" not in shown
    assert "<h2" not in shown
    assert shown.count("<td") == 8
    assert "\x1b" not in gate_markdown(result)
