"""The data of a call of fit, and the weights of its examples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import nd
from nd.arguments import shown
from nd.dataset import DataSet, MultiDataSet
from nd.dataset.class_labels import check_class_numbers, host_labels
from nd.dataset.example_weights import weighted_mask, weights_of_classes, weights_of_examples
from nd.dataset.iterator import MinibatchIterator, iterator_over

from ..conf.data_formats import inward, outward
from ..step.minibatch import parts_of_data
from .class_labels import paired

if TYPE_CHECKING:
    from .network import Network

_SEEDS_APART = 1_000_003


class FitSettings(NamedTuple):
    """The arguments of fit beside data and epochs; see `MultiLayerNetwork.fit`."""

    batch_size: int | None = None
    shuffle: bool = True
    validation_data: Any = None
    class_weight: Mapping[Any, float] | None = None
    sample_weight: Any = None


class TrainingData(NamedTuple):
    """The data that fit goes over: one minibatch, or an iterator.

    `cut` says that fit itself has made the iterator; `class_weights` are for every minibatch of one that was given.
    """

    single: DataSet | MultiDataSet | None
    iterator: MinibatchIterator[Any] | None = None
    cut: bool = False
    class_weights: list[float] | None = None


def training_data(network: Network, data: Any, labels: Any, settings: FitSettings) -> TrainingData:
    """Return the data of a call of fit as one minibatch or an iterator, weighted.

    Raises
    ------
    DTypeError, DataError, ShapeError, ConfigurationError
        It is neither, or something does not go with it.
    """
    if isinstance(data, MinibatchIterator) and labels is not None:
        remedy = f"Say epochs={labels!r}." if isinstance(labels, int) else "Leave them out, or give arrays."
        raise nd.DTypeError(f"fit: an iterator brings its labels, got {shown(labels)} beside it. {remedy}")
    if isinstance(data, MultiDataSet):
        network.check_minibatch("fit", data)
        return _single(network, _weighted_by(network, data, settings), settings)
    if not isinstance(data, DataSet) and labels is None:
        return _iterated(network, data, settings)
    classes, dataset = network.classes, data
    if labels is not None and labels is data:
        dataset = DataSet(data, data)
    elif labels is not None:
        dataset = paired("fit", network.classes_of, len(network.conf.input_names), data, labels, learn=True)
    whole = dataset.labels if isinstance(dataset, DataSet) else None
    if whole is not None and classes.classes and len(whole.shape) == classes.rank - 1:
        check_class_numbers("fit", whole, classes.classes)
    return _single(network, _weighted_by(network, dataset, settings), settings)


def _weighted_by(network: Network, data: Any, settings: FitSettings) -> Any:
    """Return a minibatch with the weights of its classes and examples."""
    if settings.class_weight is None and settings.sample_weight is None:
        return data
    weights = None if settings.class_weight is None else network.classes.weights("fit", settings.class_weight)
    return weighted(network, "fit", data, weights, settings.sample_weight)


def _single(network: Network, data: Any, settings: FitSettings) -> TrainingData:
    if settings.batch_size is None:
        return TrainingData(network.formed(data))
    return TrainingData(None, _cut(network, data, settings), cut=True)


def _iterated(network: Network, data: Any, settings: FitSettings) -> TrainingData:
    if hasattr(data, "shape"):
        raise nd.DataError("fit: features need labels, got features alone. Call fit(features, labels).")
    if not isinstance(data, Iterable):
        raise nd.DTypeError(f"fit: expected features, a DataSet or an iterator of them, got {data!r}.")
    for name in ("batch_size", "sample_weight"):
        if getattr(settings, name) is not None:
            raise nd.ConfigurationError(
                f"fit: {name} goes with arrays or a DataSet, got it beside an iterator, which makes its minibatches "
                "itself. Leave it out."
            )
    iterator = data if isinstance(data, MinibatchIterator) else existing(network, data)
    names = getattr(data, "class_names", None)
    if network.class_names is None and names:
        network.class_names = names
    weights = None if settings.class_weight is None else network.classes.weights("fit", settings.class_weight)
    return TrainingData(None, iterator, class_weights=weights)


def existing(network: Network, data: Iterable[Any]) -> MinibatchIterator[Any]:
    """Return an iterator over the minibatches of an iterable, of the kind that the network needs or that it holds."""
    several = len(network.conf.input_names) > 1 or len(network.classes_of) > 1
    return iterator_over(data, several and MultiDataSet in network.data_types)


def _cut(network: Network, data: Any, settings: FitSettings) -> MinibatchIterator[Any]:
    """Return minibatches of a data set, in an order of its own for every epoch that the network has ever had."""
    from nd.dataset import NumpyDataSetIterator, NumpyMultiDataSetIterator

    seed = (network.conf.base.seed or 0) + _SEEDS_APART * network.epoch_count
    order: dict[str, Any] = {"shuffle": settings.shuffle, "seed": seed}
    if isinstance(data, MultiDataSet):
        masks = {"features_masks": data.features_masks, "labels_masks": data.labels_masks}
        return NumpyMultiDataSetIterator(data.features, data.labels, settings.batch_size, **masks, **order)  # type: ignore[arg-type]
    return NumpyDataSetIterator(
        data.features,
        data.labels,
        settings.batch_size,  # type: ignore[arg-type]
        features_mask=data.features_mask,
        labels_mask=data.labels_mask,
        **order,
    )


def weighted(
    network: Network, who: str, batch: Any, class_weights: list[float] | None, sample_weight: Any = None
) -> Any:
    """Return a minibatch with weights of its examples in the masks of its labels.

    Raises
    ------
    ShapeError, DataError, DTypeError, ConfigurationError
        They do not fit, there are no labels, or there are weights of classes and several outputs.
    """
    parts = parts_of_data(batch)
    if not parts.labels:
        raise nd.DataError(f"{who}: weights need labels, got none.")
    if class_weights is not None and len(parts.labels) > 1:
        raise nd.ConfigurationError(
            f"{who}: class_weight is for networks with one output, got {len(parts.labels)}. Give sample_weight."
        )
    reached = network.masks_of_outputs(batch) if any(mask is not None for mask in parts.features_masks) else None
    masks = []
    for number, given in enumerate(parts.labels):
        data_format = network.conf.formats.outputs[number]
        labels = inward(host_labels(network.classes_of[number].formed(given)), data_format)
        weights: Any = 1.0
        if class_weights is not None:
            weights = weights_of_classes(labels, class_weights)
        if sample_weight is not None:
            weights = weights * weights_of_examples(f"{who}: sample_weight", sample_weight, labels.shape)
        mask = parts.labels_masks[number] if parts.labels_masks else None
        if mask is None and reached is not None:  # which would reach the loss by itself
            mask = reached[number]
        mask = weighted_mask(who, weights, inward(mask, data_format), labels.shape)
        masks.append(outward(mask, data_format))
    if isinstance(batch, DataSet):
        return DataSet(batch.features, batch.labels, batch.features_mask, masks[0])
    return MultiDataSet(batch.features, batch.labels, batch.features_masks, masks)
