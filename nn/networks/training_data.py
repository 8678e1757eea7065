"""The data of a call of fit, and the weights of its examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import nd
from nd.arguments import shown
from nd.dataset import DataSet, MultiDataSet
from nd.dataset.class_labels import check_class_numbers, host_labels
from nd.dataset.iterator import MinibatchIterator, is_pair

from ..terms.data_formats import inward, outward
from .intake import iterator_of, paired

if TYPE_CHECKING:
    from .held_out import HeldOut
    from .network import Network

_SEEDS_APART = 1_000_003
ClassWeights = list[list[float] | None]
"""For every output the weights of its classes, None where they all count alike."""


class FitSettings(NamedTuple):
    """The arguments of fit beside data and epochs; see `MultiLayerNetwork.fit`."""

    batch_size: int | None = None
    shuffle: bool = True
    validation_data: Any = None
    class_weight: Mapping[Any, float] | str | None = None
    sample_weight: object = None
    validation_split: float | None = None
    patience: int | None = None
    restore_best: bool = False
    monitor: str | None = None
    metrics: object = ()
    loss_weights: Mapping[str, float] | Sequence[float] | None = None
    shards: int | None = None


class TrainingData(NamedTuple):
    """The data that fit goes over: one minibatch, or an iterator.

    `cut` says that fit itself has made the iterator; `class_weights` are for every minibatch of one that was given,
    and `held_out` what validation_split took away.
    """

    single: DataSet | MultiDataSet | None
    iterator: MinibatchIterator[Any] | None = None
    cut: bool = False
    class_weights: ClassWeights | None = None
    held_out: HeldOut | None = None


def training_data(network: Network, data: Any, labels: object, settings: FitSettings) -> TrainingData:
    """Return the data of a call of fit as one minibatch or an iterator, weighted.

    Raises
    ------
    DTypeError, DataError, ShapeError, ConfigurationError
        It is neither, or something does not go with it.
    """
    if isinstance(data, MinibatchIterator) and labels is not None:
        remedy = f"Say epochs={labels!r}." if isinstance(labels, int) else "Leave them out, or give arrays."
        raise nd.DTypeError(f"fit: an iterator brings its labels, got {shown(labels)} beside it. {remedy}")
    learn = network.iteration_count == 0  # after which the network has an order of the classes
    if isinstance(data, MultiDataSet):
        network._check_minibatch("fit", data)
        data = data if data.class_names is None else network.engine.formed(data, "fit", learn)
        return _whole(network, data, settings)
    if labels is None and isinstance(data, tuple) and is_pair(data):
        data, labels = data
    if not isinstance(data, DataSet) and labels is None:
        return _iterated(network, data, settings, learn)
    classes = network.engine.classes
    dataset = data if labels is None else paired(network, "fit", data, labels, learn)
    if dataset.multi.class_names is not None or classes.named_by_numbers:
        dataset = network.engine.formed(dataset, "fit", learn)
    whole = next(iter(dataset.multi.labels), None) if isinstance(dataset, DataSet) else None
    if whole is not None and classes.classes and len(whole.shape) == classes.rank - 1:
        check_class_numbers("fit", whole, classes.classes)
    return _whole(network, dataset, settings)


def _whole(network: Network, data: object, settings: FitSettings) -> TrainingData:
    """Return a data set without what is held out, weighted, as one minibatch or cut into several."""
    held_out = None
    if settings.validation_split is not None:
        from .held_out import split_off

        data, settings, held_out = split_off(data, settings)
    return _single(network, _weighted_by(network, data, settings), settings)._replace(held_out=held_out)


def _weighted_by(network: Network, data: object, settings: FitSettings) -> object:
    """Return a minibatch with the weights of its classes and examples."""
    if settings.class_weight is None and settings.sample_weight is None:
        return data
    return weighted(network, "fit", data, _class_weights(network, settings, data), settings.sample_weight)


def _class_weights(network: Network, settings: FitSettings, data: object = None) -> ClassWeights | None:
    if settings.class_weight is None:
        return None
    from .output_weights import class_weights

    return class_weights(network, settings.class_weight, data)


def _single(network: Network, data: object, settings: FitSettings) -> TrainingData:
    if settings.batch_size is None:
        return TrainingData(network.engine.formed(data))
    return TrainingData(None, _cut(network, data, settings), cut=True)


def _iterated(network: Network, data: object, settings: FitSettings, learn: bool) -> TrainingData:
    iterator = iterator_of(network, "fit", data, learn)
    for name in ("batch_size", "sample_weight", "validation_split"):
        if getattr(settings, name) is not None:
            raise nd.ConfigurationError(
                f"fit: {name} goes with arrays or a DataSet, got it beside an iterator, which makes its minibatches "
                "itself. Leave it out."
            )
    names = getattr(data, "class_names", None)
    classes = network.engine.classes
    if names and classes.classes:
        classes.check_names("fit", names, learn)
    return TrainingData(None, iterator, class_weights=_class_weights(network, settings))


def _cut(network: Network, data: Any, settings: FitSettings) -> MinibatchIterator[Any]:
    """Return minibatches of a data set, in an order of its own for every epoch that the network has ever had."""
    from nd.dataset import NumpyDataSetIterator, NumpyMultiDataSetIterator

    seed = (network.conf.base.seed or 0) + _SEEDS_APART * network.epoch_count
    order = {"shuffle": settings.shuffle, "seed": seed}
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
    network: Network, who: str, batch: Any, class_weights: ClassWeights | None, sample_weight: object = None
) -> Any:
    """Return a minibatch with weights of its examples in the masks of its labels.

    Raises
    ------
    ShapeError, DataError, DTypeError, ConfigurationError
        They do not fit, or there are no labels.
    """
    from nd.dataset.example_weights import weighted_mask, weights_of_classes, weights_of_examples

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
