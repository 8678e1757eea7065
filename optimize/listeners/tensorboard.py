"""TensorBoardListener."""

from __future__ import annotations

import os
from typing import Any

import nd
from nd.arguments import Count, Path, checked
from nd.extras import optional
from nd.files.writing import check_folder

from ..api import Listener, Model


class TensorBoardListener(Listener):
    """Writes the score, and histograms of parameters and updates, for TensorBoard.

    It needs tensorboardX (the extra ``tensorboard``).

    Parameters
    ----------
    log_dir : path
    frequency : int
        Iterations between two scores; every score waits for a device.
    histogram_frequency : int, optional
        Iterations between two sets of histograms; None for none.

    Raises
    ------
    ConfigurationError
        tensorboardX is not installed, or a number is less than 1.

    Notes
    -----
    Scalars ``score``, ``epoch``, ``samples_per_iteration``, and with the histograms ``update_ratio/<parameter>`` (norm
    of the update : norm of the parameter); histograms ``parameters/<parameter>`` and ``updates/<parameter>``. The step
    on TensorBoard's axis is the iteration, so a run that goes on from a checkpoint goes on in the same curves. No graph
    is written.
    """

    @checked
    def __init__(self, log_dir: Path, frequency: Count = 10, histogram_frequency: Count | None = 100) -> None:
        self._package = optional("TensorBoardListener", "tensorboardX", "tensorboardX", "tensorboard")
        check_folder("TensorBoardListener", log_dir)
        self.log_dir, self.frequency, self.histogram_frequency = os.fspath(log_dir), frequency, histogram_frequency
        self._writer = None

    def wants(self, hook: str, iteration: int) -> bool:
        return False

    def iteration_done(self, model: Model, iteration: int, epoch: int) -> None:
        if iteration % self.frequency == 0:
            writer = self._open()
            writer.add_scalar("score", model.score(), iteration)
            writer.add_scalar("epoch", epoch, iteration)
            writer.add_scalar("samples_per_iteration", model.batch_size, iteration)
        if self.histogram_frequency is not None and iteration % self.histogram_frequency == 0:
            self._add_histograms(model, iteration)

    def _add_histograms(self, model: Any, iteration: int) -> None:
        writer = self._open()
        updates = model.gradient().gradient_for_variable()  # the vector holds the update by now
        for key, array in model.param_table().items():
            parameter, update = nd.to_host(array), nd.to_host(updates[key])
            writer.add_histogram(f"parameters/{key}", parameter, iteration)
            writer.add_histogram(f"updates/{key}", update, iteration)
            size = float((parameter.astype("float64") ** 2).sum())
            if size:
                ratio = (float((update.astype("float64") ** 2).sum()) / size) ** 0.5
                writer.add_scalar(f"update_ratio/{key}", ratio, iteration)

    def _open(self) -> Any:
        if self._writer is None:
            self._writer = self._package.SummaryWriter(self.log_dir)
        return self._writer

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None
