"""NanListener."""

from __future__ import annotations

import math
from typing import Any

import nd
from nd import NumericError
from nd.arguments import Count, checked

from ..api import Listener, Model

_LOWER = "Lower the learning rate, or clip the gradient (gradient_normalization)."
_SCALE = "Scale the features to about -1 .. 1, and look at weight_init."
_CLEAN = "Clean the data: drop or fill in what is missing."
_BACK = "Load a checkpoint from before, MultiLayerNetwork.load_checkpoint(folder, number), and lower the learning rate."


class NanListener(Listener):
    """Says where it began when `fit` stops because something is not finite: in which layer, parameter or data.

    Parameters
    ----------
    frequency : int, optional
        Ask for the score every so many iterations. Only of use on a device that computes while the host goes on, which
        tells of a bad step up to 64 steps later, when its minibatch is gone; with 1 it is still there, and every step
        waits. On NumPy every step is checked anyway.

    Raises
    ------
    NumericError
        From `fit`, in place of the one it ends with (which is its cause): the first of parameters, features, labels,
        activations (from the first layer on) and gradients (from the last layer on, as they are computed) that is not
        finite, the iteration, and a remedy. Parameters and updater state are as they were before that minibatch.

    Notes
    -----
    Costs nothing until then. The activations are computed again for it, without dropout and other noise.
    """

    @checked
    def __init__(self, frequency: Count | None = None) -> None:
        self.frequency = frequency

    def iteration_done(self, model: Model, iteration: int, epoch: int) -> None:
        if self.frequency is not None and iteration % self.frequency == 0:
            model.score()  # a device then looks at the step before it takes the next

    def on_numeric_error(self, model: Model, error: NumericError) -> None:
        place, name, count, remedy = self._find(model)
        at = f"at iteration {model.iteration_count}, epoch {model.epoch_count}"
        if not place:
            raise NumericError(
                f"NanListener: the score or gradient was not finite {at}, got only finite numbers for the minibatch "
                "that is set now. Make the listener with frequency=1 to catch the minibatch where it begins, and look "
                "for dropout or noise that is too strong."
            ) from error
        raise NumericError(f"NanListener: {place}: {name} must be finite, got {count} {at}. {remedy}") from error

    def _find(self, model: Any) -> tuple[str, str, str, str]:
        """Return place and name of an array, a count of its broken numbers, and a remedy; empty if all is finite."""
        nodes = dict(zip(model.param_table(), (view.layer for view in model.conf.layout().views), strict=True))
        for key, array in model.param_table().items():
            if count := _broken(array):
                return model.layers[nodes[key]].label, f"parameter {key}", count, _BACK
        for name, array in _named_data(model).items():
            if count := _broken(array):
                return "minibatch", name, count, _CLEAN
        for number, array in enumerate(_activations(model)):
            if count := _broken(array):
                first = model.conf.nodes[number].inputs[0].node < 0
                return model.layers[number].label, "activations", count, _SCALE if first else f"{_SCALE} {_LOWER}"
        gradients = model.gradient().gradient_for_variable()
        for key in sorted(gradients, key=nodes.__getitem__, reverse=True):
            if count := _broken(gradients[key]):
                return model.layers[nodes[key]].label, f"gradient of {key}", count, _LOWER
        return "", "", "", ""


def _named_data(model: Any) -> dict[str, object]:
    """Return the arrays of the minibatch; where there are several of a kind, with the names of inputs and outputs."""
    conf = model.conf
    outputs = [conf.nodes[number].name for number in conf.output_nodes]
    named: dict[str, object] = {}
    for kind, names, arrays in (
        ("features", conf.input_names, _features(model)),
        ("labels", outputs, _listed(model.get_labels())),
    ):
        several = len(names) > 1
        named |= {f"{kind} {name!r}" if several else kind: array for name, array in zip(names, arrays, strict=False)}
    return named


def _activations(model: Any) -> list[object]:
    """Return the activations of every node for the minibatch that is set."""
    features = _features(model)
    if not features:
        return []
    passed = model.feed_forward(*features)
    return list(passed.values() if isinstance(passed, dict) else passed)[len(features) :]


def _features(model: Any) -> list[object]:
    """Return the features that are set, of every input."""
    return model.get_inputs() if hasattr(model, "get_inputs") else _listed(model.get_input())


def _listed(arrays: Any) -> list[object]:
    """Return arrays as a list: a network of one input and one output has one by itself, or None."""
    return arrays if isinstance(arrays, list) else [] if arrays is None else [arrays]


def _broken(array: Any) -> str:
    """Count the elements that are not finite, in words; empty if all are finite."""
    flat = nd.to_host(array).ravel().tolist()
    nans, infinite = sum(map(math.isnan, flat)), sum(map(math.isinf, flat))
    return f"{nans} NaN and {infinite} infinite of {len(flat):,} numbers" if nans or infinite else ""
