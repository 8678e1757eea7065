"""The data of a call of fit, and the weights of its examples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import nd
from nd.arguments import shown
from nd.dataset import DataSet, DataSetIterator, ExistingDataSetIterator
from nd.dataset.class_labels import check_class_numbers, host_labels
from nd.dataset.example_weights import weighted_mask, weights_of_classes, weights_of_examples

from ..conf.data_formats import inward, outward

if TYPE_CHECKING:
    from .multilayer import MultiLayerNetwork

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

    single: DataSet | None
    iterator: DataSetIterator | None = None
    cut: bool = False
    class_weights: list[float] | None = None


def training_data(network: MultiLayerNetwork, data: Any, labels: Any, settings: FitSettings) -> TrainingData:
    """Return the data of a call of fit as one minibatch or an iterator, weighted.

    Raises
    ------
    DTypeError, DataError, ShapeError, ConfigurationError
        It is neither, or something does not go with it.
    """
    if isinstance(data, DataSetIterator) and labels is not None:
        remedy = f"Say epochs={labels!r}." if isinstance(labels, int) else "Leave them out, or give arrays."
        raise nd.DTypeError(f"fit: an iterator brings its labels, got {shown(labels)} beside it. {remedy}")
    if not isinstance(data, DataSet) and labels is None:
        return _iterated(network, data, settings)
    classes = network.classes
    dataset = data
    if labels is not None:
        dataset = DataSet(data, data if labels is data else classes.numbers("fit", labels, learn=True))
    if dataset.labels is not None and classes.classes and len(dataset.labels.shape) == classes.rank - 1:
        check_class_numbers("fit", dataset.labels, classes.classes)
    if settings.class_weight is not None or settings.sample_weight is not None:
        weights = None if settings.class_weight is None else classes.weights("fit", settings.class_weight)
        dataset = weighted(network, "fit", dataset, weights, settings.sample_weight)
    if settings.batch_size is None:
        return TrainingData(classes.formed_set(dataset))
    return TrainingData(None, _cut(network, dataset, settings), cut=True)


def _iterated(network: MultiLayerNetwork, data: Any, settings: FitSettings) -> TrainingData:
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
    iterator = data if isinstance(data, DataSetIterator) else ExistingDataSetIterator(data)
    names = getattr(data, "class_names", None)
    if network.class_names is None and names:
        network.class_names = names
    weights = None if settings.class_weight is None else network.classes.weights("fit", settings.class_weight)
    return TrainingData(None, iterator, class_weights=weights)


def _cut(network: MultiLayerNetwork, dataset: DataSet, settings: FitSettings) -> DataSetIterator:
    """Return minibatches of a DataSet, in an order of its own for every epoch that the network has ever had."""
    from nd.dataset.numpy_iterator import NumpyDataSetIterator

    return NumpyDataSetIterator(
        dataset.features,
        dataset.labels,
        settings.batch_size,  # type: ignore[arg-type]
        features_mask=dataset.features_mask,
        labels_mask=dataset.labels_mask,
        shuffle=settings.shuffle,
        seed=(network.conf.base.seed or 0) + _SEEDS_APART * network.epoch_count,
    )


def weighted(
    network: MultiLayerNetwork, who: str, batch: DataSet, class_weights: list[float] | None, sample_weight: Any = None
) -> DataSet:
    """Return a DataSet with weights of its examples in the mask of its labels.

    Raises
    ------
    ShapeError, DataError, DTypeError
        They do not fit, or there are no labels.
    """
    if batch.labels is None:
        raise nd.DataError(f"{who}: weights need labels, got none.")
    data_format = network.formats.behind[-1]
    labels = inward(host_labels(network.classes.formed(batch.labels)), data_format)
    weights: Any = 1.0
    if class_weights is not None:
        weights = weights_of_classes(labels, class_weights)
    if sample_weight is not None:
        weights = weights * weights_of_examples(f"{who}: sample_weight", sample_weight, labels.shape)
    mask = batch.labels_mask
    if mask is None and batch.features_mask is not None:  # which would reach the loss by itself
        mask = network.mask_of_outputs(batch.features_mask, labels.shape[0])
    mask = outward(weighted_mask(who, weights, inward(mask, data_format), labels.shape), data_format)
    return DataSet(batch.features, batch.labels, batch.features_mask, mask)
