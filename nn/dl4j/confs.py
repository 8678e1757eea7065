"""Methods of the configurations of layers, vertices and their parts that exist for Java's sake."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import nd
from nd.arguments import checked
from nd.java_enums import JavaEnum
from optimize import Schedule

from ..layers.pretraining.base import is_pretrained
from ..terms.input_type import (
    Convolutional3DType,
    ConvolutionalFlatType,
    ConvolutionalType,
    InputType,
    RecurrentType,
)

_MOST = 2**31 - 1  # Java's Integer.MAX_VALUE
_JAVAS_FEWEST = {"ElementWiseVertex": 2, "MergeVertex": 2}


class Type(JavaEnum):
    """Kinds of input types: ``InputType.Type.CNN``."""

    FF = "FF"
    RNN = "RNN"
    CNN = "CNN"
    CNNFlat = "CNNFlat"
    CNN3D = "CNN3D"


_TYPES = {
    Convolutional3DType: Type.CNN3D, ConvolutionalFlatType: Type.CNNFlat, ConvolutionalType: Type.CNN,
    RecurrentType: Type.RNN,
}  # fmt: skip


def type_of(kind: InputType) -> Type:
    """Return the kind of an input type."""
    return _TYPES.get(type(kind), Type.FF)


def elements_per_example(kind: InputType) -> int:
    """Return how many numbers an example has; raise ConfigurationError where the length of series is not known."""
    if None in kind.shape:
        raise nd.ConfigurationError(
            f"arrayElementsPerExample: the length of the series must be known, got {kind!r}. Write "
            "InputType.recurrent(size, length)."
        )
    return math.prod(kind.shape)


def unflattened(kind: ConvolutionalFlatType) -> InputType:
    """Return the type of the images that the rows stand for."""
    return InputType.convolutional(kind.height, kind.width, kind.channels)


# ---- layers


def constraints(conf: object) -> list[Any] | None:
    """Return the constraints of a layer, of one around another those of that; None without."""
    return _list(getattr(conf, "constraints", None))


def _list(several: Any) -> list[object] | None:
    return None if several is None else list(several)


def gradient_normalization(conf: object) -> str:
    """Return the normalization of the gradient: that of another layer inside, "none" of a layer without parameters."""
    return getattr(conf, "gradient_normalization", None) or "none"


def gradient_normalization_threshold(conf: object) -> float:
    """Return the threshold of it, 0 for none."""
    return getattr(conf, "gradient_normalization_threshold", None) or 0.0


@checked
def regularization_by_param(conf: object, name: str) -> list[Any] | None:
    """Return the penalties on a parameter, None of a layer without parameters."""
    inside = getattr(conf, "innermost", conf)
    return inside.get_regularization_by_param(name) if hasattr(inside, "get_regularization_by_param") else None


@checked
def updater_by_param(conf: object, name: str) -> Any:
    """Return the updater of a parameter, None of a layer without parameters."""
    inside = getattr(conf, "innermost", conf)
    return inside.get_updater_by_param(name) if hasattr(inside, "get_updater_by_param") else None


# ---- vertices


def min_vertex_inputs(conf: Any) -> int:
    """Return how many inputs Java says that a vertex needs: two to be merged, though one is taken."""
    return max(conf.fewest_inputs, _JAVAS_FEWEST.get(type(conf).__name__, 0))


def max_vertex_inputs(conf: Any) -> int:
    """Return how many inputs a vertex takes, 2^31 - 1 for any number."""
    return _MOST if conf.most_inputs is None else conf.most_inputs


@checked
def num_params(conf: Any, backprop_only: bool = True) -> int:
    """Return the number of elements of all parameters."""
    return sum(spec.length for spec in conf.param_specs())


# ---- noise and constraints


def _schedule(field: str) -> Callable[[object], Schedule | None]:
    def schedule(noise: object) -> Schedule | None:
        """Return a schedule, None where there is a number."""
        value = getattr(noise, field)
        return value if isinstance(value, Schedule) else None

    return schedule


schedule_of_p, schedule_of_rate, schedule_of_stddev = map(_schedule, ("p", "rate", "stddev"))


def forget(noise: object) -> None:
    """Do nothing: a noise keeps nothing between calls."""


def apply_constraint(constraint: Any, param: Any) -> None:
    """Hold an array to the condition, in its memory."""
    nd.assign(param, constraint.constrained(param, 0, 0))


# ---- networks


def validates_outputs(conf: Any) -> bool:
    """Tell whether output layers are checked."""
    return conf.base.validate_output_layer_config


# ---- layers at work


def has_bias(layer: Any) -> bool:
    """Tell whether a layer at work has biases."""
    return bool(getattr(layer.conf, "has_bias", "b" in layer.params))


def has_layer_norm(layer: Any) -> bool:
    """Tell whether a layer at work normalises by layer."""
    return bool(getattr(layer.conf, "has_layer_norm", False))


def is_pretrain_layer(layer: Any) -> bool:
    """Tell whether a layer at work is one that is pretrained."""
    return is_pretrained(layer.conf)


def judges_by_loss(distribution: Any) -> bool:
    """Tell whether a distribution of the reconstruction is a loss."""
    return bool(distribution.has_loss_function)


def set_params_of(layer: Any, table: Any) -> None:
    """Copy arrays into the parameters of these names; errors as of `set_param`."""
    for key in table:
        layer.set_param(key, table[key])
