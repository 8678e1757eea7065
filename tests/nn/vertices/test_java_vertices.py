"""Vertices beside Java's own: activations of its networks, from those of the vertices before them, and its files."""

import json
import pathlib

import numpy as np
import pytest

import nd
from nn import (
    AttentionVertex,
    DuplicateToTimeSeriesVertex,
    L2NormalizeVertex,
    LastTimeStepVertex,
    ReshapeVertex,
    ReverseTimeSeriesVertex,
)
from nn.files.vertices_json import vertex_from_json, vertex_to_json
from nn.vertices import LayerVertex, NetworkInput, VertexContext
from tests.cells import every_row

CLOSE = {"rtol": 1e-6, "atol": 1e-7}  # float32
EXACT = {"rtol": 1e-13, "atol": 1e-13}  # float64
MASKED = json.loads((pathlib.Path(__file__).parents[2] / "cases" / "java_vertices.json").read_text())
"""Of a network that Deeplearning4j 1.0.0-M1.1 ran in float64: inputs q, k and v, parameters, two sets of masks; under
the number of a set the activations of vertices, and the gradient of an L2 loss where every activation should be 1. In
the first set an example has no key that counts."""
RUNS = (
    "attention", "bidirectional_graph", "elementwise_Add", "elementwise_Average", "elementwise_Max",
    "elementwise_Product", "elementwise_Subtract", "inception_merge", "l2", "l2normalize", "last_time_step",
    "last_time_step_mask", "merge", "preprocessor", "reshape", "reverse", "reverse_mask", "scale", "seq2seq", "shift",
    "subset",
)  # fmt: skip
"""Networks with a vertex that is no layer's."""
WITHOUT_ACTIVATIONS = {"last_time_step_mask", "reverse_mask"}
"""Of which Java's run has kept none."""


def of_run(folder):
    """Return a network of Java's: its document, the vertices that are no layers', and its arrays."""
    document = json.loads((folder / "conf.json").read_text())
    found = {name: data for name, data in document["vertices"].items() if not data["@class"].endswith("LayerVertex")}
    arrays = np.load(folder / "arrays.npz")
    return document, found, {key: arrays[key] for key in arrays.files}


def params_of(conf, vector, start=0):
    """Return the parameters of a vertex, which lie in a vector from there on."""
    params = {}
    for spec in conf.param_specs():
        params[spec.name] = nd.reshape_view(nd.create(vector[start : start + spec.length]), spec.shape)
        start += spec.length
    return params


LSTM = 4 * 6 * (4 + 6 + 1)
"""Parameters before those of the only vertex that has any: 4 inputs, 6 outputs."""


@every_row("run", [run for run in RUNS if run not in WITHOUT_ACTIVATIONS])
def test_activations_are_javas(run, reference, backend):
    document, vertices, arrays = of_run(reference / "java-runs" / "graph" / run)
    assert vertices
    network = {
        name: NetworkInput(nd.create(arrays[f"x{at}"]), nd.create(arrays[f"xm{at}"]) if f"xm{at}" in arrays else None)
        for at, name in enumerate(document["networkInputs"])
    }
    for name, data in vertices.items():
        before = [f"act_{of_input}" for of_input in document["vertexInputs"][name]]
        conf = vertex_from_json(data)
        vertex = conf.runtime(conf, name, "float32")
        needs = (True,) * len(before)
        ctx = VertexContext(False, nd.fresh_buffers("float32"), (None,) * len(before), needs, network, 3)
        found = vertex.propagate(
            [nd.create(arrays[key]) for key in before], (), params_of(conf, arrays["params0"], LSTM), ctx
        )[0]
        np.testing.assert_allclose(nd.to_host(found), arrays[f"act_{name}"], **CLOSE)


@every_row("run", RUNS)
def test_javas_files_are_written_again_as_they_were(run, reference):
    for data in of_run(reference / "java-runs" / "graph" / run)[1].values():
        conf = vertex_from_json(data)
        assert not isinstance(conf, LayerVertex)
        assert vertex_to_json(conf) == data


def at_work(conf, xs, masks, network=None):
    """Return the runtime, its parameters, and what forward returned, in float64."""
    vertex = conf.runtime(conf, "vertex", "float64")
    params = params_of(conf, np.array(MASKED["params"]).ravel())
    ctx = VertexContext(False, nd.fresh_buffers("float64"), masks, (True,) * len(xs), network or {}, 3)
    return vertex, params, vertex.propagate(xs, (), params, ctx)


def array_of(values):
    return None if values is None else nd.create(values, "float64")


@pytest.mark.parametrize("number", ["1", "2"])
def test_masked_attention_and_its_gradient_are_javas(number, backend):
    conf = AttentionVertex(n_in_queries=2, n_in_keys=3, n_in_values=4, n_out=4, n_heads=2, project_input=True)
    masks = tuple(map(array_of, MASKED["masks"][number]))
    vertex, params, (a, kept, _) = at_work(conf, [array_of(MASKED[name]) for name in "qkv"], masks)
    np.testing.assert_allclose(nd.to_host(a), MASKED[f"{number}.att"], **EXACT)
    grads = {name: nd.create(view) for name, view in params.items()}
    vertex.backpropagate(nd.create(2.0 * (nd.to_host(a) - 1.0)), kept, grads)
    found = np.concatenate([nd.to_host(view).ravel() for view in grads.values()])
    np.testing.assert_allclose(found, np.ravel(MASKED[f"{number}.grad"]), **EXACT)


@pytest.mark.parametrize(
    ("conf", "before", "name"),
    [
        (ReverseTimeSeriesVertex("k"), "k", "rev"),
        (LastTimeStepVertex("k"), "k", "last"),
        (DuplicateToTimeSeriesVertex("q"), "2.last", "dup"),
        (L2NormalizeVertex(), "k", "l2n"),
        (ReshapeVertex("f", [-1, 9, 2]), "k", "mf"),
    ],
)
def test_masked_series_are_javas(conf, before, name, backend):
    queries, keys, _ = map(array_of, MASKED["masks"]["2"])
    network = {
        "q": NetworkInput(array_of(MASKED["q"]), queries),
        "k": NetworkInput(array_of(MASKED["k"]), keys),
    }
    a, _, _ = at_work(conf, [array_of(MASKED[before])], (keys,), network)[2]
    np.testing.assert_allclose(nd.to_host(a), MASKED[f"2.{name}"], **EXACT)
