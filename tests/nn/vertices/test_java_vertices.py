"""Vertices beside Java's own: activations of its networks, from those of the vertices before them, and its files."""

import json

import numpy as np
import pytest

import nd
from nn.files.vertices_json import vertex_from_json, vertex_to_json
from nn.vertices import LayerVertex, NetworkInput, VertexContext

CLOSE = {"rtol": 1e-6, "atol": 1e-7}  # float32
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
    """Return the vertices that are no layers', the names of everyone's inputs, and the arrays of a network of Java's."""
    document = json.loads((folder / "conf.json").read_text())
    found = {name: data for name, data in document["vertices"].items() if not data["@class"].endswith("LayerVertex")}
    arrays = np.load(folder / "arrays.npz")
    return document, found, {key: arrays[key] for key in arrays.files}


def params_of(conf, arrays):
    """Return the parameters of the only vertex that has any, behind those of the LSTM of 4 inputs and 6 outputs."""
    specs, start, params = conf.param_specs(), 4 * 6 * (4 + 6 + 1), {}
    for spec in specs:
        params[spec.name] = nd.reshape_view(nd.create(arrays["params0"][start : start + spec.length]), spec.shape)
        start += spec.length
    return params


@pytest.mark.parametrize("run", [run for run in RUNS if run not in WITHOUT_ACTIVATIONS])
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
        found = vertex.propagate([nd.create(arrays[key]) for key in before], (), params_of(conf, arrays), ctx)[0]
        np.testing.assert_allclose(nd.to_host(found), arrays[f"act_{name}"], **CLOSE)


@pytest.mark.parametrize("run", RUNS)
def test_javas_files_are_written_again_as_they_were(run, reference):
    for data in of_run(reference / "java-runs" / "graph" / run)[1].values():
        conf = vertex_from_json(data)
        assert not isinstance(conf, LayerVertex)
        assert vertex_to_json(conf) == data
