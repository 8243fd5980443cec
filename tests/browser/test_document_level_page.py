"""The report on questions that only name documents: no evidence is marked, and a sentence says why."""

import json
import warnings

import pytest

from faircut.errors import FaircutWarning
from faircut.experiment.plan import Plan
from faircut.experiment.run import run
from faircut.report.pages import write_report

WHY = "nothing that needs the place of the answer is measured"


@pytest.fixture(scope="module")
def named_report(small, tmp_path_factory):
    """The address of a report on whole-document questions, two of them with the label of a smoke test."""
    folder = tmp_path_factory.mktemp("named")
    lines = [json.loads(line) for line in (small / "questions.jsonl").read_text().splitlines()]
    for n, line in enumerate(lines):
        line["gold"] = [{"document": line["gold"][0]["document"], "whole": True}]
        line |= {"label": "smoke test"} if n < 2 else {}
    (folder / "q.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    plan = Plan(
        str(small / "corpus"), str(folder / "q.jsonl"), ("recursive(max=60t)", "fixed(40t)"), index="exact",
        measure="document_recall@1",
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FaircutWarning)
        run(plan, folder / "named", cache=folder / "vectors.sqlite")
    return write_report([folder / "named"], folder / "report.html").as_uri()


def test_the_overview_says_why_figures_are_missing_and_labels_the_smoke_test(visiting, named_report):
    with visiting(named_report) as seen:
        page = seen.page
        empty = page.locator("figure.none", has_text=WHY)
        empty.first.wait_for()
        titles = empty.locator("h3").all_inner_texts()
        assert titles == [
            "What does a budget of tokens buy?", "How often is the answer among the first k?",
            "Why are questions missed?",
        ]  # fmt: skip
        assert page.locator("figure.none .drawing").count() == 0
        assert "SMOKE TEST: 2 of 7 questions" in page.locator(".verdict .label").inner_text()
        box, headline = page.locator(".verdict .label").bounding_box(), page.locator(".headline").bounding_box()
        assert box["y"] + box["height"] <= headline["y"]


def test_a_question_names_its_document_and_right_chunks_and_marks_no_evidence(visiting, named_report):
    with visiting(f"{named_report}#/question/q1") as seen:
        page = seen.page
        page.locator("#ranking-0").wait_for()
        text = page.locator("main").inner_text()
        assert WHY in text
        assert "without a place in it" in text
        assert "of a right document" in text
        assert "evidence covered" not in text.lower()
        assert page.locator("mark.evidence").count() == 0
        page.goto(f"{named_report}#/document/harbour.md")
        page.locator(".text").first.wait_for()
        seen.settled()
        assert page.locator("mark.evidence").count() == 0


def test_the_page_rounds_no_share_to_all_or_nothing(visiting, named_report):
    with visiting(named_report) as seen:
        shares = [0.996, 0.004, 1, 0, 1e-9, 1 - 1e-9, 0.5]
        shown = seen.page.evaluate("(shares) => shares.map((share) => faircut.percent(share))", shares)
        assert shown == ["99.6 %", "0.4 %", "100 %", "0 %", "under 0.01 %", "over 99.99 %", "50 %"]
