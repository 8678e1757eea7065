"""Java's own networks, repeated by this library in double precision."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import nd
from nd.dataset import DataSet
from nn import MultiLayerConfiguration, MultiLayerNetwork

from .ours import fit, host, output
from .results import Result, java_error, read

TOLERANCES = dict.fromkeys(("output", "score", "gradient", "scores", "params", "state", "zip", "zip output"), 1e-7)
CORRECT, WRONG = 1e-6, 1e-5
"""How far from numeric derivatives a gradient is, at most and at least."""


def repeat(folder: Path) -> Result:
    """Return how far this library is from what Java wrote into a folder."""
    result = Result(folder.name)
    java_failed = java_error(folder)
    if java_failed:
        result.fails(*java_failed)
    text = folder / "conf.json"
    if not text.exists():
        return result
    try:
        result.conf = MultiLayerConfiguration.from_json(text.read_text())
        net = MultiLayerNetwork(result.conf).init()
        net.set_params(read(folder, "java_params0").ravel())
    except Exception as error:
        result.fails("read", f"{type(error).__name__}: {error}")
        return result
    _compare(result, net, folder)
    return result


def _compare(result: Result, net: MultiLayerNetwork, folder: Path) -> None:
    java = {path.stem.removeprefix("java_"): np.load(path) for path in folder.glob("java_*.npy")}
    data = DataSet(*(read(folder, name) for name in ("x", "y", "xm", "ym")))
    java.setdefault("state", np.empty(0))  # of which Java writes none
    if "output0" in java:
        result.attempt("output", lambda: output(net, data), java["output0"])
    if "score" in java:
        result.attempt("score", lambda: net.score(data), java["score"])
    if "gradient" in java:
        ours = gradient(net, data)
        result.compare("gradient", ours, java["gradient"])
        result.derivatives_prove = "derivatives" in java and derivatives_prove(ours, java)
    if "scores" in java:
        _compare_training(result, net, data, java)
    if (folder / "model.zip").exists():
        vectors = np.concatenate([java["params"].ravel(), java["state"].ravel()])
        result.attempt("zip", lambda: _vectors(MultiLayerNetwork.load(folder / "model.zip")), vectors)
        result.attempt("zip output", lambda: output(MultiLayerNetwork.load(folder / "model.zip"), data), java["output"])


def _compare_training(result: Result, net: MultiLayerNetwork, data: DataSet, java: dict[str, np.ndarray]) -> None:
    try:
        scores = fit(net, data, java["scores"].size)
    except nd.NumericError as error:  # where Java goes on with NaN
        if np.isfinite(java["scores"]).all() and np.isfinite(java["params"]).all():
            result.fails("scores", f"{error} In Java it is finite.")
        return
    result.compare("scores", scores, java["scores"])
    result.compare("params", host(net.params()), java["params"])
    result.compare("state", host(net.updater_state()), java["state"])


def derivatives_prove(ours: np.ndarray, java: dict[str, np.ndarray]) -> bool:
    """Tell whether Java's gradient is not the derivative of Java's score, and ours is."""
    numeric, places = java["derivatives"], java["places"].astype(int)
    size = np.abs(numeric).max()
    our_error, javas_error = (
        np.abs(there - numeric).max() / size for there in (ours.ravel()[places], java["gradient_there"])
    )
    return bool(our_error < CORRECT and not javas_error < WRONG)


def gradient(net: MultiLayerNetwork, data: DataSet) -> np.ndarray:
    """Return the gradient of the summed loss of a minibatch, without penalties."""
    net.set_input(data.features)
    net.set_labels(data.labels)
    net.set_masks(data.features_mask, data.labels_mask)
    net.compute_gradient_and_score()
    vector = host(net.flattened_gradients())
    net.set_masks(None, None)
    return vector


def _vectors(net: MultiLayerNetwork) -> np.ndarray:
    return np.concatenate([host(net.params()).ravel(), host(net.updater_state()).ravel()])
