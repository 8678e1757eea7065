"""Convolutions: plain, transposed, by channels."""

from __future__ import annotations

from collections.abc import Sequence

from nd.typing import HostArray

from .activations import activated, softmax_axis, with_activation
from .draft import Config, Value
from .node import Node
from .settings import of_params
from .windows import cropped, dimensions, effective, padded_input, thinned

_KERNELS = {1: (0, 1, 2), 2: (2, 3, 1, 0), 3: (2, 3, 4, 1, 0)}
"""Places -> for every axis of Keras' kernel its place in our W."""


def convolution(node: Node) -> Value:
    """ConvolutionLayer, Convolution1DLayer and Convolution3D: Conv1D to Conv3D."""
    W = node.params["W"]
    axes = _KERNELS[W.ndim - 2]
    kernel = W.transpose(axes)
    settings = {"filters": int(kernel.shape[-1]), "groups": 1, **of_params(node, axes=axes)}
    return _slid(node, f"Conv{W.ndim - 2}D", [kernel, *node.bias()], settings)


def depthwise(node: Node) -> Value:
    """DepthwiseConvolution2D, whose W is ``[kernel_h, kernel_w, n_in, multiplier]``."""
    W = node.params["W"]
    settings = {"depth_multiplier": int(W.shape[3]), **of_params(node, "depthwise", axes=(0, 1, 2, 3))}
    return _slid(node, "DepthwiseConv2D", [W, *node.bias()], settings)


def separable(node: Node) -> Value:
    """SeparableConvolution2D: W ``[multiplier, n_in, kernel_h, kernel_w]``, then pW on single cells."""
    W, pW = node.params["W"].transpose(2, 3, 1, 0), node.params["pW"].transpose(2, 3, 1, 0)
    settings = {
        "filters": int(pW.shape[3]), "depth_multiplier": int(W.shape[3]),
        **of_params(node, "depthwise", axes=(2, 3, 1, 0)), **of_params(node, "pointwise", "", (2, 3, 1, 0), "pW"),
    }  # fmt: skip
    return _slid(node, "SeparableConv2D", [W, pW, *node.bias()], settings)


def deconvolution2d(node: Node) -> Value:
    """Deconvolution2D, whose W is ``[n_in, n_out, *kernel]``."""
    return _transposed(node, node.params["W"], (2, 3, 1, 0))


def deconvolution3d(node: Node) -> Value:
    """Deconvolution3D, whose W is Keras' kernel."""
    return _transposed(node, node.params["W"], (0, 1, 2, 3, 4))


def _slid(node: Node, class_name: str, weights: Sequence[HostArray], settings: Config) -> Value:
    conf = node.conf
    kernel, stride, dilation = (tuple(sizes) for sizes in (conf.kernel_size, conf.stride, conf.dilation))
    x, padding = padded_input(node, kernel, dilation)
    both = max(stride) > 1 and max(dilation) > 1
    if both and padding == "same":
        node.refuse("Keras has no padding 'same' with a stride and a dilation")
    settings = {
        **settings, "kernel_size": dimensions(kernel), "strides": [1] * len(kernel) if both else dimensions(stride),
        "padding": padding, "data_format": "channels_last", "dilation_rate": dimensions(dilation),
        "use_bias": "b" in node.params,
    }  # fmt: skip
    if not both:
        return with_activation(node, class_name, x, weights=weights, **settings)
    z = node.add(class_name, x, weights=weights, activation="linear", **settings)
    z = thinned(node, z, stride)  # of which Keras has one in a layer alone
    return activated(node, conf.activation, z, softmax_axis(conf, z))


def _transposed(node: Node, W: HostArray, axes: tuple[int, ...]) -> Value:
    """Return a transposed convolution: all that Keras gives without padding, less what ours takes away.

    Notes
    -----
    Keras' length is ``n s + max(k - s, 0)``, k the dilated kernel, ours ``(n - 1) s + k - 2 p``, in mode same ``n s``.
    """
    conf, kernel = node.conf, W.transpose(axes)
    size, stride, dilation = (tuple(sizes) for sizes in (conf.kernel_size, conf.stride, conf.dilation))
    if max(stride) > 1 and max(dilation) > 1:
        node.refuse("Keras has no transposed convolution with a stride and a dilation")
    beyond = [length - step for length, step in zip(effective(size, dilation), stride, strict=True)]
    if conf.convolution_mode == "same":
        before = [max(length, 0) // 2 for length in beyond]
        after = [max(length, 0) - first for length, first in zip(beyond, before, strict=True)]
    else:
        before = list(conf.padding)
        after = [taken + max(-length, 0) for taken, length in zip(conf.padding, beyond, strict=True)]
    z = node.add(
        f"Conv{len(size)}DTranspose", filters=int(kernel.shape[-2]), kernel_size=dimensions(size),
        strides=dimensions(stride), padding="valid", output_padding=None, data_format="channels_last",
        dilation_rate=dimensions(dilation), use_bias="b" in node.params, activation="linear",
        weights=[kernel, *node.bias()], **of_params(node, axes=axes),
    )  # fmt: skip
    z = cropped(node, z, before, after)
    return activated(node, conf.activation, z, softmax_axis(conf, z))
