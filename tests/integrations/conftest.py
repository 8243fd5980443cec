"""The frameworks without telemetry and without a network; a text that is Markdown; small fixtures for all of them."""

import os
import socket
from textwrap import dedent

import pytest

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
os.environ["LANGSMITH_TRACING"] = "false"

MANUAL = dedent("""\
    # Boat manual

    The boat is nine metres long. It has a diesel engine of thirty horsepower.

    ## Engine

    Check the oil before every trip. The oil is changed every hundred hours. Never start the engine on dry land.

    | part | every | by |
    |---|---|---|
    | oil filter | 100 hours | owner |
    | impeller | 200 hours | workshop |
    | fuel filter | 300 hours | workshop |
    | belt | 400 hours | owner |

    ## Winter

    Check the oil before every trip. Drain the water from the engine. Take the batteries home.
    """)


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    """Whatever a framework wants to fetch or to report, it cannot."""

    def refused(_socket, address):
        raise AssertionError(f"a connection to {address}")

    monkeypatch.setattr(socket.socket, "connect", refused)


@pytest.fixture
def manual():
    return MANUAL
