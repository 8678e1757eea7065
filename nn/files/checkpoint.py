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
from .serializer import UPDATER_STATE, read_own, restore, write_entries

if TYPE_CHECKING:
    from ..networks.network import Network

OPTIMIZER_STATE = "ndwrightOptimizer.bin"
CARRIED_STATE = "ndwrightState.bin"
BEST_PARAMS = "ndwrightBest.bin"
PRETRAINING = "ndwrightPretraining{}."
"""Begins the names of entries of a layer that was pretrained, by its number."""


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
    ``ndwrightBest.bin``. Layers that were pretrained have the same, and their updaters' states, in entries that begin
    with ``ndwrightPretraining``. An iterator that cannot say where it stands brings a warning within an epoch, and an
    error if `fit` is to continue from there.
    """
    training, more = _training_of(network)
    epochs = network.epoch_count + network.engine.progress.epoch_over
    counted = network.conf.with_counts(network.iteration_count, epochs).as_initialised()
    text, document, _ = written(counted, names_of(network))
    document |= training
    if network.engine.learners:
        document["pretraining"] = {
            "layer": network.engine.pretraining,
            "learners": _learners_of(network, save_updater, more),
        }
    try:
        more[ENTRY] = json.dumps(document, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        must = "the iterator's state must be numbers, strings, lists and dicts"
        raise nd.DataError(f"save_checkpoint: {must}, got {error}.") from error
    write_entries(network, path, text, save_updater, more, compressed=False)


def _training_of(network: Network, prefix: str = "") -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the progress of a network's training, and what its optimizer has learned, as a document and entries."""
    fits = network.engine.progress
    if network.is_init_called():
        network.updater.guard.check(network)  # which may put the counters back
    if fits.call is not None:
        fits.call.check_position()
    progress = replace(fits.now(), iteration=network.iteration_count, random=network.random.get_state())
    if progress.within and progress.iterator is None:
        warnings.warn(f"This checkpoint cannot be continued within the epoch. {progress.obstacle}", stacklevel=4)
    learned = network.get_optimizer().get_state()
    entries: dict[str, bytes] = {}
    with nd.use_backend(network.backend):
        for name, arrays in ((OPTIMIZER_STATE, learned.vectors), (CARRIED_STATE, progress.state)):
            if arrays:
                flat = [nd.reshape(nd.copy(array), (-1,)) for array in arrays]
                entries[prefix + name] = serde.to_bytes(nd.reshape(nd.concat(flat), (1, -1)), "c")
    if progress.best_params is not None:
        entries[prefix + BEST_PARAMS] = serde.to_bytes(progress.best_params, "c")
    return {"progress": progress.to_json(), "optimizer": [number.hex() for number in learned.numbers]}, entries


def _learners_of(network: Network, save_updater: bool, more: dict[str, bytes]) -> dict[str, Any]:
    """Return the same of every layer that was pretrained, by its number, with counters; entries go to `more`."""
    documents = {}
    for number, learner in network.engine.learners.items():
        prefix = PRETRAINING.format(number)
        document, entries = _training_of(learner, prefix)
        more |= entries
        with nd.use_backend(network.backend):
            if save_updater and learner.updater_state().shape[1]:
                more[prefix + UPDATER_STATE] = serde.to_bytes(learner.updater_state(), "c")
        epochs = learner.epoch_count + learner.engine.progress.epoch_over
        documents[str(number)] = {**document, "counts": [learner.iteration_count, epochs]}
    return documents


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
    The network's generator stands where it stood, and is put there again when `fit` continues a call. Give that
    `fit` an iterator like the first one, and the same number of epochs: if the checkpoint was written during a call
    of `fit`, that call is continued, and its complete epochs count (``fit(iterator, epochs=3)`` after one epoch and
    a half trains for the half and one more). If it was written between two calls, the next one trains for all its
    epochs. A model zip without the further entry, of Java say, is read as `MultiLayerNetwork.load` reads it.
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
    _go_on(network, path, archive, document)
    pretraining = document.get("pretraining")
    if pretraining is not None:
        _go_on_pretraining(network, path, archive, pretraining)
    return network


def _go_on_pretraining(network: Network, path: str, archive: zipfile.ZipFile, document: Any) -> None:
    """Put what is written of layers that were pretrained where it was."""
    from ..networks.pretraining import learner_of, pretrained_layers

    known = {str(number): number for number in pretrained_layers(network)}
    try:
        network.engine.pretraining = None if document["layer"] is None else known[str(document["layer"])]
        for name, written_one in document["learners"].items():
            learner, prefix = learner_of(network, known[name]), PRETRAINING.format(name)
            learner.iteration_count, learner.epoch_count = map(int, written_one["counts"])
            if prefix + UPDATER_STATE in archive.namelist():
                m = learner.updater_state().shape[1]
                learner.set_updater_state(read_vector(path, archive, prefix + UPDATER_STATE, m))
            _go_on(learner, path, archive, written_one, prefix)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise FormatError(f"{path}: malformed pretraining, {type(error).__name__}: {error}.") from error


def _go_on(network: Network, path: str, archive: zipfile.ZipFile, document: Any, prefix: str = "") -> None:
    """Let the next call of fit go on as a document and its entries say."""
    progress = Progress.from_json(document["progress"])
    if progress.steps >= network.conf.iterations:
        raise FormatError(
            f"{path}: steps must be fewer than the {network.conf.iterations} of a minibatch, got {progress.steps}."
        )
    best = None
    if progress.best_epoch is not None:
        best = read_vector(path, archive, prefix + BEST_PARAMS, network.num_params())
    engine = network.engine
    engine.progress.awaited = replace(progress, state=(), best_params=best)
    engine.state = _carried(network, path, archive, progress.state)
    _teach(network, path, archive, document.get("optimizer", []), prefix + OPTIMIZER_STATE)
    if progress.random is not None:
        network.random.set_state(progress.random)


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


def _teach(network: Network, path: str, archive: zipfile.ZipFile, written: object, name: str) -> None:
    """Give the network's optimizer the vectors and numbers that it had learned."""
    try:
        numbers = tuple(map(float.fromhex, written if isinstance(written, list) else [None]))
    except (TypeError, ValueError, OverflowError) as error:
        raise FormatError(f"{path}: the optimizer's numbers must be hexadecimal, got {written!r:.200}.") from error
    vectors: tuple[Any, ...] = ()
    n = network.num_params()
    if name in archive.namelist():
        flat = read_vector(path, archive, name, None, n * (2 * network.conf.lbfgs_memory))
        if n == 0 or flat.shape[1] % n:
            raise FormatError(f"{path}: {name} must hold vectors of {n:,} numbers, got {flat.shape[1]:,}.")
        flat = nd.as_array(flat, network.dtype)
        vectors = tuple(flat[0, start : start + n] for start in range(0, flat.shape[1], n))
    if numbers or vectors:
        network.get_optimizer().set_state(OptimizerState(numbers, vectors))
