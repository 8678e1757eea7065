"""Snapshots: trained weights (.caffemodel, .caffemodel.h5) and solver states (.solverstate, .solverstate.h5)."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import nd
from nd import ArgumentError, FormatError
from nd.arguments import checked
from nd.files.reading import Source, ending_of, name_of, opening
from nd.files.writing import Target
from nd.typing import Array

from ..files.hdf5 import ENDINGS, Hdf5Content, read_hdf5, write_hdf5
from .blobs import array_to_blobproto, blobproto_to_array, has_diff, is_legacy
from .files import HDF5_SIGNATURE, message_in, write_message
from .naming import layer_text
from .own_fields import add_extra, extra_as_texts, extra_in_texts, extra_of
from .schema import Message, check_kind, new
from .upgrade import upgrade_net_in_place


class SavedBlob(NamedTuple):
    """One parameter of a layer in a file."""

    data: Array
    diff: Array | None
    """The gradient, where the file has it: same shape."""
    is_legacy: bool
    """Whether the shape is that of an old file, with four axes always: see `shape_equals`."""


class SavedLayer(NamedTuple):
    """The parameters of a layer in a file."""

    name: str
    blobs: dict[int, SavedBlob]
    """By index. HDF5 lacks those that belong to an earlier layer, which shares them."""


class SavedState(NamedTuple):
    """Where a solver is."""

    iter: int
    """Updates that were made."""
    learned_net: str
    """Path of the weights."""
    current_step: int
    """Steps of a learning rate with policy multistep that have passed."""
    history: list[Any]
    """Arrays: what the solver keeps for each parameter, in their order; of Adam and AdaDelta first all of one kind."""
    extra: bytes = b""
    """What else this library knows of it; not Caffe's, which skips it."""


@checked
def read_weights(source: Source, isolated: bool = False) -> list[SavedLayer]:
    """Return the layers of a .caffemodel or a .caffemodel.h5 that have parameters, in the order of the file.

    Parameters
    ----------
    source : path or binary file object
        Of either kind: its content tells. Of HDF5 a path.
    isolated : bool
        Read HDF5 in a child process, for files that are not one's own: libhdf5 can crash on damaged ones.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    FormatError
        It is damaged, or another kind of file.
    ConfigurationError
        A net of an old schema cannot be upgraded, or a package is not installed.
    """
    if is_hdf5("read_weights", source):
        return _layers_in(read_hdf5(_path("read_weights", source), isolated), name_of(source))
    who = name_of(source)
    return layers_of(upgrade_net_in_place(message_in("read_weights", source, "NetParameter"), who), who)


def layers_of(net: Message, who: str = "layers_of") -> list[SavedLayer]:
    """Return the layers of a message of the newest schema that have parameters in it."""
    return [
        SavedLayer(layer.name, _blobs_of(layer, f"{who}: {layer_text(position, layer)}"))
        for position, layer in enumerate(net.layer)
        if layer.blobs
    ]


@checked
def write_weights(net: Message, target: Target) -> None:
    """Write the parameters of a net.

    Parameters
    ----------
    net : NetParameter
        With the arrays in the field `blobs` of its layers.
    target : path or binary file object
        A name that ends in ``.h5`` gets HDF5, without the net itself: ``data/<layer>/<index>``, for parameters that
        several layers share by a name those of the first one, and ``diff/<layer>/<index>`` of all gradients that are
        there. Another one gets the whole net in binary. A file that was there is replaced when the new one is complete.

    Raises
    ------
    ConfigurationError
        The ending is another kind's.
    OSError
        The file cannot be written.

    Notes
    -----
    Differs: the name of a layer may have slashes in it, which Caffe cannot write to HDF5.
    """
    check_kind("write_weights", net, "NetParameter")
    if ending_of(target) not in ENDINGS:
        write_message(net, target, as_text=False)
        return
    arrays, owners = {}, set()
    for position, layer in enumerate(net.layer):
        who = f"write_weights: {layer_text(position, layer)}"
        for index, blob in enumerate(layer.blobs):
            shared = layer.param[index].name if index < len(layer.param) else ""
            if shared not in owners:
                arrays[f"data/{layer.name}/{index}"] = blobproto_to_array(blob, who=who)
            owners.update({shared} - {""})
            if has_diff(blob):
                arrays[f"diff/{layer.name}/{index}"] = blobproto_to_array(blob, "diff", who)
    write_hdf5(target, arrays)


@checked
def read_state(source: Source, isolated: bool = False) -> SavedState:
    """Return the state of a solver of a .solverstate or a .solverstate.h5; arguments and errors as `read_weights`."""
    who = name_of(source)
    if is_hdf5("read_state", source):
        content = read_hdf5(_path("read_state", source), isolated)
        whole = {name: _whole(content, name, who) for name in ("iter", "current_step")}
        history, extra = _history(content, who), extra_in_texts(content.texts, who)
        return SavedState(whole["iter"], content.texts.get("learned_net", ""), whole["current_step"], history, extra)
    state = message_in("read_state", source, "SolverState")
    history = [blobproto_to_array(blob, who=f"{who}: history[{at}]") for at, blob in enumerate(state.history)]
    return SavedState(state.iter, state.learned_net, state.current_step, history, extra_of(state))


@checked
def write_state(state: SavedState, target: Target) -> None:
    """Write the state of a solver: HDF5 under a name that ends in ``.h5``, else binary; errors as `write_weights`."""
    if ending_of(target) in ENDINGS:
        counts = {"iter": state.iter, "current_step": state.current_step}
        arrays = {name: nd.create([count], "int32") for name, count in counts.items()}
        history = {f"history/{at}": array for at, array in enumerate(state.history)}
        texts = {"learned_net": state.learned_net, **extra_as_texts(state.extra)}
        write_hdf5(target, {**arrays, **history}, texts)
        return
    message = new("SolverState", iter=state.iter, learned_net=state.learned_net, current_step=state.current_step)
    message.history.extend(map(array_to_blobproto, state.history))
    add_extra(message, state.extra)
    write_message(message, target, as_text=False)


def is_hdf5(who: str, source: Source) -> bool:
    """Tell whether a path is that of a file of HDF5, by its first bytes; no file object is."""
    if isinstance(source, (str, os.PathLike)):
        with opening(who, source) as file:
            return file.read(len(HDF5_SIGNATURE)) == HDF5_SIGNATURE
    return False


def _blobs_of(layer: Message, who: str) -> dict[int, SavedBlob]:
    saved = {}
    for index, blob in enumerate(layer.blobs):
        place = f"{who}: blob {index}"
        diff = blobproto_to_array(blob, "diff", place) if has_diff(blob) else None
        saved[index] = SavedBlob(blobproto_to_array(blob, who=place), diff, is_legacy(blob))
    return saved


def _layers_in(content: Hdf5Content, who: str) -> list[SavedLayer]:
    layers: dict[str, SavedLayer] = {}
    for path, array in content.arrays.items():
        group, _, inside = path.partition("/")
        name, _, index = inside.rpartition("/")
        if group != "data":
            continue
        if not (name and index.isascii() and index.isdecimal()):
            raise FormatError(f"{who}: expected data/<layer>/<index>, got {path!r}.")
        layer = layers.setdefault(name, SavedLayer(name, {}))
        layer.blobs[int(index)] = SavedBlob(array, content.arrays.get(f"diff/{inside}"), False)
    if not layers and "iter" in content.arrays:
        raise FormatError(f"{who}: expected weights, got the state of a solver. Read it with read_state.")
    return list(layers.values())


def _whole(content: Hdf5Content, name: str, who: str) -> int:
    array = content.arrays.get(name)
    if array is None or tuple(array.shape) not in ((), (1,)) or nd.dtype_name(array) != "int64":
        got = "none" if array is None else f"{nd.dtype_name(array)} {list(array.shape)}"
        raise FormatError(f"{who}: expected a whole number {name!r}, got {got}.")
    return int(nd.item(nd.reshape(array, (1,))))


def _history(content: Hdf5Content, who: str) -> list[Array]:
    names = [name for name in content.arrays if name.startswith("history/")]
    wanted = [f"history/{position}" for position in range(len(names))]
    if sorted(names) != sorted(wanted):
        raise FormatError(f"{who}: expected a history of 0 to {len(names) - 1}, got {', '.join(sorted(names))}.")
    return [content.arrays[name] for name in wanted]


def _path(who: str, source: Source) -> str:
    if not isinstance(source, (str, os.PathLike)):
        raise ArgumentError(f"{who}: a file of HDF5 is read by its path, got {source!r}.")
    return os.fspath(source)
