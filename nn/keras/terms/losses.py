"""Losses of Keras, by their names and objects in files, and ours."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from nd.activations import Activation, Sigmoid, Softmax
from nd.losses import Loss, LossBinaryXENT, LossMAE, LossMCXENT, LossMSE, LossSparseMCXENT

from .loss_functions import EPSILON, LOSS_NAMES, KerasLoss, KerasSparseLoss
from .malformed import or_none

_ALIASES = {
    "bce": "binary_crossentropy", "cosine": "cosine_similarity", "cosine_proximity": "cosine_similarity",
    "kld": "kl_divergence", "kldivergence": "kl_divergence", "logcosh": "log_cosh",
    "kullback_leibler_divergence": "kl_divergence",
    "mae": "mean_absolute_error", "mape": "mean_absolute_percentage_error", "mse": "mean_squared_error",
    "msle": "mean_squared_logarithmic_error",
}  # fmt: skip
_MEANS = ("sum_over_batch_size", "mean", "mean_with_sample_weight", "auto")


class LossReading(NamedTuple):
    """A loss as it was read.

    Attributes
    ----------
    loss : Loss or None
        None where none of ours says it.
    warning : str
        What differs from Keras in training, "" where nothing does.
    """

    loss: Loss | None
    warning: str = ""


def loss_of(
    given: Any, activation: Activation, outputs: int, places: int | None = 1, weight: float = 1.0
) -> LossReading:
    """Return the loss that a configuration of Keras means.

    Parameters
    ----------
    given : str or mapping
        ``"mse"``, ``{"class_name": "BinaryCrossentropy", "config": {"from_logits": True, ...}}``.
    activation : Activation
        Of the layer of the loss.
    outputs : int
        Numbers of the last axis of Keras' output.
    places : int or None
        Time steps, or pixels, of an example, over which Keras averages; None where their number is open.
    weight : float
        Of this output among several.

    Notes
    -----
    Deeplearning4j's classes where they compute the same, else `KerasLoss`. The score and the gradient of a minibatch
    are Keras', with Keras' epsilon. With softmax and labels of a row that do not sum to 1 the gradient of
    `LossMCXENT` is p - y, Keras' p Σy - y. Source: Keras, keras.losses; KerasLossUtils. Differs: Java adds up what
    Keras averages, and knows no settings.
    """
    return _loss_of(given, activation, outputs, places, weight) or LossReading(None, f"loss {given!r}")


@or_none
def _loss_of(given: Any, activation: Activation, outputs: int, places: int | None, weight: float) -> LossReading:
    name, config = _read(given)
    reduction = config.get("reduction") or "none"
    warnings = [] if reduction in _MEANS else [f"reduction={reduction!r} of loss {name!r}: examples are averaged"]
    if places is None:
        warnings.append(f"loss {name!r} adds up the places of an example, which Keras averages: their number is open")
    for key, allowed in (("axis", (-1, [-1])), ("ignore_class", (None,))):
        if config.get(key, allowed[0]) not in allowed:
            return LossReading(None, f"{key}={config[key]!r} of loss {name!r}")
    smoothing, from_logits = float(config.get("label_smoothing") or 0.0), bool(config.get("from_logits", False))
    scale = weight / (places or 1)
    loss = None if smoothing or from_logits else _plain(name, activation, outputs, scale)
    settings: dict[str, Any] = {"scale": scale, "from_logits": from_logits, "label_smoothing": smoothing}
    if loss is None and name == "sparse_categorical_crossentropy":
        loss = KerasSparseLoss(**settings)
    elif loss is None and name in LOSS_NAMES:
        loss = KerasLoss(name, delta=float(config.get("delta", 1.0)), **settings)
    return LossReading(loss, "; ".join(warnings)) if loss else LossReading(None, f"loss {name!r}")


def _read(given: Any) -> tuple[str, Mapping[str, Any]]:
    """Return the name as that of Keras' function, and the settings."""
    config: Any = {"reduction": "auto"}
    if isinstance(given, Mapping):
        inner = given.get("config")
        name = inner if isinstance(inner, str) else str(given.get("class_name"))
        config |= inner if isinstance(inner, Mapping) else {}
        if name == "LossFunctionWrapper" and isinstance(config.get("fn"), (str, Mapping)):
            name, _ = _read(config["fn"])
    else:
        name = str(given)
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    return _ALIASES.get(name, name), config


def _plain(name: str, activation: Activation, outputs: int, scale: float) -> Loss | None:
    """Return Deeplearning4j's loss that computes the same, None where it has none."""
    weights = None if scale == 1.0 else (scale,) * outputs
    if name == "mean_squared_error":
        return LossMSE(weights)
    if name == "mean_absolute_error":
        return LossMAE(weights)
    if name == "binary_crossentropy" and type(activation) is Sigmoid:
        return LossBinaryXENT(None if scale == outputs else (scale / outputs,) * outputs, clip_eps=EPSILON)
    if name == "categorical_crossentropy" and type(activation) is Softmax:
        return LossMCXENT(weights, softmax_clip_eps=EPSILON)
    if name == "sparse_categorical_crossentropy" and type(activation) is Softmax:
        return LossSparseMCXENT(weights, softmax_clip_eps=EPSILON)
    return None


def keras_of(loss: Loss, activation: Activation) -> Any:
    """Return what Keras 3 has in a configuration for a loss; None where it has none.

    Parameters
    ----------
    loss : Loss
    activation : Activation
        Of its layer.

    Notes
    -----
    The number of places and of outputs that Keras averages over is not looked at: its score may be a multiple of ours.
    """
    if isinstance(loss, KerasSparseLoss):
        return _object("SparseCategoricalCrossentropy", from_logits=loss.from_logits)
    if isinstance(loss, KerasLoss):
        settings: dict[str, Any] = {}
        if loss.name.endswith("crossentropy"):
            settings = {"from_logits": loss.from_logits, "label_smoothing": loss.label_smoothing}
        if loss.name == "huber":
            settings = {"delta": loss.delta}
        names = {"kl_divergence": "KLDivergence"}
        class_name = "".join(word.capitalize() for word in loss.name.split("_"))
        return _object(names.get(loss.name, class_name), **settings)
    return _SAME.get(type(loss).__name__)


_SAME = {
    "LossBinaryXENT": "binary_crossentropy",
    "LossCosineProximity": "cosine_similarity",
    "LossHinge": "hinge",
    "LossKLD": "kl_divergence",
    "LossMAE": "mean_absolute_error",
    "LossMAPE": "mean_absolute_percentage_error",
    "LossMCXENT": "categorical_crossentropy",
    "LossMSE": "mean_squared_error",
    "LossMSLE": "mean_squared_logarithmic_error",
    "LossNegativeLogLikelihood": "categorical_crossentropy",
    "LossPoisson": "poisson",
    "LossSparseMCXENT": "sparse_categorical_crossentropy",
    "LossSquaredHinge": "squared_hinge",
}
"""Loss -> the name of Keras' that has the same minimum."""


def _object(class_name: str, **config: Any) -> dict[str, Any]:
    settings = {"reduction": "sum_over_batch_size", **config}
    return {"module": "keras.losses", "class_name": class_name, "config": settings, "registered_name": None}
