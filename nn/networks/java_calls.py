"""Calls of a ComputationGraph as Java's overloads have them, told apart by booleans, numbers and lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import nd
from nd.arguments import shown

_MOST_MASKS = 3  # of features, of labels, and a workspace


class OutputCall(NamedTuple):
    """What `output` is asked for."""

    xs: tuple[Any, ...]
    train: Any
    features_masks: Any
    labels_masks: Any
    vertices: Sequence[str] | None = None
    """Names of vertices in the place of the outputs."""


class ActivationsCall(NamedTuple):
    """What `feed_forward` is asked for."""

    xs: tuple[Any, ...]
    train: Any
    last_layer: int | None = None
    """The number of the layer to stop at."""
    leaves_outputs: bool = False
    layers_only: bool = False
    """Without vertices that are no layers."""


def output_call(call: OutputCall) -> OutputCall:
    """Read ``(train, inputs...)``, ``(train, clear, inputs...)``, ``([train,] inputs, masks, labels' masks)``, ...

    Where the first argument is a list of names, activations of these vertices are meant: ``(names, train, inputs,
    masks)``.
    """
    xs, vertices = call.xs, None
    if len(xs) > 1 and isinstance(xs[0], (list, tuple)) and xs[0] and all(isinstance(one, str) for one in xs[0]):
        vertices, xs = xs[0], xs[1:]
    switches, xs = _leading("output", xs)
    if switches and xs[0] is None:  # Java's workspace
        xs = xs[1:]
    call = call._replace(xs=xs, train=switches[0] if switches else call.train, vertices=vertices)
    if 1 < len(xs) <= 1 + _MOST_MASKS and _are_masks(xs[0], xs[1:]):
        inputs, features_masks, labels_masks = (*xs, None)[:3]
        one = tuple(inputs) if isinstance(inputs, (list, tuple)) else (inputs,)
        return call._replace(xs=one, features_masks=features_masks, labels_masks=labels_masks)
    return call


def _leading(who: str, xs: tuple[Any, ...]) -> tuple[tuple[bool, ...], tuple[object, ...]]:
    """Return train and clear, Java's booleans before the features, and the rest."""
    count = next((number for number, x in enumerate(xs) if not isinstance(x, bool)), len(xs))
    if count > 2 or (count and count == len(xs)):
        raise nd.DataError(
            f"{who}: features must come behind train and clear, got {shown(list(xs))}. Write {who}(False, x)."
        )
    return xs[:count], xs[count:]


def _are_masks(inputs: object, masks: Sequence[Any]) -> bool:
    """Tell whether a list of arrays, or one array, is followed by lists of masks, or by None for them."""
    if not all(mask is None or isinstance(mask, (list, tuple)) for mask in masks):
        return False
    if not isinstance(inputs, (list, tuple)):
        return nd.is_array(inputs) and all(mask is None for mask in masks)
    arrays = [one for mask in masks if mask is not None for one in mask if one is not None]
    return bool(inputs) and all(map(nd.is_array, [*inputs, *arrays]))


def activations_call(xs: tuple[Any, ...], train: object) -> ActivationsCall:
    """Read ``(inputs..., train)``, ``(inputs, last layer, train, clear)``, ``(train, last layer)``, ...

    Three booleans are Java's train, leave out the outputs, include vertices that are no layers.
    """
    if xs and isinstance(xs[0], bool):
        return _of_set(xs)
    behind = 0
    while behind < min(2, len(xs)) and isinstance(xs[-1 - behind], bool):
        behind += 1
    if behind:
        train, xs = xs[-behind], xs[:-behind]
    if len(xs) > 1 and _is_number(xs[-1]):
        return ActivationsCall(xs[:-1], train, int(xs[-1]))
    return ActivationsCall(xs, train)


def _of_set(xs: tuple[Any, ...]) -> ActivationsCall:
    """Read a call without features: of the minibatch that is set."""
    if len(xs) == 1:
        return ActivationsCall((), xs[0])
    if len(xs) == 2 and _is_number(xs[1]):
        return ActivationsCall((), xs[0], int(xs[1]))
    if len(xs) == 3 and all(isinstance(x, bool) for x in xs):
        return ActivationsCall((), xs[0], None, xs[1], not xs[2])
    raise nd.DataError(
        f"feed_forward: features must stand before train, got {shown(list(xs))}. Write feed_forward(x, False)."
    )


def _is_number(x: object) -> bool:
    return isinstance(x, int) and not isinstance(x, bool)
