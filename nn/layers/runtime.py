"""A layer at work: a runtime over views of the network's vectors."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import nd
from nd.checks import describe_shape
from nd.part import Part

from .activating import Activating
from .noising import NoisyRuntime

Array = Any


class Cache(NamedTuple):
    """What forward keeps for backprop."""

    x: Array
    z: Array
    a: Array
    drop_mask: Array | None
    mask: Array | None
    weights: Any = None
    """Name -> parameter, as forward used it."""


class LayerParams(dict[str, Array]):
    """Name -> parameter of a layer."""

    def __call__(self) -> Array:
        """Return all of them as a vector ``[1, n]``, in their order: Java's ``layer.params()``."""
        return nd.reshape(nd.concat([nd.reshape(view, (-1,)) for view in self.values()]), (1, -1))


class LayerRuntime(Part, NoisyRuntime):
    """A layer at work.

    Parameters
    ----------
    conf : LayerConf
    label : str
        Who raises the errors.
    params, gradient_views : dict of name -> array
        Views of the network's vectors, in the parameters' own shapes.
    buffers : callable (name, shape) -> array
        Memory of the network's workspace.
    dtype : str
    """

    def __init__(
        self,
        conf: Any,
        label: str,
        params: dict[str, Array],
        gradient_views: dict[str, Array],
        buffers: Callable[..., Array],
        dtype: str,
    ) -> None:
        self.conf, self.label, self.dtype = conf, label, dtype
        self.params = LayerParams(params)
        self.gradient_views, self.buffers = gradient_views, buffers
        self.setup()

    def setup(self) -> None:
        """Resolve what can be resolved once."""

    def pre_output(self, x: Array, training: bool = False) -> Array:
        """Return z, what the activation is applied to, for ``x [N, ...]``."""
        return x

    def forward(self, x: Array, training: bool, mask: Array | None = None) -> tuple[Array, Any]:
        """Return the activations and what `backprop_gradient` needs.

        Parameters
        ----------
        x : array ``[N, ...]``
        training : bool
            Apply dropout and weight noise.
        mask : array ``[N, 1]``, ``[N, T]`` or ``[N, 1, H, W]``, optional
            0 for rows, time steps or places that do not count.
        """
        raise NotImplementedError

    def backprop_gradient(self, epsilon: Array, cache: Any, need_epsilon: bool = True) -> Array | None:
        """Write dL/d(parameters) into `gradient_views`; return dL/dx unless nobody needs it.

        Parameters
        ----------
        epsilon : array of the activations' shape
            dL/d(activations), a sum over examples. May be overwritten.
        cache : object
            From `forward`. Used up.
        """
        raise NotImplementedError

    def feed_forward_mask(self, mask: Array) -> Array | None:
        """Return the mask of the layer's activations, from that of its input."""
        return mask

    ends_backprop: bool = False
    """Whether `backprop_gradient` always returns None, so that layers below are not trained."""
    masks_output: ClassVar[bool] = True
    """Whether what the network answers is multiplied by the labels' mask where this layer is the last."""
    keeps_state: ClassVar[bool] = False
    """Whether training leaves more behind than parameters: then one copy of the layer treats all, step by step."""

    def may_split(self, training: bool) -> bool:
        """Tell whether parts of a minibatch give what the whole gives; numbers drawn in another order would not."""
        if not training:
            return self.splits
        activation, loss = getattr(self.conf, "activation", None), getattr(self.conf, "loss", None)
        draws = self.dropout is not None or self.noising is not None or (activation is not None and activation.draws)
        meeting = any(part is not None and not part.splits for part in (activation, loss))
        return self.splits and not draws and not meeting

    @cached_property
    def activating(self) -> Activating:
        """The layer's activation at work."""
        return Activating(self.conf.activation)

    def activate(self, x: Array, training: bool = False, mask: Array | None = None) -> Array:
        """Return the activations for ``x [N, ...]``, a new array; no preprocessor of the network comes before."""
        with self.buffers.workspace.nested():  # type: ignore[attr-defined]
            return nd.copy(self.forward(nd.as_array(x, self.dtype), training, mask)[0])

    def activated(self, z: Array, training: bool, b: Array | None = None) -> Array:
        """Add b and apply the activation, in z's memory where backprop allows it."""
        needed = getattr(getattr(self.conf, "loss", None), "needs_z", False)
        a = z if self.activating.activation.overwrites and not needed else self.buffers("a", z.shape)
        return self.activating.value(z, a, training, b)

    def get_param(self, key: str) -> Array:
        """Return the view of one parameter, ``"W"``; raise ChoiceError for an unknown key."""
        return self.params[nd.checks.check_choice(f"{self.label}: get_param", "parameter", key, self.params)]

    def set_param(self, key: str, value: Any) -> None:
        """Copy an array into one parameter; raise ChoiceError for an unknown key, ShapeError for another shape."""
        view, value = self.get_param(key), nd.as_array(value, self.dtype)
        if tuple(value.shape) != tuple(view.shape):
            raise nd.ShapeError(f"{self.label}: {key} must be {list(view.shape)}, got {list(value.shape)}.")
        nd.assign(view, value)

    def param_table(self) -> dict[str, Array]:
        """Return name -> view of every parameter."""
        return dict(self.params)

    def num_params(self) -> int:
        """Return how many numbers the parameters have."""
        return sum(spec.length for spec in self.conf.param_specs())

    def check_rows(self, x: Array, n_in: int) -> None:
        """Raise ShapeError unless x is ``[N, n_in]``."""
        if not nd.is_array(x):
            raise nd.DTypeError(f"{self.label}: expected an array, got {type(x).__name__}. Make one with nd.create.")
        if x.ndim != 2 or x.shape[1] != n_in:
            raise nd.ShapeError(
                f"{self.label}: expected input [N, {n_in}], got {describe_shape(x.shape)}. "
                "Reshape it, or set the input type that describes it, such as InputType.convolutional(h, w, c)."
            )
