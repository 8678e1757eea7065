"""Checks of a user's own layer, where it runs as it is written: errors say whose fault it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import nd
from nd.arguments import shown
from nd.checks import describe_shape
from nd.typing import Array

if TYPE_CHECKING:
    from .runtime import LayerRuntime


class OwnResults:
    """Checks of the results of a layer of a user's own.

    Parameters
    ----------
    layer : LayerRuntime
    """

    def __init__(self, layer: LayerRuntime) -> None:
        self._label, self._dtype, conf = layer.label, layer.dtype, layer.conf
        output_type = getattr(type(conf), "output_type", None)
        by_n_out = getattr(output_type, "__qualname__", "") == "FeedForwardConf.output_type"
        self._columns: int | None = conf.n_out if by_n_out and conf.takes == "rows" else None

    def checked_pair(self, result: object) -> tuple[Any, Any]:
        """Return what `forward` has returned; raise ConfigurationError unless it is activations and a cache."""
        if not isinstance(result, tuple) or len(result) != 2:
            raise nd.ConfigurationError(
                f"{self._label}: forward must return (activations, cache), got {shown(result)}. Without a cache "
                "return (activations, None)."
            )
        return result

    def check_activations(self, a: Any, x: Array, activates: bool) -> None:
        """Raise errors unless `forward` has returned an array ``[N, ...]``, of n_out columns where they say it.

        Before the activation, where it is left out, z may have any shape.
        """
        self._check_array("forward must return (activations, cache), the activations an array", a)
        if not activates:
            return
        shape = tuple(a.shape)
        expected = (x.shape[0], "...") if self._columns is None else (x.shape[0], self._columns)
        if shape[:1] != x.shape[:1] or (self._columns is not None and shape != expected):
            raise nd.ShapeError(
                f"{self._label}: forward must return activations {describe_shape(expected)}, got "
                f"{describe_shape(shape)}. Return a row for every example of x, {describe_shape(x.shape)}."
            )

    def check_epsilon(self, epsilon: Any, shape: tuple[int, ...]) -> None:
        """Raise errors unless `backward` has returned None, or an array of the shape of its input."""
        if epsilon is None:
            return
        self._check_array(f"backward must return dL/dx {describe_shape(shape)}, an array", epsilon)
        if tuple(epsilon.shape) != tuple(shape):
            raise nd.ShapeError(
                f"{self._label}: backward must return dL/dx {describe_shape(shape)}, got "
                f"{describe_shape(epsilon.shape)}. It has the shape of the input of forward."
            )

    def check_gradients(self, grads: dict[str, Array], views: dict[str, Array] | None) -> None:
        """Raise ConfigurationError, and put the views back, unless `backward` has left the entries as they were."""
        if views is None or (len(grads) == len(views) and all(grads.get(name) is views[name] for name in views)):
            return
        changed = next((name for name in grads if grads[name] is not views.get(name)), "an entry taken out")
        grads.clear()
        grads.update(views)
        raise nd.ConfigurationError(
            f"{self._label}: backward must write into the arrays of grads, {sorted(views)}, got another one in the "
            f"place of {changed!r}. Write nd.assign(grads[{changed!r}], ...)."
        )

    def _check_array(self, what: str, array: object) -> None:
        if not nd.is_array(array):
            remedy = "Make it with nd.create."
            raise nd.DTypeError(f"{self._label}: {what} of {self._dtype}, got {shown(array)}. {remedy}")
        if nd.dtype_name(array) != self._dtype:
            raise nd.DTypeError(
                f"{self._label}: {what} of {self._dtype}, got {nd.dtype_name(array)}. Convert it with "
                f"nd.astype(..., {self._dtype!r})."
            )
