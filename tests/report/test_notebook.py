"""What a notebook shows of a leaderboard, which stays the dictionary that it is."""

import json
from html.parser import HTMLParser

import pytest

import faircut
from faircut.errors import StoreError

HOSTILE = '"><script>alert(1)</script><img src=x onerror=y>\x1b[31m\u202e'


class Tags(HTMLParser):
    """Every tag with its attributes, and whether they are closed in order."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.open = [], set(), []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def folder(small, tmp_path_factory):
    return tmp_path_factory.mktemp("run") / "r"


@pytest.fixture(scope="module")
def board(small, folder):
    chunkers = ("recursive(max=60t)", "sentence(max=40t)")
    return faircut.run(faircut.Plan(str(small / "corpus"), str(small / "questions.jsonl"), chunkers), folder)


def test_it_is_the_dictionary_of_the_run_folder(board, folder):
    assert isinstance(board, dict)
    assert json.loads(json.dumps(board)) == json.loads((folder / "leaderboard.json").read_text())
    assert faircut.Leaderboard.read(folder) == board
    assert type(board | {}) is dict


def test_html_has_every_row_with_its_verdict_and_no_script(board):
    html = board._repr_html_()
    found = Tags(html)
    assert found.tags.count("tr") == 3
    assert found.attributes <= {"style", "scope", "role", "title", "aria-label"}
    assert set(found.tags) <= {
        "div", "p", "strong", "table", "caption", "thead", "tbody", "tr", "th", "td", "code", "span", "ul", "li",
    }  # fmt: skip
    for row in board["rows"]:
        assert f"<code>{row['row']}</code>" in html
        assert f"{row['score']['mean']:.3f}" in html
    assert "? no measured difference" in html


def test_colours_are_the_pages_own(board):
    html = board._repr_html_()
    assert "#" not in html.replace("&#", "")
    assert "background:none" in html
    assert "color:inherit" in html


def test_hostile_names_do_nothing(board):
    rows = [row | {"row": HOSTILE, "integrity": row["integrity"] | {"ok": False}} for row in board["rows"]]
    html = faircut.Leaderboard(board | {"rows": rows, "baseline": HOSTILE})._repr_html_()
    assert "script" not in Tags(html).tags
    assert "img" not in Tags(html).tags
    assert not {"\x1b", "\u202e"} & set(html)


def test_markdown_is_that_of_the_command_line(board):
    assert board._repr_markdown_().startswith("**Against minilm::recursive(max=60t)")


def test_a_folder_without_a_leaderboard_is_refused(tmp_path):
    with pytest.raises(StoreError, match="a finished run"):
        faircut.Leaderboard.read(tmp_path)
