"""The input of one step: a minibatch, brought to the network's backend."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import nd
from nd.arrays.creation import is_ready
from nd.arrays.rows import check_indices
from nd.checks import describe_shape
from nd.dataset import DataSet
from nd.typing import Array

from ..conf.data_formats import ChainFormats, arranged, channels_last, inward
from ..layers.base import label_of

if TYPE_CHECKING:
    from ..conf.network import MultiLayerConfiguration
    from .worker import SharedNodes


class StepInput:
    """Features ``[N, ...]``, labels and masks of one minibatch, or of a segment of its series.

    Parameters
    ----------
    features, labels, features_mask, labels_mask : array or None
    state : tuple of array ``[N, ...]``
        Carried by layers from the segment before.
    own : tuple of bool
        Which of features, labels and masks lie where nobody else writes, in every step of the same shapes.

    Attributes
    ----------
    arrays : tuple of array or None
        Everything whose numbers change from step to step.
    key : tuple
        Shapes of everything: steps of one key take the same operations.
    """

    __slots__ = ("arrays", "features", "features_mask", "key", "labels", "labels_mask", "own", "state")

    def __init__(
        self,
        features: Array,
        labels: Array | None = None,
        features_mask: Array | None = None,
        labels_mask: Array | None = None,
        state: tuple[Array, ...] = (),
        own: tuple[bool, ...] = (False, False, False, False),
    ) -> None:
        self.features: Array = features
        self.labels: Array | Any = labels
        self.features_mask: Array | Any = features_mask
        self.labels_mask: Array | Any = labels_mask
        self.state, self.own = state, own
        self.arrays: tuple[Array | Any, ...] = (features, labels, features_mask, labels_mask, *state)
        self.key: tuple[object, ...] = (
            features.shape,
            None if labels is None else labels.shape,
            None if features_mask is None else features_mask.shape,
            None if labels_mask is None else labels_mask.shape,
        )
        if state:
            self.key += tuple(array.shape for array in state)

    @property
    def examples(self) -> int:
        """N."""
        return self.features.shape[0]

    def with_arrays(self, arrays: Sequence[Array | Any]) -> StepInput:
        """Return the same with others in the place of `arrays`."""
        features, labels, features_mask, labels_mask, *state = arrays
        return StepInput(features, labels, features_mask, labels_mask, tuple(state), self.own)

    def with_state(self, state: tuple[Array, ...]) -> StepInput:
        """Return the same with another state."""
        return StepInput(self.features, self.labels, self.features_mask, self.labels_mask, state, self.own)

    def times(self, steps: slice) -> StepInput:
        """Return views of some time steps of series ``[N, C, T]`` and of their masks ``[N, T]``."""
        features_mask, labels_mask = (
            None if mask is None else mask[:, steps] for mask in (self.features_mask, self.labels_mask)
        )
        return StepInput(self.features[:, :, steps], self.labels[:, :, steps], features_mask, labels_mask)

    def part(self, rows: slice) -> StepInput:
        """Return views of some of the examples."""
        if rows.start == 0 and rows.stop == self.features.shape[0]:
            return self
        features: Any
        state: list[Any]
        features, labels, features_mask, labels_mask, *state = (
            None if array is None else array[rows, ...] for array in self.arrays
        )
        return StepInput(features, labels, features_mask, labels_mask, tuple(state))


def as_features(x: Any, dtype: str, buffers: Callable[..., Array]) -> Array:
    """Bring features ``[N, ...]`` to the current backend, in that dtype and the preferred memory order.

    Raises
    ------
    ShapeError
        There is no axis of examples, or no example.
    """
    return nd.to_activation_order(_features_array(x, dtype), buffers)


def _features_array(x: Any, dtype: str) -> Array:
    x = nd.as_array(x, dtype)
    if x.ndim < 2 or x.shape[0] == 0:
        raise nd.ShapeError(
            f"MultiLayerNetwork: expected features [N, ...] with N >= 1, got {list(x.shape)}. "
            "Give one row per example, also for a single one."
        )
    return x


class FeaturesCheck:
    """The shapes of features that a network takes.

    Parameters
    ----------
    conf : MultiLayerConfiguration
        With an input type; without one the layers alone say what fits them.
    """

    def __init__(self, conf: MultiLayerConfiguration) -> None:
        self.rows_are_series = conf.rows_are_series
        self._type, self._label = conf.input_type, label_of(0, conf.layers[0])
        self.formats = ChainFormats(conf)
        ends = (self.formats.input, self.formats.behind[-1])
        self.last = tuple(name if channels_last(name) else None for name in ends)
        """Formats of features and labels where these have the channels last."""
        self._allowed: list[tuple[int | None, ...]] = []
        first: Any = conf.layers[0].innermost
        self.rows: int | None = first.n_in if getattr(first, "takes_indices", False) else None
        """Of an embedding that the features are indices into."""
        if self._type is not None and self.rows is None:
            self._allowed = [self._type.shape]
            if 0 in conf.preprocessors:  # features in the form that it would give them pass it
                passing = conf.preprocessors[0].output_type(self._type.computed).shape
                self._allowed.append(arranged(passing, self.formats.input))
        self.fitting: tuple[int, ...] | None = None
        """The shape of an example that was checked last, and fits: such a minibatch is not checked again."""

    def check(self, shape: tuple[int, ...]) -> None:
        """Raise ShapeError where features of that shape do not fit the input type."""
        if self._allowed and not any(_fits(shape[1:], allowed) for allowed in self._allowed):
            axes = [("N", *("T" if size is None else size for size in allowed)) for allowed in self._allowed]
            raise nd.ShapeError(
                f"{self._label}: expected input {' or '.join(map(describe_shape, axes))}, got {describe_shape(shape)}. "
                f"The network's input type is {self._type!r}: make the features fit, or set another input type."
            )
        self.fitting = shape[1:]

    def check_indices(self, x: Any) -> None:
        """Raise DataError where features of the host are not numbers of an embedding's rows, and a device is next."""
        if self.rows is not None:
            check_indices(x, self.rows, self._label)

    @property
    def doubt(self) -> str:
        """A sentence for errors: possible faults of features of the device, which nobody has looked at."""
        return "" if self.rows is None else f" An index that is no row of {self._label} gives NaN on a GPU."


def _fits(sizes: tuple[int, ...], allowed: tuple[int | None, ...]) -> bool:
    return len(sizes) == len(allowed) and all(a in (None, s) for s, a in zip(sizes, allowed, strict=True))


class Minibatch:
    """Brings features, labels and masks to the network's backend, and remembers them.

    Parameters
    ----------
    dtype : str
    buffers : callable
        Memory for features that lie in another order.
    accepts : FeaturesCheck
        Of the network.
    """

    def __init__(self, dtype: str, buffers: Callable[..., Array], accepts: FeaturesCheck) -> None:
        self.dtype, self.buffers, self.accepts = dtype, buffers, accepts
        self.rank = self.columns = 0
        """Of labels, where they are known."""
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self.features: Array | Any = None
        self.labels: Array | Any = None
        self.features_mask: Array | Any = None
        self.labels_mask: Array | Any = None
        self._own = [False] * 4

    def set_features(self, x: Any) -> None:
        """Set features ``[N, ...]``."""
        if self.accepts.rows is not None:
            self.accepts.check_indices(x)  # before they take the place of what was set
        ready = is_ready(x, self.dtype) and x.ndim > 1 and x.shape[0] > 0
        staged = None if ready else self._staged("input", x)
        features = staged if staged is not None else x if ready else _features_array(x, self.dtype)
        if features.shape[1:] != self.accepts.fitting:
            self.accepts.check(tuple(features.shape))
        last = self.accepts.last[0]
        self.features, self._own[0] = inward(features, last) if last else features, staged is not None

    def set_labels(self, y: Any) -> None:
        """Set labels ``[N, n_out]``, ``[N, n_out, T]`` or ``[N, C, H, W]``."""
        ready = is_ready(y, self.dtype)
        staged = None if ready else self._staged("labels", y)
        labels = staged if staged is not None else y if ready else nd.as_array(y, self.dtype)
        last = self.accepts.last[1]
        self.labels, self._own[1] = inward(labels, last) if last else labels, staged is not None

    def _staged(self, name: str, data: Any) -> Array | None:
        """Return host data in this object's buffers, where the backend copies them while the host goes on."""
        return nd.staged(data, self.dtype, lambda: self.buffers(name, tuple(data.shape)))

    def set_masks(self, features_mask: Any, labels_mask: Any) -> None:
        """Set masks: ``[N, 1]``, series ``[N, T]``, images ``[N, 1, H, W]``, labels also their shape; None for none."""
        self.features_mask, self.labels_mask = (
            None if mask is None else inward(nd.as_array(mask, self.dtype), last)
            for mask, last in zip((features_mask, labels_mask), self.accepts.last, strict=True)
        )

    def takes(self, data: DataSet) -> bool:
        """Tell whether labels have a column for each of several outputs, as the loss takes them."""
        labels = data.labels
        if labels is None or len(labels.shape) != self.rank:
            return False
        return labels.shape[-1 if self.accepts.last[1] else 1] == self.columns > 1

    def set(self, data: DataSet) -> None:
        """Set everything from a DataSet; raise DataError if it has no labels."""
        if data.labels is None:
            raise nd.DataError("fit: a data set needs labels to be trained on or scored, got none.")
        self.set_features(data.features)
        self.set_labels(data.labels)
        if data.features_mask is data.labels_mask is None:
            self.features_mask = self.labels_mask = None
        else:
            self.set_masks(data.features_mask, data.labels_mask)

    def step(self) -> StepInput:
        """Return the minibatch as the input of a step of training; errors as `check`."""
        self.check()
        return StepInput(self.features, self.labels, self.features_mask, self.labels_mask, own=tuple(self._own))

    def step_without_labels(self, shared: SharedNodes) -> StepInput:
        """Return the minibatch as the input of a prediction."""
        self.check_features_mask()
        own = (self._own[0], False, False, False)
        state = shared.initial_state(self.features.shape[0])
        return StepInput(self.features, None, self.features_mask, self.labels_mask, state, own)

    def check(self) -> None:
        """Raise unless features and labels are there, one row of everything for each example."""
        if self.features is None or self.labels is None:
            raise nd.ConfigurationError("compute_gradient_and_score: set_input and set_labels must come first.")
        n = self.features.shape[0]
        if self.labels.shape[:1] != (n,):
            self._refuse_rows("labels", self.labels, n)
        if self.labels_mask is not None and self.labels_mask.shape[:1] != (n,):
            self._refuse_rows("labels' mask", self.labels_mask, n)
        if self.features_mask is not None:
            self.check_features_mask()

    def check_features_mask(self) -> None:
        """Raise ShapeError unless the mask has a number for each row, time step of a series, or place of an image."""
        if self.features_mask is None:
            return
        mask, shape, n = self.features_mask, self.features.shape, self.features.shape[0]
        rows_are_series = self.accepts.rows_are_series  # mask [N, T], not [N, 1]
        series = len(shape) == 3 or (len(shape) == 2 and rows_are_series)
        places: tuple[int, ...] = shape[-1:] if series else (1, *shape[2:])
        sizes = tuple(mask.shape)
        fits = len(sizes) == len(places) + 1 and all(f in {1, p} for f, p in zip(sizes[1:], places, strict=True))
        if sizes[:1] != (n,) or not fits or (series and sizes[1:] != places):
            raise nd.ShapeError(
                f"MultiLayerNetwork: the features' mask must be {[n, *places]}, got {list(sizes)}, for features "
                f"{list(shape)}."
            )

    @staticmethod
    def _refuse_rows(name: str, array: Array, n: int) -> NoReturn:
        raise nd.ShapeError(
            f"MultiLayerNetwork: {name}: expected [{n}, ...] for {n} examples, got {list(array.shape)}. "
            "One row per example."
        )
