"""Log records in the format of glog, Caffe's library for logs, for the command line."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

_LOGGER = "nn.caffe"
_LETTERS = {logging.WARNING: "W", logging.ERROR: "E", logging.CRITICAL: "F"}


class GlogFormatter(logging.Formatter):
    """Lines as ``I1128 15:00:00.123456 12345 solver.py:239] Iteration 0, lr = 0.01``.

    Level, month and day, local time, process, file and line of the code that logs.

    Notes
    -----
    A message of several lines has this before its first one, as in Caffe. Source: glog, logging.cc. Differs: there it
    is the thread, whose number is the process's in the main thread.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        letter = _LETTERS.get(record.levelno, "I")
        micros = int((record.created - int(record.created)) * 1e6)
        moment = time.strftime("%m%d %H:%M:%S", time.localtime(record.created))
        message = super().format(record)
        return f"{letter}{moment}.{micros:06d} {record.process or 0:5d} {record.filename}:{record.lineno}] {message}"


@contextmanager
def logging_to_stderr() -> Iterator[None]:
    """Write what `nn.caffe` logs to standard error in this format, in a block; levels are put back."""
    logger, handler = logging.getLogger(_LOGGER), logging.StreamHandler(sys.stderr)
    handler.setFormatter(GlogFormatter())
    level, propagates = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = propagates
