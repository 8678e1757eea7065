"""Shared by layers that are written with SameDiff in DL4J."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import nd
from nd.activations import ACTIVATIONS, Activation, get_activation

from ..terms.distributions import Distribution
from ..terms.java_form import SAME_DIFF, Codec, JavaForm
from .base import BaseLayerConf, LayerConf

ACTIVATION_NAME = Codec(  # as DL4J writes it for these layers: they have default parameters
    lambda activation: next(name for name, kind in ACTIVATIONS.items() if activation == kind()).upper(), get_activation
)
"""An activation by its name alone."""


def check_has_name(who: str, activation: Activation | str | None) -> None:
    """Raise ConfigurationError unless an activation is told by its name alone."""
    if activation not in [kind() for kind in ACTIVATIONS.values()]:
        raise nd.ConfigurationError(
            f"{who}: activation must be one of the library's, which DL4J writes here by name, with its default "
            f"parameters, got {activation!r}. Use 'tanh'."
        )


@dataclass(frozen=True, kw_only=True)
class SameDiffConf(BaseLayerConf):
    """A layer with parameters and a fixed formula.

    Raises
    ------
    ConfigurationError
        An activation, a bias_init or a weight_noise is given: such layers have none, biases start at 0. Those of the
        network are not for them.

    Notes
    -----
    As in Java, the network's weight_init is not for them either: weights are Xavier's unless the layer has its own.
    As in Java, dropout of the input is not applied, even if configured. Source: DL4J ``SameDiffLayer``. Differs: the
    score has the penalties, of which Java uses the gradients alone.
    """

    weight_init: str | Distribution = "xavier"
    refused: ClassVar[tuple[str, ...]] = ("activation", "bias_init", "weight_noise")
    inherited: ClassVar[tuple[str, ...]] = tuple(
        name
        for name in BaseLayerConf.inherited
        if name not in ("activation", "bias_init", "weight_init", "dist", "weight_noise")
    )
    needed: ClassVar[tuple[str, ...]] = ("updater", "weight_init")
    form: ClassVar[JavaForm] = LayerConf.form.more(
        {
            **SAME_DIFF,
            "constraints": ("constraints", "constraints"),
            "gradientNormalizationThreshold": ("gradient_normalization_threshold", "number"),
        }
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self.refused:
            if getattr(self, name) is not None:
                raise nd.ConfigurationError(
                    f"{type(self).__name__}: has no {name}, got {getattr(self, name)!r}. Leave it out."
                )

    def check(self, label: str) -> None:
        if isinstance(self.weight_init, Distribution):
            raise nd.ConfigurationError(
                f"{label}: weight_init must be the name of a formula, as in DL4J, got {self.weight_init!r}. Give the "
                "layer weight_init='xavier' of its own."
            )

    def check_given(self, label: str, names: Sequence[str], remedy: str) -> None:
        """Raise ConfigurationError unless these fields are there."""
        for name in names:
            if getattr(self, name) is None:
                raise nd.ConfigurationError(f"{label}: {name} is missing. {remedy}")

    def fixed(self, label: str, name: str, size: object) -> Any:
        """Return a size that the input says; raise ConfigurationError if another one was given."""
        given = getattr(self, name)
        if given not in (None, size):
            raise nd.ConfigurationError(
                f"{label}: {name} must be {size}, as the input is, got {given}. Leave it out, or mend it."
            )
        return size
