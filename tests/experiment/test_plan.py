"""Plans: what cannot work is refused before anything runs, and controls are known by what they are, not by spelling."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faircut.errors import FaircutError, PlanError
from faircut.experiment.plan import Plan, control_of, is_control, load_plan

PLAN = Plan("corpus", "questions.jsonl", ("recursive",))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"seed": -1}, "the seed is a whole number from 0 to"),
        ({"seed": 10**5000 // 10**4990}, "the seed is a whole number from 0 to"),
        ({"band": 1e-300}, "band and alpha lie between"),
        ({"band": float("nan")}, "band and alpha lie between"),
        ({"band": float("inf")}, "band and alpha lie between"),
        ({"alpha": 0.999999}, "band and alpha lie between"),
        ({"corpus": "a\0b"}, "corpus: .* rename it"),
        ({"name": "a\udcff"}, "name: .* rename it"),
        ({"chunkers": ("recursive\udcff",)}, "chunkers: .* rename it"),
    ],
)
def test_a_value_that_cannot_work_is_refused_with_its_name(change, said):
    with pytest.raises(PlanError, match=said):
        replace(PLAN, **change)


@pytest.mark.parametrize("extreme", [{"band": 0.0001, "alpha": 0.0001}, {"band": 0.5, "alpha": 0.5, "seed": 2**32 - 1}])
def test_the_ends_of_the_ranges_are_allowed(extreme):
    assert replace(PLAN, **extreme).seed in (0, 2**32 - 1)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a = " + "[" * 5000, "not valid TOML: nested too deeply"),
        ("seed = " + "9" * 5000, "not valid TOML: a number has too many digits"),
        ("seed = 1e999\n", "seed must be a whole number|needs 'corpus'"),
        ('corpus = ""\nquestions = "q"\nchunkers = ["recursive"]', "needs 'corpus'"),
        ('corpus = " "\nquestions = "q"\nchunkers = ["recursive"]', "needs 'corpus'"),
        ('corpus = "c"\nquestions = ""\nchunkers = ["recursive"]', "needs 'questions'"),
        ('corpus = "\\u0000"\nquestions = "q"\nchunkers = ["recursive"]', "corpus: .* rename it"),
        (b"name = '\xff'", "not valid TOML"),
    ],
)
def test_a_plan_file_that_cannot_be_used_is_one_sentence(tmp_path, content, said):
    path = tmp_path / "plan.toml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(PlanError, match=said) as caught:
        load_plan(path)
    assert len(str(caught.value)) < 300


@given(st.text(st.characters(codec=None, exclude_categories=()), min_size=1))
def test_every_name_is_refused_or_survives_the_plan_file(tmp_path_factory, name):
    path = tmp_path_factory.mktemp("plan") / "plan.toml"
    try:
        plan = Plan("/corpus", "/questions", ("recursive",), name=name)
    except FaircutError:
        return
    path.write_text(plan.to_toml(), encoding="utf-8", newline="")
    assert load_plan(path) == plan


# ---------------------------------------------------------------- controls


def rows(*chunkers, controls=True):
    return [row.chunker for row in replace(PLAN, chunkers=chunkers, controls=controls).rows]


@pytest.mark.parametrize("spelling", [" shuffled(recursive)", "shuffled( recursive )", "shuffled(recursive, seed=0)"])
def test_a_control_is_known_by_what_it_is_however_it_is_written(spelling):
    assert is_control(spelling)
    assert control_of(spelling) == spelling
    assert rows(spelling) == [spelling]
    assert rows("recursive", spelling) == ["recursive", spelling]
    assert rows(spelling, "recursive") == [spelling, "recursive"]


def test_a_control_is_added_once_for_each_chunker_whatever_its_spelling():
    assert rows("recursive(max=60t)", "recursive(60)") == [
        "recursive(max=60t)", "recursive(60)", "shuffled(recursive(max=60t))",
    ]  # fmt: skip
    assert rows("recursive", controls=False) == ["recursive"]
    assert not is_control("recursive")


def test_chunkers_are_paired_with_their_own_control_of_the_same_embedder():
    chunkers = ("recursive", "recursive(max=512)", "sentence", " shuffled( recursive, seed=3 )", "shuffled(recursive)")
    plan = replace(PLAN, chunkers=chunkers, embedders=("minilm", "minilm(max_tokens=128)"))
    for_each = [("recursive", "shuffled(recursive)"), ("recursive(max=512)", "shuffled(recursive)")]
    assert [(a.embedder, a.chunker, b.embedder, b.chunker) for a, b in plan.control_pairs] == [
        (embedder, own, embedder, control) for embedder in plan.embedders for own, control in for_each
    ]


def test_a_control_with_another_seed_is_taken_where_it_is_the_only_one():
    plan = replace(PLAN, chunkers=("recursive", "shuffled(recursive, seed=3)"))
    assert [(str(a), str(b)) for a, b in plan.control_pairs] == [
        ("minilm::recursive", "minilm::shuffled(recursive, seed=3)")
    ]
