"""CheckpointListener."""

from __future__ import annotations

import os
import pathlib
import time
from typing import Any

from nd import ConfigurationError
from nd.files import remove_leftovers

from ..api import Listener
from .checkpoint_folder import (
    INFO,
    Checkpoint,
    checkpoints_in,
    file_name,
    last_complete,
    numbered_files,
    write_info,
)
from .reporting import report


class CheckpointListener(Listener):
    """Writes checkpoints into a folder while a network trains: ``checkpoint_<n>_MultiLayerNetwork.zip``.

    Parameters
    ----------
    folder : path
        Made if need be. Checkpoints that are there stay, and numbers go on after theirs.
    save_every_n_iterations : int, optional
        After so many steps of the network, and its multiples.
    save_every_n_epochs : int, optional
        At the end of every n-th epoch of the network.
    save_every_minutes : float, optional
        When so many minutes have passed since the last checkpoint of this listener, or since it was made.
    keep_last : int, optional
        Remove all but the newest so many; None keeps all.
    keep_every : int, optional
        Beside `keep_last`: of the older ones keep every n-th, those whose number + 1 it divides.
    save_updater : bool
        Also write the updater's state; without it training does not continue bit for bit.
    delete_existing : bool
        Remove the checkpoints that are in the folder.
    log_saving : bool
        Print a line for each.

    Attributes
    ----------
    checkpoints : list of Checkpoint
        Those in the folder, oldest first.

    Raises
    ------
    ConfigurationError
        Nothing says when to write, or a number is out of range.

    Notes
    -----
    ``MultiLayerNetwork.load_checkpoint(folder)`` reads the newest complete one, ``load_checkpoint(folder, number)``
    another. A checkpoint is in the folder whole or not at all, whenever the process ends; ``checkpointInfo.txt``, which
    is written after it, is for people and for Java. If the disk is full, training ends with an OSError and the
    checkpoints before are untouched.

    Source: DL4J ``CheckpointListener``. Differs: the first checkpoint comes after n steps, not after n + 1; counters
    are of what is complete; a folder with checkpoints is continued, where Java refuses it; the lines of removed
    checkpoints go from ``checkpointInfo.txt``.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        save_every_n_iterations: int | None = None,
        save_every_n_epochs: int | None = None,
        save_every_minutes: float | None = None,
        keep_last: int | None = None,
        keep_every: int | None = None,
        save_updater: bool = True,
        delete_existing: bool = False,
        log_saving: bool = False,
    ) -> None:
        counts = {
            "save_every_n_iterations": save_every_n_iterations,
            "save_every_n_epochs": save_every_n_epochs,
            "keep_last": keep_last,
            "keep_every": keep_every,
        }
        _check(counts, save_every_minutes)
        self.every_iterations, self.every_epochs = save_every_n_iterations, save_every_n_epochs
        self.every_seconds = None if save_every_minutes is None else 60.0 * save_every_minutes
        self.keep_last, self.keep_every = keep_last, keep_every
        self.save_updater, self.log_saving = save_updater, log_saving
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        for pattern in ("checkpoint_*.zip", INFO):
            remove_leftovers(self.folder, pattern)
        if delete_existing:
            self._delete_existing()
        self.checkpoints = checkpoints_in(self.folder)
        self._next = max(numbered_files(self.folder), default=-1) + 1
        self._saved_at = time.monotonic()

    def _delete_existing(self) -> None:
        (self.folder / INFO).unlink(missing_ok=True)
        for path in numbered_files(self.folder).values():
            path.unlink()

    @staticmethod
    def available_checkpoints(folder: str | os.PathLike[str]) -> list[Checkpoint]:
        """Return the checkpoints in a folder, oldest first."""
        return checkpoints_in(folder)

    @staticmethod
    def last_checkpoint(folder: str | os.PathLike[str]) -> Checkpoint | None:
        """Return the newest checkpoint that can be read to its end, None if there is none or no folder."""
        return last_complete(folder) if os.path.isdir(folder) else None

    def iteration_done(self, model: Any, iteration: int, epoch: int) -> None:
        due = self.every_iterations is not None and model.iteration_count % self.every_iterations == 0
        if self.every_seconds is not None:
            due = due or time.monotonic() - self._saved_at >= self.every_seconds
        if due:
            self._save(model, model.epoch_count)

    def on_epoch_end(self, model: Any) -> None:
        if self.every_epochs is not None and (model.epoch_count + 1) % self.every_epochs == 0:
            self._save(model, model.epoch_count + 1)

    def _save(self, model: Any, epochs: int) -> None:
        model_type = type(model).__name__
        path = self.folder / file_name(self._next, model_type)
        model.save_checkpoint(path, self.save_updater)
        now = int(time.time() * 1000)
        self.checkpoints.append(Checkpoint(self._next, now, model.iteration_count, epochs, model_type, path))
        self._next += 1
        self._saved_at = time.monotonic()
        superfluous = [each for each in self.checkpoints if not self._keeps(each)]
        self.checkpoints = [each for each in self.checkpoints if self._keeps(each)]
        write_info(self.folder, self.checkpoints)
        for each in superfluous:
            each.path.unlink(missing_ok=True)
        if self.log_saving:
            report(f"Checkpoint saved: epoch {epochs}, iteration {model.iteration_count}, path: {path}")

    def _keeps(self, checkpoint: Checkpoint) -> bool:
        if self.keep_last is None or checkpoint.number >= self._next - self.keep_last:
            return True
        return self.keep_every is not None and (checkpoint.number + 1) % self.keep_every == 0


def _check(counts: dict[str, int | None], minutes: float | None) -> None:
    for name, count in counts.items():
        if count is not None and count < 1:
            raise ConfigurationError(f"CheckpointListener: {name} must be >= 1, got {count}.")
    if minutes is not None and not minutes > 0:
        raise ConfigurationError(f"CheckpointListener: save_every_minutes must be > 0, got {minutes}.")
    if minutes is None and counts["save_every_n_iterations"] is None and counts["save_every_n_epochs"] is None:
        raise ConfigurationError(
            "CheckpointListener: expected when to write, got nothing. Give save_every_n_iterations, "
            "save_every_n_epochs or save_every_minutes."
        )
    if counts["keep_every"] is not None and counts["keep_last"] is None:
        raise ConfigurationError(
            f"CheckpointListener: keep_every needs keep_last, got {counts['keep_every']} alone, where all are kept."
        )
