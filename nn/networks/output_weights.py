"""Weights that fit is given: of the losses of outputs, of classes, and of examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import nd
from nd.arguments import NonNegative, converted, shown
from nd.checks import check_choice
from nd.dataset.class_labels import host_labels
from nd.dataset.example_weights import balanced_weights, weighted_mask, weights_of_classes, weights_of_examples
from nd.rules import rule_of

from ..terms.data_formats import inward, outward

if TYPE_CHECKING:
    from .network import Network

_WEIGHT: Any = rule_of(NonNegative)
ClassWeights = list[list[float] | None]
"""For every output the weights of its classes, None where they all count alike."""


def output_names(network: Network) -> list[str]:
    """Return the names of the outputs: of a graph the vertices', else the number of the last layer."""
    return [network.conf.nodes[number].name for number in network.conf.output_nodes]


def loss_weights(network: Network, given: Mapping[str, float] | Sequence[float]) -> tuple[float, ...]:
    """Return the weight of every output's loss, 1 where none is given.

    Raises
    ------
    ChoiceError
        There is no output of that name.
    ConfigurationError
        There are not as many weights as outputs.
    """
    names = output_names(network)
    if isinstance(given, Mapping):
        by_name = {check_choice("fit: loss_weights", "output", name, names): weight for name, weight in given.items()}
        return tuple(by_name.get(name, 1.0) for name in names)
    if len(given) != len(names):
        raise nd.ConfigurationError(
            f"fit: loss_weights must have a weight for each of {len(names)} outputs, got {len(given)}. Or name some of "
            f"them: {{{names[0]!r}: 0.5}}."
        )
    return tuple(given)


def class_weights(network: Network, given: Any, data: object = None) -> ClassWeights:
    """Return for every output the weights of its classes; None where they all count alike.

    Parameters
    ----------
    network : Network
    given : "balanced" or mapping of class -> weight
        Of a network with several outputs ``"balanced"``, for each that has classes, or a mapping of names of outputs
        -> one of these.
    data : DataSet or MultiDataSet, optional
        Whose labels are counted.

    Raises
    ------
    ConfigurationError, ChoiceError, ArgumentError
        There is no such class or output, an output has no classes, a weight is no number >= 0, or there are no labels
        to be counted.
    """
    names = output_names(network)
    if len(names) == 1:
        return [_of_output(network, 0, given, data)]
    if isinstance(given, str):
        having = [name for name, classes in zip(names, network.classes_of, strict=True) if classes.classes]
        given = dict.fromkeys(having or names, given)
    for name, weights in given.items():
        if not isinstance(name, str) or not isinstance(weights, (str, Mapping)):
            raise nd.ConfigurationError(
                f"fit: class_weight of {len(names)} outputs must be a dict for each that has any, as "
                f"{{{names[0]!r}: {{0: 2.0}}}}, got {shown(given)}."
            )
        check_choice("fit: class_weight", "output", name, names)
    return [_of_output(network, names.index(name), given[name], data) if name in given else None for name in names]


def _of_output(network: Network, output: int, given: Any, data: Any) -> list[float]:
    classes = network.classes_of[output]
    if not isinstance(given, str):
        weights = {key: converted("fit", "class_weight", _WEIGHT, weight) for key, weight in given.items()}
        return classes.weights("fit", weights)
    if given != "balanced":
        raise nd.ConfigurationError(f"fit: class_weight must be a dict or 'balanced', got {given!r}.")
    classes.weights("fit", {})  # the errors of an output without classes
    parts = data.multi if data is not None else None
    if parts is None or not parts.labels:
        raise nd.ConfigurationError(
            "fit: class_weight='balanced' counts the labels of arrays, a DataSet or a MultiDataSet, got an iterator, "
            "which would have to be gone through for that. Give a dict: n / (classes * count of the class), for each."
        )
    data_format = network.conf.formats.outputs[output]
    labels = inward(host_labels(classes.formed(parts.labels[output])), data_format)
    mask = inward(parts.labels_masks[output], data_format) if parts.labels_masks else None
    return balanced_weights("fit: class_weight='balanced'", labels, mask, classes.classes)


def weighted(
    network: Network, who: str, batch: Any, class_weights: ClassWeights | None, sample_weight: object = None
) -> Any:
    """Return a minibatch with weights of its examples in the masks of its labels.

    Raises
    ------
    ShapeError, DataError, DTypeError, ConfigurationError
        They do not fit, or there are no labels.
    """
    parts = batch.multi
    if not parts.labels:
        raise nd.DataError(f"{who}: weights need labels, got none.")
    masked = any(mask is not None for mask in parts.features_masks)
    reached = network.engine.masks_of_outputs(batch) if masked else None
    masks = []
    for number, given in enumerate(parts.labels):
        mask = parts.labels_masks[number] if parts.labels_masks else None
        of_classes = class_weights[number] if class_weights is not None else None
        if of_classes is None and sample_weight is None:
            masks.append(mask)
            continue
        data_format = network.conf.formats.outputs[number]
        labels = inward(host_labels(network.classes_of[number].formed(given)), data_format)
        weights: Any = 1.0 if of_classes is None else weights_of_classes(labels, of_classes)
        if sample_weight is not None:
            weights = weights * weights_of_examples(f"{who}: sample_weight", sample_weight, labels.shape)
        if mask is None and reached is not None:  # which would reach the loss by itself
            mask = reached[number]
        mask = weighted_mask(who, weights, inward(mask, data_format), labels.shape)
        masks.append(outward(mask, data_format))
    return batch.with_groups(labels_masks=masks)
