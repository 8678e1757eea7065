"""Weights from files and from other nets into a net."""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import nd
from nd.arguments import shown
from nd.checks import check_choice, describe_shape
from nd.typing import Array

from .blob import ParamBlob
from .blobs import LEGACY_AXES
from .layers.base import Shape
from .schema import kind_of
from .snapshots import SavedLayer, is_hdf5, layers_of, read_weights

if TYPE_CHECKING:
    from .structure import NetStructure

LOGGER = logging.getLogger(__name__)
MODES = ("strict", "skip", "reshape")


class CopyReport(NamedTuple):
    """What became of weights that were copied.

    Attributes
    ----------
    loaded : tuple of str
        Layers that have them now.
    skipped : tuple of str
        Layers whose weights do not fit, and why.
    ignored : tuple of str
        Layers with weights that the net does not have.
    missing : tuple of str
        Layers of the net for which there were none: they are as they were.
    """

    loaded: tuple[str, ...]
    skipped: tuple[str, ...]
    ignored: tuple[str, ...]
    missing: tuple[str, ...]


def copy_weights(who: str, net: NetStructure, source: Any, mode: str) -> CopyReport:
    """Copy weights into the parameters of a net; see `Net.copy_from`."""
    check_choice(who, "mode", mode, MODES)
    paths: Sequence[Any] = source.split(",") if isinstance(source, str) else [source]
    plans = [_plan(who, net, _saved(one), _params_by_name(net, _is_hdf5(who, one)), mode) for one in paths]
    for _, copies in plans:  # once all of them are known to fit
        for blob, array in copies:
            blob.write("data", nd.reshape(nd.as_array(array), blob.shape))
    loaded, skipped, ignored, missing = zip(*(report for report, _ in plans), strict=True)
    left = [name for name in missing[0] if all(name in others for others in missing)]
    report = CopyReport(sum(loaded, ()), sum(skipped, ()), sum(ignored, ()), tuple(left))
    for name in report.ignored:
        LOGGER.info("Ignoring source layer %s", name)
    return report


def _is_hdf5(who: str, source: Any) -> bool:
    return isinstance(source, (str, os.PathLike)) and is_hdf5(who, _path(source))


def _path(source: str | os.PathLike[str]) -> str:
    if not isinstance(source, (str, os.PathLike)):
        raise nd.DTypeError(f"copy_from: source must be a path, a NetParameter or a Net, got {shown(source)}.")
    return source.strip() if isinstance(source, str) else os.fspath(source)


def _params_by_name(net: NetStructure, last: bool) -> dict[str, list[int]]:
    """Return layer -> numbers of its parameters: of several layers of one name the first's, for HDF5 the last's."""
    pairs = [(plan.name, plan.params) for plan in net.assembly.layers if plan.params]
    return dict(pairs if last else reversed(pairs))


def _saved(source: Any) -> list[SavedLayer]:
    """Return what a path, a message or another net has of weights."""
    if hasattr(source, "to_proto"):
        source = source.to_proto()
    if kind_of(source) == "NetParameter":
        return layers_of(source)
    return read_weights(_path(source))


def _plan(
    who: str, net: NetStructure, saved: Sequence[SavedLayer], places: Mapping[str, Sequence[int]], mode: str
) -> tuple[CopyReport, list[tuple[ParamBlob, Array]]]:
    """Return what becomes of saved layers, and which array goes into which parameter; nothing has changed yet."""
    loaded, skipped, ignored, copies = [], [], [], []
    for layer in saved:
        if layer.name not in places:
            ignored.append(layer.name)
            continue
        blobs = [net.param_blobs[index] for index in places[layer.name]]
        shared = {at for at, index in enumerate(places[layer.name]) if net.param_owners[index] >= 0}
        fault = _fault(layer, blobs, shared, mode == "reshape")
        if fault is not None and mode == "strict":
            raise nd.ShapeError(
                f"{who}: layer {layer.name!r}: {fault} Rename the layer to have it start anew, or say mode='skip' or "
                "mode='reshape'."
            )
        if fault is not None:
            skipped.append(f"{layer.name}: {fault}")
            continue
        copies += [(blobs[place], blob.data) for place, blob in layer.blobs.items()]
        loaded.append(layer.name)
    known = {layer.name for layer in saved}
    missing = tuple(name for name in net.params if name not in known)
    return CopyReport(tuple(loaded), tuple(skipped), tuple(ignored), missing), copies


def _fault(layer: SavedLayer, params: Sequence[ParamBlob], shared: set[int], reshapes: bool) -> str | None:
    """Return what does not fit about the weights of a layer, None where all of them do."""
    needed = set(range(len(params))) - shared
    if needed - set(layer.blobs) or max(layer.blobs, default=0) >= len(params):
        return f"expected {len(params)} parameter(s), got {len(layer.blobs)}."
    for place, blob in layer.blobs.items():
        shape, wanted = tuple(blob.data.shape), params[place].shape
        if not (math.prod(shape) == math.prod(wanted) if reshapes else _same(shape, wanted, blob.is_legacy)):
            return f"expected {describe_shape(wanted)} for parameter {place}, got {describe_shape(shape)}."
    return None


def _same(shape: Shape, wanted: Shape, is_legacy: bool) -> bool:
    """Tell whether a saved shape is that of a parameter; an old file's four axes begin with ones."""
    return shape == ((*[1] * (len(LEGACY_AXES) - len(wanted)), *wanted) if is_legacy else wanted)


def share_weights(who: str, net: NetStructure, other: NetStructure) -> None:
    """Let a net use the memory of another one's parameters; see `Net.share_with`.

    Raises
    ------
    ShapeError
        A layer of the same name has other parameters.
    """
    names = [name for name in other.params if name in net.params]
    for name in names:
        shapes = [[blob.shape for blob in one.params[name]] for one in (net, other)]
        if shapes[0] != shapes[1]:
            raise nd.ShapeError(
                f"{who}: layer {name!r}: expected parameters {' '.join(map(describe_shape, shapes[0]))}, got "
                f"{' '.join(map(describe_shape, shapes[1]))} of the other net."
            )
    propagation, others = (one.network.engine.propagation for one in (net, other))
    for plan in net.assembly.layers:
        if plan.name not in names:
            continue
        given = next(one for one in other.assembly.layers if one.name == plan.name and one.params)
        for own, theirs in zip(plan.params, given.params, strict=True):
            name = net.assembly.params[own].spec.name
            view = others.params[given.node or 0][other.assembly.params[theirs].spec.name]
            propagation.params[plan.node or 0][name] = view
            net.param_blobs[own].share_data(other.param_blobs[theirs])


def own_memory(net: NetStructure) -> None:
    """Copy parameters that lie in another net's memory into the net's own vector, from which copies of it are made."""
    layout, vector = net.network.engine.vectors.layout, net.network.params()
    for plan in net.assembly.layers:
        if plan.params:
            for view in layout.of_layer(plan.node or 0):
                index = next(index for index in plan.params if net.assembly.params[index].spec.name == view.spec.name)
                nd.assign(view.of(vector), net.param_blobs[index].read("data"))
