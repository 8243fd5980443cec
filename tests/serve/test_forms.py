"""Every chunker of the explorer becomes a form whose values build it again."""

import pytest

from faircut.chunkers import build
from faircut.serve.forms import form_of, offered

SPECS = [row["spec"] for row in offered()]
MORE = [
    "semantic(deviation(1.5), window=2, max=none)", "hybrid(threshold=p90, min=100c, whole=embedder)",
    "fixed(300c, at=space)", "optimal(penalty=0.5, local=true)",
    "shuffled(sentence(max=64t), seed=3)", "recursive(max=2000t, overlap=10t)",
]  # fmt: skip


def composed(form):
    """As the page does it."""
    parts = [
        f["value"] if f["default"] is None else f"{f['name']}={f['value']}"
        for f in form["fields"]
        if f["default"] is None or f["value"] != f["default"]
    ]
    return f"{form['name']}({', '.join(parts)})" if parts else form["name"]


@pytest.mark.parametrize("spec", SPECS + MORE)
def test_the_values_of_a_form_build_the_chunker_again(spec):
    assert build(composed(form_of(spec))) == build(spec)


@pytest.mark.parametrize("spec", SPECS + MORE)
def test_every_value_is_given_in_one_of_the_ways_of_its_field(spec):
    for field in form_of(spec)["fields"]:
        assert field["way"] in [way["name"] for way in field["ways"]], field


@pytest.mark.parametrize("spec", SPECS)
def test_every_chunker_of_the_list_says_in_a_line_what_it_does(spec):
    (line,) = [row["line"] for row in offered() if row["spec"] == spec]
    assert 10 < len(line) < 200
    assert "`" not in line
