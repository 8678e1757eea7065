"""The configuration of an estimator's network: the user's, or one of dense layers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import nd
from nd.arguments import shown

from ..conf.network import NeuralNetConfiguration
from ..conf.nodes import NetworkConfiguration
from ..layers import RBM, AutoEncoder, DenseLayer, OutputLayer
from ..terms.enums import WeightInit

if TYPE_CHECKING:
    from ..networks.network import Network
    from .settings import EstimatorParameters


class Task(NamedTuple):
    """What the last layer is for: its activation and loss, and how many outputs the data ask for."""

    activation: str
    loss: str
    n_out: int


KINDS = ("autoencoder", "rbm")
CLASSES, LABELS, NUMBERS = ("softmax", "mcxent"), ("sigmoid", "xent"), ("identity", "mse")
"""Activation and loss of a last layer for classes, for several labels at once, and for numbers."""


def check_width(network: Network, n_out: int, who: str) -> None:
    """Raise ConfigurationError if a network has not as many outputs as the data ask for."""
    conf = network.conf
    width = getattr(conf.nodes[conf.output_nodes[0]].conf, "n_out", None) or n_out
    if width != n_out:
        raise nd.ConfigurationError(
            f"{who}: network must have {n_out} outputs, as y asks for, got {width}. Give a function (n_in, n_out) -> "
            "configuration."
        )


def initialised(conf: Any) -> Network:
    """Return a network with drawn weights; the thread's own generator stays as it is."""
    from ..networks.graph import ComputationGraph
    from ..networks.multilayer import MultiLayerNetwork

    network: Any = (MultiLayerNetwork if hasattr(conf, "layers") else ComputationGraph)(conf)
    network.engine.make(network.conf, None, network.random)  # `init` would make its generator the thread's
    return network


def dense_configuration(
    settings: EstimatorParameters, n_in: int, task: Task, dtype: str, seed: int
) -> NetworkConfiguration:
    """Return dense layers of the sizes and an output layer for the task."""
    sizes: Any = settings.hidden_layer_sizes
    retained = None if settings.dropout == 0.0 else 1.0 - settings.dropout  # behind hidden layers: before all others
    hidden = [
        DenseLayer(n_in=before, n_out=after, drop_out=retained if number else None)
        for number, (before, after) in enumerate(zip((n_in, *sizes), sizes, strict=False))
    ]
    last = _output(task, (n_in, *sizes)[-1], retained if hidden else None)
    return _stacked(_base(settings, dtype, seed), [*hidden, last], task)


class Stack(NamedTuple):
    """Layers to be pretrained: their kind, the share that autoencoders do not see, and what an output layer is for."""

    kind: str
    corruption_level: float
    task: Task | None = None

    def layer(self, n_in: int, n_out: int) -> AutoEncoder | RBM:
        """Return a layer of that kind."""
        if self.kind == "rbm":
            return RBM(n_in=n_in, n_out=n_out, reconstruction_loss="mse")
        return AutoEncoder(n_in=n_in, n_out=n_out, corruption_level=self.corruption_level, reconstruction_loss="mse")


def stacked_configuration(
    settings: EstimatorParameters, n_in: int, form: Stack, dtype: str, seed: int
) -> NetworkConfiguration:
    """Return layers to be pretrained, of the sizes, and an output layer where there is a task."""
    sizes: Any = settings.hidden_layer_sizes
    base = replace(_base(settings, dtype, seed), pretrain=True)  # towards the input: Java 1.0 lost a sign
    layers: list[Any] = [form.layer(before, after) for before, after in zip((n_in, *sizes), sizes, strict=False)]
    if form.task is not None:
        layers.append(_output(form.task, (n_in, *sizes)[-1]))
    return _stacked(base, layers, form.task)


def _stacked(base: NeuralNetConfiguration, layers: list[Any], task: Task | None) -> NetworkConfiguration:
    if task is not None and task.n_out == 1 and task[:2] == CLASSES:  # one class alone, as a fold of few may have
        base = replace(base, validate_output_layer_config=False)
    return base.list(*layers)


def _output(task: Task, n_in: int, retained: float | None = None) -> OutputLayer:
    return OutputLayer(
        n_in=n_in, n_out=task.n_out, activation=task.activation, loss=task.loss, weight_init="xavier", drop_out=retained
    )


def _base(settings: EstimatorParameters, dtype: str, seed: int) -> NeuralNetConfiguration:
    return NeuralNetConfiguration(
        seed=seed,
        dtype=dtype,
        activation=settings.activation,
        updater=settings.made_updater(),
        weight_init=WeightInit.XAVIER,
        l2=settings.alpha or None,
    )


def users_configuration(
    network: Any, n_in: int, n_out: int, dtype: str, seed: int | None, who: str
) -> NetworkConfiguration:
    """Return the configuration that the user has given, for arrays of that dtype, with a seed where one is given.

    Raises
    ------
    ConfigurationError
        `network` is a function that returns no configuration, or it has several inputs or outputs.
    """
    conf = network if isinstance(network, NetworkConfiguration) else network(n_in, n_out)
    if not isinstance(conf, NetworkConfiguration):
        raise nd.ConfigurationError(
            f"{who}: network(n_in, n_out) must return a configuration, got {shown(conf)}. End it with .list(...)."
        )
    if len(conf.input_names) != 1 or len(conf.output_nodes) != 1:
        raise nd.ConfigurationError(
            f"{who}: network must have one input and one output, got {len(conf.input_names)} and "
            f"{len(conf.output_nodes)}. Train a ComputationGraph of more with its own fit."
        )
    base = replace(conf.base, dtype=dtype)
    return replace(conf, base=base if seed is None else replace(base, seed=seed))
