"""Finished runs that pages are made of: the small comparison, and one made of hostile text."""

import json

import pytest

from faircut.experiment.plan import Plan
from faircut.experiment.run import run

SCRIPT = "<script>window.owned=1</script>"
IMAGE = '"><img src=x onerror="window.owned=1">'
LINK = "javascript:window.owned=1"
ESCAPES = "\x1b[31mred\x1b[0m \u202egnirts\u202c \u2066isolate\u2069 \x00nul {{7*7}} ${7*7} </title></style><!--"

CHUNKERS = ("recursive(max=60t)", "sentence(max=40t)", "semantic(max=60t)", "fixed(40t, overlap=10t)")


@pytest.fixture(scope="session")
def small_run(small, tmp_path_factory):
    """The folder of a finished run with controls."""
    folder = tmp_path_factory.mktemp("small-run")
    plan = Plan(str(small / "corpus"), str(small / "questions.jsonl"), CHUNKERS, index="exact", controls=True)
    run(plan, folder / "small", cache=folder / "vectors.sqlite")
    return folder / "small"


@pytest.fixture(scope="session")
def tight_run(small, tmp_path_factory):
    """The folder of a finished run whose budget is so small that questions are missed."""
    folder = tmp_path_factory.mktemp("tight-run")
    plan = Plan(
        str(small / "corpus"), str(small / "questions.jsonl"), CHUNKERS, index="exact", controls=True,
        measure="recall@40t",
    )  # fmt: skip
    run(plan, folder / "tight", cache=folder / "vectors.sqlite")
    return folder / "tight"


@pytest.fixture(scope="session")
def hostile_run(tmp_path_factory):
    """The folder of a finished run whose documents, questions and names try to be markup, scripts and directions."""
    folder = tmp_path_factory.mktemp("hostile")
    odd, price, noon = "../../etc?x=1#/&%2F é😀", f"{IMAGE}{SCRIPT} {ESCAPES} what is the price?", "closes at noon"
    texts = {
        SCRIPT: (IMAGE, f"{SCRIPT} {IMAGE} begins here. The answer is forty two crowns. {ESCAPES}"),
        LINK: (ESCAPES, f"# {IMAGE}\n\n{LINK} is no link. {ESCAPES} The harbour closes at noon."),
        odd: ("", "An emoji 😀 comes first. Then 😀 the mooring is at the pier."),
    }
    asked = [
        (f"{SCRIPT}{LINK}", price, SCRIPT, "forty two crowns"),
        ("=cmd|' /C calc'!A0", '=HYPERLINK("x") when does the harbour close?', LINK, noon),
        ("q3", "Where is the mooring?", odd, "the mooring is at the pier"),
    ]
    documents = [{"id": d, "title": title, "text": text} for d, (title, text) in texts.items()]
    questions = [{"id": i, "question": q, "gold": [{"document": d, "quote": e}]} for i, q, d, e in asked]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(d) + "\n" for d in documents), encoding="utf-8")
    (folder / "questions.jsonl").write_text("".join(json.dumps(q) + "\n" for q in questions), encoding="utf-8")
    chunkers = ("recursive(max=20t)", "semantic(max=40t)")
    plan = Plan(str(folder / "corpus.jsonl"), str(folder / "questions.jsonl"), chunkers, index="exact")
    run(plan, folder / "hostile", cache=folder / "vectors.sqlite")
    return folder / "hostile"
