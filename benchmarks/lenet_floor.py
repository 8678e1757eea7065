"""The least that a step of LeNet needs: floating-point operations and bytes of device memory, counted by formula.

Operations are those of the products alone, two for every multiplication: forward one product per layer, backward one
for the weights and, in every layer but the first, one for the layer's input. Bytes are those of layers that run one
after the other, each in one pass with what follows element by element or by windows: forward a layer reads its input
and writes its output; backward it reads its input and the output's gradient and writes the input's gradient, the first
layer not. In training every parameter and its momentum is read once and written once; in inference read once.
"""

from __future__ import annotations

from typing import NamedTuple

NUMBER = 4  # bytes of a float32
LABELS = 10


class Layer(NamedTuple):
    """One product of LeNet with what follows it; sizes are per example."""

    inputs: int
    outputs: int
    multiplications: int
    parameters: int


LENET = (
    Layer(28 * 28, 20 * 12 * 12, 20 * 25 * 24 * 24, 20 * 25 + 20),  # 5x5 convolution, bias, 2x2 max pooling
    Layer(20 * 12 * 12, 50 * 4 * 4, 50 * 20 * 25 * 8 * 8, 50 * 20 * 25 + 50),
    Layer(50 * 4 * 4, 500, 800 * 500, 800 * 500 + 500),  # dense, ReLU
    Layer(500, 10, 500 * 10, 500 * 10 + 10),  # dense, softmax
)


class Work(NamedTuple):
    """What a step has to do at least."""

    operations: int
    bytes: int


def work(batch: int, training: bool, layers: tuple[Layer, ...] = LENET) -> Work:
    """Return the least work of a training step, or of predictions."""
    forward = sum(each.multiplications for each in layers)
    moved = sum(each.inputs + each.outputs for each in layers)
    parameters = sum(each.parameters for each in layers)
    if not training:
        return Work(2 * batch * forward, NUMBER * (batch * moved + parameters))
    later = layers[1:]
    multiplications = 2 * forward + sum(each.multiplications for each in later)
    backward = moved + sum(each.inputs for each in later)
    return Work(2 * batch * multiplications, NUMBER * (batch * (moved + backward + LABELS) + 4 * parameters))


def floor_ms(needed: Work, operations_per_s: float, bytes_per_s: float) -> float:
    """Return the milliseconds below which the device cannot be: the longer of arithmetic and memory."""
    return 1000.0 * max(needed.operations / operations_per_s, needed.bytes / bytes_per_s)
