"""Fixtures of the explorer's tests."""

from small_run import small_run  # noqa: F401  # a fixture
from small_server import explorer, user  # noqa: F401  # fixtures
