"""Networks of ours with layers that are pretrained, in double precision: Java pretrains and trains them too."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import nd
from nn import ComputationGraph, ComputationGraphConfiguration, MultiLayerNetwork, VariationalAutoencoder, load
from nn.networks.pretraining import learner_of
from tests.cases.random_pretrained import RandomPretrained, draw_pretrained

from .contents import parts_in
from .noise import DRAWS_AGAIN_AS, DRAWS_AS
from .ours import host
from .ours import output as output_of_chain
from .results import Result, java_error, read
from .theirs import gradient as gradient_of_chain

PROGRAM = "Pretrained"
SEED, ROUNDS, STEPS = 4321, 2, 2
LARGEST_LOSS = 50.0
"""Behind larger ones differences of rounding grow, and probabilities round to 1, where Java's gradient is 0."""
TRAINED = (
    "pretrained0", "params", "state", "scores", "trained_gradient", "pretrained1", "losses", "learned", "outputs",
)  # fmt: skip
COMPARED = ("output", "score", "gradient", *TRAINED, *(f"opened_{name}" for name in TRAINED))
SAMPLED = "sampled "
"""Begins the names of quantities behind normal numbers, which Java draws in single precision."""
TOLERANCES = {
    "init": 1e-4,  # of Java's logarithm and cosine, in single precision
    **dict.fromkeys(COMPARED, 1e-7), **dict.fromkeys((f"{SAMPLED}{name}" for name in COMPARED), 3e-5),
    "zip": 0.0, "zip outputs": 1e-7,
}  # fmt: skip


class Drawn(NamedTuple):
    """A network and its name."""

    name: str
    network: RandomPretrained


def random_pretrained(count: int) -> list[Drawn]:
    """Return so many networks, without those whose numbers grow past all bounds."""
    return list(islice(_drawn(), count))


def _drawn() -> Iterator[Drawn]:
    for number in itertools.count():
        drawn = draw_pretrained(number)
        with contextlib.suppress(nd.NumericError):
            net = _network(drawn)
            losses = [_run(net, drawn)["losses"] for _ in range(3)]  # further than it is to go
            if np.abs(losses).max() < LARGEST_LOSS:
                yield Drawn(f"pretrained-{number:03}", drawn)


def _network(drawn: RandomPretrained) -> Any:
    kind = ComputationGraph if isinstance(drawn.conf, ComputationGraphConfiguration) else MultiLayerNetwork
    return kind(drawn.conf).init()  # type: ignore[arg-type]


def save(drawn: Drawn, folder: Path) -> None:
    """Write a network's configuration, the saved network, its data, and what it answers and learns."""
    nd.random.set_release(DRAWS_AS)
    try:
        _save(drawn.network, folder)
    finally:
        nd.random.set_release(DRAWS_AGAIN_AS)


def _save(drawn: RandomPretrained, folder: Path) -> None:
    folder.mkdir(parents=True)
    conf, data, layers, is_labelled = drawn[:4]
    net = _network(drawn)
    (folder / "conf.json").write_text(conf.to_json())
    (folder / "layers.txt").write_text("\n".join(layers))
    (folder / "seed.txt").write_text(str(SEED))
    if isinstance(net, ComputationGraph):
        (folder / "graph.txt").write_text("")
    arrays = {"x": data.features, "y": data.labels, "our_init": host(net.params())}
    arrays |= {"our_output": _output(net, data), "our_score": np.array(net.score(data))}
    if is_labelled:
        (folder / "labelled.txt").write_text("")
        arrays["our_gradient"] = _gradient(net, data)
    arrays |= {f"our_{name}": array for name, array in _run(net, drawn).items()}
    net.save(folder / "model.zip")
    opened = load(folder / "model.zip")
    arrays |= {f"our_opened_{name}": array for name, array in _run(opened, drawn).items()}
    for name, array in arrays.items():
        if not name.endswith("losses") or drawn.has_losses:
            np.save(folder / f"{name}.npy", np.asarray(array, np.float64))


def _run(net: Any, drawn: RandomPretrained) -> dict[str, Any]:
    """Pretrain every layer, train on labels, and pretrain again; return what is left at every stage."""
    data, arrays, losses, scores = drawn.data, {}, [], []
    net.random.set_seed(SEED)
    for number in range(ROUNDS):
        for layer in drawn.layers:
            name = int(layer) if layer.isdigit() else layer
            for _ in range(STEPS):
                net.pretrain_layer(name, data)
                losses.append(net.score())
            learner = learner_of(net, net._checked_node("check", name))
            arrays[f"learned{number}{layer}"] = host(learner.updater_state())
        arrays[f"pretrained{number}"] = host(net.params())
        if number == 0 and drawn.is_labelled:
            for _ in range(STEPS):
                net.fit(data)
                scores.append(net.score())
            arrays |= {"params": host(net.params()), "state": host(net.updater_state()), "scores": scores}
            arrays["trained_gradient"] = _gradient(net, data)
            net.random.set_seed(SEED)
    return {**arrays, "losses": losses, "outputs": _output(net, data)}


def _output(net: Any, data: Any) -> np.ndarray:
    if isinstance(net, MultiLayerNetwork):
        return output_of_chain(net, data)
    return host(net.output(data.features)[0])


def _gradient(net: Any, data: Any) -> np.ndarray:
    """Return the gradient of the summed loss of a minibatch, without penalties."""
    net.random.set_seed(SEED)
    if isinstance(net, MultiLayerNetwork):
        return gradient_of_chain(net, data)
    net.set_inputs(data.features)
    net.set_labels(data.labels)
    net.compute_gradient_and_score()
    return host(net.flattened_gradients())


def compare(drawn: Drawn, folder: Path) -> Result:
    """Return how far Java's answers in a folder are from ours."""
    result = Result(drawn.name, drawn.network.conf)  # type: ignore[arg-type]
    error = java_error(folder)
    if error:
        result.fails(*error)
    samples = any(isinstance(part, VariationalAutoencoder) for part in parts_in(drawn.network.conf))
    for quantity in ("init", *COMPARED):
        ours, javas = (_numbers(folder, f"{whose}_{quantity}") for whose in ("our", "java"))
        if ours is not None and not (error and javas is None):
            drawn_before = samples and quantity not in ("init", "output", "score", "gradient")
            result.compare(f"{SAMPLED if drawn_before else ''}{quantity}", ours, javas)
    if not error:
        result.attempt("zip", lambda: host(_theirs(folder).params()), read(folder, "java_pretrained1"))
        result.attempt(
            "zip outputs", lambda: _output(_theirs(folder), drawn.network.data), read(folder, "java_outputs")
        )
    return result


def _numbers(folder: Path, name: str) -> np.ndarray | None:
    """Return an array, or all numbers that updaters of pretraining hold: Java has more blocks. None for nothing."""
    if not name.endswith("learned"):
        array = read(folder, name)
        return np.empty(0) if array is None and name.endswith("state") and (folder / "labelled.txt").exists() else array
    paths = sorted(folder.glob(f"{name}[0-9]*.npy"))
    return np.sort(np.concatenate([np.empty(0), *(np.load(path).ravel() for path in paths)]))


def _theirs(folder: Path) -> Any:
    return load(folder / "java_model.zip")
