"""The error for a framework that is not installed, with the command that installs it."""

from faircut.errors import FaircutError

__all__ = ["MissingFrameworkError"]


class MissingFrameworkError(FaircutError, ImportError):
    """A framework that an integration is for is not installed."""

    def __init__(self, framework: str, extra: str, error: ImportError) -> None:
        super().__init__(f'{framework} is not installed ({error}); run: pip install "faircut[{extra}]".')
