"""What a network computes in one call of the backend: layers' ops, made of a call of a network, heard by hooks.

The names are ND4J's where it has such an op. Their arguments are those of the primitive, see `backends.signatures`.
"""

from __future__ import annotations

from typing import Any, ClassVar

from backends.base import Backend
from nd.ops.base import Array, Op, leaves_of
from nd.state import backend as current_backend


class FusedOp(Op):
    """An op that is one call of a primitive, made by `of_primitive`.

    Attributes
    ----------
    x, y : array
        The first two arrays that it is given, y None where there is one only.
    z : array
        The first that it makes or writes, the result mostly.
    weights, bias : array
        Of convolutions.
    arguments : dict
        Name -> value of everything that the primitive is given.
    inputs, outputs : tuple of array
        All that it is given, and makes or writes: of a way back dL/dx, where it is asked for, and the gradients.
    """

    primitive: ClassVar[str]
    parameters: ClassVar[str]
    """Names of the primitive's parameters."""
    writes: ClassVar[str] = ""
    """Names of those that it writes."""
    arguments: dict[str, Any]
    arrays: tuple[Array, ...]
    returned: Any

    @classmethod
    def of_primitive(cls, arguments: tuple[Any, ...], named: dict[str, Any]) -> FusedOp:
        """Return the op of a call of its primitive."""
        given = {**dict(zip(cls.parameters.split(), arguments, strict=False)), **named}
        read = [value for name, value in given.items() if name not in cls.writes.split()]
        arrays = _arrays(read)
        x, y = (*arrays, None, None)[:2]
        convolves = {"weights": given["W"], "bias": given.get("b")} if "W" in given else {}
        return cls.of_call(x, y, arguments=given, arrays=arrays, returned=None, **convolves)

    @property
    def inputs(self) -> tuple[Any, ...]:
        return self.arrays

    @property
    def outputs(self) -> tuple[Array, ...]:
        written = [value for name, value in self.arguments.items() if name in self.writes.split()]
        return _arrays([self.returned, written])

    @property
    def result(self) -> Any:
        return self.returned

    def _compute(self, backend: Backend) -> Any:
        return getattr(backend, self.primitive)(**self.arguments)

    def run(self) -> Any:
        """Make the call on the current backend."""
        self.returned = self._compute(current_backend())
        self.z = next(iter(self.outputs), None)
        return self.z


def _arrays(values: object) -> tuple[Array, ...]:
    return tuple(leaf for leaf in leaves_of(values) if hasattr(leaf, "dtype"))


class AffineGradients(FusedOp):
    """Gradients of W and b in x W + b, where one call makes both."""

    primitive = "affine_gradients"
    parameters = "x delta W_gradient b_gradient"
    writes = "W_gradient b_gradient"


class AvgPooling3D(FusedOp):
    """Means of windows over volumes."""

    primitive = "avg_pool3d"
    parameters = "x window buffers"


class AvgPooling3DDerivative(FusedOp):
    """Its way back."""

    primitive = "avg_pool3d_backward"
    parameters = "epsilon saved window buffers"


class BatchNorm(FusedOp):
    """(x - mean) factor + shift of every channel; the vectors are mean, factor and shift."""

    primitive = "normalize_channels"
    parameters = "x centered vectors buffers rectify"


class BatchNormDerivative(FusedOp):
    """Its way back to x; the vectors are mean, factor, slope and shift."""

    primitive = "normalize_channels_back"
    parameters = "epsilon x centered vectors buffers"


class BatchNormErrorSums(FusedOp):
    """Sums of epsilon and of epsilon (x - mean) of every channel, ``[2, C]``."""

    primitive = "channel_error_sums"
    parameters = "epsilon x centered mean out buffers rectified"
    writes = "out"


class BatchNormMoments(FusedOp):
    """Mean and sum of squared deviations of every channel, ``[2, C]``."""

    primitive = "channel_moments"
    parameters = "x out buffers"
    writes = "out"


class ChannelSums(FusedOp):
    """Sums of x, or of x y, over every channel, ``[1, C]``."""

    primitive = "channel_sums"
    parameters = "x y"


class Conv2D(FusedOp):
    """Convolution, activated where `activate` is there."""

    primitive = "conv2d"
    parameters = "x W b window buffers activate exact"


class Conv2DDerivative(FusedOp):
    """Its way back: dL/dx, and the gradients of weights and bias."""

    primitive = "conv2d_backward"
    parameters = "delta saved W window gradients buffers need_epsilon"
    writes = "gradients"


class Conv2DMaxPooling2D(FusedOp):
    """Convolution, activated and pooled in one pass; the inner activation where somebody looks at it."""

    primitive = "conv2d_max_pool"
    parameters = "x W b activate windows buffers keep inner"
    writes = "inner"


class Conv2DMaxPooling2DDerivative(FusedOp):
    """Its way back: dL/dx, and the gradients of weights and bias."""

    primitive = "conv2d_max_pool_backward"
    parameters = "epsilon saved W windows gradients buffers need_epsilon"
    writes = "gradients"


class Conv3D(FusedOp):
    """Convolution of volumes."""

    primitive = "conv3d"
    parameters = "x W b window buffers activate exact"


class Conv3DDerivative(FusedOp):
    """Its way back."""

    primitive = "conv3d_backward"
    parameters = "delta saved W window gradients buffers need_epsilon"
    writes = "gradients"


class DeConv(FusedOp):
    """Transposed convolution of images or volumes."""

    primitive = "deconv"
    parameters = "x W b window buffers activate exact"


class DeConvDerivative(FusedOp):
    """Its way back."""

    primitive = "deconv_backward"
    parameters = "delta saved window gradients buffers need_epsilon"
    writes = "gradients"


class DepthwiseConv2D(FusedOp):
    """Convolution of every channel for itself."""

    primitive = "depthwise"
    parameters = "x W b window buffers activate exact"


class DepthwiseConv2DBp(FusedOp):
    """Its way back."""

    primitive = "depthwise_backward"
    parameters = "delta saved W window gradients buffers need_epsilon"
    writes = "gradients"


class Gather(FusedOp):
    """Rows of a table, at the indices."""

    primitive = "pull_rows"
    parameters = "table indices who out"
    writes = "out"


class GradientsOfProducts(FusedOp):
    """Gradients of the matrices that x was multiplied by, and of biases."""

    primitive = "gradients_of_products"
    parameters = "x deltas W_gradients b_gradients"
    writes = "W_gradients b_gradients"


class GroupedConv2D(FusedOp):
    """Convolution of groups of channels, each by itself."""

    primitive = "grouped"
    parameters = "x W b window buffers activate exact"


class GroupedConv2DDerivative(FusedOp):
    """Its way back: dL/dx, and the gradients of weights and bias."""

    primitive = "grouped_backward"
    parameters = "delta saved W window gradients buffers need_epsilon"
    writes = "gradients"


class GroupedDeConv(FusedOp):
    """Transposed convolution of groups of channels, each by itself."""

    primitive = "grouped_deconv"
    parameters = "x W b window buffers activate exact"


class GroupedDeConvDerivative(FusedOp):
    """Its way back."""

    primitive = "grouped_deconv_backward"
    parameters = "delta saved window gradients buffers need_epsilon"
    writes = "gradients"


class LSTMLayer(FusedOp):
    """A whole series through LSTM units."""

    primitive = "lstm"
    parameters = "x weights state training reverse buffers"


class LSTMLayerBp(FusedOp):
    """Its way back."""

    primitive = "lstm_back"
    parameters = "ran epsilon grads"
    writes = "grads"


class LayerNorm(FusedOp):
    """Rows with mean 0 and variance 1."""

    primitive = "normalize_rows"
    parameters = "x out inverse"
    writes = "out inverse"


class LayerNormBp(FusedOp):
    """Its way back."""

    primitive = "normalize_rows_back"
    parameters = "delta normal inverse scratch"


class LocalResponseNormalization(FusedOp):
    """x / (k + alpha Σ x²)^beta over the channels around."""

    primitive = "lrn"
    parameters = "x n k alpha beta buffers"


class LocalResponseNormalizationDerivative(FusedOp):
    """Its way back."""

    primitive = "lrn_back"
    parameters = "epsilon saved buffers"


class LocallyConnected(FusedOp):
    """Convolution with weights of its own at every place."""

    primitive = "locally_connected"
    parameters = "x W b window buffers activate exact"


class LocallyConnectedBp(FusedOp):
    """Its way back."""

    primitive = "locally_connected_backward"
    parameters = "delta saved W window gradients buffers need_epsilon"
    writes = "gradients"


class MaxPoolWithArgmax(FusedOp):
    """Where in its plane the largest number of every window lies."""

    primitive = "max_places"
    parameters = "x window buffers"


class MaxPooling3D(FusedOp):
    """Largest numbers of windows over volumes."""

    primitive = "max_pool3d"
    parameters = "x window buffers"


class MaxPooling3DDerivative(FusedOp):
    """Its way back."""

    primitive = "max_pool3d_backward"
    parameters = "epsilon saved window buffers"


class ProductsWith(FusedOp):
    """Products of one matrix with each of several."""

    primitive = "products_with"
    parameters = "a b out"
    writes = "out"


class PutWhere(FusedOp):
    """A value, or elements, written where a condition holds."""

    primitive = "put_where"
    parameters = "target value condition"
    writes = "target"


class RowProducts(FusedOp):
    """Scalar products of rows."""

    primitive = "row_products"
    parameters = "x y"


class ScatterAdd(FusedOp):
    """Updates added to the rows of a table, at the indices."""

    primitive = "scatter_add"
    parameters = "table indices updates"
    writes = "table"


class StochasticPooling2D(FusedOp):
    """A number of every window, drawn with the numbers as weights; y are the draws."""

    primitive = "stochastic_pool"
    parameters = "x draws window buffers"


class SumOfProducts(FusedOp):
    """Sum of the products of several matrices, one by one."""

    primitive = "sum_of_products"
    parameters = "a b out scratch"
    writes = "out"


FUSED: dict[str, type[FusedOp]] = {kind.primitive: kind for kind in FusedOp.__subclasses__()}
"""Primitive -> its op."""
