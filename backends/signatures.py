"""Arguments of the primitives that several modules implement: a list of parameters stands here and nowhere else.

``buffers(name, shape, dtype=None)`` hands out scratch activations; a network passes its workspace, so that a training
step reuses memory. `saved` is what the way forward has returned beside its result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from backends.typing import Array

from .generic.window import Window

A = TypeVar("A")
"""The backend's arrays."""
Buffers = Callable[..., Array]

# ---- convolution


class Convolution(NamedTuple, Generic[A]):
    """Arguments of convolutions of all kinds.

    Parameters
    ----------
    x : array ``[N, C, H, W]``
        Or with other axes behind C.
    W, b : arrays
        Weights, in a shape of each kind's own, and the bias ``[1, n_out]`` or None.
    window : Window
    buffers : callable
    activate : callable, optional
        Applied to z in place, to parts of any shape: a function of every element for itself.
    exact : bool
        Whether equal windows have to give equal outputs, of which max pooling takes the first. Sums that do not
        may be faster.
    """

    x: A
    W: A
    b: A | None
    window: Window
    buffers: Callable[..., A]
    activate: Callable[[A], object] | None = None
    exact: bool = True


class ConvolutionBack(NamedTuple, Generic[A]):
    """Arguments of a convolution's way back.

    Parameters
    ----------
    delta : array ``[N, n_out, out_h, out_w]``
        dL/dz.
    saved, W, window, buffers
        As on the way forward. `saved` is used up.
    gradients : two arrays
        Of W and b, which are written; None for a bias that is not there.
    need_epsilon : bool
        Whether anybody needs dL/dx.
    """

    delta: A
    saved: Any
    W: A
    window: Window
    gradients: tuple[A, A | None]
    buffers: Callable[..., A]
    need_epsilon: bool = True


class DeconvolutionBack(NamedTuple, Generic[A]):
    """Arguments of a transposed convolution's way back, whose weights are in `saved`; see `ConvolutionBack`."""

    delta: A
    saved: Any
    window: Window
    gradients: tuple[A, A | None]
    buffers: Callable[..., A]
    need_epsilon: bool = True


class PooledConvolution(NamedTuple, Generic[A]):
    """Arguments of a convolution that is activated and pooled at once.

    Parameters
    ----------
    x, W, b, activate
        As in `Convolution`.
    windows, buffers : two of each
        Of the convolution and of the pooling.
    keep : bool
        Whether there is a way back; without it nothing is saved.
    inner : array, optional
        Of the convolution's shape, takes what was pooled: the same numbers are computed with it and without.
    """

    x: A
    W: A
    b: A | None
    activate: Callable[[A], object] | None
    windows: tuple[Window, Window]
    buffers: tuple[Callable[..., A], Callable[..., A]]
    keep: bool = True
    inner: A | None = None


class PooledConvolutionBack(NamedTuple, Generic[A]):
    """Arguments of its way back, from the epsilon of what was pooled; see `ConvolutionBack`."""

    epsilon: A
    saved: Any
    W: A
    windows: tuple[Window, Window]
    gradients: tuple[A, A | None]
    buffers: tuple[Callable[..., A], Callable[..., A]]
    need_epsilon: bool = True


# ---- windows


class Sliding(NamedTuple, Generic[A]):
    """Arguments of what slides a window over ``x [N, C, H, W]``, or adds columns back where it has been."""

    x: A
    window: Window
    buffers: Callable[..., A]


class AveragePooling(NamedTuple, Generic[A]):
    """Arguments of means of windows: of their real cells or, with `count_padding`, of all but the overhang."""

    x: A
    window: Window
    count_padding: bool
    buffers: Callable[..., A]


class NormPooling(NamedTuple, Generic[A]):
    """Arguments of p-norms of windows."""

    x: A
    window: Window
    p: int
    buffers: Callable[..., A]


class StochasticPooling(NamedTuple, Generic[A]):
    """Arguments of cells of windows that are drawn by ``draws [N, C, out_h, out_w]``, between 0 and 1."""

    x: A
    draws: A
    window: Window
    buffers: Callable[..., A]


class PoolingBack(NamedTuple, Generic[A]):
    """Arguments of the way back of pooling, from ``epsilon [N, C, out_h, out_w]``."""

    epsilon: A
    saved: Any
    window: Window
    buffers: Callable[..., A]


class NormPoolingBack(NamedTuple, Generic[A]):
    """Arguments of the way back of p-norms."""

    epsilon: A
    saved: Any
    window: Window
    p: int
    buffers: Callable[..., A]


# ---- memory order


class Like(NamedTuple, Generic[A]):
    """Arguments of scratch memory of a shape, of that name, in the memory order of `x`."""

    x: A
    buffers: Callable[..., A]
    name: str
    shape: tuple[int, ...]
    dtype: str | None = None


# ---- normalisation: vectors of channels are ``[1, C]``, see nd.arrays.batch_norm


class Moments(NamedTuple, Generic[A]):
    """Arguments of means and sums of squared deviations, ``out [2, C]``."""

    x: A
    out: A
    buffers: Callable[..., A]


class Normalization(NamedTuple, Generic[A]):
    """Arguments of ``(x - mean) * factor + shift``; vectors: mean, factor, and shift, which may be a number.

    `centered` is x less the mean, where that is kept. With `rectify` negative results become 0.
    """

    x: A
    centered: A | None
    vectors: tuple[A, A, Any]
    buffers: Callable[..., A]
    rectify: bool = False


class ErrorSums(NamedTuple, Generic[A]):
    """Arguments of the sums of epsilon and of ``epsilon * (x - mean)``, ``out [2, C]``.

    Where ``rectified [N, C, ...]``, the normalised numbers, is not positive, epsilon becomes 0 first.
    """

    epsilon: A
    x: A
    centered: A | None
    mean: A
    out: A
    buffers: Callable[..., A]
    rectified: A | None = None


class NormalizationBack(NamedTuple, Generic[A]):
    """Arguments of ``epsilon * factor - (x - mean) * slope - shift``; vectors: mean, factor, slope, shift."""

    epsilon: A
    x: A
    centered: A | None
    vectors: tuple[A, A, A, A]
    buffers: Callable[..., A]


class Lrn(NamedTuple, Generic[A]):
    """Arguments of ``x / (k + alpha * sum of x^2 over the n channels around)^beta``."""

    x: A
    n: int
    k: float
    alpha: float
    beta: float
    buffers: Callable[..., A]


# ---- series


class Series(NamedTuple, Generic[A]):
    """Arguments of a pass through LSTM units.

    Parameters
    ----------
    x : array ``[T, N, C]``
    weights : W ``[4, C, H]``, RW ``[4, H, H]``, b ``[4, 1, H]``, and three peepholes ``[1, H]`` or None
        Of candidate, forget, output and input gate; peepholes of forget, output and input gate.
    state : two arrays ``[N, H]``
        Output and memory before the first step.
    training : bool
        Whether there is a way back.
    reverse : bool
        Whether the last step comes first.
    buffers : callable
    """

    x: A
    weights: Any
    state: Sequence[A]
    training: bool
    reverse: bool
    buffers: Callable[..., A]
