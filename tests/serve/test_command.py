"""`faircut serve`: it says where it is, stops cleanly, and refuses what it cannot do in one sentence."""

import os
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest
import typer

from faircut.cli.serve import _size_from

COMMAND = [sys.executable, "-c", "from faircut.cli import main; main()", "serve"]


def refused(*arguments):
    ended = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=60)
    assert len(ended.stderr.strip().splitlines()) == 1
    return ended.returncode, ended.stderr


def test_it_prints_its_address_serves_and_stops_with_ctrl_c(tmp_path):
    started = [*COMMAND, "--port", "0", "--runs", str(tmp_path)]
    with subprocess.Popen(started, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        address = process.stdout.readline().split()[1]
        assert address.startswith("http://127.0.0.1:")
        assert b"<title>faircut</title>" in urllib.request.urlopen(address).read()  # noqa: S310
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        assert process.stderr.read() == "faircut: stopped; nothing was kept.\n"


def test_a_port_that_is_taken_is_told_with_what_to_do():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, said = refused("--port", str(taken.getsockname()[1]))
    assert code == 1
    assert "cannot listen at 127.0.0.1:" in said
    assert "--port takes another one" in said


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["no-such-folder"], 1, "no such file or folder"),
        (["--max-size", "lots"], 2, "a size such as 20MB"),
        (["--host", "no.such.host.invalid"], 1, "no such host"),
        (["--keep", __file__], 2, "found the file"),
    ],
)
def test_what_it_cannot_do_is_one_sentence(arguments, code, said):
    found = refused("--port", "0", *arguments)
    assert found[0] == code
    assert said in found[1]


@pytest.mark.parametrize(("text", "size"), [("20MB", 20_000_000), ("500kb", 500_000), ("1GB", 10**9), ("7", 7)])
def test_sizes_are_read_as_people_write_them(text, size):
    assert _size_from(text) == size


@pytest.mark.parametrize("text", ["", "MB", "0", "-1MB", "2GB", "1e6", "20TB", "9" * 40, "²MB"])
def test_other_sizes_are_refused(text):
    with pytest.raises(typer.BadParameter):
        _size_from(text)


def test_the_command_is_light_until_it_runs():
    heavy = "starlette uvicorn jinja2 polars numpy"
    code = f"import sys, faircut.cli.app; print([m for m in '{heavy}'.split() if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.slow
def test_it_starts_within_two_seconds_of_work():
    """Seconds of the processor, so that a busy machine changes nothing; the bar of the project is two."""
    with subprocess.Popen(
        [*COMMAND, "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout.readline().startswith("Explorer: ")
        stat = f"/proc/{process.pid}/stat"
        if not os.path.exists(stat):
            process.kill()
            pytest.skip("no /proc here")
        with open(stat, encoding="ascii") as file:
            spent = file.read().rsplit(")", 1)[1].split()[11:13]
        process.send_signal(signal.SIGINT)
        process.wait(30)
    assert sum(map(int, spent)) / os.sysconf("SC_CLK_TCK") < 2
