"""Data: examples of a database."""

from __future__ import annotations

from itertools import islice

from nd import DataError

from .databases import DatumDatabase
from .layers import State
from .picture_layer import PictureLayer
from .records import Example, RecordReader


class Data(PictureLayer):
    """Examples of a database in LMDB, in the order of their keys, from the first again behind the last one.

    Notes
    -----
    Tops are data ``[N, C, H, W]`` and, where there is a second one, label ``[N]``. With `rand_skip` the first minibatch
    begins at one of the first `rand_skip` records, drawn; `force_encoded_color` is `force_color` of older files.
    Source: BVLC Caffe, data_layer.cpp. Differs: the folder tells its kind, not `backend`, and LevelDB is refused;
    `rand_skip` does something, as in older releases; nothing is read ahead, so `prefetch` changes nothing.
    """

    tops = (1, 2)
    _cursor: int
    _ahead: list[tuple[bytes, bytes]]

    def open(self) -> None:
        settings = self.message.data_param
        self.batch = self.positive("batch_size", settings.batch_size)
        self._database = DatumDatabase(self.path(settings.source))
        if not len(self._database):
            raise DataError(f"{self._database.path}: a database must have records, got none.")
        self.transformed_by(self.message.transform_param)
        color = True if settings.force_encoded_color else self.transformer.color
        self._reader = RecordReader(color, self._database.path)
        skipped = self.draws.next_int(settings.rand_skip) if settings.rand_skip else 0
        self._begin(skipped % len(self._database))
        self.shapes()

    def ahead(self) -> Example:
        if not self._ahead:
            self._ahead = self._some(1)
        return self._reader.example(*self._ahead[0])

    def examples(self, n: int) -> list[Example]:
        records, self._ahead = self._ahead, []
        while len(records) < n:
            records += self._some(n - len(records))
        self._cursor = (self._cursor + n) % len(self._database)
        return [self._reader.example(key, record) for key, record in records]

    def state(self) -> State:
        return {"cursor": self._cursor}

    def restore(self, state: State) -> None:
        self.release()
        self._begin(self.place(state, "cursor", len(self._database) - 1))

    def release(self) -> None:
        self._records.close()
        self._ahead = []

    def _begin(self, cursor: int) -> None:
        self._cursor, self._ahead = cursor, []
        self._records = self._database.records(cursor)

    def _some(self, n: int) -> list[tuple[bytes, bytes]]:
        """Return the next records, n or fewer before the end; behind it the first ones."""
        records = list(islice(self._records, n))
        if not records:
            self._records = self._database.records()
            records = list(islice(self._records, n))
        return records
