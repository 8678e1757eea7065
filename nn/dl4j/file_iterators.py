"""Minibatches in files, one DataSet to a file, with Java's constructors."""

from __future__ import annotations

import atexit
import pathlib
import re
import shutil
import tempfile
from collections.abc import Sequence
from typing import overload

from nd import ConfigurationError, DataError, dataset
from nd.arguments import Count, Path, checked
from nd.dataset import DataSet
from nd.files.writing import check_folder


class _SavedDataSets(Sequence[DataSet]):
    """DataSets in files, read one by one when they are asked for."""

    def __init__(self, paths: Sequence[pathlib.Path]) -> None:
        self._paths = paths

    def __len__(self) -> int:
        return len(self._paths)

    @overload
    def __getitem__(self, index: int) -> DataSet: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[DataSet]: ...
    def __getitem__(self, index: int | slice) -> DataSet | Sequence[DataSet]:
        if isinstance(index, slice):
            return _SavedDataSets(self._paths[index])
        return DataSet.load(self._paths[index])


class ExistingMiniBatchDataSetIterator(dataset.ExistingDataSetIterator):
    """Minibatches in the files of a folder, number 0 first, that ``DataSet.save`` wrote, Java's or ours.

    Parameters
    ----------
    root_dir : path
    pattern : str
        The files' names, with ``%d`` for the number.

    Raises
    ------
    ConfigurationError
        The pattern has not one ``%d``.
    DataError
        There is no such file, or one is missing between two that are there.

    Notes
    -----
    Source: ND4J ``ExistingMiniBatchDataSetIterator``. Differs: other files in the folder do no harm.
    """

    DEFAULT_PATTERN = "dataset-%d.bin"

    @checked
    def __init__(self, root_dir: Path, pattern: str = DEFAULT_PATTERN) -> None:
        super().__init__(_SavedDataSets(_numbered(pathlib.Path(root_dir), pattern)))


def _numbered(folder: pathlib.Path, pattern: str) -> list[pathlib.Path]:
    who, parts = "ExistingMiniBatchDataSetIterator", re.split(r"%0?\d*d", pattern)
    if len(parts) != 2 or "%" in "".join(parts):
        raise ConfigurationError(f"{who}: pattern must have one %d, got {pattern!r}. Write dataset-%d.bin, say.")
    name = re.compile(r"\d+".join(map(re.escape, parts)))
    there = {path.name for path in folder.iterdir() if name.fullmatch(path.name)}
    wanted = [pattern % number for number in range(len(there))]
    missing = [file for file in wanted if file not in there]
    if missing or not there:
        raise DataError(
            f"{who}: {folder} must hold {missing[0] if missing else pattern % 0}, got {sorted(there)[:5]}. "
            "Give the pattern of the names, whose numbers begin with 0."
        )
    return [folder / file for file in wanted]


class MiniBatchFileDataSetIterator(ExistingMiniBatchDataSetIterator):
    """A DataSet in minibatches that are written to files first, and read when they are asked for.

    Parameters
    ----------
    data_set : DataSet
        Examples that do not fill a last minibatch are left out, as in Java.
    batch : int
    delete : bool
        Remove the files when the program ends.
    root_dir : path, optional
        Folder in which one for them is created; else the system's folder for temporary files.

    Raises
    ------
    DataError
        There are fewer examples than `batch`.

    Notes
    -----
    Source: ND4J ``MiniBatchFileDataSetIterator``. Differs: masks are kept; the files are those of ``DataSet.save``.
    """

    @checked
    def __init__(self, data_set: DataSet, batch: Count, delete: bool = True, root_dir: Path | None = None) -> None:
        count = data_set.num_examples() // batch
        if not count:
            raise DataError(
                f"MiniBatchFileDataSetIterator: batch must be at most {data_set.num_examples()}, the number of "
                f"examples, got {batch}."
            )
        if root_dir is not None:
            check_folder("MiniBatchFileDataSetIterator", root_dir)
            pathlib.Path(root_dir).mkdir(parents=True, exist_ok=True)
        self.root_dir = pathlib.Path(tempfile.mkdtemp(prefix="minibatches-", dir=root_dir))
        if delete:
            atexit.register(shutil.rmtree, self.root_dir, ignore_errors=True)
        for number in range(count):
            part = data_set.get_range(number * batch, (number + 1) * batch)
            part.save(self.root_dir / (self.DEFAULT_PATTERN % number))
        super().__init__(self.root_dir)
