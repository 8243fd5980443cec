"""A small comparison that runs in a second: a few documents and questions written here."""

import json
import textwrap

import pytest

TEXTS = {
    "harbour.md": """\
        # Harbour rules

        Boats longer than nine metres moor at the outer quay. The outer quay has twelve places and no electricity.

        Dogs are welcome on every pontoon. They must be kept on a lead between May and September.

        ## Fees

        A night costs eleven crowns for boats below six metres. Larger boats pay two crowns more for each metre.
        Payment is by card at the green kiosk. Receipts are printed until midnight.
        """,
    "workshop.md": """\
        # Workshop

        The lathe may be used by members who took the safety course. The course is held on the first Monday of a month.

        | tool | place |
        |---|---|
        | lathe | bench 2 |
        | band saw | bench 5 |

        Sawdust goes into the red bin. Oily rags go into the steel box with a lid, never into the red bin.
        """,
    "library.txt": """\
        The library lends forty books at a time. Late books cost a crown a week.

        Maps are not lent, but they may be copied in the reading room. The copier takes coins only.

        On Sundays the reading room closes at noon. Keys are with the caretaker.
        """,
}
QUESTIONS = [
    ("q1", "Where do long boats tie up?", [("harbour.md", "Boats longer than nine metres moor at the outer quay.")]),
    ("q2", "When must dogs be on a lead?", [("harbour.md", "kept on a lead between May and September")]),
    ("q3", "How is the berth paid for?", [("harbour.md", "Payment is by card at the green kiosk.")]),
    ("q4", "Where does waste with oil go?", [("workshop.md", "Oily rags go into the steel box with a lid")]),
    ("q5", "At which bench is the band saw?", [("workshop.md", "| band saw | bench 5 |")]),
    ("q6", "What does a late book cost?", [("library.txt", "Late books cost a crown a week.")]),
    (
        "q7",
        "Who may use the lathe, and when is the course?",
        [("workshop.md", "members who took the safety course"), ("workshop.md", "on the first Monday of a month")],
    ),
]


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """A folder with ``corpus/`` and ``questions.jsonl``."""
    folder = tmp_path_factory.mktemp("small")
    (folder / "corpus").mkdir()
    for name, text in TEXTS.items():
        (folder / "corpus" / name).write_text(textwrap.dedent(text), encoding="utf-8")
    lines = [
        {"id": i, "question": q, "gold": [{"document": d, "quote": e} for d, e in gold]} for i, q, gold in QUESTIONS
    ]
    (folder / "questions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return folder
