"""Networks over series of ours in double precision: Java draws, runs and trains them, and opens the saved ones."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from nn import MaskZeroLayer, MultiLayerNetwork
from nn.layers.recurrent.lstm import LstmConf
from tests.cases.random_series import RandomSeries, draw_series

from .contents import parts_in
from .faults import MASKED
from .graphs import TOLERANCES as OF_GRAPHS
from .graphs import TRAINED, VECTORS, fit
from .ours import host, output
from .results import Result, java_error, read
from .theirs import derivatives_prove, gradient

PROGRAM = "Series"
TOLERANCES = {**OF_GRAPHS, "init": 1e-3, "steps": 1e-7}  # the rarest draws of Java are off by so much
OPENED = tuple(f"opened {quantity}" for quantity in TRAINED)
COMPARED = ("output", "score", "gradient", "steps", *TRAINED, *OPENED)


class Drawn(NamedTuple):
    """A network and its name; a seed where training draws random numbers."""

    name: str
    series: RandomSeries
    seed: int | None = None

    def seeded(self, net: MultiLayerNetwork) -> MultiLayerNetwork:
        """Let a network draw from the seed again."""
        if self.seed is not None:
            net.random.set_seed(self.seed)
        return net


def random_series(count: int) -> list[Drawn]:
    """Return so many networks; the names tell which have a mask."""
    drawn = [(f"series-{number:03}", draw_series(number)) for number in range(count)]
    return [Drawn(name if series.data.features_mask is None else f"{name}-masked", series) for name, series in drawn]


def save(drawn: Drawn, folder: Path) -> None:
    """Write a network's configuration, the saved network, its data, and what it answers and learns."""
    folder.mkdir(parents=True)
    conf, data, in_steps = drawn.series
    net = MultiLayerNetwork(conf).init()
    (folder / "conf.json").write_text(conf.to_json())
    net.save(folder / "model.zip")
    arrays = {"x": data.features, "y": data.labels, "xm": data.features_mask, "ym": data.labels_mask}
    arrays |= {"our_init": host(net.params()), "our_output": output(net, data), "our_score": np.array(net.score(data))}
    arrays["our_gradient"] = gradient(drawn.seeded(net), data)
    if in_steps:
        arrays["our_steps"] = steps(net, data.features)
    if _masks_lstm(drawn.series):
        (folder / "derivatives.txt").write_text("Java's errors may go past a mask")
    if drawn.seed is not None:
        (folder / "seed.txt").write_text(str(drawn.seed))
    arrays |= {f"our_{name}": array for name, array in fit(drawn.seeded(net), data).items()}
    arrays["our_outputs"] = output(net, data)
    for name, array in arrays.items():
        if array is not None:
            np.save(folder / f"{name}.npy", np.asarray(array, np.float64))


def _masks_lstm(series: RandomSeries) -> bool:
    """Tell whether a mask silences what LSTM layers keep: that of the data, or of blank steps."""
    kinds = MaskZeroLayer if series.data.features_mask is None else MASKED
    return any(isinstance(part, kinds) and isinstance(part.innermost, LstmConf) for part in parts_in(series.conf))


def steps(net: MultiLayerNetwork, series: np.ndarray) -> np.ndarray:
    """Return what a network answers to one step after the other, and to all of them behind those."""
    answers = [host(net.rnn_time_step(series[:, :, t]))[:, :, None] for t in range(series.shape[2])]
    answers.append(host(net.rnn_time_step(series)))
    net.rnn_clear_previous_state()
    return np.concatenate(answers, axis=2)


def compare(drawn: Drawn, folder: Path) -> Result:
    """Return how far Java's answers in a folder are from ours."""
    result = Result(drawn.name, drawn.series.conf)
    error = java_error(folder)
    if error:
        result.fails(*error)
    for quantity in ("init", *COMPARED):
        ours = read(folder, f"our_{quantity.removeprefix('opened ')}")
        javas = read(folder, f"java_{quantity.replace(' ', '_')}")
        if ours is None or (error and javas is None):
            continue
        nothing = np.empty(0) if ours.size == 0 else None  # Java writes no empty arrays
        result.compare(quantity, ours, nothing if javas is None else javas)
    if (folder / "java_derivatives.npy").exists():
        java = {path.stem.removeprefix("java_"): np.load(path) for path in folder.glob("java_*.npy")}
        result.derivatives_prove = derivatives_prove(read(folder, "our_gradient"), java)
    if not error:
        loaded = (read(folder, f"java_{name}") for name in VECTORS)
        vectors = np.concatenate([np.empty(0) if array is None else array.ravel() for array in loaded])
        result.attempt("zip", lambda: _saved(folder), vectors)
        result.attempt("zip outputs", lambda: _reopened(drawn, folder), read(folder, "java_outputs"))
    return result


def _saved(folder: Path) -> np.ndarray:
    """Return the parameters and the state in Java's zip."""
    net = MultiLayerNetwork.load(folder / "java_model.zip")
    return np.concatenate([host(net.params()).ravel(), host(net.updater_state()).ravel()])


def _reopened(drawn: Drawn, folder: Path) -> np.ndarray:
    """Return what Java's zip answers here."""
    return output(MultiLayerNetwork.load(folder / "java_model.zip"), drawn.series.data)
