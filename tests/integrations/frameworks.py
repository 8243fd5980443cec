"""A framework, or a skip of the file that is about it."""

import warnings
from importlib import import_module

import pytest


def framework(name):
    """The framework's module, or a skip that says what is missing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the frameworks' own imports warn of
        try:
            return import_module(name)
        except ImportError as error:
            pytest.skip(f"{name} is not installed ({error})", allow_module_level=True)
