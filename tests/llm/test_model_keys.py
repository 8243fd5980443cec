"""API keys come from the environment and appear nowhere else; URLs are checked before anything is sent."""

import json
import logging
import traceback

import pytest
from fault_server import chosen, says, status

from faircut.errors import FaircutError, LlmError
from faircut.llm import ChatModel, Endpoint, Timeouts, ask
from faircut.llm.endpoint import key_of, plain

KEY = "sk-proj-0123456789abcdefTHEKEY"
ECHOES = {
    "401": status(401, json.dumps({"error": {"message": f"wrong key {KEY}"}})),
    "400": status(400, f"Bearer {KEY} is no good"),
    "500": status(500, KEY),
    "redirect": status(307, "", Location=f"http://127.0.0.1:9/?key={KEY}"),
    "page": says(f"<html>{KEY}", kind="text/html"),
    "no JSON": says(KEY),
    "error with 200": says(json.dumps({"error": {"message": KEY}})),
    "answer": chosen(f"your key is {KEY}"),
    "refusal": chosen(None, refusal=f"not with {KEY}"),
}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", ECHOES)
def test_a_key_that_a_server_echoes_is_in_no_file_no_error_and_no_log(
    name, stream, server, make_model, tmp_path, monkeypatch, caplog
):
    caplog.set_level(logging.INFO)
    caplog.set_level(logging.DEBUG, "openai")
    monkeypatch.setenv("MY_KEY", KEY)
    server.always = ECHOES[name]
    model = make_model(api_key_env="MY_KEY", stream=stream)
    try:
        said = repr(model.complete([ask("a")]))
    except FaircutError as error:
        said = "".join(traceback.format_exception(error)) + repr(error.answers)
    model.close()
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"  # it was sent, in the header only
    files = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    for text in (said, repr(model), repr(vars(model)), caplog.text, files.decode("latin-1"), json.dumps(server.bodies)):
        assert KEY not in text
        assert "THEKEY" not in text


ODD = "sk/live+Abc_123456789=="
WRITTEN = ODD.replace("/", "\\/").replace("+", "\\u002b")  # as JSON may write it
PERCENT = ODD.replace("/", "%2f").replace("+", "%2B")  # some of it, in either case
HIDDEN_ECHOES = {
    "content": says(
        '{"choices": [{"message": {"content": "it is KEY"}, "finish_reason": "stop"}]}'.replace("KEY", WRITTEN)
    ),
    "finish": says('{"choices": [{"message": {"content": "it is"}, "finish_reason": "KEY"}]}'.replace("KEY", WRITTEN)),
    "text": says(f'"oops {WRITTEN}"'),
    "no JSON": says(f"oops {WRITTEN}"),
    "error": says('{"error": {"message": "KEY"}}'.replace("KEY", WRITTEN)),
    "401": status(401, '{"error": {"message": "KEY"}}'.replace("KEY", WRITTEN)),
    "redirect": status(307, "", Location=f"http://127.0.0.1:9/?key={PERCENT}"),
}


@pytest.mark.parametrize("name", HIDDEN_ECHOES)
def test_a_key_that_a_server_echoes_in_other_letters_is_nowhere_either(name, server, make_model, tmp_path, monkeypatch):
    monkeypatch.setenv("MY_KEY", ODD)
    server.always = HIDDEN_ECHOES[name]
    model = make_model(api_key_env="MY_KEY")
    try:
        said = repr(model.complete([ask("a")]))
    except FaircutError as error:
        said = "".join(traceback.format_exception(error)) + repr(error.answers)
    model.close()
    files = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    for text in (said, files.decode("latin-1")):
        assert "Abc_123456789" not in text


def test_the_key_of_openai_travels_over_https_or_on_this_machine_only(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    for url in ("https://api.openai.com/v1", "https://example.org/v1", "http://localhost:1/v1", "http://[::1]:1/v1"):
        assert key_of(Endpoint(url, "m")) == KEY
    assert key_of(Endpoint("http://example.org/v1", "m")) == "no-key"
    assert key_of(Endpoint("http://example.org/v1", "m", api_key_env="OPENAI_API_KEY")) == KEY


def test_a_missing_key_is_told_where_one_is_needed(monkeypatch):
    with pytest.raises(LlmError, match="OPENAI_API_KEY"):
        ChatModel(Endpoint("https://api.openai.com/v1", "m")).complete([ask("a")])
    with pytest.raises(LlmError, match="MY_KEY"):
        key_of(Endpoint("http://127.0.0.1:1/v1", "m", api_key_env="MY_KEY"))
    monkeypatch.setenv("MY_KEY", f"{KEY}\nX: y")
    with pytest.raises(LlmError, match="holds no API key") as error:
        key_of(Endpoint("http://127.0.0.1:1/v1", "m", api_key_env="MY_KEY"))
    assert "THEKEY" not in str(error.value)


@pytest.mark.parametrize(
    "url",
    ["", "localhost:8080", "ftp://x/v1", "file:///etc/passwd", "http://", "http://x:99999/", "http://x/\n", "http://[x/",
     f"http://user:{KEY}@x/v1", f"http://x/v1?key={KEY}", "http://x/v1#a"],
)  # fmt: skip
def test_what_is_no_url_of_a_server_is_refused_without_repeating_a_key(url):
    with pytest.raises(LlmError, match="URL") as error:
        Endpoint(url, "m")
    assert "THEKEY" not in str(error.value)


def test_a_key_given_instead_of_a_variables_name_is_refused_and_not_repeated():
    with pytest.raises(LlmError, match="never the key") as error:
        Endpoint("http://x/v1", "m", api_key_env=KEY)
    assert "THEKEY" not in str(error.value)


@pytest.mark.parametrize(
    "wrong",
    [{"concurrency": 0}, {"concurrency": 1000}, {"model": " "}],
)
def test_wrong_endpoints_are_refused(wrong):
    with pytest.raises(LlmError):
        Endpoint(**({"base_url": "http://x/v1", "model": "m"} | wrong))
    with pytest.raises(LlmError):
        Timeouts(read=float("nan"))


def test_what_a_server_says_is_shown_as_one_harmless_line():
    assert plain("a\x1b[31m\nb\u202e" + "x" * 1000).startswith("a\ufffd[31m b\ufffdxx")
    assert len(plain("x" * 10_000)) == 303
    assert "abcdefgh" not in plain("Incorrect API key provided: sk-abcdefghijk, Bearer abcdefghij")


def test_control_characters_of_an_answer_are_kept(server, make_model):
    server.text = lambda body: "\x1b[31mred\x00"
    assert make_model().complete([ask("a")])[0].text == "\x1b[31mred\x00"


def test_a_lone_surrogate_in_a_prompt_can_be_sent(server, make_model):
    assert make_model().complete([ask("half \ud83d of it")])[0].text == "answer to half \ufffd of it"
