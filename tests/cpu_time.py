"""The seconds of the processor that a piece of work takes, for tests of how time grows with the size of the input."""

import gc
import time
from contextlib import contextmanager


@contextmanager
def cpu_time():
    """A list that holds the seconds when the block is done.

    The garbage collector rests meanwhile: else it walks through the objects of all earlier tests, and that is counted
    to the work.
    """
    seconds = []
    gc.collect()
    gc.disable()
    begin = time.process_time()
    try:
        yield seconds
    finally:
        seconds.append(time.process_time() - begin)
        gc.enable()
