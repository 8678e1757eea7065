"""Methods of networks that exist for Java's sake."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import nd
from nd.state import Restoring
from nd.typing import Array

from ..networks.network import Network


def activate(network: Any, *arguments: object) -> Array:
    """Return the output: ``activate(train)`` of the features that are set, ``activate(x, train)`` of others."""
    if arguments and isinstance(arguments[0], bool):
        arguments = (network.get_input(), arguments[0])
        if arguments[0] is None:
            raise nd.ConfigurationError("activate: features must be given, or set_input come first, got none.")
    return network.output(*arguments[:2])


def close(network: Network) -> None:
    """Forget the minibatch that is set; Python frees the memory of a network that nothing names any more."""
    if network.is_init_called():
        network.clear()


def convert_data_type(network: Any, data_type: object) -> Any:
    """Return an independent copy with parameters and arithmetic of another type: parameters, state, counts, names.

    Parameters
    ----------
    network : MultiLayerNetwork or ComputationGraph
    data_type : str or DataType
        float32 or float64.
    """
    configuration = network.configuration
    base = replace(configuration.base, dtype=str(getattr(data_type, "value", data_type)))
    twin = type(network)(replace(configuration, base=base))
    with network.lock, Restoring(), network.engine.on_backend():
        dtype = twin.dtype
        twin.random = network.random.copy()
        twin.engine.make(twin.conf, nd.astype(network.params(), dtype), twin.random)
        if network.updater_state().size:
            twin.set_updater_state(nd.astype(network.updater_state(), dtype))
    twin.class_names = network.class_names
    return twin


def do_nothing(network: Network, *arguments: object) -> None:
    """Do nothing: what Java's method sets or clears is not there."""


def get_input_masks(network: Network) -> list[Array | None] | None:
    """Return the masks of the features that are set, of every input, None for none."""
    return _masks(network.engine.batch.features_masks)


def get_label_masks(network: Network) -> list[Array | None] | None:
    """Return the masks of the labels that are set, of every output, None for none."""
    return _masks(network.engine.batch.labels_masks)


def _masks(masks: tuple[Array | None, ...]) -> list[Array | None] | None:
    return list(masks) if any(mask is not None for mask in masks) else None


def input_of(network: Any) -> Array | None:
    """Return the features that are set, None before; raise ConfigurationError where there are several inputs."""
    if not hasattr(network, "num_input_arrays"):
        return network.get_input()
    if network.num_input_arrays != 1:
        raise nd.ConfigurationError(
            f"input: the network must have one input, got {list(network.conf.inputs)}. Call getInputs."
        )
    return network.get_input(0)


def num_labels(network: Any) -> int:
    """Return the number of columns of the labels that are set; raise ConfigurationError before they are."""
    labels = network.get_labels()
    if labels is None:
        raise nd.ConfigurationError("numLabels: setLabels must come first, got no labels.")
    return int(labels.shape[1])
