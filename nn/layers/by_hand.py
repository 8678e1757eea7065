"""A layer by itself, forward and back, and its parameters by name: for programs that look inside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import nd
from nd.java_names import Pair
from nd.typing import Array

from ..terms import late
from ..terms.params import LayerParams, ParamLayout


class ByHand:
    """Shared by all layers at work, for programs that take a single one."""

    conf: Any
    label: str
    dtype: str
    params: LayerParams
    initial_state: Callable[[int], tuple[Array, ...]]
    propagate: Callable[..., Any]
    backpropagate: Callable[..., Array | None]

    def pre_output(self, x: Array, training: bool = False) -> Array:
        """Return z, the array that the activation is applied to, for ``x [N, ...]``, a new array."""
        return nd.copy(self._passed(x, training, activates=False)[0])  # some layers hand x itself on

    def activate(self, x: Array, training: bool = False, mask: Array | None = None) -> Array:
        """Return the activations for ``x [N, ...]``, a new array; no preprocessor of the network comes before."""
        return nd.copy(self._passed(x, training, mask)[0])

    def backprop_gradient(
        self,
        x: Any,
        epsilon: Any = None,
        training: bool = False,
        mask: Array | None = None,
        *,
        labels: Any = None,
    ) -> Pair:
        """Return the gradient of the layer's parameters and dL/dx for ``x [N, ...]``, by itself.

        The forward pass is that of `activate` with the same arguments, and runs again. The network's own gradient, and
        all that it remembers, stay as they are.

        Parameters
        ----------
        x : array ``[N, ...]``
            No preprocessor of the network comes before.
        epsilon : array of the activations' shape, optional
            dL/d(activations). Only a layer with a loss may have labels instead, or both, which are added.
        training : bool
            Compute as in training: noise is drawn from the current generator.
        mask : array, optional
            Of x; also of the labels.
        labels : array, optional
            Of a layer with a loss, as the loss takes them: L is the loss summed over the examples.

        Returns
        -------
        gradient : DefaultGradient
            By the names of the parameters, ``"W"``: sums over examples, in new memory. Zeros of what is frozen; of
            running statistics how far they go.
        epsilon : array ``[N, ...]`` or None
            dL/dx, a new array; None where there is none, as for indices.

        Raises
        ------
        ShapeError
            x or epsilon does not fit the layer.
        ArgumentError, ConfigurationError
            There is neither epsilon nor labels, or labels for a layer without a loss.

        Notes
        -----
        Source: DL4J ``Layer.backpropGradient``. Differs: Java takes x from the last ``activate``, and its output layers
        take the labels that were set in the place of epsilon.

        Examples
        --------
        >>> import nd
        >>> from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
        >>> conf = NeuralNetConfiguration(seed=1).list(DenseLayer(n_in=2, n_out=1, activation="identity"), OutputLayer(
        ...     n_out=2, activation="softmax"))
        >>> layer = MultiLayerNetwork(conf).init().get_layer(0)
        >>> gradient, epsilon = layer.backprop_gradient([[3.0, 5.0]], [[2.0]])
        >>> gradient.get_gradient_for("W").tolist()
        [[6.0], [10.0]]
        >>> epsilon.shape
        (1, 2)
        """
        who = f"{self.label}: backprop_gradient"
        self._check_beginning(who, epsilon, labels)
        a, kept = self._passed(x, training, mask)
        back: Any = None
        if epsilon is not None:
            back = nd.copy(nd.as_array(epsilon, self.dtype))  # which is overwritten
            if tuple(back.shape) != tuple(a.shape):
                raise nd.ShapeError(f"{who}: epsilon must be {list(a.shape)}, got {list(back.shape)}.")
        if labels is not None:
            layer: Any = self
            _, delta = layer.loss_and_delta(nd.as_array(labels, self.dtype), kept, mask)
            back = delta if back is None else layer.with_epsilon(delta, back, kept)
        layout = ParamLayout([self.conf.param_specs()])
        vector = nd.zeros(1, layout.length, dtype=self.dtype)
        below = self.backpropagate(back, kept, layout.views_of(0, vector), *((True,) if labels is not None else ()))
        table = {view.spec.name: view.of(vector) for view in layout.views}
        orders = {view.spec.name: view.spec.order for view in layout.views}
        return Pair(late("DefaultGradient")(vector, table, orders), below)

    def _check_beginning(self, who: str, epsilon: object, labels: object) -> None:
        """Raise an error unless there is something with which the way back of this layer begins."""
        if epsilon is None and labels is None:
            raise nd.ArgumentError(
                f"{who}: epsilon must be an array of the activations' shape, got None. Give it, or the labels of a "
                "layer with a loss."
            )
        if labels is not None and not hasattr(self, "loss_and_delta"):
            raise nd.ConfigurationError(
                f"{who}: labels must be of a layer with a loss, got them for one without. Give epsilon."
            )

    def _passed(self, x: Any, training: bool, mask: Array | None = None, activates: bool = True) -> tuple[Array, Any]:
        """Return the activations, and what the way back needs, in new memory."""
        from .runtime import Context  # of a class above this one

        ctx = Context(training, nd.fresh_buffers(self.dtype), mask, activates=activates)
        x = nd.as_array(x, self.dtype)
        if not x.shape:
            raise nd.ShapeError(f"{self.label}: expected input [N, ...], got []. Give one row per example.")
        a, kept, _ = self.propagate(x, self.initial_state(x.shape[0]), self.params, ctx)
        return a, kept

    # ---- parameters

    def get_param(self, key: str) -> Array:
        """Return the view of one parameter, ``"W"``; raise ChoiceError for an unknown key."""
        return self.params[nd.checks.check_choice(f"{self.label}: get_param", "parameter", key, self.params)]

    def set_param(self, key: str, value: Any) -> None:
        """Copy an array into one parameter; raise ChoiceError for an unknown key, ShapeError for another shape."""
        view, value = self.get_param(key), nd.as_array(value, self.dtype)
        if tuple(value.shape) != tuple(view.shape):
            raise nd.ShapeError(f"{self.label}: {key} must be {list(view.shape)}, got {list(value.shape)}.")
        nd.assign(view, value)

    def param_table(self, backprop_params_only: bool = False) -> dict[str, Array]:
        """Return name -> view of every parameter, or of those alone that training on labels changes."""
        left_out = {spec.name for spec in self.conf.param_specs() if spec.pretrained and backprop_params_only}
        return {name: view for name, view in self.params.items() if name not in left_out}

    def num_params(self, backwards: bool = False) -> int:
        """Return the number of elements of all parameters, `backwards` of those that training on labels changes."""
        return sum(spec.length for spec in self.conf.param_specs() if not (backwards and spec.pretrained))
