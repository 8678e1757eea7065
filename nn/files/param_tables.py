"""Places of the parameters of every Deeplearning4j layer, from its JSON alone: even where the rest cannot be read.

Most layers and vertices say it in `param_specs`: their configuration is asked, with only the fields that their shapes
follow from. For the rest there is one function for a family, from a layer's fields in 1.0's form to its parameters in
the order of the vector.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from nd import ConfigurationError, FormatError

from ..layers import LAYERS
from ..terms.params import ParamSpec
from ..vertices import VERTICES, VertexConf
from .json_fields import Json, class_of, flag, inner, size, sizes
from .json_values import camel_case
from .vertices_json import vertex_from_json

Specs = list[ParamSpec]

# ---- layers that say it themselves


def _of_configuration(fields: Json) -> Specs:
    layer_class = LAYERS.load(class_of(fields))
    shapes = {name: _shape_field(fields, camel_case(name), absent) for name, absent in layer_class.shape_fields.items()}
    return list(layer_class.of_sizes(shapes).param_specs())


def _of_vertex(fields: Json) -> Specs:
    has_some = VERTICES.load(class_of(fields)).param_specs is not VertexConf.param_specs
    return list(vertex_from_json(fields).param_specs()) if has_some else []  # without some, nothing need be readable


def _shape_field(fields: Json, key: str, absent: Any) -> object:
    """Read a field that a shape follows from; Java's default, `absent`, tells its kind."""
    if isinstance(absent, bool):
        return flag(fields, key, absent)
    if isinstance(absent, tuple):
        return sizes(fields, key, len(absent), list(absent))
    return size(fields, key, absent)


def _series(fields: Json) -> Specs:
    """Weights of a Convolution1DLayer, which 1.0.0-M1 turned round; see `nn.files.older_weights`."""
    specs = _of_configuration(fields)
    if "timeDistributedFormat" not in fields:
        kernel, n_in, n_out = specs[-1].shape
        specs[-1] = replace(specs[-1], shape=(n_out, n_in, kernel, 1))
    return specs


# ---- layers of which a file says it otherwise


def _row(name: str, n: int) -> ParamSpec:
    return ParamSpec(name, (1, n), "c", bias=True)


def _lstm(peepholes: int, suffix: str = "") -> Callable[[Json], Specs]:
    def specs(fields: Json) -> Specs:
        n_in, n_out = size(fields, "nIn"), size(fields, "nOut")
        W = ParamSpec(f"W{suffix}", (n_in, 4 * n_out), "f")
        return [W, ParamSpec(f"RW{suffix}", (n_out, 4 * n_out + peepholes), "f"), _row(f"b{suffix}", 4 * n_out)]

    return specs


def _simple_rnn(fields: Json) -> Specs:
    n_in, n_out = size(fields, "nIn"), size(fields, "nOut")
    specs = [ParamSpec("W", (n_in, n_out), "f"), ParamSpec("RW", (n_out, n_out), "f"), _row("b", n_out)]
    return [*specs, ParamSpec("g", (1, 2 * n_out), "c")] if flag(fields, "hasLayerNorm", False) else specs


def _bidirectional(fields: Json) -> Specs:
    sides = (("f", inner(fields, "fwd")), ("b", inner(fields, "bwd", "fwd")))
    return [
        ParamSpec(f"{side}{spec.name}", spec.shape, spec.order, spec.bias)
        for side, layer in sides
        for spec in param_specs_of(layer)
    ]


def _wrapped(fields: Json) -> Specs:
    return param_specs_of(inner(fields, "layer", "underlying"))


def _prelu(fields: Json) -> Specs:
    shape = list(sizes(fields, "inputShape"))
    for axis in sizes(fields, "sharedAxes", None, []) if fields.get("sharedAxes") else ():
        if not 1 <= axis <= len(shape):
            raise FormatError(f"configuration: sharedAxes must be 1..{len(shape)}, got {axis}.")
        shape[axis - 1] = 1
    return [ParamSpec("W", tuple(shape), "f")]


def _distribution_size(distribution: Any, n: int) -> int:
    """Return the number of parameters of n inputs' distribution."""
    java = class_of(distribution)
    if java == "GaussianReconstructionDistribution":
        return 2 * n
    if java != "CompositeReconstructionDistribution":
        return n
    counts = sizes(distribution, "distributionSizes")
    parts = distribution.get("reconstructionDistributions")
    if not isinstance(parts, list) or len(parts) != len(counts):
        raise FormatError("configuration: a composite distribution must have a size for each of its parts.")
    return sum(_distribution_size(part, count) for part, count in zip(parts, counts, strict=True))


def _variational(fields: Json) -> Specs:
    n_in, n_out = size(fields, "nIn"), size(fields, "nOut")
    encoder, decoder = (sizes(fields, f"{side}coderLayerSizes", None, [100]) for side in ("en", "de"))
    last = _distribution_size(fields.get("outputDistribution"), n_in)
    layers: list[tuple[str, int, int]] = []
    for letter, start, hidden in (("e", n_in, encoder), ("d", n_out, decoder)):
        steps = zip((start, *hidden), hidden, strict=False)
        layers += [(f"{letter}{index}", before, after) for index, (before, after) in enumerate(steps)]
        if letter == "e":
            top = (*((n_in,)), *encoder)[-1]
            layers += [("pZXMean", top, n_out), ("pZXLogStd2", top, n_out)]
    layers.append(("pXZ", (n_out, *decoder)[-1], last))
    return [
        spec
        for name, before, after in layers
        for spec in (ParamSpec(f"{name}W", (before, after), "f"), _row(f"{name}b", after))
    ]


def _projections(fields: Json, queries: int, keys: int, values: int) -> Specs:
    heads, head, n_out = size(fields, "nHeads", 1), size(fields, "headSize", 0), size(fields, "nOut")
    named = (("Wq", queries), ("Wk", keys), ("Wv", values))
    return [*(ParamSpec(name, (heads, head, n), "c") for name, n in named), ParamSpec("Wo", (heads * head, n_out), "c")]


def _locally_connected(axes: int) -> Callable[[Json], Specs]:
    def specs(fields: Json) -> Specs:
        n_in, n_out = size(fields, "nIn"), size(fields, "nOut")
        places = math.prod(sizes(fields, "outputSize", axes))
        kernel = math.prod(sizes(fields, "kernel", axes, [2] * axes))
        weights = [ParamSpec("W", (places, kernel * n_in, n_out), "c")]
        return [*weights, _row("b", n_out)] if flag(fields, "hasBias", True) else weights

    return specs


_TABLES: Mapping[str, Callable[[Json], Specs]] = {
    "Bidirectional": _bidirectional,
    "Convolution1DLayer": _series,  # the shape depends on the release
    "FrozenLayer": _wrapped,  # the layer inside may be one that cannot be read
    "FrozenLayerWithBackprop": _wrapped,
    "GravesBidirectionalLSTM": lambda fields: [*_lstm(3, "F")(fields), *_lstm(3, "B")(fields)],
    "GravesLSTM": _lstm(3),
    "LSTM": _lstm(0),
    "LastTimeStep": _wrapped,
    "LocallyConnected1D": _locally_connected(1),  # a file has the output's size, and need not have the windows
    "LocallyConnected2D": _locally_connected(2),
    "MaskZeroLayer": _wrapped,
    "PReLULayer": _prelu,  # axes of any number, and shared ones that must be among them
    "SimpleRnn": _simple_rnn,
    "TimeDistributed": _wrapped,
    "VariationalAutoencoder": _variational,
}
PARAM_TABLES: Mapping[str, Callable[[Json], Specs]] = dict(
    sorted({**dict.fromkeys(LAYERS.class_names, _of_configuration), **_TABLES}.items())
)
"""Class -> its parameters, sorted."""

_VERTEX_TABLES: Mapping[str, Callable[[Json], Specs]] = {
    "AttentionVertex": lambda fields: (
        _projections(fields, *(size(fields, f"nIn{of}") for of in ("Queries", "Keys", "Values")))
        if flag(fields, "projectInput", False)
        else []
    ),
    "FrozenVertex": lambda fields: param_specs_of_vertex(inner(fields, "underlying")),
    "LayerVertex": lambda fields: param_specs_of(inner(inner(fields, "layerConf"), "layer")),
}
VERTEX_TABLES: Mapping[str, Callable[[Json], Specs]] = dict(
    sorted({**dict.fromkeys(VERTICES.class_names, _of_vertex), **_VERTEX_TABLES}.items())
)
"""Class -> its parameters, sorted."""


def param_specs_of(fields: Json) -> Specs:
    """Return a layer's parameters in the order of the vector.

    Parameters
    ----------
    fields : dict
        A layer in 1.0's form, complete: with every n_in.

    Raises
    ------
    ConfigurationError
        Deeplearning4j has no such class; it is a user's own.
    FormatError
        A size is missing, or none.

    Notes
    -----
    Source: DL4J's ``ParamInitializer`` classes.
    """
    return _of("layer", PARAM_TABLES, fields)


def param_specs_of_vertex(fields: Json) -> Specs:
    """Return a vertex's parameters, for a LayerVertex its layer's. Same errors as `param_specs_of`."""
    return _of("vertex", VERTEX_TABLES, fields)


def _of(subject: str, tables: Mapping[str, Callable[[Json], Specs]], fields: Json) -> Specs:
    java = class_of(fields)
    if java not in tables:
        raise ConfigurationError(f"{subject}: the parameters of class {fields['@class']!r} are not known.")
    return tables[java](fields)
