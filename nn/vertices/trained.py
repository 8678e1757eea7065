"""Base of vertices with parameters: how they start, and how they are trained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

from nd.checks import check_choice
from optimize import Regularization, Updater, get_updater
from optimize.gradient_normalization import check_gradient_normalization

from ..terms.java_form import SAME_DIFF, JavaForm
from ..terms.penalties import WithUpdaters, regularization_of
from ..terms.weights import WEIGHT_INITS
from .base import VertexConf

if TYPE_CHECKING:
    from ..conf.network import NeuralNetConfiguration


@dataclass(frozen=True, kw_only=True)
class TrainedVertexConf(WithUpdaters, VertexConf):
    """A vertex with parameters. It says which in `param_specs`.

    Parameters
    ----------
    weight_init : str
        A name from `nn.terms.weights`.
    updater, bias_updater : str or Updater, optional
    regularization, regularization_bias : sequence of Regularization, optional
    gradient_normalization : str, optional
    gradient_normalization_threshold : float, optional
        As those of layers with parameters; by default the network's.
    """

    weight_init: str = "xavier"
    updater: str | Updater | None = None
    bias_updater: str | Updater | None = None
    regularization: Sequence[Regularization] | None = None
    regularization_bias: Sequence[Regularization] | None = None
    gradient_normalization: str | None = None
    gradient_normalization_threshold: float | None = None
    bias_init: ClassVar[float] = 0.0
    form: ClassVar[JavaForm] = VertexConf.form.more(
        {
            **SAME_DIFF,
            "gradientNormalizationThreshold": ("gradient_normalization_threshold", "number or none"),
            "regularization": ("regularization", "penalties"),
            "regularizationBias": ("regularization_bias", "penalties"),
        }
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        who = type(self).__name__
        init = check_choice(who, "weight_init", str(self.weight_init).lower(), WEIGHT_INITS)
        object.__setattr__(self, "weight_init", init)
        for name in ("updater", "bias_updater"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, get_updater(getattr(self, name)))
        for name in ("regularization", "regularization_bias"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, tuple(getattr(self, name)))
        normalization = (self.gradient_normalization, self.gradient_normalization_threshold)
        object.__setattr__(self, "gradient_normalization", check_gradient_normalization(who, *normalization))

    def resolved(self, defaults: NeuralNetConfiguration, index: int) -> Self:
        unset = ("updater", "bias_updater", "gradient_normalization", "gradient_normalization_threshold")
        taken = {name: getattr(defaults, name) for name in unset if getattr(self, name) is None}
        if not self.regularization:
            taken["regularization"] = regularization_of(defaults, "") or None
        if not self.regularization_bias:
            taken["regularization_bias"] = regularization_of(defaults, "_bias") or None
        return replace(self, **taken)

    def regularization_of(self, bias: bool) -> tuple[Regularization, ...]:
        """Return the penalties on weights, or on biases, in the order in which they are applied."""
        return tuple((self.regularization_bias if bias else self.regularization) or ())
