"""A net of Caffe's, layer by layer as Caffe runs it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import nd
from nd import ConfigurationError
from nd.typing import HostArray

from .sides import Results, Side

if TYPE_CHECKING:
    from ...caffe.net import Net


class CaffeSide(Side):
    """A net, whose layers are asked one after the other: so the value of one in place is known too.

    Parameters
    ----------
    net : Net
    inputs : sequence of str
        Blobs that are given, in that order.

    Raises
    ------
    ConfigurationError
        The net reads its data itself.
    """

    matches_by_name = True

    def __init__(self, net: Net, inputs: Sequence[str]) -> None:
        if set(inputs) != set(net.inputs):
            raise ConfigurationError(
                f"convert: for a proof the net must take its data as inputs, {list(inputs)}, got {list(net.inputs)}. "
                "Give the prototxt for deployment, or leave --proof out."
            )
        self._net, self._inputs = net, list(inputs)
        self.names = frozenset(net.layer_names)
        self.reader = "nn.caffe.Net"

    def run(self, xs: Sequence[HostArray], wanted: Collection[str]) -> Results:
        net = self._net
        for name, x in zip(self._inputs, xs, strict=True):
            net.blobs[name].reshape(*x.shape)
        net.reshape()
        for name, x in zip(self._inputs, xs, strict=True):
            net.blobs[name].data = x
        named: dict[str, HostArray] = {}
        for number, name in enumerate(net.layer_names):
            net.forward_from_to(number, number)
            tops = net.top_names[name]
            if name in wanted and len(tops) == 1:
                named[name] = nd.to_host(net.blobs[tops[0]].data).copy()
        return Results([], named)
