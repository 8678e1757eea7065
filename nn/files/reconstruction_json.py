"""Codecs of what layers that are pretrained have alone: distributions of the reconstruction, names of losses."""

from __future__ import annotations

from typing import Any

from nd import ConfigurationError
from nd.checks import check_choice
from nd.losses import LOSSES, Loss

from ..layers.pretraining.distributions import (
    BernoulliReconstructionDistribution,
    CompositeReconstructionDistribution,
    ExponentialReconstructionDistribution,
    GaussianReconstructionDistribution,
    LossFunctionWrapper,
    ReconstructionDistribution,
)
from ..terms.java_form import Codec
from .json_values import ACTIVATION, LOSS, Json, class_name

_PACKAGE = "org.deeplearning4j.nn.conf.layers.variational."
_PLAIN = {
    kind.__name__: kind
    for kind in (
        BernoulliReconstructionDistribution,
        ExponentialReconstructionDistribution,
        GaussianReconstructionDistribution,
    )
}
_OTHERS = (CompositeReconstructionDistribution, LossFunctionWrapper)


def _reconstruction_to_json(distribution: Any) -> Json:
    name = type(distribution).__name__
    out: Json = {"@class": _PACKAGE + name}
    if type(distribution) is CompositeReconstructionDistribution:
        return {
            **out,
            "distributionSizes": list(distribution.distribution_sizes),
            "reconstructionDistributions": [
                _reconstruction_to_json(part) for part in distribution.reconstruction_distributions
            ],
            "totalSize": distribution.total_size,
        }
    if type(distribution) is LossFunctionWrapper:
        out["lossFunction"] = LOSS.encode(distribution.loss)
    elif _PLAIN.get(name) is not type(distribution):
        raise ConfigurationError(
            f"to_json: DL4J has no reconstruction distribution {name}, only "
            f"{', '.join(sorted((*_PLAIN, *(kind.__name__ for kind in _OTHERS))))}."
        )
    return {**out, "activationFn": ACTIVATION.encode(distribution.activation)}


def _reconstruction_from_json(data: Any) -> ReconstructionDistribution:
    name = class_name("reconstruction distribution", data)
    known = (*_PLAIN, *(kind.__name__ for kind in _OTHERS))
    check_choice("configuration", "reconstruction distribution", name, known)
    if name == "CompositeReconstructionDistribution":
        parts = [_reconstruction_from_json(part) for part in data["reconstructionDistributions"]]
        return CompositeReconstructionDistribution(tuple(data["distributionSizes"]), tuple(parts))
    activation: Any = ACTIVATION.decode(data["activationFn"])
    if name == "LossFunctionWrapper":
        return LossFunctionWrapper(activation, LOSS.decode(data["lossFunction"]))
    return _PLAIN[name](activation)


RECONSTRUCTION = Codec(_reconstruction_to_json, _reconstruction_from_json)


def _loss_to_name(loss: Loss) -> str:
    """Return Java's name of a loss without settings."""
    for name, kind in LOSSES.items():
        if kind is type(loss) and name not in _SECOND_NAMES and loss == kind():
            return name.upper()
    raise ConfigurationError(
        f"to_json: DL4J has only the names of losses for reconstruction_loss, got {loss!r}. Use one of "
        f"{', '.join(sorted(LOSSES))}."
    )


def _loss_from_name(name: object) -> Loss:
    return LOSSES[check_choice("configuration", "lossFunction", str(name).lower(), LOSSES)]()


_SECOND_NAMES = frozenset({"kl_divergence", "squared_loss"})
"""Names of losses that have another one, which is written."""
LOSS_NAME = Codec(_loss_to_name, _loss_from_name)
