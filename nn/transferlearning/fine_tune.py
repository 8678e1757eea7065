"""FineTuneConfiguration: settings that take the place of those that a trained network has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, ClassVar

import nd
from nd.arguments import checked
from nd.checks import check_choice
from nd.classes import ExplainedType
from optimize import get_updater
from optimize.builder import Builder
from optimize.constraints import as_constraints

from ..conf.network import NeuralNetConfiguration
from ..conf.nodes import NetworkConfiguration
from ..layers import BaseLayerConf, LayerConf
from ..terms.constraints import FIELDS as CONSTRAINT_FIELDS
from ..terms.constraints import placed_constraints
from ..terms.enums import JAVA_BACKPROP_TYPES, OF_SERIES
from ..terms.penalties import PENALTY_VERBS
from ..terms.weights import WEIGHT_INIT_VERBS

_RATES = ("learning_rate", "momentum")
_PENALTIES = (
    ("l1", "l2", "weight_decay", "regularization"),
    ("l1_bias", "l2_bias", "weight_decay_bias", "regularization_bias"),
)
"""Those on weights, and those on biases."""
_REMOVABLE = {"constraints": None, "drop_out": None, "gradient_normalization": "none", "weight_noise": None}
"""Settings of which None is a value: a layer without it."""


class FineTuneConfiguration(metaclass=ExplainedType):
    """Settings that change in every layer of a trained network, and in the network; those not given stay.

    Parameters
    ----------
    **settings
        Those of `NeuralNetConfiguration` but dtype and validate_output_layer_config: seed, updater, activation, l2,
        drop_out, ..., `constraints` as a layer's, and of `NeuralNetConfiguration.list` backprop_type, tbptt_fwd_length,
        tbptt_back_length and tbptt_exact. ``l2=0`` removes a penalty; None removes drop_out, weight_noise, constraints
        and gradient_normalization, and is not set for the others. A penalty on weights takes the place of
        all that a layer has on them, one on biases of those on biases, constraints of all others. A `dist` without
        weight_init is the weight_init. `learning_rate` and `momentum`
        without an updater change the updaters that the layers have.

    Raises
    ------
    ChoiceError
        There is no such setting.
    ConfigurationError
        A value makes no sense.

    Notes
    -----
    Frozen layers, and activations that are layers of their own, stay as they are. Added layers take these settings
    but `constraints`, and Java's defaults beside it. The Builder takes Java's settings of memory, which change
    nothing. Source: DL4J ``FineTuneConfiguration``. Differs: Java's ``l1(0)`` leaves L1 as it was.

    Examples
    --------
    >>> FineTuneConfiguration(seed=5, l2=0.0)
    FineTuneConfiguration(seed=5, l2=0.0)
    """

    builder_fields: ClassVar[frozenset[str]] = frozenset(
        field.name
        for field in fields(NeuralNetConfiguration)
        if field.name not in ("dtype", "older", "validate_output_layer_config")
    ) | {"constraints", *OF_SERIES}
    builder_verbs: ClassVar[dict[str, Callable[..., Builder]]]

    def __init__(self, **settings: Any) -> None:
        for name in settings:
            check_choice("FineTuneConfiguration", "setting", name, self.builder_fields)
        self.settings = {name: value for name, value in settings.items() if value is not None or name in _REMOVABLE}
        given: dict[str, Any] = {
            name: _REMOVABLE[name] if value is None else value for name, value in self.settings.items()
        }
        if "dist" in given and "weight_init" not in given:
            given["weight_init"] = given.pop("dist")
        self.series = {name: given.pop(name) for name in OF_SERIES if name in given}
        self._constrains = "constraints" in given
        self._constraints = as_constraints("FineTuneConfiguration", "constraints", given.pop("constraints", None))
        self._given = given
        self._defaults = NeuralNetConfiguration(**given)
        self._check_series()
        self._network = {name: value for name, value in given.items() if name not in _RATES}
        self._rates = {name: value for name, value in given.items() if name in _RATES}
        if "updater" in self._network:
            self._network["updater"] = get_updater(self._network["updater"], **self._rates)
            self._rates = {}
        if self._network.pop("dist", None) is not None or "weight_init" in self._network:
            self._network["weight_init"] = self._defaults.weight_init

    @classmethod
    def Builder(cls) -> Builder:
        """Start DL4J's fluent style."""
        return Builder(cls)

    @checked
    def _of_layer(self, layer: LayerConf) -> LayerConf:
        """Return a layer of the trained network with these settings."""
        values = {name: value for name, value in self._with_rivals().items() if name in layer.inherited}
        if not isinstance(layer, BaseLayerConf):
            values.pop("activation", None)
            return replace(layer, **values)
        if self._constrains or any(name in self._network for name in CONSTRAINT_FIELDS):
            asked: Any = {name: self._network.get(name) for name in CONSTRAINT_FIELDS}
            asked = replace(layer, constraints=self._constraints, **asked)
            values["constraints"] = placed_constraints(str(layer.name), asked, self._defaults)
        for name in ("updater", "bias_updater") if self._rates else ():
            if getattr(layer, name) is not None:
                values[name] = self._with_rates(layer.name, values.get(name, getattr(layer, name)))
        return replace(layer, **values)

    def _check_series(self) -> None:
        """Raise ConfigurationError or ChoiceError where a setting of series makes no sense."""
        if "backprop_type" in self.series:
            kind = self.series["backprop_type"]
            self.series["backprop_type"] = JAVA_BACKPROP_TYPES.get(kind, kind)
        NetworkConfiguration(base=self._defaults, **self.series)

    def _with_rivals(self) -> dict[str, Any]:
        """Return the settings; a penalty that is set takes the place of all on the weights, or on the biases."""
        replaced = [names for names in _PENALTIES if any(self._network.get(name) for name in names)]
        return {**{name: None for names in replaced for name in names}, **self._network}

    def _with_rates(self, layer: str | None, updater: Any) -> Any:
        updater = get_updater(updater)
        missing = set(self._rates) - {field.name for field in fields(updater)}
        if missing:
            raise nd.ConfigurationError(
                f"FineTuneConfiguration: {', '.join(sorted(missing))} must be a setting of the updater, but "
                f"{layer!r} has {updater!r}. Set the updater itself."
            )
        return replace(updater, **self._rates)

    def _of_series(self, conf: NetworkConfiguration) -> dict[str, Any]:
        """Return how the network trains on series: the settings of the trained network's `conf`, or the new ones."""
        return {name: getattr(conf, name) for name in OF_SERIES} | self.series

    def _of_network(self, base: NeuralNetConfiguration) -> NeuralNetConfiguration:
        """Return the settings of the network, as opposed to its layers'."""
        without: dict[str, Any] = dict.fromkeys(CONSTRAINT_FIELDS) if self._constrains else {}
        return replace(base, **without | self._with_rivals())

    def _of_added_layers(self, base: NeuralNetConfiguration) -> NeuralNetConfiguration:
        """Return the defaults of layers that are added."""
        return NeuralNetConfiguration(**{"seed": base.seed, **self._given, "dtype": base.dtype})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FineTuneConfiguration) and self.settings == other.settings

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"FineTuneConfiguration({', '.join(f'{name}={value!r}' for name, value in self.settings.items())})"


# ---- DL4J's fluent style


def _ignored_verb(builder: Builder, value: object) -> Builder:
    return builder


def _regularization_verb(builder: Builder, *penalties: Any) -> Builder:
    """Set the list of all penalties, as 1.0, or leave them on, as ``regularization(true)`` of 0.9 does."""
    if penalties == (False,):
        raise nd.ConfigurationError(
            "FineTuneConfiguration.Builder: regularization must stay on, got False. Call l1(0) and l2(0)."
        )
    if penalties != (True,):
        builder.given["regularization"] = penalties[0] if len(penalties) == 1 else penalties
    return builder


FineTuneConfiguration.builder_verbs = {
    **PENALTY_VERBS,
    **WEIGHT_INIT_VERBS,
    "cudnn_algo_mode": _ignored_verb,
    "dropout": lambda builder, dropout: builder.drop_out(dropout),
    "inference_workspace_mode": _ignored_verb,
    "regularization": _regularization_verb,
    "training_workspace_mode": _ignored_verb,
}
