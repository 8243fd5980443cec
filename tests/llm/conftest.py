"""Fixtures of the models' tests: a server with scripted faults, and models of it that wait next to nothing."""

import pytest
from fault_server import serving

from faircut.llm import ChatModel, Endpoint, RetryPolicy, Timeouts

FAST = RetryPolicy(attempts=4, first=0.002, longest=0.01)
QUICK = Timeouts(connect=5, read=5, total=10)


@pytest.fixture(autouse=True)
def no_key(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server():
    with serving() as running:
        yield running


@pytest.fixture
def make_model(server, tmp_path):
    """Builds a model of the server, with a cache unless ``cache`` says otherwise."""
    made = []

    def make(*, cache=tmp_path / "answers.sqlite", url=None, name="tiny", **given):
        options = {"retry": FAST, "budget": None, "price": None, "on_text": None, "counter": None}
        places = {"timeouts": QUICK, "concurrency": 4, "stream": False, "api_key_env": None}
        endpoint = Endpoint(url or server.url, name, **{k: given.pop(k, v) for k, v in places.items()})
        made.append(ChatModel(endpoint, cache=cache, **(options | given)))
        return made[-1]

    yield make
    for model in made:
        model.close()
