"""The data of a call of fit, and a minibatch of them, brought to the network's backend."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import nd
from nd.arguments import shown
from nd.arrays.creation import is_ready
from nd.dataset import DataSet, MultiDataSet
from nd.dataset.class_labels import check_class_numbers
from nd.dataset.iterator import MinibatchIterator, is_pair
from nd.typing import Array

from ..step.worker import Arrays, Masks, StepInput
from ..terms.data_formats import inward
from .intake import iterator_of, paired

if TYPE_CHECKING:
    from .features_check import FeaturesCheck
    from .held_out import HeldOut
    from .network import Network
    from .output_weights import ClassWeights


_SEEDS_APART = 1_000_003


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

    def weighted(self, network: Network, batch: Any) -> Any:
        """Return a minibatch of the iterator with the weights of its classes."""
        if self.class_weights is None:
            return batch
        from .output_weights import weighted  # which fit without weights does not need

        return weighted(network, "fit", batch, self.class_weights)


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
    if settings.class_weight is not None or settings.sample_weight is not None:
        from .output_weights import weighted

        data = weighted(network, "fit", data, _class_weights(network, settings, data), settings.sample_weight)
    return _single(network, data, settings)._replace(held_out=held_out)


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


# ---- a minibatch on its backend


def as_features(who: str, x: object, dtype: str, buffers: Callable[..., Array]) -> Array:
    """Bring features ``[N, ...]`` to the current backend, in that dtype and the preferred memory order.

    Raises
    ------
    ShapeError
        There is no axis of examples, or no example.
    """
    return nd.to_input_order(_features_array(who, x, dtype), buffers)


def _features_array(who: str, x: object, dtype: str) -> Array:
    x = nd.as_array(x, dtype)
    if x.ndim < 2 or x.shape[0] == 0:
        raise nd.ShapeError(
            f"{who}: expected features [N, ...] with N >= 1, got {list(x.shape)}. "
            "Give one row per example, also for a single one."
        )
    return x


class Minibatch:
    """Brings features, labels and masks to the network's backend, and remembers them.

    Parameters
    ----------
    who : str
        The kind of network, for messages.
    dtype : str
    buffers : callable
        Memory for features that lie in another order.
    accepts : sequence of FeaturesCheck
        Of every input of the network.
    outputs : int
        Of the network.
    aligned : bool
        Whether row i of everything is example i; not so where vertices stack examples or take them apart.
    labels_last : sequence of str or None
        Of every output the format of its labels where these have the channels last.

    Attributes
    ----------
    rank, columns : int
        Of the labels of a single output, where they are known.
    """

    def __init__(
        self,
        who: str,
        dtype: str,
        buffers: Callable[..., Array],
        accepts: Sequence[FeaturesCheck],
        outputs: int,
        aligned: bool = True,
        labels_last: Sequence[str | None] = (),
    ) -> None:
        self.labels_last = labels_last or (None,) * outputs
        self.who, self.dtype, self.buffers, self.accepts, self.outputs = who, dtype, buffers, accepts, outputs
        self.aligned = aligned
        self.rank = self.columns = 0
        self._no_masks: tuple[Masks, Masks] = ((None,) * len(accepts), (None,) * outputs)
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self.features: tuple[Array | Any, ...] = ()
        self.labels: tuple[Array | Any, ...] = ()
        self.clear_masks()

    def clear_masks(self) -> None:
        """Forget the masks."""
        self.features_masks, self.labels_masks = self._no_masks

    def another(self, buffers: Callable[..., Array], accepts: Sequence[FeaturesCheck] = ()) -> Minibatch:
        """Return an empty one of the same network, which may accept other features."""
        accepts = accepts or self.accepts
        return Minibatch(self.who, self.dtype, buffers, accepts, self.outputs, self.aligned, self.labels_last)

    def set_features(self, xs: Sequence[Any]) -> None:
        """Set features ``[N, ...]`` of every input."""
        if len(xs) == 1 and self._is_next(xs[0]):
            self.features = (xs[0],)
            return
        if len(xs) != len(self.accepts):
            raise nd.ShapeError(
                f"{self.who}: expected features of {len(self.accepts)} input(s), got {len(xs)}. Give an array for "
                "each of them, as MultiDataSet(features, labels) holds them."
            )
        features = []
        for number, (x, accepts) in enumerate(zip(xs, self.accepts, strict=True)):
            if accepts.rows is not None:
                accepts.check_indices(x)  # before they take the place of what was set
            ready = is_ready(x, self.dtype) and x.ndim > 1 and x.shape[0] > 0
            staged = None if ready else self._staged(f"input{number}", x)
            array = staged if staged is not None else x if ready else _features_array(self.who, x, self.dtype)
            if array.shape[1:] != accepts.fitting:
                accepts.check(tuple(array.shape))
            features.append(inward(array, accepts.last) if accepts.last else array)
        self.features = tuple(features)

    def _is_next(self, x: Any) -> bool:
        """Tell whether x is like the features before, of a single input, and may stay as it is: the usual case."""
        accepts = self.accepts[0]
        fits = is_ready(x, self.dtype) and x.shape[1:] == accepts.fitting and x.shape[0] > 0
        return fits and len(self.accepts) == 1 and accepts.rows is None and accepts.last is None

    def set_labels(self, ys: Sequence[object]) -> None:
        """Set labels of every output: ``[N, n_out]``, ``[N, n_out, T]`` or ``[N, C, H, W]``."""
        if len(ys) == self.outputs == 1 and self.labels_last[0] is None and is_ready(ys[0], self.dtype):
            self.labels = (ys[0],)
            return
        if len(ys) != self.outputs:
            raise nd.ShapeError(
                f"{self.who}: expected labels of {self.outputs} output(s), got {len(ys)}. Give an array for each of "
                "them, as MultiDataSet(features, labels) holds them."
            )
        labels = []
        for number, (y, last) in enumerate(zip(ys, self.labels_last, strict=True)):
            ready = is_ready(y, self.dtype)
            staged = None if ready else self._staged(f"labels{number}", y)
            array = y if ready else nd.as_array(y, self.dtype) if staged is None else staged
            labels.append(inward(array, last) if last else array)
        self.labels = tuple(labels)

    def _staged(self, name: str, data: Any) -> Array | None:
        """Return host data in this object's buffers, where the backend copies them while the host goes on."""
        return nd.staged(data, self.dtype, lambda: self.buffers(name, tuple(data.shape)))

    def set_masks(self, features_masks: Sequence[object], labels_masks: Sequence[object]) -> None:
        """Set masks: ``[N, 1]``, series ``[N, T]``, images ``[N, 1, H, W]``, labels also their shape; None for none."""
        groups = (("features", features_masks, len(self.accepts)), ("labels", labels_masks, self.outputs))
        for name, masks, count in groups:
            if len(masks) not in (0, count):
                raise nd.ShapeError(
                    f"{self.who}: expected a mask or None for each of {count} {name}, got {len(masks)}. Give as many."
                )
        lasts = ([accepts.last for accepts in self.accepts], self.labels_last)
        self.features_masks, self.labels_masks = (
            tuple(self._mask(name, mask, last) for mask, last in zip(masks, of_group, strict=False)) or (None,) * count
            for (name, masks, count), of_group in zip(groups, lasts, strict=True)
        )

    def _mask(self, name: str, mask: object, last: str | None) -> Array | None:
        if mask is None:
            return None
        array = nd.as_array(mask, self.dtype)
        nd.checks.check_mask(f"{self.who}: a mask of the {name}", mask if hasattr(mask, "dtype") else array)
        return inward(array, last) if last else array

    def takes(self, data: object) -> bool:
        """Tell whether a DataSet's labels have a column for each of several outputs, as the loss takes them."""
        if type(data) is not DataSet or not data.multi.labels:
            return False
        labels = data.multi.labels[0]
        return len(labels.shape) == self.rank and (labels.shape[-1 if self.labels_last[0] else 1] == self.columns > 1)

    def set(self, data: DataSet | MultiDataSet) -> None:
        """Set everything from a DataSet or MultiDataSet; raise DataError if it has no labels."""
        whole = data.multi
        if not whole.labels:
            raise nd.DataError("fit: a data set needs labels to be trained on or scored, got none.")
        self.set_features(whole.features)
        self.set_labels(whole.labels)
        masks = whole.features_masks, whole.labels_masks
        if all(mask is None for of_group in masks for mask in of_group):
            self.clear_masks()
        else:
            self.set_masks(*masks)

    def step(self) -> StepInput:
        """Return the minibatch as the input of a step of training; errors as `check`."""
        self.check()
        return StepInput(self.features, self.labels, self.features_masks, self.labels_masks)

    def step_without_labels(self, state: Callable[[Arrays], Arrays]) -> StepInput:
        """Return the minibatch as the input of a prediction, with the state for such features."""
        self.check_features()
        return StepInput(self.features, (), self.features_masks, self.labels_masks, state(self.features))

    def check(self) -> None:
        """Raise unless features and labels are there, one row of everything for each example."""
        if not self.features or not self.labels:
            raise nd.ConfigurationError("compute_gradient_and_score: set_input and set_labels must come first.")
        n = self.features[0].shape[0]
        unmasked = self.features_masks is self._no_masks[0] and self.labels_masks is self._no_masks[1]
        if unmasked and len(self.features) == len(self.labels) == 1 and self.labels[0].shape[:1] == (n,):
            return
        self.check_features()
        for number, (labels, mask) in enumerate(zip(self.labels, self.labels_masks, strict=True)):
            n = n if self.aligned or labels.ndim == 0 else labels.shape[0]
            if labels.shape[:1] != (n,):
                self._refuse_rows("labels", labels, n, number)
            if mask is not None and mask.shape[:1] != (n,):
                self._refuse_rows("labels' mask", mask, n, number)

    def check_features(self) -> None:
        """Raise ShapeError unless all features have as many examples, and masks fit them."""
        n = self.features[0].shape[0]
        for number, (features, mask) in enumerate(zip(self.features, self.features_masks, strict=True)):
            if features.shape[0] != n and self.aligned:
                self._refuse_rows(f"features of input {number}", features, n, 0)
            if mask is not None:
                self._check_mask(mask, features.shape, self.accepts[number])

    def _check_mask(self, mask: Array, shape: tuple[int, ...], accepts: FeaturesCheck) -> None:
        """Raise ShapeError unless the mask has a number for each row, time step of a series, or place of an image."""
        n, rows_are_series = shape[0], accepts.rows_are_series  # mask [N, T], not [N, 1]
        series = len(shape) == 3 or (len(shape) == 2 and rows_are_series)
        places: tuple[int, ...] = shape[-1:] if series else (1, *shape[2:])
        sizes = tuple(mask.shape)
        fits = len(sizes) == len(places) + 1 and all(f in {1, p} for f, p in zip(sizes[1:], places, strict=True))
        if sizes[:1] != (n,) or not fits or (series and sizes[1:] != places):
            raise nd.ShapeError(
                f"{self.who}: the features' mask must be {[n, *places]}, got {list(sizes)}, for features {list(shape)}."
            )

    def _refuse_rows(self, name: str, array: Array, n: int, output: int) -> NoReturn:
        which = f" of output {output}" if self.outputs > 1 and name.startswith("labels") else ""
        raise nd.ShapeError(
            f"{self.who}: {name}{which}: expected [{n}, ...] for {n} examples, got {list(array.shape)}. One row per "
            "example."
        )
