"""Weights from files and from other nets into a net."""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import nd
from nd.checks import check_choice, describe_shape

from .blob import ParamBlob
from .blobs import LEGACY_AXES
from .layers.base import Shape
from .schema import kind_of
from .snapshots import SavedLayer, layers_of, read_weights

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
    reports = [_copy(who, net, _saved(one), mode) for one in paths]
    loaded, skipped, ignored, missing = zip(*reports, strict=True)
    left = [name for name in missing[0] if all(name in others for others in missing)]
    report = CopyReport(sum(loaded, ()), sum(skipped, ()), sum(ignored, ()), tuple(left))
    for name in report.ignored:
        LOGGER.info("Ignoring source layer %s", name)
    return report


def _saved(source: Any) -> list[SavedLayer]:
    """Return what a path, a message or another net has of weights."""
    if hasattr(source, "to_proto"):
        source = source.to_proto()
    if kind_of(source) == "NetParameter":
        return layers_of(source)
    return read_weights(source.strip() if isinstance(source, str) else os.fspath(source))


def _copy(who: str, net: NetStructure, saved: Sequence[SavedLayer], mode: str) -> CopyReport:
    loaded, skipped, ignored = [], [], []
    for layer in saved:
        if layer.name not in net.params:
            ignored.append(layer.name)
            continue
        blobs = net.params[layer.name]
        fault = _fault(layer, blobs, _shared_places(net, layer.name), mode == "reshape")
        if fault is not None and mode == "strict":
            raise nd.ShapeError(
                f"{who}: layer {layer.name!r}: {fault} Rename the layer to have it start anew, or say mode='skip' or "
                "mode='reshape'."
            )
        if fault is not None:
            skipped.append(f"{layer.name}: {fault}")
            continue
        for place, blob in layer.blobs.items():
            blobs[place].write("data", nd.reshape(nd.as_array(blob.data), blobs[place].shape))
        loaded.append(layer.name)
    known = {layer.name for layer in saved}
    missing = tuple(name for name in net.params if name not in known)
    return CopyReport(tuple(loaded), tuple(skipped), tuple(ignored), missing)


def _shared_places(net: NetStructure, name: str) -> set[int]:
    """Return the parameters of a layer that use the memory of others: a file need not have them."""
    params = net.assembly.params
    return {
        params[index].place
        for plan in net.assembly.layers
        for index in (plan.params if plan.name == name else ())
        if params[index].owner is not None
    }


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
