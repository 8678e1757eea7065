"""ComposableIterationListener."""

from __future__ import annotations

from collections.abc import Sequence

from nd import NumericError
from nd.typing import Array

from ..api import Listener, as_listeners


class ComposableIterationListener(Listener):
    """Several listeners as one, called in their order.

    Parameters
    ----------
    *listeners : Listener
        Or one list of them.

    Raises
    ------
    DTypeError
        One of them is no Listener.

    Notes
    -----
    Source: DL4J ``ComposableIterationListener``.
    """

    def __init__(self, *listeners: Listener | Sequence[Listener]) -> None:
        self.listeners = as_listeners(listeners)

    def wants(self, hook: str, iteration: int) -> bool:
        return any(listener.wants(hook, iteration) for listener in self.listeners)

    def hears_nodes(self) -> bool:
        return any(listener.hears_nodes() for listener in self.listeners)

    def on_epoch_start(self, model: object) -> None:
        for listener in self.listeners:
            listener.on_epoch_start(model)

    def on_epoch_end(self, model: object) -> None:
        for listener in self.listeners:
            listener.on_epoch_end(model)

    def on_forward_pass(self, model: object, activations: list[Array]) -> None:
        for listener in self.listeners:
            listener.on_forward_pass(model, activations)

    def before_forward(self, model: object, name: str, arrays: object) -> None:
        for listener in self.listeners:
            listener.before_forward(model, name, arrays)

    def after_forward(self, model: object, name: str, arrays: object) -> None:
        for listener in self.listeners:
            listener.after_forward(model, name, arrays)

    def before_backward(self, model: object, name: str, arrays: object) -> None:
        for listener in self.listeners:
            listener.before_backward(model, name, arrays)

    def after_backward(self, model: object, name: str, arrays: object) -> None:
        for listener in self.listeners:
            listener.after_backward(model, name, arrays)

    def on_gradient_calculation(self, model: object) -> None:
        for listener in self.listeners:
            listener.on_gradient_calculation(model)

    def on_backward_pass(self, model: object) -> None:
        for listener in self.listeners:
            listener.on_backward_pass(model)

    def iteration_done(self, model: object, iteration: int, epoch: int) -> None:
        for listener in self.listeners:
            listener.iteration_done(model, iteration, epoch)

    def on_fit_end(self, model: object) -> None:
        for listener in self.listeners:
            listener.on_fit_end(model)

    def on_numeric_error(self, model: object, error: NumericError) -> None:
        for listener in self.listeners:
            listener.on_numeric_error(model, error)

    def close(self) -> None:
        for listener in self.listeners:
            listener.close()
