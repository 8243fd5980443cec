"""The spec grammar: what prints is what parses, and a wrong spec says what was found and what is possible."""

import contextlib
from dataclasses import dataclass
from typing import ClassVar

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from faircut.errors import FaircutError, SpecError
from faircut.specs import Percentile, Preset, Registry, Size, Spec, format_spec, parse_spec, spec_text, split_row


@dataclass(frozen=True)
class Plain:
    """A component with every kind of parameter."""

    name: ClassVar[str] = "plain"
    size: Size = Size(512)
    threshold: float | Percentile = 0.5
    unit: str = "x"
    count: int | None = None
    on: bool = False
    __str__ = spec_text


@dataclass(frozen=True)
class Wrapper:
    """A component around another."""

    name: ClassVar[str] = "wrap"
    inner: Plain
    seed: int = 0
    __str__ = spec_text


REGISTRY = Registry("part", (Plain, Wrapper), (Preset("small", "plain(size=10c)", "Small.", "us"),))

names = st.from_regex(r"[a-z][a-z_]{0,8}(:[a-z]{1,4})?", fullmatch=True).filter(
    lambda n: n not in ("true", "false", "none")
)
scalars = st.one_of(
    st.integers(-(10**9), 10**9),
    st.floats(allow_nan=False, allow_infinity=False, min_value=-1e6, max_value=1e6).filter(lambda x: x != int(x)),
    st.booleans(),
    st.none(),
    st.text(),
    st.builds(Size, st.integers(0, 10**6), st.sampled_from("twc")),
    st.builds(Percentile, st.integers(0, 100).map(float)),
)


def specs_of(values):
    return st.builds(
        lambda name, args, kwargs: Spec(name, tuple(args), tuple(kwargs.items())),
        names,
        st.lists(values, max_size=3),
        st.dictionaries(names.filter(lambda n: ":" not in n), values, max_size=3),
    )


trees = st.recursive(scalars, specs_of, max_leaves=8).filter(lambda v: isinstance(v, Spec))


@given(trees)
def test_a_printed_tree_parses_to_itself(tree):
    assert parse_spec(format_spec(tree)) == tree


components = st.builds(
    Plain,
    size=st.builds(Size, st.integers(1, 5000), st.sampled_from("twc")),
    threshold=st.one_of(st.floats(-1, 1), st.builds(Percentile, st.floats(0, 100))),
    unit=st.text(),
    count=st.none() | st.integers(-(10**15) + 1, 10**15 - 1),
    on=st.booleans(),
)


@given(components | st.builds(Wrapper, components, st.integers(-(10**15) + 1, 10**15 - 1)))
@example(Plain(unit=" A"))
def test_a_printed_component_builds_an_equal_one(component):
    assert REGISTRY.build(str(component)) == component


def test_defaults_are_left_out_when_printed():
    assert str(Plain()) == "plain"
    assert str(Wrapper(Plain(size=Size(20, "c")), seed=3)) == "wrap(plain(size=20c), seed=3)"


def test_a_bare_number_is_a_size_in_tokens():
    assert REGISTRY.build("plain(size=64)").size == Size(64, "t")


def test_a_preset_builds_its_spec_and_takes_changes():
    assert REGISTRY.build("small") == Plain(size=Size(10, "c"))
    assert REGISTRY.build("small(threshold=p90)") == Plain(size=Size(10, "c"), threshold=Percentile(90))
    assert REGISTRY.build("wrap(small)") == Wrapper(Plain(size=Size(10, "c")))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("plian", "did you mean 'plain'"),
        ("plain(sise=3)", "did you mean 'size'"),
        ("plain(size=big)", "size must be a size such as 512t, 512w or 500c, found big"),
        ("plain(threshold=yes)", "threshold must be a number or a percentile such as p85"),
        ("plain(threshold=p120)", "between p0 and p100"),
        ("plain(on=1)", "must be true or false"),
        ("plain(count=1.5)", "must be a whole number or none"),
        ("plain(size=3", "expected ',' or ')', found 'the end'"),
        ("plain(size=3))", "nothing may follow"),
        ("plain(size=3, size=4)", "given twice"),
        ("plain(1, size=4)", "given twice"),
        ("plain(1, 2, x, 4, true, 6)", "at most 5 parameters"),
        ("wrap", "needs the parameter 'inner'"),
        ("wrap(3)", "inner must be a spec"),
        ("", "expected a name"),
        ("plain(__class__=3)", "no parameter '__class__'"),
        ("plain" + "(plain" * 50, "nested more than"),
        ("plain(threshold=1e999)", "the number 1e999 is too large"),
        ("plain(threshold=-" + "9" * 400 + ".0)", "is too large"),
        ("plain(size=" + "9" * 5000 + "t)", "a whole number has at most 15 digits, found 5000"),
        ("plain(count=99999999999999999999)", "a whole number has at most 15 digits, found 20"),
        ("plain(threshold=" + "9" * 5000 + ")", "a whole number has at most 15 digits, found 5000"),
        ("plain(threshold=p" + "9" * 5000 + ")", "between p0 and p100"),
    ],
)
def test_a_wrong_spec_says_what_was_found_and_what_to_do(text, said):
    with pytest.raises(SpecError) as caught:
        REGISTRY.build(text)
    assert said in str(caught.value)
    assert len(str(caught.value)) < 500


def test_a_component_with_an_infinite_number_can_be_shown():
    assert str(Plain(threshold=float("inf"))) == "plain(threshold=inf)"
    assert str(Plain(threshold=float("nan"))) == "plain(threshold=nan)"


@given(st.text(max_size=40))
def test_any_text_parses_or_is_refused_with_a_typed_error(text):
    with contextlib.suppress(FaircutError):
        parse_spec(text)


def test_a_row_has_exactly_one_top_level_pair_of_colons():
    assert split_row("minilm::semantic(threshold=0.65)") == ("minilm", "semantic(threshold=0.65)")
    assert split_row('st("a::b")::python:a:b(x="::")') == ('st("a::b")', 'python:a:b(x="::")')
    for wrong in ("minilm", "a::b::c", 'st("a::b")'):
        with pytest.raises(SpecError, match="exactly one '::'"):
            split_row(wrong)
