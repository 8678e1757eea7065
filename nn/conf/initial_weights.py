"""Initial values of the parameters of a layer or vertex."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import nd
from nd.random import Random
from nd.typing import Array

from ..terms.weights import Fans, init_weight

if TYPE_CHECKING:
    from ..terms.params import ParamView


def draw_params(layer: object, views: Sequence[ParamView], vector: Array, rng: Random, label: str) -> None:
    """Let all parameters of a layer or vertex start, as often as Java does; one with `draw_own` draws them itself."""
    draw_own = getattr(layer, "draw_own", None)
    if draw_own is not None:
        draw_own(views, vector, rng, label)
        return
    for _ in range(getattr(layer, "drawings", 1)):
        for view in views:
            _draw_param(layer, view, vector, rng, label)


def _draw_param(layer: Any, view: ParamView, vector: Array, rng: Random, label: str) -> None:
    """Let a parameter start at its own initial value; without one a weight is drawn, a bias has its bias_init."""
    conf = layer.innermost
    spec, flat = view.spec, view.flat(vector)
    if isinstance(spec.initial, tuple):
        stretches = nd.reshape_view(flat, (len(spec.initial), -1))
        for number, value in enumerate(spec.initial):
            nd.fill(stretches[number, ...], value)
    elif spec.initial is not None:
        nd.fill(flat, spec.initial)
    elif spec.bias:
        nd.fill(flat, conf.bias_init or 0.0)
    else:
        fan_in, fan_out = (rng.since_m2 and spec.fans_since_m2) or (spec.fan_in, spec.fan_out)
        fans = Fans(fan_in, fan_out, spec.shape)
        init = (conf.weight_init_recurrent if spec.recurrent else None) or conf.weight_init or "xavier"
        try:
            init_weight(view.of(vector), flat, init, fans, rng)
        except ZeroDivisionError as error:
            raise nd.ConfigurationError(
                f"{label}: the weight {spec.name!r} must have fan_in and fan_out > 0 to be "
                f"drawn, got {fan_in} and {fan_out}. Give them to its ParamSpec, or bias=True or initial."
            ) from error
