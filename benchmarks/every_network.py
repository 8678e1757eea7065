"""Every network that there are minibatches for: of `case_networks`, of the suite, of the contract tests' rows.

The rows are those of the tree whose packages are imported: `tests.cases` must lie beside them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from case_networks import CASES, Case, minibatches
from networks import NETWORKS, make

import nd
from nd.dataset import DataSet, MultiDataSet
from nn import (
    ActivationLayer,
    BatchNormalization,
    ComputationGraph,
    GlobalPoolingLayer,
    InputType,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
)
from optimize import Adam

Made = tuple[Any, list[Any]]
"""A network, and minibatches for it."""
N = 8
BATCH = 16
"""Of the suite's networks."""
NOT_SCORED = {"mask-shape", "series"}
"""Rows of vertices whose masks are of steps, or of no use to a layer of rows."""


def every_network() -> dict[str, Callable[[], Made]]:
    """Return name -> maker."""
    from tests.cases.layers import LAYER_CASES
    from tests.cases.vertices import VERTEX_CASES

    made: dict[str, Callable[[], Made]] = {f"case {name}": partial(_of_case, case) for name, case in CASES.items()}
    made |= {f"suite {name}": partial(_of_suite, name) for name in NETWORKS}
    layers: Any = LAYER_CASES
    vertices: Any = VERTEX_CASES
    for kind, rows in layers.items():
        made |= {f"layer {kind}-{row.variant}": partial(_of_layer, row) for row in rows}
    for kind, rows in vertices.items():
        made |= {f"vertex {kind}-{row.variant}": partial(_of_vertex, row) for row in rows if _by_itself(row)}
    return made


def _by_itself(row: Any) -> bool:
    """Whether the vertex says itself all that it is: how channels lie is settled by a network's inputs."""
    return getattr(row.vertex, "data_format", None) is None


def _of_case(case: Case) -> Made:
    net = MultiLayerNetwork(case.conf()).init()
    layers: Any = net.conf.layers
    return net, minibatches(case, getattr(layers[-1], "n_out", None) or layers[-2].n_out)


def _of_suite(name: str) -> Made:
    net, data = make(name, BATCH)
    return net, [data]


def _of_layer(row: Any) -> Made:
    from tests.cases.layers import make_features, make_labels

    base = NeuralNetConfiguration(
        seed=7, bias_init=0.1, updater=Adam(0.01), validate_output_layer_config=False, l2=1e-3, drop_out=0.9
    )
    net = MultiLayerNetwork(base.list(row.layer, *row.tail, input_type=row.input_type)).init()
    features = [make_features(row, seed, N) for seed in range(2)]
    shape = net.output(features[0]).shape
    labels = [make_labels(row, shape[1:], seed, shape[0]) for seed in range(2)]
    return net, [DataSet(*pair) for pair in zip(features, labels, strict=True)]


def _of_vertex(row: Any) -> Made:
    names = [f"x{number}" for number in range(len(row.shapes))]
    masks = () if row.variant in NOT_SCORED else row.masks
    arrays = [*row.inputs(), *(np.ones(shape) for shape, _ in row.network.values())]
    all_masks = [*(masks or (None,) * len(names)), *(mask for _, mask in row.network.values())]
    nodes: dict[str, Any] = {f"s{name}": (BatchNormalization(), name) for name in names}
    nodes["v"] = (row.vertex, *nodes)
    nodes["same"] = (ActivationLayer(activation="identity"), "v")
    inputs = {
        name: InputType.infer_input_type(nd.create(x)) for name, x in zip([*names, *row.network], arrays, strict=True)
    }
    base = NeuralNetConfiguration(seed=3, updater=Adam(0.01), weight_init="xavier")
    kind: Any = base.graph(inputs, nodes, ["same"], allow_disconnected=True).get_layer_activation_types()["same"]
    if len(kind.sizes) > 1:
        nodes["pooled"] = (GlobalPoolingLayer("sum"), "same")
    nodes["out"] = (OutputLayer(n_out=2, loss="mse", activation="tanh"), list(nodes)[-1])
    net = ComputationGraph(base.graph(inputs, nodes, ["out"], allow_disconnected=True)).init()
    rows = net.output(*arrays, features_masks=all_masks)[0].shape[0]
    trains = rows in {len(x) for x in arrays}  # rows that are no examples are predicted only
    data = MultiDataSet(arrays, [np.ones((rows, 2))], all_masks, [np.ones((rows, 1))])
    return net, [data] if trains else []
