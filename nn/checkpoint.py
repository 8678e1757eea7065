"""Checkpoints: model zips that also say what Java's format has no place for, so that training continues bit for bit."""

from __future__ import annotations

import json
import os
import pathlib
import warnings
import zipfile
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import nd
from nd import FormatError
from optimize.listeners.checkpoint_folder import find_checkpoint

from .archive import read_text, reading
from .progress import Progress
from .serializer import restore, write_entries

if TYPE_CHECKING:
    from .conf.network import NeuralNetConfiguration
    from .multilayer import MultiLayerNetwork

ENTRY = "ndwright.json"
VERSION = 1


def write_checkpoint(network: MultiLayerNetwork, path: str | os.PathLike[str], save_updater: bool = True) -> None:
    """Write a network and how far its training has come.

    Parameters
    ----------
    network : MultiLayerNetwork
        May be in the middle of `fit`: call this from a listener's `iteration_done` or `on_epoch_end`.
    path : path
        Replaced only when the whole file is on the disk.
    save_updater : bool
        Without the updater's state the file is smaller, and training does not continue bit for bit.

    Raises
    ------
    OSError
        The file cannot be written; one that was there before is untouched, and nothing else is left.
    DataError
        The iterator's state has values that JSON has no place for.
    NumericError
        A step that a device has not told of yet was not taken.

    Notes
    -----
    The file is a model zip as Deeplearning4j's, but not compressed (floats hardly shrink, and it takes ten times as
    long), with one more entry, ``ndwright.json``: `Progress` (the position
    of the iterator, of what was trained on and not of what was read ahead; epochs of this call of fit that are
    complete; the global generator's state), and `iterations` and `step_function`, which DL4J 1.0 does not have. An
    iterator that cannot say where it stands brings a warning within an epoch, and an error if `fit` is to continue
    from there.
    """
    fits, base = network._progress, network.conf.base
    if network._vectors is not None and network.updater.guard is not None:
        network.updater.guard.check(network)  # which may put the counters back
    progress = replace(fits.now(), iteration=network.iteration_count, random=nd.random.get_random().get_state())
    if progress.within and progress.iterator is None:
        warnings.warn(f"This checkpoint cannot be continued within the epoch. {progress.obstacle}", stacklevel=3)
    document = {
        "version": VERSION,
        "iterations": base.iterations,
        "step_function": base.step_function,
        "progress": progress.to_json(),
    }
    try:
        content = json.dumps(document, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise nd.DataError(
            f"save_checkpoint: the iterator's state must be numbers, strings, lists and dicts, got {error}."
        ) from error
    epochs = network.epoch_count if fits.call is None else fits.call.epochs_done()
    plain = replace(network.conf, base=replace(base, iterations=1, step_function=None))
    counted = plain.with_counts(network.iteration_count, epochs)
    write_entries(network, path, counted, save_updater, {ENTRY: content}, compressed=False)


def read_checkpoint(path: str | os.PathLike[str], number: int | None = None) -> MultiLayerNetwork:
    """Read a network whose next `fit` continues bit for bit like a run that was never stopped.

    Parameters
    ----------
    path : path
        Of a file, or of `CheckpointListener`'s folder.
    number : int, optional
        Of the checkpoint in the folder; without it the newest that is complete.

    Raises
    ------
    FileNotFoundError
        There is no such file, or no complete checkpoint in the folder.
    FormatError
        The file is damaged, or was written by a newer version.

    Notes
    -----
    Sets the global generator, now and again when `fit` begins. Give that `fit` an iterator made as the first one was,
    and the same number of epochs: if the checkpoint was written during a call of `fit`, that call is continued, and
    its complete epochs count (``fit(iterator, epochs=3)`` after one epoch and a half trains for the half and one
    more). If it was written between two calls, the next one trains for all its epochs. A model zip without the
    further entry, of Java say, is read as `MultiLayerNetwork.load` reads it.
    """
    target = pathlib.Path(path)
    if target.is_dir():
        target = find_checkpoint(target, number)
    elif number is not None:
        raise nd.ConfigurationError(f"load_checkpoint: a number needs a folder, got {number} and the file {target}.")
    return reading(target, lambda archive: _read(target, archive))


def _read(path: pathlib.Path, archive: zipfile.ZipFile) -> MultiLayerNetwork:
    network = restore(path, archive, load_updater=True)
    if ENTRY not in archive.namelist():
        return network
    document = json.loads(read_text(path, archive, ENTRY))
    if not isinstance(document, dict) or document.get("version") != VERSION:
        found = document.get("version") if isinstance(document, dict) else document
        raise FormatError(f"{path}: {ENTRY} must have version {VERSION}, got {found!r}. Is the library too old for it?")
    progress = Progress.from_json(document.get("progress"))
    network.conf = replace(network.conf, base=_completed(network.conf.base, document))
    network._progress.awaited = progress
    if progress.random is not None:
        nd.random.get_random().set_state(progress.random)
    return network


def _completed(base: NeuralNetConfiguration, document: dict[str, Any]) -> NeuralNetConfiguration:
    return replace(base, iterations=document.get("iterations", 1), step_function=document.get("step_function"))
