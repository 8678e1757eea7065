"""Graphs of ours in double precision: Java finds their order, draws, runs and trains them, and opens the saved ones."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from nd.dataset import MultiDataSet
from nn import ComputationGraph
from tests.cases.random_graphs import RandomGraph, draw_graph

from .ours import host
from .results import Result, java_error, read

STEPS = 4
VECTORS = "params", "state"
TRAINED = "scores", *VECTORS, "outputs"
PROGRAM = "Graphs"
TOLERANCES = {
    "init": 1e-4,  # of Java's logarithm and cosine, in single precision
    **dict.fromkeys(("output", "score", "gradient", *TRAINED), 1e-7),
    **dict.fromkeys((f"opened {quantity}" for quantity in TRAINED), 1e-7),
    "zip": 0.0, "zip outputs": 1e-7,
}  # fmt: skip
KINDS = {1: "rows", 2: "series", 3: "images"}
"""Number of axes of an example -> its kind, as Graphs.java calls it."""


class Drawn(NamedTuple):
    """A graph and its name."""

    name: str
    graph: RandomGraph


def random_graphs(count: int) -> list[Drawn]:
    return [Drawn(f"graph-{number:03}", draw_graph(number)) for number in range(count)]


def save(drawn: Drawn, folder: Path) -> None:
    """Write a graph's configuration, the saved network, its data, and what it answers and learns."""
    folder.mkdir(parents=True)
    _, (conf, data, input_types, inferred) = drawn
    graph = ComputationGraph(conf).init()
    (folder / "conf.json").write_text(conf.to_json())
    if inferred:
        lines = [" ".join(map(str, (KINDS[len(each.shape)], *each.shape))) for each in input_types]
        (folder / "types.txt").write_text("\n".join(lines))
    graph.save(folder / "model.zip")
    arrays = {"our_init": host(graph.params()), "our_score": np.array(graph.score(data))}
    arrays |= _numbered("our_output", _outputs(graph, data))
    arrays["our_gradient"] = _gradient(graph, data)
    arrays |= {f"our_{name}": array for name, array in fit(graph, data).items()}
    arrays |= _numbered("our_outputs", _outputs(graph, data))
    for name, several in (
        ("x", data.features), ("y", data.labels), ("xm", data.features_masks), ("ym", data.labels_masks),
    ):  # fmt: skip
        arrays |= _numbered(name, several)
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", np.asarray(array, np.float64))
    (folder / "our_order.txt").write_text("\n".join(graph.topological_order()))


def compare(drawn: Drawn, folder: Path) -> Result:
    """Return how far Java's answers in a folder are from ours."""
    result = Result(drawn.name, drawn.graph.conf)
    error = java_error(folder)
    if error:
        result.fails(*error)
    if (folder / "inferred.json").exists():
        _compare_texts(result, "inferred", *(_json(folder / f"{name}.json") for name in ("read", "inferred")))
    if (folder / "order.txt").exists():
        _compare_texts(result, "order", *((folder / name).read_text() for name in ("our_order.txt", "order.txt")))
        result.compare("init", read(folder, "our_init"), read(folder, "java_init"))
    for quantity in ("output", "score", "gradient", *TRAINED, *(f"opened {name}" for name in TRAINED)):
        ours = _numbers(folder, f"our_{quantity.removeprefix('opened ')}")
        javas = _numbers(folder, f"java_{quantity.replace(' ', '_')}")
        if not (error and javas is None):
            result.compare(quantity, ours, javas)
    if not error:
        result.attempt("zip", lambda: _saved(folder), _vectors(_numbers(folder, f"java_{name}") for name in VECTORS))
        result.attempt("zip outputs", lambda: _reopened(drawn, folder), _numbers(folder, "java_outputs"))
    return result


def _compare_texts(result: Result, quantity: str, ours: Any, javas: Any) -> None:
    """Note that two texts are the same, or the first place where they differ."""
    if ours == javas:
        result.distances[quantity] = 0.0
        return
    lines = zip(str(ours).splitlines(), str(javas).splitlines(), strict=False)
    first = next(((one, other) for one, other in lines if one != other), ("its end", "its end"))
    result.fails(quantity, f"{first[0].strip()} for Java's {first[1].strip()}")


def _json(path: Path) -> str:
    """Return a configuration as text, without the axes of poolings: Java notes them at one time or another."""
    document = json.loads(path.read_text())
    for vertex in document["vertices"].values():
        vertex.get("layerConf", {}).get("layer", {}).pop("poolingDimensions", None)
    return json.dumps(document, indent=1)


def _numbered(name: str, arrays: Sequence[Any]) -> dict[str, Any]:
    return {f"{name}{number}": array for number, array in enumerate(arrays) if array is not None}


def _numbers(folder: Path, name: str) -> np.ndarray | None:
    """Return what an array has, or several with a number behind the name; None where there is none."""
    paths = sorted([*folder.glob(f"{name}.npy"), *folder.glob(f"{name}[0-9].npy")])
    if paths:
        return _vectors(map(np.load, paths))
    return np.empty(0) if name.endswith("state") else None  # of which Java writes none where there is none


def _vectors(arrays: Iterable[np.ndarray]) -> np.ndarray:
    return np.concatenate([array.ravel() for array in arrays])


def _outputs(graph: ComputationGraph, data: MultiDataSet) -> list[np.ndarray]:
    masks = {"features_masks": data.features_masks, "labels_masks": data.labels_masks}
    return [host(output) for output in graph.output(*data.features, **masks)]


def _gradient(graph: ComputationGraph, data: MultiDataSet) -> np.ndarray:
    """Return the gradient of the summed losses of a minibatch, without penalties."""
    graph.set_inputs(*data.features)
    graph.set_labels(*data.labels)
    graph.set_masks(data.features_masks, data.labels_masks)
    graph.compute_gradient_and_score()
    vector = host(graph.flattened_gradients())
    graph.set_masks(None, None)
    return vector


def fit(graph: ComputationGraph, data: MultiDataSet) -> dict[str, np.ndarray]:
    """Train, an epoch every two steps; return the scores, and what is left."""
    scores = []
    for step in range(STEPS):
        graph.fit(data)
        scores.append(graph.score())
        graph.epoch_count += step % 2
    return {"scores": np.array(scores), "params": host(graph.params()), "state": host(graph.updater_state())}


def _saved(folder: Path) -> np.ndarray:
    """Return the parameters and the state in Java's zip."""
    graph = ComputationGraph.load(folder / "java_model.zip")
    return _vectors([host(graph.params()), host(graph.updater_state())])


def _reopened(drawn: Drawn, folder: Path) -> np.ndarray:
    """Return what Java's zip answers here."""
    graph = ComputationGraph.load(folder / "java_model.zip")
    return _vectors(_outputs(graph, drawn.graph.data))
