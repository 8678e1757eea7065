"""Copies of a net: what is pickled of it, and a net of that."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import nd
from nd.random import Random
from nd.state import Restoring, kept_backend, selector_of

from .schema import message_class

if TYPE_CHECKING:
    from .net import Net


def state_of(net: Net) -> dict[str, Any]:
    """Return all that a net is and holds, arrays on the host: another thread may go on with it meanwhile."""
    network = net.network
    with network.lock, Restoring(), network.engine.on_backend():
        return {
            "message": net.message.SerializeToString(),
            "dtype": net.dtype,
            "folder": os.fspath(net.folder),
            "random": net.random.get_state(),
            "backend": selector_of(network.backend),
            "data": list(net.data_layers),
            "params": [_on_host(blob) for blob in net.param_blobs],
            "blobs": [_on_host(net._blob_at(number)) for number in range(len(net.blob_names))],
            "shapes": [net._blob_at(number).shape for number in range(len(net.blob_names))],
            "missing": [net._blob_at(number).missing for number in range(len(net.blob_names))],
            "loss": net.loss,
            "debug": net.debug_info,
            "own": net.given_attributes(),
        }


def _on_host(blob: Any) -> dict[str, Any]:
    return {name: nd.to_host(nd.copy(blob.read(name))) for name in ("data", "diff") if blob.has(name)}


def restore(net: Net, state: dict[str, Any]) -> None:
    """Make a net of the state of another one, on the backend on which that was."""
    with Restoring(), kept_backend("Net", state["backend"]):
        message = message_class("NetParameter").FromString(state["message"])
        layers = iter(state["data"])
        net.set_up(message, lambda *_: next(layers), state["dtype"], Random(1), state["folder"])
        net.random.set_state(state["random"])
        for blob, arrays in zip(net.param_blobs, state["params"], strict=True):
            _put_back(blob, arrays)
        for number, (shape, arrays) in enumerate(zip(state["shapes"], state["blobs"], strict=True)):
            net._blob_at(number).resize(tuple(shape))
            _put_back(net._blob_at(number), arrays)
    for number, missing in enumerate(state["missing"]):
        net._blob_at(number).missing = missing
    net.loss, net.debug_info = state["loss"], state["debug"]
    vars(net).update(state["own"])


def _put_back(blob: Any, arrays: dict[str, Any]) -> None:
    for name, values in arrays.items():
        blob.write(name, values)
