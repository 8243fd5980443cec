"""One of a thing is said in the singular."""

import pytest

from faircut.questions.counting import counted


@pytest.mark.parametrize(
    ("count", "things", "said"),
    [
        (1, "documents", "1 document"),
        (1, "queries of test.tsv", "1 query of test.tsv"),
        (0, "questions", "0 questions"),
        (1200, "places of the evidence", "1,200 places of the evidence"),
    ],
)
def test_one_is_said_in_the_singular(count, things, said):
    assert counted(count, things) == said
