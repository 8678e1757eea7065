"""Layers of rows, and those that only activate."""

from __future__ import annotations

from nd.activations import Identity, get_activation

from ...layers.pretraining.rbm import HIDDEN_UNITS
from .activations import LAST, activated, softmax_axis, with_activation
from .draft import Config, Value
from .node import Node
from .settings import of_params

TINY = 1e-30
"""Epsilon of a normalisation that ours has not: it changes no variance that is not 0."""


def dense(node: Node) -> Value:
    """DenseLayer, its output layers, and the way up of AutoEncoder: Dense."""
    if "g" in node.params:
        return _normalized(node)
    return _product(node, axis=LAST)


def center_loss(node: Node) -> Value:
    """CenterLossOutputLayer: a b that is there without `has_bias` is not added."""
    node.lose("its centres, and the loss of the distances from them")
    params = {name: array for name, array in node.params.items() if name != "b" or node.conf.has_bias}
    return _product(node.around(node.conf, params), axis=LAST)


def pretrained(node: Node) -> Value:
    """AutoEncoder: Dense; the way back is only for pretraining."""
    node.lose("its way back, which pretraining alone uses")
    return _product(node, axis=LAST)


def hidden_units(node: Node) -> Value:
    """RBM: Dense with the means of its hidden units."""
    node.lose("its visible units, which pretraining alone uses")
    means = get_activation(HIDDEN_UNITS[str(node.conf.hidden_unit)])
    return with_activation(
        node, "Dense", activation=means, weights=[node.params["W"], *node.bias()], axis=LAST, **_units(node, "W")
    )


def dense_of_steps(node: Node) -> Value:
    """RnnOutputLayer: Dense, which goes over the last axis of series."""
    return _product(node, axis=LAST)


def activation(node: Node) -> Value:
    """ActivationLayer and LossLayer."""
    return activated(node, node.conf.activation, node.x, softmax_axis(node.conf, node.x), "")


def loss_of_places(node: Node) -> Value:
    """CnnLossLayer, Cnn3DLossLayer and RnnLossLayer: a softmax goes over the channels of a place."""
    return activated(node, node.conf.activation, node.x, LAST, "")


def one_class(node: Node) -> Value:
    """OCNNOutputLayer: w activation(x v), without r, which the loss alone looks at."""
    node.lose("r, which its loss alone looks at")
    hidden = with_activation(
        node, "Dense", part="hidden", units=int(node.params["v"].shape[1]), use_bias=False, axis=LAST,
        weights=[node.params["v"]],
    )  # fmt: skip
    w = node.params["w"].reshape(-1, 1)
    return node.add("Dense", hidden, units=1, use_bias=False, activation="linear", weights=[w])


def variational(node: Node) -> Value:
    """VariationalAutoencoder: the encoder, and the means of z."""
    node.lose("its decoder and the variances of z, which pretraining alone uses")
    x = node.x
    for number in range(len(node.conf.encoder_layer_sizes)):
        W, b = node.params[f"e{number}W"], node.params[f"e{number}b"].reshape(-1)
        x = with_activation(
            node, "Dense", x, part=f"encoder_{number}", units=int(W.shape[1]), use_bias=True, weights=[W, b], axis=LAST
        )
    W, b = node.params["pZXMeanW"], node.params["pZXMeanb"].reshape(-1)
    mean = node.conf.pzx_activation
    return with_activation(
        node, "Dense", x, activation=mean, units=int(W.shape[1]), use_bias=True, weights=[W, b], axis=LAST
    )


def element_wise_multiplication(node: Node) -> Value:
    """ElementWiseMultiplicationLayer: EinsumDense of a vector."""
    weights = [node.params["W"].reshape(-1), node.params["b"].reshape(-1)]
    size = int(weights[0].size)
    settings: Config = {"equation": "...x,x->...x", "output_shape": [size], "bias_axes": "x"}
    return with_activation(node, "EinsumDense", weights=weights, axis=LAST, **settings, **of_params(node, "", ""))


def prelu(node: Node) -> Value:
    """PReLULayer: its slopes with the channels last."""
    alpha = node.params["W"]
    if alpha.ndim > 1 and not (node.conf.input_format or "").endswith("C"):
        alpha = alpha.transpose(*range(1, alpha.ndim), 0)
    shared = [axis for axis, size in enumerate(alpha.shape, 1) if size == 1]
    return node.add("PReLU", shared_axes=shared or None, weights=[alpha])


def repeat_vector(node: Node) -> Value:
    """RepeatVector."""
    return node.add("RepeatVector", axes=1, n=int(node.conf.n))


def nothing(node: Node) -> Value:
    """What does something in training alone, and what masks alone see: nothing, without a layer of Keras."""
    return node.x


def _units(node: Node, name: str) -> Config:
    return {"units": int(node.params[name].shape[1]), "use_bias": "b" in node.params, **of_params(node)}


def _product(node: Node, axis: int) -> Value:
    weights = [node.params["W"], *node.bias()]
    return with_activation(node, "Dense", weights=weights, axis=axis, **_units(node, "W"))


def _normalized(node: Node) -> Value:
    """Return the activations of a layer whose x W has mean 0 and variance 1 over the layer, gains and bias behind."""
    W, gain = node.params["W"], node.params["g"].reshape(-1)
    z = node.add(
        "Dense", units=int(W.shape[1]), use_bias=False, activation="linear", weights=[W], **of_params(node, bias="")
    )
    shift = node.bias()
    z = node.add(
        "LayerNormalization", z, part="norm", axis=-1, epsilon=TINY, center=bool(shift), scale=True,
        weights=[gain, *shift],
    )  # fmt: skip
    return activated(node, node.conf.activation or Identity(), z, LAST)
