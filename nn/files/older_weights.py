"""Weights of files whose order in the vector Deeplearning4j has changed since: Convolution1DLayer's.

Up to 1.0.0-beta7 they lie as ``[n_out, n_in, kernel, 1]``, from 1.0.0-M1 on as ``[kernel, n_in, n_out]``, both in c
order. Nothing in the file says which release wrote it, but from M1 on every layer with n_in has a field
``timeDistributedFormat``, if only to say null, and none has it before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import nd

from ..layers import Convolution1DLayer
from .json_fields import parse

if TYPE_CHECKING:
    from ..networks.multilayer import MultiLayerNetwork

_MARK = "timeDistributedFormat"


def turn_older_weights(network: MultiLayerNetwork, configuration: str) -> None:
    """Put parameters and updater state of a network that was just read into today's order.

    Parameters
    ----------
    network : MultiLayerNetwork
        With the vectors as they stand in the file.
    configuration : str
        The file's JSON.
    """
    nodes = network.conf.nodes
    series = [index for index, node in enumerate(nodes) if type(node.conf.innermost) is Convolution1DLayer]
    if not series:
        return
    document = parse(configuration)
    for index in series:
        written = document["confs"][index] if "confs" in document else document["vertices"][nodes[index].name]
        if _marked(written):
            continue
        (weights,) = (view for view in network.conf.layout().of_layer(index) if view.spec.name == "W")
        shape = weights.spec.shape
        states = network.updater.states_of(weights.start, weights.stop)
        for vector in (weights.flat(network.params()), *states):
            older = nd.reshape(nd.copy(vector), shape[::-1])
            nd.assign(nd.reshape_view(vector, shape, "c"), nd.permute(older, (2, 1, 0)))


def _marked(fields: object) -> bool:
    """Tell whether the mark is anywhere in a layer, which other layers may wrap."""
    return isinstance(fields, dict) and (_MARK in fields or any(map(_marked, fields.values())))
