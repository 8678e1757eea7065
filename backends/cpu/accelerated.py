"""Where oneDNN computes for the NumPy backend: conditions of the table, and how it finds oneDNN's functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.typing import Array, NumpyArray

from ..extras import install_command
from ..generic.window import Window
from ..signatures import (
    AveragePooling,
    Convolution,
    ConvolutionBack,
    DeconvolutionBack,
    ErrorSums,
    Like,
    Moments,
    Normalization,
    NormalizationBack,
    PooledConvolution,
    PoolingBack,
    Series,
    Sliding,
)
from .convolution import serves_rows
from .row_convolution import Buffers

if TYPE_CHECKING:
    from .numpy_backend import NumpyBackend

LEAST_STEPS = 4  # of series that are worth preparing the weights for
LEAST = 1024  # elements below which calling NumPy twice costs less
LEAST_FILL = 0.7
"""Share of oneDNN's vectors, of 16 channels, that is used: with 0.49 (20 to 50 channels) rows take 0.6 of its time,
with 0.62 (1 to 20) 0.5 to 0.8, with 1 (16 to 16, 3 to 32) as long or twice as long."""
LARGE_KERNEL = 5
"""Rows of a kernel from which on rows take 0.7 to 1 of oneDNN's time, where that has vectors of 8."""


class OneDnn:
    """oneDNN's primitives, imported when they are first needed.

    Attributes
    ----------
    saved : tuple of types
        What its way forward leaves for the way back.
    vector : int
        Floats that its kernels compute at once.
    """

    def __init__(self) -> None:
        from ..onednn import batch_norm, convolution, lrn, lstm, pooling, products, running
        from ..onednn.library import library_there

        self.batch_norm, self.convolution, self.lstm, self.pooling = batch_norm, convolution, lstm, pooling
        self.lrn, self.products, self.running = lrn, products, running
        self.saved = (convolution.Saved, pooling.Saved)
        self.vector = library_there().vector


def by_onednn(module: str, function: str) -> Callable[..., object]:
    """Return an implementation: a function of `backends.onednn`, which is not imported before it first runs."""

    def run(backend: NumpyBackend, *given: object, **named: object) -> object:
        return getattr(getattr(backend.onednn, module), function)(*given, **named)

    run.__name__ = f"onednn.{module}.{function}"
    return run


def describe_onednn(wanted: bool) -> str:
    """Say what of oneDNN a backend uses that wants it, or why it uses nothing."""
    from ..onednn.library import SETTING, library, refused

    found = library()
    if found is None and refused:
        return f"not used: {refused[0]}"
    if found is None:
        return f"not there; float32 networks are faster with it: {install_command('onednn')}"
    if not wanted:
        return f"{found.version}, not used: {SETTING}=0"
    return f"{found.version}, vectors of {found.vector} floats, {found.path} ({SETTING})"


# ---- convolution and pooling


def takes(backend: NumpyBackend, given: Any) -> bool:
    """Tell whether oneDNN computes with the array that is given."""
    return backend.accelerates(given.x)


def takes_places(backend: NumpyBackend, x: NumpyArray, buffers: Buffers) -> bool:
    """Tell the same of an array that is put in the order of images."""
    return backend.accelerates(x)


def convolves(backend: NumpyBackend, given: Convolution[NumpyArray]) -> bool:
    """Tell whether it convolves images, and NumPy does not do so faster."""
    x, W, b, window, *_ = given
    return backend.accelerates(x, W, b) and not rows_are_faster(backend, x, W, window)


def convolves_before_pooling(backend: NumpyBackend, given: PooledConvolution[NumpyArray]) -> bool:
    """Tell the same of a convolution that is pooled."""
    x, W, b, _, windows, *_ = given
    return backend.accelerates(x, W, b) and not rows_are_faster(backend, x, W, windows[0])


def takes_weights(backend: NumpyBackend, given: Convolution[NumpyArray]) -> bool:
    """Tell whether it computes with the array and the weights."""
    return backend.accelerates(given.x, given.W, given.b)


def convolves_soundly(backend: NumpyBackend, given: Convolution[NumpyArray]) -> bool:
    """Tell whether it does, and all its gradients over such windows are right."""
    return takes_weights(backend, given) and backend.onednn.convolution.is_sound(given.window)


def has_saved(
    backend: NumpyBackend,
    given: ConvolutionBack[NumpyArray] | DeconvolutionBack[NumpyArray] | PoolingBack[NumpyArray],
) -> bool:
    """Tell whether it has computed the way forward."""
    return backend.onednn is not None and isinstance(given.saved, backend.onednn.saved)


def averages(backend: NumpyBackend, given: AveragePooling[NumpyArray]) -> bool:
    """Tell whether it takes means of windows, which all have a real cell unless padding counts."""
    sound = backend.accelerates(given.x)
    return sound and (given.count_padding or backend.onednn.pooling.averages(given.window))


def averages_volumes(backend: NumpyBackend, given: Sliding[NumpyArray]) -> bool:
    """Tell the same of means of real cells over volumes."""
    return backend.accelerates(given.x) and backend.onednn.pooling.averages(given.window)


def rows_are_faster(backend: NumpyBackend, x: NumpyArray, W: NumpyArray, window: Window) -> bool:
    """Tell whether NumPy's convolution by rows takes less time than oneDNN's.

    It does where oneDNN pads channels to full vectors, and with large kernels where vectors are short.
    """
    if not serves_rows(window, x.shape[0]) or lies_for_onednn(backend, x):
        return False
    vector = backend.onednn.vector
    fill = 1.0
    for channels in W.shape[:2]:
        fill *= channels / (-(-channels // vector) * vector) if channels >= vector else 1.0
    return fill < LEAST_FILL or (vector < 16 and window.kernel[0] >= LARGE_KERNEL)


# ---- normalisation, ReLU, series


def normalizes(backend: NumpyBackend, given: Moments[NumpyArray] | Normalization[NumpyArray]) -> bool:
    """Tell whether it normalises channels, which lie innermost."""
    return _takes_channels(backend, given.x)


def normalizes_back(backend: NumpyBackend, given: ErrorSums[NumpyArray] | NormalizationBack[NumpyArray]) -> bool:
    """Tell the same of the way back, where errors lie as x."""
    x, epsilon = given.x, given.epsilon
    return _takes_channels(backend, x) and backend.accelerates(epsilon) and epsilon.strides == x.strides


def _takes_channels(backend: NumpyBackend, x: NumpyArray) -> bool:
    return x.ndim > 2 and x.size >= LEAST and backend.accelerates(x) and lies_for_onednn(backend, x)


def rectifies_back(backend: NumpyBackend, a: NumpyArray, epsilon: NumpyArray, out: NumpyArray | None = None) -> bool:
    """Tell whether it takes errors back through the ReLU that has made an array."""
    if a.size < LEAST or not a.strides == epsilon.strides == (epsilon if out is None else out).strides:
        return False
    return is_dense(a) and backend.accelerates(a, epsilon)


def runs_series(backend: NumpyBackend, given: Series[NumpyArray]) -> bool:
    """Tell whether it runs whole series."""
    return given.x.shape[0] >= LEAST_STEPS and backend.accelerates(given.x)


# ---- memory order


def takes_images(backend: NumpyBackend, x: NumpyArray) -> bool:
    """Tell whether an array is of images or volumes of several channels, which oneDNN takes channels innermost."""
    return x.ndim > 3 and x.shape[1] > 1 and backend.accelerates(x)


def lies_channels_innermost(backend: NumpyBackend, given: Like[NumpyArray]) -> bool:
    """Tell whether memory is for something beside an array that lies as oneDNN leaves it."""
    x = given.x
    return x.ndim > 2 and backend.accelerates(x) and backend.onednn.running.is_channels_innermost(x)


def input_like(backend: NumpyBackend, x: NumpyArray) -> Array:
    """Return memory for images, channels innermost."""
    running = backend.onednn.running
    return running.channels_innermost(backend.fresh_buffers("float32"), "", tuple(x.shape))


def lies_for_onednn(backend: NumpyBackend, x: NumpyArray) -> bool:
    """Tell whether images lie with several channels innermost."""
    return x.shape[1] > 1 and backend.onednn.running.is_channels_innermost(x)


def turns(backend: NumpyBackend, source: object, target: NumpyArray) -> bool:
    """Tell whether oneDNN copies an array into one of another memory order, which no recording notes."""
    if type(source) is not np.ndarray or type(target) is not np.ndarray or source.shape != target.shape:
        return False
    alike = source.dtype == target.dtype and source.strides != target.strides
    return alike and is_dense(source) and is_dense(target) and backend.accelerates(target)


def multiplies(backend: NumpyBackend, a: NumpyArray, b: NumpyArray) -> bool:
    """Tell whether oneDNN can multiply two matrices."""
    if not backend.accelerates(a) or b.dtype != a.dtype:
        return False
    return backend.onednn.products.is_operand(a) and backend.onednn.products.is_operand(b)


def is_dense(x: NumpyArray) -> bool:
    """Tell whether an array has all of its memory to itself, in some order of its axes."""
    order = sorted(range(x.ndim), key=lambda axis: -x.strides[axis])
    return bool(x.transpose(order).flags.c_contiguous)
