"""What a network costs on an example, for a backend that divides minibatches."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import nd

from ..terms.input_type import InputType

if TYPE_CHECKING:
    from .nodes import NetworkConfiguration, NodeTypes

FORWARD_ONLY, FORWARD_AND_BACKWARD = 1, 3  # products that every one of the forward pass stands for


def work_of(
    conf: NetworkConfiguration, types: list[NodeTypes], shapes: Sequence[tuple[int, ...]], passes: int
) -> nd.Work:
    """Return what a network with such activations costs on features of those shapes."""
    multiplications, looked_up, largest, parameters = 0, 0, max(math.prod(shape[1:]) for shape in shapes), 0
    loops: dict[bool, list[int]] = {False: [], True: []}  # multiplications of a time step, of LSTM units or not
    for node, (came, outputs) in zip(conf.nodes, types, strict=True):
        out = outputs[0]
        specs = node.conf.param_specs()
        size = math.prod(out.sizes)
        positions = size // out.shape[0]
        recurrent = [spec for spec in specs if spec.recurrent]
        for spec in recurrent:
            loops[spec.lstm].append(spec.length)
        if recurrent:
            positions = math.prod(came[0].sizes) // came[0].shape[0]
        if getattr(node.conf, "takes_indices", False):
            looked_up += size
        else:
            multiplications += positions * sum(spec.length for spec in specs if not spec.bias)
        parameters += sum(spec.length for spec in specs)
        largest = max(largest, size)
    element_bytes = 8 if conf.dtype == "float64" else 4
    gradient = parameters if passes > FORWARD_ONLY else 0
    per_step, per_lstm_step = (min(loops[of_lstm], default=0) for of_lstm in (False, True))
    return nd.Work(
        passes * multiplications,
        largest * element_bytes,
        gradient,
        per_step,
        looked_up=passes * looked_up,
        per_lstm_step=per_lstm_step,
    )


def input_type_of(shape: tuple[int, ...]) -> InputType | None:
    """Return the type of features of that shape; None where there is none."""
    channels, places = shape[1], shape[2:]
    makers: dict[int, Callable[..., InputType]] = {
        0: InputType.feed_forward,
        1: lambda steps, size: InputType.recurrent(size, steps),
        2: InputType.convolutional,
        3: InputType.convolutional3d,
    }
    make = makers.get(len(places))
    return None if make is None else make(*places, channels)
