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

from tests.source_files import ROOT

from .maven import Programs

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
        In the axes of the file; none of a configuration. What Deeplearning4j's files call outputs are labels.
    is_drawn_plainly : bool
        Java reads a copy without orthogonal initialisers: of 50 units it did not end drawing them, in minutes. The
        weights of the file take the place of what is drawn.
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
    return zoo + models + [Case(path.stem, path, _is_sequential(path.read_text())) for path in alone]


def _of_zoo(path: Path) -> Case:
    with h5py.File(path) as file, np.load(path.with_suffix(".npz")) as arrays:
        inputs, outputs = (tuple(arrays[name] for name in sorted(arrays) if name[0] == kind) for kind in "xy")
        return Case(path.stem, path, _is_sequential(_text(file)), inputs, outputs)


def _with_outputs(path: Path) -> Case:
    name = path.name.removesuffix("_model.h5")
    with h5py.File(path) as file, h5py.File(path.with_name(f"{name}_inputs_and_outputs.h5")) as arrays:
        inputs, outputs = (tuple(part[()] for part in arrays[kind].values()) for kind in ("inputs", "predictions"))
        plainly = "Orthogonal" in _text(file)
        return Case(name, path, _is_sequential(_text(file)), inputs, outputs, plainly)


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
    from nd import ConfigurationError

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


# ---- the page


PAGE = ROOT / "docs" / "keras_java.md"
FIRST = "<!-- outcomes -->"
REASONS = {
    "Keras major version has to be either 1 or 2": "refuses Keras 3",
    "java.lang.String cannot be cast to class java.util.List": "refuses Keras 3: cannot read the names of its inputs",
}
"""A part of what Java says -> what the page says."""


def short(outcome: str) -> str:
    """Return what the page says of an outcome."""
    return next((text for part, text in REASONS.items() if part in outcome), outcome)


def table(rows: Sequence[tuple[Case, str, str]]) -> str:
    """Return the table of the page: cases of one folder with the same outcomes are one line."""
    lines: dict[tuple[str, str, str], list[str]] = {}
    for case, javas, ours in rows:
        lines.setdefault((_folder(case), short(javas), short(ours)), []).append(case.name)
    head = ["| models | how many | Deeplearning4j's importer | this library |", "|---|---|---|---|"]
    body = [f"| {folder} | {len(names)} | {javas} | {ours} |" for (folder, javas, ours), names in sorted(lines.items())]
    return "\n".join([*head, *body]) + "\n"


def _folder(case: Case) -> str:
    """Return what the page calls a case: of the zoo its kind, else its folder."""
    is_of_zoo, plainly = case.path.parent.name == "zoo", ", initialised otherwise" * case.is_drawn_plainly
    return f"zoo, {case.name.partition('_')[0]}" if is_of_zoo else f"{case.path.parent.name}{plainly}"


def check(programs: Programs, folder: Path, reference: Path) -> list[str]:
    """Have both import all models; return what is wrong: what differs here, and a page that is not as it was."""
    everything = cases(reference)
    for case in everything:
        write(case, folder / case.name)
    programs.run(PROGRAM, folder)
    rows = [(case, javas_outcome(case, folder / case.name), our_outcome(case)) for case in everything]
    failures = [f"{case.name}: {ours}" for case, _, ours in rows if ours not in ("agrees", "imported")]
    text, written = PAGE.read_text(), table(rows)
    if text.partition(FIRST)[2].strip() != written.strip():
        failures.append(f"{PAGE.name}: the table is not what both importers did. It is now:\n{written}")
    return failures
