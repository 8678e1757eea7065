"""Augmentation: shared by pre-processors that change pictures at random, each its own way."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from backends.errors import ConfigurationError, DTypeError, ShapeError, describe_shape
from nd.classes import ExplainedType, overridable
from nd.dataset.async_iterator import reads_ahead
from nd.dataset.checks import as_array
from nd.dataset.examples import Examples
from nd.dataset.image_iterator import ArrayPool
from nd.random import get_random
from nd.serde import as_host

if TYPE_CHECKING:
    from nd.typing import HostArray


@overridable
class Augmentation(metaclass=ExplainedType):
    """Pre-processor of minibatches that changes every picture in a way of its own, drawn at random.

    It takes DataSets and MultiDataSets with pictures, features ``[N, C, H, W]``; inputs of other ranks stay as they
    are. What moves pixels moves those of labels and masks ``[N, ..., H, W]`` of the pictures' size alike, as of
    segmentation. Labels that are the features, of an autoencoder, stay so. Results are new arrays, on the host.

    Attributes
    ----------
    draws : bool
        True: it draws from `nd.random.get_random()`, so it runs in the thread that trains, and nothing is read ahead
        behind it.

    Notes
    -----
    In ``fit`` that generator is the network's own, so a run that goes on from a checkpoint draws what the
    uninterrupted one does. How many numbers are drawn depends on the shapes alone, but with `Mixup`.

    A subclass defines `numbers` and `changed`.
    """

    draws: ClassVar[bool] = True
    moves_pixels: ClassVar[bool] = False
    """Whether pixels go to other places, so that labels and masks of the pictures' size go with them."""
    numbers: int = 1
    """Numbers that are drawn for each picture, uniform in 0 to 1."""
    takes_integers: ClassVar[bool] = True
    """Whether pictures may hold integers; else floats only."""
    fill: Any = None
    """The number that new pixels have, where there are some."""

    def __init__(self) -> None:
        self._pools: dict[int, ArrayPool] = {}  # thread -> its own

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_pools": {}}

    def pre_process(self, data_set: Examples) -> Examples:
        """Change a DataSet or MultiDataSet, and return it.

        Raises
        ------
        ShapeError
            It has no features ``[N, C, H, W]``, or inputs or labels with four axes of another size.
        DTypeError
            It is neither, or the pictures hold other numbers than this can change or fill in.
        ConfigurationError
            A thread that reads ahead has called it.
        """
        who = type(self).__name__
        if not isinstance(data_set, Examples):
            raise DTypeError(
                f"{who}.pre_process: expected a DataSet or MultiDataSet, got {type(data_set).__name__}. Call "
                "transform(images) for an array."
            )
        if reads_ahead():
            raise ConfigurationError(
                f"{who}: must be called by the thread that trains, which has the network's generator, got one that "
                "reads ahead. Set it on the outer iterator, as it is; a function around it needs draws = True."
            )
        multi = data_set.multi
        pictures = [at for at, array in enumerate(multi.features) if len(array.shape) == 4]
        if not pictures:
            shapes = " and ".join(describe_shape(array.shape) for array in multi.features)
            raise ShapeError(f"{who}: expected features [N, C, H, W], got {shapes}. Reshape them to pictures.")
        first = multi.features[pictures[0]]
        n, size = int(first.shape[0]), tuple(first.shape[2:])
        for at in pictures:
            self._check_pixels(who, multi.features[at], size)
        if self.moves_pixels:
            self._check_labels(who, multi.labels, size)
        self.change_set(multi, pictures, self.drawn(n, tuple(first.shape)))
        return data_set

    def transform(self, images: object) -> HostArray:
        """Return changed pictures ``[N, C, H, W]``, or one ``[C, H, W]``, as a new array. Errors as `pre_process`."""
        who = type(self).__name__
        given = as_array(f"{who}.transform", images)
        if len(given.shape) not in (3, 4):
            raise ShapeError(
                f"{who}.transform: expected pictures [N, C, H, W] or one [C, H, W], got {describe_shape(given.shape)}."
            )
        array = as_host(given)
        pictures = array if array.ndim == 4 else array[None]
        self._check_pixels(who, pictures, pictures.shape[2:])
        changed = self.changed(pictures, self.drawn(len(pictures), pictures.shape))
        return changed if array.ndim == 4 else changed[0]

    # ---- what subclasses define, or take

    def check_size(self, who: str, channels: int, size: tuple[int, int]) -> None:
        """Raise ShapeError for pictures that this cannot change."""

    def changed(self, x: HostArray, drawn: HostArray) -> HostArray:
        """Return pictures ``[N, C, H, W]`` changed, as a new array, by numbers ``[numbers, N]``."""
        raise NotImplementedError

    def moved(self, x: HostArray, drawn: HostArray) -> HostArray:
        """Return labels or masks ``[N, ..., H, W]``, whose pixels go where those of the pictures went."""
        return self.changed(x, drawn)

    def drawn(self, n: int, shape: tuple[int, ...]) -> HostArray:
        """Return numbers ``[numbers, N]``, float32, 0 to below 1, from the generator in force."""
        drawn = as_host(get_random().uniform(self.numbers * n))  # the generator's may be 1
        return np.minimum(drawn, np.float32(1.0 - 2.0**-24)).reshape(self.numbers, n)

    def change_set(self, multi: Any, pictures: list[int], drawn: HostArray) -> None:
        """Assign changed arrays to a MultiDataSet, whose features at `pictures` are pictures."""
        first = multi.features[pictures[0]]
        size = tuple(first.shape[2:])
        done: dict[int, Any] = {}
        for at in pictures:
            array = multi.features[at]
            if id(array) not in done:
                done[id(array)] = self.changed(as_host(array), drawn)
        for array in (*multi.labels, *multi.features_masks, *multi.labels_masks) if self.moves_pixels else ():
            if array is not None and id(array) not in done and _is_map(array, size):
                done[id(array)] = self._map_moved(as_host(array), drawn)
        for group in ("features", "labels", "features_masks", "labels_masks"):
            setattr(multi, group, [done.get(id(array), array) for array in getattr(multi, group)])

    def empty(self, shape: tuple[int, ...], dtype: Any) -> HostArray:
        """Return an array whose contents are undefined; float32 ones come again when they have been let go."""
        if dtype != np.float32:
            return np.empty(shape, dtype)
        return self._pools.setdefault(threading.get_ident(), ArrayPool()).take(shape)

    def _map_moved(self, x: HostArray, drawn: HostArray) -> HostArray:
        return self.moved(x, drawn) if x.ndim == 4 else self.moved(x[:, None], drawn)[:, 0]

    def _check_pixels(self, who: str, array: Any, size: tuple[int, ...]) -> None:
        """Raise ShapeError, DTypeError or DataError for pictures that are of another size, or cannot be changed."""
        shape = tuple(array.shape)
        if shape[2:] != size:
            raise ShapeError(
                f"{who}: expected pictures of one size, as {size[0]} x {size[1]} in the first input, got "
                f"{describe_shape(shape)}. Change them before they are put together."
            )
        self.check_size(who, shape[1], (shape[2], shape[3]))
        kind = getattr(array.dtype, "kind", "f")
        if kind != "f" and (kind == "b" or not self.takes_integers):
            raise DTypeError(f"{who}: expected pictures of floats, got {array.dtype}. Convert them, in 0 to 1, before.")
        if kind in "iu" and isinstance(self.fill, float) and not _holds(array.dtype, self.fill):
            raise DTypeError(
                f"{who}: fill must be a number that pictures of {array.dtype} can hold, got {self.fill:g}. Give "
                "another one, or convert the pictures to floats before."
            )

    @staticmethod
    def _check_labels(who: str, labels: list[Any], size: tuple[int, ...]) -> None:
        for array in labels:
            if len(array.shape) == 4 and tuple(array.shape[2:]) != size:
                raise ShapeError(
                    f"{who}: labels with four axes must be of the pictures' size, {size[0]} x {size[1]}, to be moved "
                    f"with them, got {describe_shape(array.shape)}. Boxes of a grid cannot be: change the pictures and "
                    "their boxes before box_labels, or take augmentations that move nothing, as ColorJitter."
                )


def _is_map(array: Any, size: tuple[int, ...]) -> bool:
    """Tell whether labels or a mask have a number for each pixel: ``[N, C, H, W]``, or ``[N, H, W]``."""
    return len(array.shape) in (3, 4) and tuple(array.shape[-2:]) == size


def _holds(dtype: Any, number: float) -> bool:
    """Tell whether a dtype of integers has a number."""
    bounds = np.iinfo(dtype)
    return number.is_integer() and bounds.min <= number <= bounds.max


def check_channels(who: str, channels: int) -> None:
    """Raise ShapeError unless pictures are grey or have three colours."""
    if channels not in (1, 3):
        raise ShapeError(f"{who}: expected pictures of 1 or 3 channels, got {channels}. Give the colours alone.")
