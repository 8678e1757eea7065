"""Checkpoints: model zips with all that Java's format has no place for, so that training continues bit for bit."""

from __future__ import annotations

import itertools
import json
import math
import os
import warnings
import zipfile
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import nd
from nd import FormatError, serde
from nd.files.reading import Source, checked_path
from nd.files.writing import Target
from optimize import OptimizerState
from optimize.listeners.checkpoint_folder import find_checkpoint

from ..networks.progress import Progress
from .archive import read_vector, reading
from .own_settings import ENTRY, names_of, written
from .serializer import read_own, restore, write_entries

if TYPE_CHECKING:
    from ..networks.network import Network

OPTIMIZER_STATE = "ndwrightOptimizer.bin"
CARRIED_STATE = "ndwrightState.bin"
BEST_PARAMS = "ndwrightBest.bin"


def write_checkpoint(network: Network, path: Target, save_updater: bool = True) -> None:
    """Write a network and the progress of its training.

    Parameters
    ----------
    network : MultiLayerNetwork or ComputationGraph
        May be in the middle of `fit`: call this from a listener's `iteration_done` or `on_epoch_end`.
    path : path or binary file object
        A file is replaced only when the new one is complete on the disk.
    save_updater : bool
        Without the updater's state the file is smaller, and training does not continue bit for bit.

    Raises
    ------
    ConfigurationError
        The path has the ending of another kind of file.
    OSError
        The file cannot be written; one that was there before is untouched, and nothing else is left.
    DataError
        The iterator's state has values that JSON has no place for.
    NumericError
        A step that a device has not told of yet was not taken.

    Notes
    -----
    The file is a model zip as Deeplearning4j's, but not compressed (floats hardly shrink, and it takes ten times as
    long), with one more entry, ``ndwright.json``: `Progress` (the position of the iterator behind the minibatches
    trained on, not those read ahead; complete epochs of this call of fit; the state of the network's generator), the
    settings that DL4J 1.0 does not have, and the numbers learned by an optimizer that searches along lines; its vectors
    are in ``ndwrightOptimizer.bin``, and the parameters that ``fit(..., restore_best=True)`` keeps in
    ``ndwrightBest.bin``. An iterator that cannot say where it stands brings a warning within an epoch, and
    an error if `fit` is to continue from there.
    """
    fits = network.engine.progress
    if network.is_init_called():
        network.updater.guard.check(network)  # which may put the counters back
    if fits.call is not None:
        fits.call.check_position()
    progress = replace(fits.now(), iteration=network.iteration_count, random=network.random.get_state())
    if progress.within and progress.iterator is None:
        warnings.warn(f"This checkpoint cannot be continued within the epoch. {progress.obstacle}", stacklevel=3)
    learned = network.get_optimizer().get_state()
    numbers = [number.hex() for number in learned.numbers]
    epochs = network.epoch_count + fits.epoch_over
    counted = network.conf.with_counts(network.iteration_count, epochs).as_initialised()
    text, document, _ = written(counted, names_of(network))
    document |= {"progress": progress.to_json(), "optimizer": numbers}
    try:
        more = {ENTRY: json.dumps(document, allow_nan=False).encode()}
    except (TypeError, ValueError) as error:
        must = "the iterator's state must be numbers, strings, lists and dicts"
        raise nd.DataError(f"save_checkpoint: {must}, got {error}.") from error
    with nd.use_backend(network.backend):
        for name, arrays in ((OPTIMIZER_STATE, learned.vectors), (CARRIED_STATE, progress.state)):
            if arrays:
                flat = [nd.reshape(nd.copy(array), (-1,)) for array in arrays]
                more[name] = serde.to_bytes(nd.reshape(nd.concat(flat), (1, -1)), "c")
    if progress.best_params is not None:
        more[BEST_PARAMS] = serde.to_bytes(progress.best_params, "c")
    write_entries(network, path, text, save_updater, more, compressed=False)


def read_checkpoint(path: Source, number: int | None = None, kind: type[Network] | None = None) -> Network:
    """Read a network whose next `fit` continues bit for bit like a run that was never stopped.

    Parameters
    ----------
    path : path or binary file object
        Of a file, or of `CheckpointListener`'s folder.
    number : int, optional
        Of the checkpoint in the folder; without it the newest that is complete.
    kind : type, optional
        MultiLayerNetwork or ComputationGraph; without it whichever the file has.

    Raises
    ------
    FileNotFoundError
        There is no such file, or no complete checkpoint in the folder.
    FormatError
        The file is damaged, or was written by a newer version.

    Notes
    -----
    The network's generator stands where it stood, and is put there again when `fit` begins. Give that `fit` an iterator
    like the first one, and the same number of epochs: if the checkpoint was written during a call of `fit`, that
    call is continued, and its complete epochs count (``fit(iterator, epochs=3)`` after one epoch and a half trains for
    the half and one more). If it was written between two calls, the next one trains for all its epochs. A model zip
    without the further entry, of Java say, is read as `MultiLayerNetwork.load` reads it.
    """
    is_path = isinstance(path, (str, os.PathLike))
    if is_path and os.path.isdir(checked_path("load_checkpoint", path)):
        path = find_checkpoint(path, number)  # type: ignore[arg-type]
    elif number is not None:
        raise nd.ConfigurationError(f"load_checkpoint: a number needs a folder, got {number} and the file {path}.")
    return reading("load_checkpoint", path, lambda name, archive: _read(name, archive, kind))


def _read(path: str, archive: zipfile.ZipFile, kind: type[Network] | None) -> Network:
    network = restore(path, archive, load_updater=True, kind=kind)
    if ENTRY not in archive.namelist():
        return network
    document = read_own(path, archive)
    if "progress" not in document:
        return network
    progress = Progress.from_json(document["progress"])
    if progress.steps >= network.conf.iterations:
        raise FormatError(
            f"{path}: steps must be fewer than the {network.conf.iterations} of a minibatch, got {progress.steps}."
        )
    best = None
    if progress.best_epoch is not None:
        best = read_vector(path, archive, BEST_PARAMS, network.num_params())
    engine = network.engine
    engine.progress.awaited = replace(progress, state=(), best_params=best)
    engine.state = _carried(network, path, archive, progress.state)
    _teach(network, path, archive, document.get("optimizer", []))
    if progress.random is not None:
        network.random.set_state(progress.random)
    return network


def _carried(network: Network, path: str, archive: zipfile.ZipFile, shapes: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the states that the layers carry into the next segment, arrays of those shapes."""
    if not shapes:
        return ()
    sizes = [math.prod(shape) for shape in shapes]
    carried = nd.as_array(read_vector(path, archive, CARRIED_STATE, sum(sizes), sum(sizes)), network.dtype)
    stops = list(itertools.accumulate(sizes))
    return tuple(
        nd.reshape(nd.copy(carried[0, stop - size : stop]), shape)
        for shape, size, stop in zip(shapes, sizes, stops, strict=True)
    )


def _teach(network: Network, path: str, archive: zipfile.ZipFile, written: object) -> None:
    """Give the network's optimizer the vectors and numbers that it had learned."""
    try:
        numbers = tuple(map(float.fromhex, written if isinstance(written, list) else [None]))
    except (TypeError, ValueError, OverflowError) as error:
        raise FormatError(f"{path}: the optimizer's numbers must be hexadecimal, got {written!r:.200}.") from error
    vectors: tuple[Any, ...] = ()
    n = network.num_params()
    if OPTIMIZER_STATE in archive.namelist():
        flat = read_vector(path, archive, OPTIMIZER_STATE, None, n * (2 * network.conf.lbfgs_memory))
        if n == 0 or flat.shape[1] % n:
            raise FormatError(f"{path}: {OPTIMIZER_STATE} must hold vectors of {n:,} numbers, got {flat.shape[1]:,}.")
        flat = nd.as_array(flat, network.dtype)
        vectors = tuple(flat[0, start : start + n] for start in range(0, flat.shape[1], n))
    if numbers or vectors:
        network.get_optimizer().set_state(OptimizerState(numbers, vectors))
