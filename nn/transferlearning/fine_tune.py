"""FineTuneConfiguration: settings that take the place of those that a trained network has."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, ClassVar

import nd
from nd.checks import check_choice
from optimize import get_updater
from optimize.builder import Builder

from ..conf.constraints import FIELDS as CONSTRAINT_FIELDS
from ..conf.constraints import placed_constraints
from ..conf.network import NeuralNetConfiguration
from ..conf.penalties import RIVALS
from ..layers import BaseLayerConf, LayerConf

_RATES = ("learning_rate", "momentum")


class FineTuneConfiguration:
    """What changes in every layer of a trained network, and in the network; what is not set stays.

    Parameters
    ----------
    **settings
        Those of `NeuralNetConfiguration` but dtype: seed, updater, activation, l2, drop_out, ... None is not set.
        ``l2=0`` removes a penalty, ``drop_out=0`` dropout; l2 removes weight decay, weight decay l2, and constraints
        all others. `learning_rate` and `momentum` without an updater change the updaters that the layers have.

    Raises
    ------
    ChoiceError
        There is no such setting.
    ConfigurationError
        A value makes no sense.

    Notes
    -----
    Frozen layers, and activations that are layers of their own, stay as they are. Added layers take what is set here,
    and Java's defaults beside it. Source: DL4J ``FineTuneConfiguration``.

    Examples
    --------
    >>> FineTuneConfiguration(seed=5, l2=0.0)
    FineTuneConfiguration(seed=5, l2=0.0)
    """

    builder_fields: ClassVar[frozenset[str]] = frozenset(
        field.name for field in fields(NeuralNetConfiguration) if field.name != "dtype"
    )

    def __init__(self, **settings: Any) -> None:
        for name in settings:
            check_choice("FineTuneConfiguration", "setting", name, self.builder_fields)
        self.settings = {name: value for name, value in settings.items() if value is not None}
        self._defaults = NeuralNetConfiguration(**self.settings)
        self._network = {name: value for name, value in self.settings.items() if name not in _RATES}
        self._rates = {name: value for name, value in self.settings.items() if name in _RATES}
        if "updater" in self._network:
            self._network["updater"] = get_updater(self._network["updater"], **self._rates)
            self._rates = {}

    @classmethod
    def Builder(cls) -> Builder:
        """Start DL4J's fluent style."""
        return Builder(cls)

    def of_layer(self, layer: LayerConf) -> LayerConf:
        """Return a layer of the trained network with what is set here."""
        values = {name: value for name, value in self._with_rivals().items() if name in layer.inherited}
        if not isinstance(layer, BaseLayerConf):
            values.pop("activation", None)
            return replace(layer, **values)
        if any(name in self._network for name in CONSTRAINT_FIELDS):
            without: Any = replace(layer, constraints=None)
            values["constraints"] = placed_constraints(str(layer.name), without, self._defaults)
        for name in ("updater", "bias_updater") if self._rates else ():
            if getattr(layer, name) is not None:
                values[name] = self._with_rates(layer.name, values.get(name, getattr(layer, name)))
        return replace(layer, **values)

    def _with_rivals(self) -> dict[str, Any]:
        """Return the settings; l2 that is set removes weight decay, and the reverse."""
        pairs = [*RIVALS.items(), *((decay, l2) for l2, decay in RIVALS.items())]
        return {**{other: None for own, other in pairs if self._network.get(own)}, **self._network}

    def _with_rates(self, layer: str | None, updater: Any) -> Any:
        updater = get_updater(updater)
        missing = set(self._rates) - {field.name for field in fields(updater)}
        if missing:
            raise nd.ConfigurationError(
                f"FineTuneConfiguration: {', '.join(sorted(missing))} must be a setting of the updater, but "
                f"{layer!r} has {updater!r}. Set the updater itself."
            )
        return replace(updater, **self._rates)

    def of_network(self, base: NeuralNetConfiguration) -> NeuralNetConfiguration:
        """Return what holds for the whole network."""
        return replace(base, **self._with_rivals())

    def of_added_layers(self, base: NeuralNetConfiguration) -> NeuralNetConfiguration:
        """Return the defaults of layers that are added."""
        return NeuralNetConfiguration(**{"seed": base.seed, **self.settings, "dtype": base.dtype})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FineTuneConfiguration) and self.settings == other.settings

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"FineTuneConfiguration({', '.join(f'{name}={value!r}' for name, value in self.settings.items())})"
