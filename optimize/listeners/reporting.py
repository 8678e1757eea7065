"""Output of listeners, and the progress line of installations without tqdm."""

from __future__ import annotations

import sys
import time

SECONDS_BETWEEN_DRAWINGS = 0.1
_open_lines: list[ProgressLine] = []


def report(message: str) -> None:
    """Print a line, above the progress bar if there is one."""
    tqdm = sys.modules.get("tqdm")
    if tqdm is not None:
        tqdm.tqdm.write(message)
        return
    for line in _open_lines:
        line.erase()
    print(message, flush=True)
    for line in _open_lines:
        line.draw()


class ProgressLine:
    """Progress in one line of text on stderr: the methods of a tqdm bar that `ProgressBarListener` calls, without tqdm.

    A terminal's line is drawn again and again; anything else gets one line at the end.

    Parameters
    ----------
    total : int or None
        Minibatches there will be, if known.
    desc : str
        The heading.
    """

    def __init__(self, total: int | None, desc: str) -> None:
        self.total, self.desc = total, desc
        self._count, self._note, self._width, self._drawn_at = 0, "", 0, -SECONDS_BETWEEN_DRAWINGS
        self._stream = sys.stderr  # the one at hand when the epoch starts, as tqdm keeps it
        self._on_terminal = self._stream.isatty()
        _open_lines.append(self)
        self.draw()

    def __str__(self) -> str:
        total = "" if self.total is None else f"/{self.total}"
        return f"{self.desc}: {self._count}{total} batches" + (f", {self._note}" if self._note else "")

    def set_postfix_str(self, text: str, refresh: bool = True) -> None:
        """Set the text at the end of the line."""
        self._note = text
        if refresh:
            self.draw()

    def update(self) -> None:
        """Count one minibatch more; draw where the last drawing is a while ago."""
        self._count += 1
        if time.monotonic() - self._drawn_at >= SECONDS_BETWEEN_DRAWINGS:
            self.draw()

    def draw(self) -> None:
        """Write the line over the last one, on a terminal."""
        if self._on_terminal:
            text = str(self)
            self._stream.write("\r" + text.ljust(self._width))
            self._stream.flush()
            self._width, self._drawn_at = len(text), time.monotonic()

    def erase(self) -> None:
        """Make the terminal's line empty, for something else to be printed there."""
        if self._on_terminal:
            self._stream.write("\r" + " " * self._width + "\r")
            self._stream.flush()
            self._width = 0

    def close(self) -> None:
        """Leave the last state as a line of its own."""
        if self in _open_lines:
            _open_lines.remove(self)
            self.erase()
            self._stream.write(f"{self}\n")
            self._stream.flush()
