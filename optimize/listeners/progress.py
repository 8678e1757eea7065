"""ProgressBarListener."""

from __future__ import annotations

import sys

from nd.arguments import Count, Natural, checked

from ..api import Listener, Model
from .reporting import ProgressLine


class ProgressBarListener(Listener):
    """Shows a progress bar with the score on stderr; `fit` adds one by itself on a terminal.

    With the package tqdm (the extra ``progress``) it also tells the speed and the time that is left;
    without it, it is one line of plain text.

    Parameters
    ----------
    batches : int, optional
        Minibatches per epoch, if known.
    epochs : int, optional
        For the heading.
    score_frequency : int
        Iterations between two looks at the score; on a GPU every look waits for the device.
    epochs_done : int
        Complete before the first one that is shown, where training goes on from a checkpoint.
    """

    @checked
    def __init__(
        self,
        batches: Natural | None = None,
        epochs: Natural | None = None,
        score_frequency: Count = 20,
        epochs_done: Natural = 0,
    ) -> None:
        self.batches, self.epochs, self.score_frequency = batches, epochs, score_frequency
        self._epoch = epochs_done
        self._bar: ProgressLine | None = None

    def on_epoch_start(self, model: object) -> None:
        self._epoch += 1
        heading = f"epoch {self._epoch}" + (f"/{self.epochs}" if self.epochs else "")
        try:
            from tqdm import tqdm
        except ImportError:
            self._bar = ProgressLine(self.batches, heading)
        else:
            self._bar = tqdm(total=self.batches, desc=heading, unit="batch", file=sys.stderr, dynamic_ncols=True)

    def iteration_done(self, model: Model, iteration: int, epoch: int) -> None:
        if self._bar is None:
            return
        if iteration % self.score_frequency == 0:
            self._bar.set_postfix_str(f"score {model.score():.4f}", refresh=False)
        self._bar.update()

    def on_epoch_end(self, model: object) -> None:
        self.close()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None
