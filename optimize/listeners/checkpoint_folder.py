"""A folder of checkpoints: the list of them, and the newest complete one."""

from __future__ import annotations

import json
import os
import pathlib
import re
import zipfile
import zlib
from dataclasses import dataclass

from nd import NdError
from nd.classes import ExplainedType
from nd.files.reading import opening, raised_by_others
from nd.files.writing import TEXT, replacing
from nd.files.zips import ZipFile

INFO = "checkpointInfo.txt"
HEADER = "checkpointNum,timestamp,iteration,epoch,modelType,filename"
_NAME = re.compile(r"checkpoint_(0|[1-9]\d*)_([A-Za-z]\w*)\.zip")
MODEL_TYPES = ("ComputationGraph", "MultiLayerNetwork")
_LINE = re.compile(rf"(\d+),(\d+),(\d+),(\d+),(\w+),({_NAME.pattern})")
_DAMAGE = (NdError, OSError, ValueError, EOFError, RuntimeError, KeyError, zipfile.BadZipFile, zlib.error)


@dataclass(frozen=True)
class Checkpoint(metaclass=ExplainedType):
    """One checkpoint in a folder.

    Parameters
    ----------
    number : int
        Counts up from 0.
    timestamp : int
        When it was written, milliseconds since 1970.
    iteration, epoch : int
        Steps and epochs that were complete.
    model_type : str
    path : pathlib.Path

    Notes
    -----
    Source: DL4J ``Checkpoint``.
    """

    number: int
    timestamp: int
    iteration: int
    epoch: int
    model_type: str
    path: pathlib.Path

    @property
    def filename(self) -> str:
        """Name of the file in its folder."""
        return self.path.name

    @property
    def line(self) -> str:
        """The line of checkpointInfo.txt."""
        fields = (self.number, self.timestamp, self.iteration, self.epoch, self.model_type, self.path.name)
        return ",".join(map(str, fields))


def model_type_of(model: object) -> str:
    """Return the kind of network that DL4J would call a model: of a subclass, that of its base."""
    names = [kind.__name__ for kind in type(model).__mro__]
    return next((name for name in names if name in MODEL_TYPES), "Model")


def file_name(number: int, model_type: str) -> str:
    """Return the name that DL4J gives a checkpoint's file."""
    return f"checkpoint_{number}_{model_type}.zip"


def numbered_files(folder: pathlib.Path) -> dict[int, pathlib.Path]:
    """Return the checkpoints' files by number, sorted; this asks neither checkpointInfo.txt nor the files."""
    files = {int(match[1]): folder / match[0] for name in os.listdir(folder) if (match := _NAME.fullmatch(name))}
    return dict(sorted(files.items()))


def checkpoints_in(folder: str | os.PathLike[str]) -> list[Checkpoint]:
    """Return the checkpoints whose files are there, oldest first.

    The list follows from the files' names; checkpointInfo.txt, which may be older than they are or torn, only
    saves looking into them.
    """
    place = pathlib.Path(folder)
    known = _listed(place)
    checkpoints = []
    for number, path in numbered_files(place).items():
        listed = known.get(path.name)
        checkpoint = listed if listed is not None and listed.number == number else _looked_into(number, path)
        if checkpoint is not None:
            checkpoints.append(checkpoint)
    return checkpoints


def write_info(folder: pathlib.Path, checkpoints: list[Checkpoint]) -> None:
    """Replace checkpointInfo.txt."""
    with replacing("CheckpointListener", folder / INFO, TEXT) as file:
        file.write("".join(f"{line}\n" for line in [HEADER, *(checkpoint.line for checkpoint in checkpoints)]).encode())


def is_complete(path: pathlib.Path) -> bool:
    """Tell whether a model zip can be read to its end, with the right checksums."""
    try:
        with opening("checkpoint", path) as file, ZipFile(file) as archive:
            return "configuration.json" in archive.namelist() and archive.testzip() is None
    except _DAMAGE as error:
        if raised_by_others(error):
            raise
        return False


def last_complete(folder: str | os.PathLike[str]) -> Checkpoint | None:
    """Return the newest checkpoint that can be read to its end, None if there is none."""
    return next((last for last in reversed(checkpoints_in(folder)) if is_complete(last.path)), None)


def find_checkpoint(folder: str | os.PathLike[str], number: int | None = None) -> pathlib.Path:
    """Return the file of a checkpoint, by default of the newest complete one.

    Raises
    ------
    FileNotFoundError
        There is none.
    """
    place = pathlib.Path(folder)
    if number is None:
        last = last_complete(place)
        path = None if last is None else last.path
    else:
        path = numbered_files(place).get(number)
    if path is None:
        wanted = "a complete checkpoint" if number is None else f"checkpoint {number}"
        there = ", ".join(map(str, numbered_files(place))) or "none"
        raise FileNotFoundError(f"load_checkpoint: {place} must hold {wanted}, got the numbers: {there}.")
    return path


def _listed(folder: pathlib.Path) -> dict[str, Checkpoint]:
    """Return the checkpoints of the readable lines of checkpointInfo.txt, by file name."""
    try:
        lines = (folder / INFO).read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return {}
    checkpoints = {}
    for line in lines:
        match = _LINE.fullmatch(line)
        if match:
            numbers, kind, name = map(int, match.groups()[:4]), match[5], match[6]
            checkpoints[name] = Checkpoint(*numbers, kind, folder / name)  # type: ignore[call-arg, arg-type]
    return checkpoints


def _looked_into(number: int, path: pathlib.Path) -> Checkpoint | None:
    """Return the checkpoint of a file that is not listed, from its contents; None if it cannot be read."""
    try:
        with opening("checkpoint", path) as file, ZipFile(file) as archive:
            conf = json.loads(archive.read("configuration.json"))
            counts = int(conf.get("iterationCount", 0)), int(conf.get("epochCount", 0))
        written = int(path.stat().st_mtime * 1000)
    except (*_DAMAGE, AttributeError, TypeError) as error:
        if raised_by_others(error):
            raise
        return None
    model_type = path.stem.split("_", 2)[2]
    return Checkpoint(number, written, *counts, model_type, path)
