"""CheckpointListener."""

from __future__ import annotations

import itertools
import os
import pathlib
import time
from collections.abc import Iterator
from typing import Any

from nd import ConfigurationError
from nd.arguments import Count, Path, Positive, checked
from nd.files.writing import check_folder, create_first_free, remove_leftovers

from ..api import Listener, Model
from .checkpoint_folder import (
    INFO,
    Checkpoint,
    checkpoints_in,
    file_name,
    last_complete,
    model_type_of,
    numbered_files,
    write_info,
)
from .reporting import report


class CheckpointListener(Listener):
    """Writes checkpoints into a folder while a network trains: ``checkpoint_<n>_MultiLayerNetwork.zip``.

    Parameters
    ----------
    folder : path
        Created if need be. Checkpoints that are there stay, and numbers go on after theirs. Several processes may write
        into one folder: a number is one checkpoint of one of them.
    save_every_n_iterations : int, optional
        After so many steps of the network, and its multiples.
    save_every_n_epochs : int, optional
        At the end of every n-th epoch of the network.
    save_every_minutes : float, optional
        When so many minutes have passed since the last checkpoint of this listener, or since its creation.
    keep_last : int, optional
        Remove all but the newest so many of those that were there before and those of this listener; None keeps all.
    keep_every : int, optional
        Beside `keep_last`: of the older ones keep every n-th, those whose number + 1 it divides.
    save_updater : bool
        Also write the updater's state; without it training does not continue bit for bit.
    delete_existing : bool
        Remove the checkpoints that are in the folder.
    log_saving : bool
        Print a line for every checkpoint.

    Attributes
    ----------
    checkpoints : list of Checkpoint
        Those that were in the folder, and those of this listener, oldest first.

    Raises
    ------
    ConfigurationError
        Nothing says when to write, or a number is out of range.

    Notes
    -----
    ``MultiLayerNetwork.load_checkpoint(folder)`` reads the newest complete one, ``load_checkpoint(folder, number)``
    another. A checkpoint is in the folder complete or not at all, whenever the process ends; ``checkpointInfo.txt``,
    which is written after it, is for people and for Java. If the disk is full, training ends with an OSError and the
    checkpoints before are untouched.

    A checkpoint holds the network as it is when this listener is called: listeners that change it, its learning rate
    say, go before this one in ``set_listeners``, or a resumed network lacks their last change.

    Source: DL4J ``CheckpointListener``. Differs: the first checkpoint comes after n steps, not after n + 1; counters
    are of complete steps and epochs; a folder with checkpoints is continued, where Java refuses it; the lines of
    removed checkpoints go from ``checkpointInfo.txt``.
    """

    @checked
    def __init__(
        self,
        folder: Path,
        *,
        save_every_n_iterations: Count | None = None,
        save_every_n_epochs: Count | None = None,
        save_every_minutes: Positive | None = None,
        keep_last: Count | None = None,
        keep_every: Count | None = None,
        save_updater: bool = True,
        delete_existing: bool = False,
        log_saving: bool = True,
    ) -> None:
        if save_every_n_iterations is None and save_every_n_epochs is None and save_every_minutes is None:
            raise ConfigurationError(
                "CheckpointListener: expected when to write, got nothing. Give save_every_n_iterations, "
                "save_every_n_epochs or save_every_minutes."
            )
        if keep_every is not None and keep_last is None:
            raise ConfigurationError(
                f"CheckpointListener: keep_every needs keep_last, got {keep_every} alone, where all are kept."
            )
        self.every_iterations, self.every_epochs = save_every_n_iterations, save_every_n_epochs
        self.every_seconds = None if save_every_minutes is None else 60.0 * save_every_minutes
        self.keep_last, self.keep_every = keep_last, keep_every
        self.save_updater, self.log_saving = save_updater, log_saving
        self.folder = pathlib.Path(folder)
        check_folder("CheckpointListener", folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        for pattern in ("checkpoint_*.zip", INFO):
            remove_leftovers(self.folder, pattern)
        if delete_existing:
            (self.folder / INFO).unlink(missing_ok=True)
            for path in numbered_files(self.folder).values():
                path.unlink()
        self.checkpoints = checkpoints_in(self.folder)
        self._last = -1  # number, of those that were seen
        self._saved_at = time.monotonic()

    @staticmethod
    @checked
    def available_checkpoints(folder: Path) -> list[Checkpoint]:
        """Return the checkpoints in a folder, oldest first; none where there is no folder."""
        return checkpoints_in(folder) if os.path.isdir(folder) else []

    @staticmethod
    @checked
    def last_checkpoint(folder: Path) -> Checkpoint | None:
        """Return the newest checkpoint that can be read to its end, None if there is none or no folder."""
        return last_complete(folder) if os.path.isdir(folder) else None

    def on_epoch_start(self, model: object) -> None:
        if hasattr(model, "check_saveable"):
            model.check_saveable()  # now, not when hours have gone by

    def iteration_done(self, model: Model, iteration: int, epoch: int) -> None:
        due = self.every_iterations is not None and model.iteration_count % self.every_iterations == 0
        if self.every_seconds is not None:
            due = due or time.monotonic() - self._saved_at >= self.every_seconds
        if due:
            self._save(model, model.epoch_count)

    def on_epoch_end(self, model: Model) -> None:
        if self.every_epochs is not None and (model.epoch_count + 1) % self.every_epochs == 0:
            self._save(model, model.epoch_count + 1)

    def _save(self, model: Model, epochs: int) -> None:
        self.checkpoints.append(self._saved(model, epochs))
        self._saved_at = time.monotonic()
        older = [] if self.keep_last is None else self.checkpoints[: -self.keep_last]
        superfluous = [old for old in older if self.keep_every is None or (old.number + 1) % self.keep_every]
        self.checkpoints = [kept for kept in self.checkpoints if kept not in superfluous]
        gone = {checkpoint.path for checkpoint in superfluous}
        own = {checkpoint.path: checkpoint for checkpoint in self.checkpoints}
        in_folder = [own.get(listed.path, listed) for listed in checkpoints_in(self.folder)]  # also of other processes
        write_info(self.folder, [kept for kept in in_folder if kept.path not in gone])
        for path in gone:
            path.unlink(missing_ok=True)
        if self.log_saving:
            path = self.checkpoints[-1].path
            report(f"Checkpoint saved: epoch {epochs}, iteration {model.iteration_count}, path: {path}")

    def _saved(self, model: Any, epochs: int) -> Checkpoint:
        """Write a checkpoint under the first number that no process has taken."""
        model_type = model_type_of(model)
        path = create_first_free(
            "CheckpointListener",
            lambda: self._free_names(model_type),
            lambda file: model.save_checkpoint(file, self.save_updater),
        )
        number, now = int(path.name.split("_")[1]), int(time.time() * 1000)
        return Checkpoint(number, now, model.iteration_count, epochs, model_type, path)

    def _free_names(self, model_type: str) -> Iterator[pathlib.Path]:
        """Return names behind all numbers that were ever there: others may have taken some, and given them back."""
        self._last = max((self._last, *numbered_files(self.folder)))
        return (self.folder / file_name(number, model_type) for number in itertools.count(self._last + 1))
