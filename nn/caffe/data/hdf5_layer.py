"""HDF5Data: rows of files of HDF5."""

from __future__ import annotations

import nd
from nd import ConfigurationError, DataError
from nd.checks import describe_shape
from nd.dataset.order import EpochOrder
from nd.dataset.picture_batches import joined, rows_of
from nd.typing import HostArray

from ..layers.base import Shape
from .hdf5_data import read_hdf5_data, read_hdf5_list
from .layers import DataLayer, State


class HDF5Data(DataLayer):
    """Rows of the arrays that tops are named after, file by file, from the first file again behind the last one.

    Notes
    -----
    `source` is a list of paths, one a line. Minibatches go on over the ends of files. With `shuffle` every epoch has an
    order of the files, and every file one of its rows. One file is in memory at a time.
    Source: BVLC Caffe, hdf5_data_layer.cpp. Differs: a path may have spaces; files must agree about the shape of rows.
    """

    tops = (1, None)
    _rows: EpochOrder
    _row: int

    def open(self) -> None:
        settings = self.message.hdf5_data_param
        if self.message.HasField("transform_param"):
            raise ConfigurationError("transform_param is not for HDF5Data. Leave it out, and write numbers as needed.")
        self._batch = self.positive("batch_size", settings.batch_size)
        source = self.path(settings.source)
        self._paths = [self.path(name) for name in read_hdf5_list(source)]
        if not self._paths:
            raise DataError(f"{source}: must list files, got none.")
        self._shuffled = settings.shuffle
        self._files = EpochOrder(len(self._paths), self._seed())
        self._files.begin()
        self._place, self._loaded, self._arrays = 0, -1, list[HostArray]()
        self._enter()

    def shapes(self) -> list[Shape]:
        return [(self._batch, *array.shape[1:]) for array in self._arrays]

    def read(self) -> list[HostArray]:
        parts, missing = [], self._batch
        while missing:
            if self._row == self._rows.n:
                self._go_on()
            stop = min(self._row + missing, self._rows.n)
            selection = self._rows.select(self._row, stop)
            parts.append([rows_of(array, selection) for array in self._arrays])
            missing -= stop - self._row
            self._row = stop
        return [joined(arrays) for arrays in zip(*parts, strict=True)]

    def state(self) -> State:
        return {"file": self._place, "row": self._row, "files": self._files.state(), "rows": self._rows.state()}

    def restore(self, state: State) -> None:
        self._place = self.place(state, "file", len(self._paths) - 1)
        self._files.restore(state.get("files"))
        self._enter()
        self._rows.restore(state.get("rows"))
        self._row = self.place(state, "row", self._rows.n)

    def release(self) -> None:
        self._arrays, self._loaded = [], -1

    def _seed(self) -> int | None:
        return self.draws.next_long() if self._shuffled else None

    def _go_on(self) -> None:
        """Begin the next file, or the next epoch."""
        self._place += 1
        if self._place == len(self._paths):
            self._place = 0
            self._files.begin()
        self._enter()

    def _enter(self) -> None:
        """Have the file that is next in the order, and an order of its rows."""
        number = int(self._files.numbers(self._place, self._place + 1)[0])
        if number != self._loaded:
            self._load(number)
        self._rows, self._row = EpochOrder(len(self._arrays[0]), self._seed()), 0
        self._rows.begin()

    def _load(self, number: int) -> None:
        path = self._paths[number]
        arrays = [nd.to_host(array) for array in read_hdf5_data(path, list(self.message.top), dtype=self.dtype)]
        if not len(arrays[0]):
            raise DataError(f"{path}: a file must have rows, got none.")
        for top, array, before in zip(self.message.top, arrays, self._arrays, strict=False):
            if array.shape[1:] != before.shape[1:]:
                raise DataError(
                    f"{path}: rows of {top!r} must be as those of the file before, {describe_shape(before.shape[1:])}, "
                    f"got {describe_shape(array.shape[1:])}."
                )
        self._arrays, self._loaded = arrays, number
