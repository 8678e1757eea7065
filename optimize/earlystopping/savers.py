"""Stores of the models of early stopping: memory and files."""

from __future__ import annotations

import pathlib
from typing import Annotated, Any

from nd import ConfigurationError
from nd.arguments import EVEN_NAN, Path, checked
from nd.classes import ExplainedType, overridable
from nd.files.writing import check_folder

from .api import EarlyStoppingModel

_Score = Annotated[float, EVEN_NAN]
"""NaN where training ended before there was one."""


@overridable
class InMemoryModelSaver(metaclass=ExplainedType):
    """Keeps copies of the models in memory.

    Notes
    -----
    Source: DL4J ``InMemoryModelSaver``.
    """

    def __init__(self) -> None:
        self._best: EarlyStoppingModel | None = None
        self._latest: EarlyStoppingModel | None = None

    @checked
    def save_best_model(self, model: EarlyStoppingModel, score: _Score) -> None:
        """Keep a copy of the best model so far."""
        self._best = model.clone()

    @checked
    def save_latest_model(self, model: EarlyStoppingModel, score: _Score) -> None:
        """Keep a copy of the model as it is now."""
        self._latest = model.clone()

    def get_best_model(self) -> Any:
        """Return the copy of the best model, None if there is none."""
        return self._best

    def get_latest_model(self) -> Any:
        """Return the copy of the latest model, None if there is none."""
        return self._latest

    def __repr__(self) -> str:
        return "InMemoryModelSaver()"


class LocalFileModelSaver(metaclass=ExplainedType):
    """Keeps the models in a folder, as ``bestModel.zip`` and ``latestModel.zip``: model zips with the updater's state.

    They have no place for the memory of a line search; a `CheckpointListener`'s files have. A file is replaced only
    when the new one is complete.

    Parameters
    ----------
    directory : path
        Made if it is not there.
    model_class : type, optional
        Whose `load` reads the files, ``MultiLayerNetwork`` say; without it the class of the model saved last.

    Raises
    ------
    OSError
        The folder cannot be created; when saving, the file cannot be written.

    Notes
    -----
    Source: DL4J ``LocalFileModelSaver``. Differs: Java's names end in ``.bin``; the format is the same.
    """

    @checked
    def __init__(self, directory: Path, model_class: Any = None) -> None:
        self.directory = pathlib.Path(directory)
        check_folder(type(self).__name__, directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        self.model_class = model_class

    @checked
    def save_best_model(self, model: EarlyStoppingModel, score: _Score) -> None:
        """Write ``bestModel.zip``."""
        self._save(model, "bestModel.zip")

    @checked
    def save_latest_model(self, model: EarlyStoppingModel, score: _Score) -> None:
        """Write ``latestModel.zip``."""
        self._save(model, "latestModel.zip")

    def get_best_model(self) -> Any:
        """Read ``bestModel.zip`` on the current backend; None if there is none.

        Raises
        ------
        ConfigurationError
            Nothing was saved by this object, and it was not told whose `load` reads the file.
        FormatError
            The file is damaged.
        """
        return self._load("bestModel.zip")

    def get_latest_model(self) -> Any:
        """Read ``latestModel.zip``. As `get_best_model`."""
        return self._load("latestModel.zip")

    def _save(self, model: EarlyStoppingModel, name: str) -> None:
        model.save(self.directory / name)
        self.model_class = type(model)

    def _load(self, name: str) -> Any:
        path = self.directory / name
        if not path.exists():
            return None
        if self.model_class is None:
            raise ConfigurationError(
                f"LocalFileModelSaver: model_class must say what {path} is, got None. Pass model_class=..."
            )
        return self.model_class.load(path)

    def __repr__(self) -> str:
        return f"LocalFileModelSaver({str(self.directory)!r})"
