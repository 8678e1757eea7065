"""Layers of rows, and those that only activate."""

from __future__ import annotations

from nd.activations import get_activation

from ...layers.pretraining.rbm import HIDDEN_UNITS
from .functions import CHANNELS, LAST, activate, activated, normal
from .node_draft import NodeDraft


def dense(layer: NodeDraft) -> str:
    """DenseLayer, its output layers, and the way up of AutoEncoder: Gemm."""
    if "g" in layer.params:
        return _normalized(layer)
    return activate(layer, _product(layer, "W", "b"))


def center_loss(layer: NodeDraft) -> str:
    """CenterLossOutputLayer: a b that is there without `has_bias` is not added."""
    return activate(layer, _product(layer, "W", "b" if layer.conf.has_bias else ""))


def hidden_units(layer: NodeDraft) -> str:
    """RBM: Gemm, and the means of its hidden units."""
    means = get_activation(HIDDEN_UNITS[str(layer.conf.hidden_unit)])
    return activated(layer.draft, means, _product(layer, "W", "b"), layer.name)


def dense_of_steps(layer: NodeDraft) -> str:
    """RnnOutputLayer: MatMul with the channels last, so that every time step is a row."""
    rows = layer.node("MatMul", layer.node("Transpose", layer.x, perm=[0, 2, 1]), layer.param("W"))
    z = layer.node("Add", rows, layer.param("b", shape=(-1,))) if "b" in layer.params else rows
    a = activated(layer.draft, layer.conf.activation, z, layer.name, LAST)
    return layer.node("Transpose", a, perm=[0, 2, 1])


def activation(layer: NodeDraft) -> str:
    """ActivationLayer."""
    return activate(layer, layer.x)


def loss(layer: NodeDraft) -> str:
    """LossLayer: a softmax goes along the last axis."""
    return activated(layer.draft, layer.conf.activation, layer.x, layer.name, LAST)


def loss_of_places(layer: NodeDraft) -> str:
    """CnnLossLayer, Cnn3DLossLayer and RnnLossLayer: a softmax goes over the channels of a place."""
    return activated(layer.draft, layer.conf.activation, layer.x, layer.name, CHANNELS)


def one_class(layer: NodeDraft) -> str:
    """OCNNOutputLayer: w activation(x v), without r, which the loss alone looks at."""
    hidden = activate(layer, layer.node("MatMul", layer.x, layer.param("v")))
    return layer.node("Gemm", hidden, layer.param("w"), transB=1)


def variational(layer: NodeDraft) -> str:
    """VariationalAutoencoder: the encoder, and the means of z."""
    x = layer
    for number in range(len(layer.conf.encoder_layer_sizes)):
        z = _product(x, f"e{number}W", f"e{number}b")
        x = layer.around(layer.conf, layer.params, activate(layer, z))
    mean = _product(x, "pZXMeanW", "pZXMeanb")
    return activated(layer.draft, layer.conf.pzx_activation, mean, layer.name)


def element_wise_multiplication(layer: NodeDraft) -> str:
    """ElementWiseMultiplicationLayer: Mul and Add."""
    product = layer.node("Mul", layer.x, layer.param("W", shape=(-1,)))
    return activate(layer, layer.node("Add", product, layer.param("b", shape=(-1,))))


def prelu(layer: NodeDraft) -> str:
    """PReLULayer: its slope as it broadcasts to ``[C, ...]``."""
    axes = len(layer.params["W"].shape)
    last = axes > 1 and (layer.conf.input_format or "").endswith("C")
    slope = layer.param("W", *((axes - 1, *range(axes - 1)) if last else ()))
    if layer.draft.dtype == "float32":
        return layer.node("PRelu", layer.x, slope)
    below = layer.node("Mul", layer.node("Min", layer.x, 0.0), slope)  # runtimes have PRelu of floats
    return layer.node("Add", layer.node("Relu", layer.x), below)


def repeat_vector(layer: NodeDraft) -> str:
    """RepeatVector: Expand along a new axis of time."""
    steps = layer.node("Unsqueeze", layer.x, layer.draft.ints(2))
    return layer.node("Expand", steps, layer.draft.ints(1, 1, layer.conf.n))


def mask(layer: NodeDraft) -> str:
    """MaskLayer: what comes in, times the mask where there is one."""
    if layer.masks[0] is None:
        return layer.x
    mask = layer.masks[0]
    if layer.rank() == 3:
        mask = layer.node("Unsqueeze", mask, layer.draft.ints(1))
    return layer.node("Mul", layer.x, mask)


def nothing(layer: NodeDraft) -> str:
    """What does something in training alone."""
    return layer.x


def _product(layer: NodeDraft, W: str, b: str) -> str:
    """Return x W + b, without b where there is none; W lies as in the network's vector, so that nothing is copied."""
    bias = [layer.param(b, shape=(-1,))] if b in layer.params else []
    return layer.node("Gemm", layer.x, layer.param(W, 1, 0), *bias, transB=1)


def _normalized(layer: NodeDraft) -> str:
    """Return the activations of a layer whose x W has mean 0 and variance 1 over the layer, gains and bias behind."""
    product = layer.node("MatMul", layer.x, layer.param("W"))
    z = normal(layer, product, layer.param("g", shape=(-1,)))
    return activate(layer, layer.node("Add", z, layer.param("b", shape=(-1,))) if "b" in layer.params else z)
