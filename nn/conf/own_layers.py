"""Checks of the class of a user's own layer or vertex, where a network is configured with it."""

from __future__ import annotations

from collections import Counter

import nd
from nd.arguments import shown

from ..layers.base import LayerConf
from ..layers.runtime import LayerRuntime
from ..terms.params import ParamSpec
from ..vertices.base import VertexConf


def check_class(label: str, layer: LayerConf) -> None:
    """Raise ConfigurationError unless the class of a layer has a runtime, and parameters that can be."""
    runtime = getattr(layer, "runtime", None)
    if not (isinstance(runtime, type) and issubclass(runtime, LayerRuntime)):
        given = "none" if runtime is None else shown(runtime)
        raise nd.ConfigurationError(
            f"{label}: runtime must be a class from LayerRuntime, got {given}. Say runtime = ... in the class "
            f"{type(layer).__name__}."
        )
    _check_specs(label, layer, layer.param_specs())


def check_vertex_class(label: str, vertex: VertexConf) -> None:
    """Raise ConfigurationError where a vertex has parameters, and its class no updaters.

    Which parameters it has is not asked: that may depend on inputs that are not known yet.
    """
    if type(vertex).param_specs is not VertexConf.param_specs and not hasattr(vertex, "updater_of"):
        raise nd.ConfigurationError(
            f"{label}: a vertex with parameters must come from TrainedVertexConf, which has updaters and penalties, "
            f"got param_specs in the class {type(vertex).__name__}. Change its base."
        )


def _check_specs(label: str, layer: LayerConf, specs: tuple[ParamSpec, ...]) -> None:
    if not isinstance(specs, (list, tuple)) or not all(isinstance(spec, ParamSpec) for spec in specs):
        given = "a ParamSpec alone" if isinstance(specs, ParamSpec) else shown(specs)
        raise nd.ConfigurationError(
            f"{label}: param_specs must return a tuple of ParamSpec, got {given}. A comma makes a tuple of one: "
            "(ParamSpec(...),)."
        )
    twice = [name for name, count in Counter(spec.name for spec in specs).items() if count > 1]
    if twice:
        raise nd.ConfigurationError(
            f"{label}: param_specs must give every parameter its own name, got {twice[0]!r} twice. Rename one of them."
        )
    if specs and not hasattr(layer, "updater_of"):
        raise nd.ConfigurationError(
            f"{label}: a layer with parameters must come from BaseLayerConf or FeedForwardConf, which have updaters "
            f"and penalties, got {[spec.name for spec in specs]} in the class {type(layer).__name__}. Change its base."
        )
