"""Models of Keras in Deeplearning4j's own importer and in this library, beside what Keras itself computed."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import h5py
import numpy as np

PROGRAM = "KerasImports"
TOLERANCE = 1e-5
"""Of Keras' largest number, and of 1 where that is smaller."""


class Case(NamedTuple):
    """A file, and what Keras computed with it.

    Attributes
    ----------
    name : str
    path : Path
        A model (.h5), or a configuration (.json).
    is_sequential : bool
    inputs, outputs : tuple of array
        In the axes of the file; none of a configuration. Deeplearning4j's files have outputs of training too, in which
        dropout has its part: these are those of inference.
    is_drawn_plainly : bool
        Java reads a copy without orthogonal initialisers, which its operation may never end to draw; the weights of
        the file take the place of what is drawn.
    """

    name: str
    path: Path
    is_sequential: bool
    inputs: tuple[np.ndarray, ...] = ()
    outputs: tuple[np.ndarray, ...] = ()
    is_drawn_plainly: bool = False


def cases(reference: Path) -> list[Case]:
    """Return all models of the folder keras/ of the reference files, and configurations that have no model."""
    zoo = [_of_zoo(path) for path in sorted((reference / "zoo").glob("*.h5"))]
    models = [_with_outputs(path) for path in sorted(reference.glob("dl4j/*/*_model.h5"))]
    alone = [
        path for path in sorted(reference.glob("dl4j/*/*_config.json"))
        if not path.with_name(path.name.replace("_config.json", "_model.h5")).exists()
    ]  # fmt: skip
    plainly = [
        case._replace(name=f"{case.name}, drawn plainly", is_drawn_plainly=True)
        for case in models
        if b"Orthogonal" in case.path.read_bytes()
    ]
    return zoo + models + plainly + [Case(path.stem, path, _is_sequential(path.read_text())) for path in alone]


def _of_zoo(path: Path) -> Case:
    with h5py.File(path) as file, np.load(path.with_suffix(".npz")) as arrays:
        inputs, outputs = (tuple(arrays[name] for name in sorted(arrays) if name[0] == kind) for kind in "xy")
        return Case(path.stem, path, _is_sequential(_text(file)), inputs, outputs)


def _with_outputs(path: Path) -> Case:
    name = path.name.removesuffix("_model.h5")
    with h5py.File(path) as file, h5py.File(path.with_name(f"{name}_inputs_and_outputs.h5")) as arrays:
        inputs, outputs = (tuple(part[()] for part in arrays[kind].values()) for kind in ("inputs", "predictions"))
        return Case(name, path, _is_sequential(_text(file)), inputs, outputs)


def _text(file: h5py.File) -> str:
    text = file.attrs["model_config"]
    return text.decode() if isinstance(text, bytes) else text


def _is_sequential(configuration: str) -> bool:
    return json.loads(configuration)["class_name"] == "Sequential"


def write(case: Case, folder: Path) -> None:
    """Write what Java's program reads."""
    folder.mkdir(parents=True)
    what = "model" if case.path.suffix == ".h5" else "configuration"
    (folder / ("sequential.txt" if case.is_sequential else "functional.txt")).write_text(what)
    copy = shutil.copyfile(case.path, folder / ("model.h5" if what == "model" else "config.json"))
    if case.is_drawn_plainly:
        with h5py.File(copy, "r+") as file:
            file.attrs["model_config"] = re.sub(
                r'\{"class_name": "Orthogonal", "config": \{[^}]*\}\}',
                '{"class_name": "Ones", "config": {}}',
                _text(file),
            )
    for number, array in enumerate(case.inputs):
        np.save(folder / f"x{number}.npy", array.astype("float32"))


def javas_outcome(case: Case, folder: Path) -> str:
    """Return what Java's program did with a case."""
    if (folder / "error.txt").exists():
        doing, first, *lines = (folder / "error.txt").read_text().splitlines()
        causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
        return f"{'refused' if doing == 'import' else 'cannot run'}: {[first, *causes][-1]}"
    theirs = [np.load(folder / f"y{number}.npy") for number in range(len(case.outputs))]
    return verdict(case, theirs)


def our_outcome(case: Case) -> str:
    """Return what this library does with a case."""
    import nd
    import nn
    from nd.exceptions import ConfigurationError

    try:
        net = nn.load(case.path)
    except ConfigurationError as error:
        return f"refused: {error}"
    if not case.inputs:
        return verdict(case, [])
    outputs = net.output(*case.inputs)
    return verdict(case, [nd.to_host(each) for each in (outputs if isinstance(outputs, list | tuple) else [outputs])])


def verdict(case: Case, got: Sequence[np.ndarray]) -> str:
    """Return how far outputs are from Keras' own."""
    if not case.outputs:
        return "imported"
    shapes = [(list(ours.shape), list(keras.shape)) for ours, keras in zip(got, case.outputs, strict=True)]
    if any(ours != keras for ours, keras in shapes):
        return f"differs: shapes {', '.join(f'{ours} for {keras}' for ours, keras in shapes)}"
    worst = max(
        np.abs(ours.astype("float64") - keras).max() / max(1.0, np.abs(keras).max())
        for ours, keras in zip(got, case.outputs, strict=True)
    )
    return "agrees" if worst <= TOLERANCE else f"differs by {worst:.0e}"
