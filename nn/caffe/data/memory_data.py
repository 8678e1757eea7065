"""MemoryData: minibatches of arrays that the caller gives."""

from __future__ import annotations

import warnings
from typing import Any

import nd
from nd import ConfigurationError, ShapeError
from nd.checks import describe_shape
from nd.typing import Array

from ..layers.base import Shape
from .layers import DataLayer, State


class MemoryData(DataLayer):
    """Pictures and labels of `reset`, minibatch by minibatch, from the beginning again behind the last one.

    Notes
    -----
    Tops are data ``[N, C, H, W]`` and label ``[N]``; N is `batch_size`. Source: BVLC Caffe, memory_data_layer.cpp.
    """

    tops = (2, 2)

    def open(self) -> None:
        settings = self.message.memory_data_param
        names = ("batch_size", "channels", "height", "width")
        n, *picture = (self.positive(name, getattr(settings, name)) for name in names)
        self._shapes: list[Shape] = [(n, *picture), (n,)]
        self._arrays: list[Array] = []
        self._cursor = 0

    def reset(self, data: Any, labels: Any) -> None:
        """Take arrays, and begin with their first minibatch.

        Parameters
        ----------
        data : array ``[N, C, H, W]``
            N is a multiple of `batch_size`. Kept, not copied, where it is of the backend and of the layer's dtype.
        labels : array ``[N]``
            Also as ``[N, 1, 1, 1]``, which pycaffe wants.

        Raises
        ------
        ShapeError
            A picture has another shape than the settings say, or there are not as many labels.
        ConfigurationError
            N is 0, or no multiple of `batch_size`.
        """
        with self.told():
            arrays = [nd.as_array(data, self.dtype), nd.as_array(labels, self.dtype)]
            n = self._checked_count(*(tuple(array.shape) for array in arrays))
        if self.message.HasField("transform_param"):
            warnings.warn(f"{self.label}: transform_param does nothing to arrays; they stay as they are.", stacklevel=2)
        self._arrays, self._cursor = [arrays[0], nd.reshape(arrays[1], (n,))], 0

    def _checked_count(self, data: Shape, labels: Shape) -> int:
        """Return how many pictures there are; raise ShapeError or ConfigurationError where arrays do not fit."""
        batch, *picture = self._shapes[0]
        if data[1:] != tuple(picture):
            raise ShapeError(f"data must be {describe_shape(('N', *picture))}, got {describe_shape(data)}.")
        n = data[0]
        if labels not in ((n,), (n, 1, 1, 1)):
            raise ShapeError(f"labels must be [{n}], one for each picture, got {describe_shape(labels)}.")
        if not n or n % batch:
            raise ConfigurationError(
                f"the number of pictures must be a multiple of batch_size, {batch}, got {n}. Leave some out."
            )
        return n

    def shapes(self) -> list[Shape]:
        return self._shapes

    def read(self) -> list[Array]:
        if not self._arrays:
            raise ConfigurationError("needs arrays before the net computes, got none. Call reset(data, labels).")
        start, n = self._cursor, self._shapes[0][0]
        self._cursor = (start + n) % self._arrays[0].shape[0]
        return [array[start : start + n, ...] for array in self._arrays]

    def state(self) -> State:
        return {"cursor": self._cursor}

    def restore(self, state: State) -> None:
        """Take the place in the arrays, which `reset` has given before."""
        self._cursor = self.place(state, "cursor", self._arrays[0].shape[0] - 1 if self._arrays else 0)

    def pickled(self) -> dict[str, Any]:
        return {**super().pickled(), "arrays": [nd.to_host(nd.copy(array)) for array in self._arrays]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._arrays = [nd.as_array(array, self.dtype) for array in state["arrays"]]
        super().__setstate__(state)

    def release(self) -> None:
        self._arrays = []
