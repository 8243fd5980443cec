"""The options of commands that ask a model: written once, checked before anything is sent."""

import typer
from typer.testing import CliRunner

from faircut.cli.llm_options import LlmOptions, with_llm_options
from faircut.llm import ask


def run(*arguments):
    app = typer.Typer(pretty_exceptions_enable=False)

    @app.command()
    @with_llm_options
    def command(corpus: str, llm: LlmOptions, count: int = 2) -> None:
        """Ask something."""
        with llm.build() as model:
            requests = [ask(f"{corpus} {n}", max_tokens=50) for n in range(count)]
            if llm.dry_run:
                llm.show_estimate(model, requests)
            else:
                typer.echo([answer.text for answer in model.complete(requests)])

    return CliRunner().invoke(app, arguments)


def test_a_command_asks_the_model_that_is_named(server, tmp_path):
    options = ["--llm", server.url, "--model", "tiny", "--answers", str(tmp_path / "a.sqlite"), "--price-in", "1"]
    done = run("x", "--count", "1", *options, "--price-out", "2", "--budget", "0.5", "--concurrency", "1")
    assert done.output == "['answer to x 0']\n"
    assert "both --price-in and --price-out" in run("x", *options).output


def test_a_dry_run_says_what_it_would_take_and_asks_nothing(server, tmp_path):
    options = ["--llm", server.url, "--model", "gpt-4o-mini", "--answers", str(tmp_path / "a.sqlite"), "--dry-run"]
    said = run("x", *options).output
    assert "2 to ask" in said
    assert "at most 100 tokens" in said
    assert "cost: at most about <$0.0001" in said
    assert server.paths == []
    assert not (tmp_path / "a.sqlite").exists()


def test_without_a_model_it_says_what_to_name():
    assert "--llm URL" in run("x").output
    assert "--max-tokens-spent" in run("--help").output


def commands(group, path=()):
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


def test_every_option_of_every_command_has_one_long_name():
    from faircut.cli.app import app

    found = dict(commands(typer.main.get_command(app)))
    assert {"compare", "questions make"} <= set(found)
    doubled = [
        (name, option.opts)
        for name, command in found.items()
        for option in command.params
        if len([shown for shown in option.opts if shown.startswith("--")]) > 1
    ]
    assert doubled == []
