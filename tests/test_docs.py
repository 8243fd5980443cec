"""The documentation is run: its Python, its commands, their output, its links, and the specs named in its text.

Blocks of one page share a namespace and a folder with a copy of ``examples/``, in the order of the page. ``# -> text``
in or after a statement is what that statement prints. Lines below ``$ faircut ...`` are in its output, in this order.
``...`` in either stands for anything. A block that begins with ``# pip install "faircut[extra]"`` runs where that extra
is installed. Other commands (``$ make demo``) and blocks of other languages are not run.
"""

import ast
import io
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
import tokenize
import tomllib
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass, fields
from importlib.util import find_spec
from pathlib import Path

import pytest

from faircut.chunkers import CHUNKERS, build
from faircut.embedding import EMBEDDERS
from faircut.evaluation.measures import KINDS, parse_measure
from faircut.experiment.plan import plan_from

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())

FAIRCUT = 'faircut() { "$PYTHON" -c "from faircut.cli import main; main()" "$@"; }\n'

# ---------------------------------------------------------------- what is on a page


@dataclass(frozen=True)
class Fenced:
    """A fenced block; ``line`` is that of its first line of content, from 1."""

    language: str
    source: str
    line: int


_FENCE = re.compile(r"^(?P<indent> *)```(?P<language>\w*)[^\n]*\n(?P<source>.*?)^(?P=indent)```[ ]*$", re.M | re.S)


def fenced_blocks(text: str) -> list[Fenced]:
    return [
        Fenced(m["language"], textwrap.dedent(m["source"]), text.count("\n", 0, m.start("source")) + 1)
        for m in _FENCE.finditer(text)
    ]


def prose(text: str) -> str:
    return _FENCE.sub("", text)


def inline_code(text: str) -> Iterator[str]:
    """What stands between single backticks outside of blocks; ``\\|`` in a table is a bar."""
    return (m[1].replace("\\|", "|") for m in re.finditer(r"(?<!`)`([^`\n]+)`(?!`)", prose(text)))


# ---------------------------------------------------------------- running it


def run_page(page: Path, folder: Path) -> None:
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in fenced_blocks(page.read_text(encoding="utf-8")):
        place = f"{page.name}:{block.line}"
        if block.language == "python" and is_installed(block):
            run_python(block.source, namespace, place)
        elif block.language == "console":
            run_console(block.source, folder, place)


_EXTRAS = {"langchain": "langchain_text_splitters", "llama-index": "llama_index", "haystack": "haystack"}


def is_installed(block: Fenced) -> bool:
    """Whether the extra that a block names in its first line, ``# pip install "faircut[...]"``, is there."""
    wanted = re.match(r'# pip install "faircut\[([\w-]+)\]"', block.source)
    return wanted is None or find_spec(_EXTRAS[wanted[1]]) is not None


def run_python(source: str, namespace: dict[str, object], place: str) -> None:
    body = ast.parse(source, place).body
    answers = list(expected_answers(source))
    for node, following in zip(body, [*(n.lineno for n in body[1:]), sys.maxsize], strict=True):
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile(ast.Module([node], []), place, "exec"), namespace)  # noqa: S102  # our own documentation
        expected = [text for line, text in answers if node.lineno <= line < following]
        if expected:
            found = printed.getvalue().splitlines()
            fits = len(found) == len(expected) and all(map(is_like, found, expected))
            assert fits, f"{place}, line {node.lineno} of the block: expected {expected}, printed {found}"


def expected_answers(source: str) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and token.string.startswith("# -> "):
            yield token.start[0], token.string.removeprefix("# -> ")


def run_console(source: str, folder: Path, place: str) -> None:
    for command, shown in commands(source):
        if not command.startswith("faircut"):
            continue
        done = subprocess.run(
            ["/bin/sh", "-c", FAIRCUT + command],
            cwd=folder,
            env=os.environ | {"PYTHON": sys.executable, "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, f"{place}: {command}: exit code {done.returncode}\n{done.stdout}"
        missing = first_missing(shown, done.stdout.splitlines())
        assert missing is None, f"{place}: {command}: {missing!r} is not in (this place of) its output\n{done.stdout}"


def commands(source: str) -> Iterator[tuple[str, list[str]]]:
    """Each command of a block with the lines shown below it; a line that ends in a backslash goes on."""
    for part in re.split(r"^\$ ", source, flags=re.M)[1:]:
        whole = part.replace("\\\n", " ")
        command, _, output = whole.partition("\n")
        yield command.strip(), [line for line in output.splitlines() if line.strip()]


def first_missing(shown: list[str], output: list[str]) -> str | None:
    lines = iter(output)
    for wanted in shown:
        if wanted.strip() != "..." and not any(is_like(line, wanted) for line in lines):
            return wanted
    return None


def is_like(found: str, expected: str) -> bool:
    """Equal but for the amount of white space and for what ``...`` stands for."""
    pattern = ".*".join(re.escape(" ".join(part.split())) for part in expected.split("..."))
    loose = re.sub(r"(?:\\ )?\.\*(?:\\ )?", ".*", pattern)
    return re.fullmatch(loose, " ".join(found.split())) is not None


@pytest.fixture
def workshop(tmp_path, monkeypatch):
    """A folder with the examples, as the working directory; modules that a page makes there are forgotten after."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("HAYSTACK_TELEMETRY_ENABLED", "False")
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if (getattr(sys.modules[name], "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]


@each_page
def test_the_examples_of_a_page_run_and_print_what_it_shows(page, workshop):
    run_page(page, workshop)


@each_page
def test_data_shown_on_a_page_is_valid(page):
    for block in fenced_blocks(page.read_text(encoding="utf-8")):
        if block.language == "json":
            assert [json.loads(line) for line in block.source.splitlines() if line.strip()]
        if block.language == "toml" and "chunkers" in (given := tomllib.loads(block.source)):
            plan_from(given, f"{page.name}:{block.line}")


# ---------------------------------------------------------------- links and names


def targets(text: str) -> list[str]:
    """Where the links and pictures of a page lead, those to other sites left out."""
    found = re.findall(r"\]\(\s*<?([^)\s>]+)>?[^)]*\)", prose(text)) + re.findall(
        r'(?:src|href)="([^"]+)"', prose(text)
    )
    return [target for target in found if not re.match(r"[a-z][a-z0-9+.-]*:", target)]


def anchors(text: str) -> set[str]:
    """The names that headings can be linked by, as GitHub makes them."""
    headings = re.findall(r"^#+ +(.+?) *$", prose(text), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@each_page
def test_links_lead_to_files_and_headings_that_exist(page):
    for target in targets(page.read_text(encoding="utf-8")):
        path, _, anchor = target.partition("#")
        file = page.parent / path if path else page
        assert file.exists(), f"{page.name} links to {target}, which does not exist"
        if anchor and file.suffix == ".md":
            assert anchor in anchors(file.read_text(encoding="utf-8")), f"{page.name}: no heading for {target}"


def test_every_page_is_linked_from_the_index():
    linked = {target.partition("#")[0] for target in targets((DOCS / "index.md").read_text(encoding="utf-8"))}
    assert {page.name for page in DOCS.glob("*.md")} - {"index.md"} <= linked


@each_page
def test_specs_and_measures_named_in_the_text_can_be_built(page):
    chunkers = "|".join(map(re.escape, CHUNKERS.names))
    measures = "|".join(KINDS)
    for code in inline_code(page.read_text(encoding="utf-8")):
        is_spec = re.match(rf"(?:{chunkers})\(.*\)$", code) and not re.search(r"python:|\.\.\.|\bchunker\b", code)
        if is_spec:  # and not a form such as shuffled(chunker)
            build(code)
        elif re.match(rf"(?:{measures})(?:\([^)]*\))?@\d", code):
            parse_measure(code)


@each_page
def test_numbers_beside_a_link_to_results_stand_in_those_results(page):
    for paragraph in paragraphs_with_tables(prose(page.read_text(encoding="utf-8"))):
        linked = [page.parent / t for t in targets(paragraph) if re.search(r"results/[\w-]+\.md$", t)]
        results = "".join(file.read_text(encoding="utf-8") for file in linked if file.exists())
        numbers = (
            set(re.findall(r"(?<![\w.])(?:\d+\.\d+|\d{1,3}(?:,\d{3})+)(?![\w.]*\d)", paragraph)) if results else set()
        )
        wrong = {number for number in numbers if not re.search(rf"(?<![\d.]){re.escape(number)}(?!\d)", results)}
        assert not wrong, (
            f"{page.name}: {sorted(wrong)} not in {[file.name for file in linked]}; see {paragraph[:60]!r}"
        )


def paragraphs_with_tables(text: str) -> list[str]:
    """Paragraphs, each with the table that follows it."""
    return re.split(r"\n\s*\n(?!\|)", text)


@pytest.mark.parametrize("cls", CHUNKERS.classes, ids=lambda cls: cls.name)
def test_every_parameter_of_a_chunker_is_explained(cls):
    page = "own-splitter.md" if cls.name == "python" else "chunkers.md"
    named = set(inline_code((DOCS / page).read_text(encoding="utf-8")))
    if cls.name == "python":
        assert any(code.startswith("python:") for code in named)
        return
    section = (DOCS / page).read_text(encoding="utf-8").partition(f"## {cls.name}\n")[2].partition("\n## ")[0]
    assert section, f"docs/{page} has no section '## {cls.name}'"
    missing = {f.name for f in fields(cls) if f.init} - set(inline_code(section))
    assert not missing, f"docs/{page}, section {cls.name}, does not explain {sorted(missing)}"


def test_every_preset_cut_rule_measure_and_embedder_is_explained():
    chunkers, fairness, specs = (
        (DOCS / f"{n}.md").read_text(encoding="utf-8") for n in ("chunkers", "fairness", "specs")
    )
    for preset in CHUNKERS.presets:
        assert f"`{preset.name}`" in chunkers, f"docs/chunkers.md does not name the preset {preset.name}"
        assert f"`{preset.spec}`" in chunkers, f"docs/chunkers.md does not say that {preset.name} is {preset.spec}"
    for part in CHUNKERS.parts:
        assert f"`{part.name}(" in chunkers, f"docs/chunkers.md does not explain the cut rule {part.name}"
    for name in KINDS:
        assert f"`{name}" in fairness, f"docs/fairness.md does not explain the measure {name}"
    for cls in EMBEDDERS.classes:
        assert f"`{cls.name}" in specs, f"docs/specs.md does not name the embedder {cls.name}"


# ---------------------------------------------------------------- the runner itself


def a_page(folder: Path, text: str) -> Path:
    page = folder / "page.md"
    page.write_text(text, encoding="utf-8")
    return page


@pytest.mark.parametrize(
    "wrong",
    [
        "```python\nprint(1 + 1)\n# -> 3\n```\n",
        "```python\nfor n in (1, 2):\n    print(n)  # -> 1\n```\n",
        "```python\nprint('a')\n# -> a\n# -> b\n```\n",
        "```python\nundefined\n```\n",
        "```console\n$ faircut chunk missing.md\n```\n",
        "```console\n$ faircut --version\nfaircut 999\n```\n",
    ],
)
def test_a_page_whose_example_is_wrong_fails(wrong, tmp_path):
    with pytest.raises((AssertionError, NameError)):
        run_page(a_page(tmp_path, wrong), tmp_path)


def test_blocks_share_names_and_other_commands_are_left_alone(tmp_path):
    text = (
        "```python\nn = 2\n```\n- in a list\n\n  ```python\n  print('n  is', n)  # -> n is ...\n  ```\n"
        "```console\n$ no-such-command\nanything\n$ faircut \\\n  --version\nfaircut ...\n```\n"
        "```text\nnot run\n```\n"
    )
    run_page(a_page(tmp_path, text), tmp_path)


def test_the_table_in_the_readme_is_the_output_of_its_script():
    shown = (ROOT / "README.md").read_text(encoding="utf-8").split("```text\n")[1].split("\n```")[0]
    lines = iter((ROOT / "docs" / "results" / "demo.md").read_text(encoding="utf-8").splitlines())
    for line in filter(str.strip, shown.splitlines()):
        assert line in lines, f"bench/demo.py does not print (in this order): {line}"
