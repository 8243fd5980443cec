"""Finished runs for the tests of pages."""

from small_run import hostile_run, small_run, tight_run  # noqa: F401  # fixtures
