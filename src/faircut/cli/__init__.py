"""The entrance of the command line. What it does is in ``app.py``; this file imports next to nothing, so that Ctrl-C is
told in one sentence also while libraries are being loaded.
"""

import sys

__all__ = ["main"]

INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells know it: 128 and the number of the signal."""


def main() -> None:
    """Run the command line and leave with its exit code; every expected failure is one sentence on stderr."""
    try:
        sys.unraisablehook = _unraisable
        from faircut.cli.app import run

        code = run()
    except KeyboardInterrupt:
        code = INTERRUPTED
        if sys.stderr is not None:
            sys.stderr.write("faircut: stopped; what was finished is kept, run the same command again to continue.\n")
    _ignore_interrupts()
    sys.exit(code)


def _unraisable(unraisable: "sys.UnraisableHookArgs") -> None:
    """Ctrl-C that fell into a callback, where Python drops it with a traceback, is sent again when that is over."""
    if not issubclass(unraisable.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)
        return
    import signal
    import threading

    def send() -> None:
        if hasattr(signal, "pthread_kill"):
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)  # wakes a waiting call, too
        else:
            signal.raise_signal(signal.SIGINT)

    threading.Timer(0.02, send).start()


def _ignore_interrupts() -> None:
    """From here on only the interpreter ends, and Ctrl-C would be told as a traceback of that."""
    import signal
    from contextlib import suppress

    with suppress(ValueError):  # not in the main thread
        signal.signal(signal.SIGINT, signal.SIG_IGN)
