"""How to call what is for graphs."""

from __future__ import annotations

from typing import Any

import numpy as np

from nd.evaluation import Evaluation
from nn import (
    CnnToFeedForwardPreProcessor,
    ComputationGraph,
    DenseLayer,
    InputType,
    MergeVertex,
    OutputLayer,
    ScaleVertex,
)

from .keras_cases import KERAS
from .values import configuration, data_set, graph, graph_configuration


def trained_graph(**arguments: Any) -> ComputationGraph:
    """Return a graph with a minibatch set, so that everything of it can be called."""
    made = graph()
    made.keep("dense")
    made.fit_batch(data_set())
    made.class_names = ("a", "b", "c")
    return made


def saved_graph(folder: Any) -> Any:
    """Return the path of a graph's zip."""
    path = folder / "graph.zip"
    if not path.exists():
        graph().save(path)
    return path


def saved_graph_checkpoint(folder: Any) -> Any:
    """Return the path of a graph's checkpoint."""
    path = folder / "graph_checkpoint.zip"
    if not path.exists():
        graph().save_checkpoint(path)
    return path


def _parts() -> dict[str, Any]:
    conf = graph_configuration()
    return {name: getattr(conf, name) for name in ("base", "inputs", "outputs", "vertices", "vertex_inputs")}


PREPARED_GRAPHS: dict[str, Any] = {"nn.ComputationGraph": trained_graph}

GRAPHS: dict[str, Any] = {
    "nn.ComputationGraph": lambda folder: {"conf": graph_configuration()},
    "nn.ComputationGraph.activate_selected_layers": lambda folder: {
        "start": "dense", "stop": "out", "xs": data_set().features,
    },
    "nn.ComputationGraph.backprop_selected_layers": lambda folder: {
        "start": "dense", "stop": "out", "xs": data_set().features, "epsilon": data_set().labels,
    },
    "nn.ComputationGraph.backprop_gradient": lambda folder: {"epsilons": data_set().labels},
    "nn.ComputationGraph.calculate_gradients": lambda folder: {
        "features": data_set().features, "labels": data_set().labels,
    },
    "nn.ComputationGraph.do_evaluation": lambda folder: {"data": data_set(), "evaluations": Evaluation()},
    "nn.ComputationGraph.feed_forward": lambda folder: {"xs": data_set().features},
    "nn.ComputationGraph.get_layer": {"layer": "dense"},
    "nn.ComputationGraph.keep": {"names": "dense"},
    "nn.ComputationGraph.kept": {"name": "dense"},
    "nn.ComputationGraph.get_vertex": {"name": "both"},
    "nn.ComputationGraph.output": lambda folder: {"xs": data_set().features},
    "nn.ComputationGraph.output_single": lambda folder: {"xs": data_set().features},
    "nn.ComputationGraph.rnn_activate_using_stored_state": lambda folder: {"xs": data_set().features},
    "nn.ComputationGraph.rnn_set_previous_states": {"states": {}},
    "nn.MultiLayerNetwork.rnn_set_previous_states": {"states": {}},
    "nn.ComputationGraph.rnn_time_step": lambda folder: {"xs": data_set().features},
    "nn.ComputationGraph.set_inputs": lambda folder: {"xs": data_set().features},
    "nn.ComputationGraph.set_labels": lambda folder: {"ys": data_set().labels},
    "nn.ComputationGraph.set_masks": lambda folder: {"features_masks": [np.ones((6, 1), np.float32)]},
    "nn.ComputationGraphConfiguration": lambda folder: _parts(),
    "nn.ComputationGraphConfiguration.from_json": lambda folder: {"text": graph_configuration().to_json()},
    "nn.ComputationGraphConfiguration.get_conf": {"name": "dense"},
    "nn.ComputationGraphConfiguration.get_layer_activation_types": {
        "input_types": InputType.feed_forward(4),
    },
    "nn.ComputationGraphConfiguration.GraphBuilder": lambda folder: {"base": graph_configuration().base},
    "nn.ComputationGraphConfiguration.of_chain": lambda folder: {"conf": configuration()},
    "nn.DuplicateToTimeSeriesVertex": {"input_name": "x"},
    "nn.ElementWiseVertex": {"op": "add"},
    "nn.FrozenVertex": {"underlying": ScaleVertex(0.5)},
    "nn.LastTimeStepVertex": {"mask_array_input": "x"},
    "nn.LayerVertex": {"layer": DenseLayer(n_in=4, n_out=3)},
    "nn.ComputationGraph.get_input": {"number": 0},
    "nn.ComputationGraph.get_learning_rate": {"layer": "dense"},
    "nn.ComputationGraph.get_param": {"key": "dense_W"},
    "nn.ComputationGraph.layer_input_size": {"layer": "dense"},
    "nn.ComputationGraph.layer_size": {"layer": "dense"},
    "nn.ComputationGraph.load": lambda folder: {"path": saved_graph(folder)},
    "nn.ComputationGraph.load_checkpoint": lambda folder: {"path": saved_graph_checkpoint(folder)},
    "nn.ComputationGraph.predict": lambda folder: {"x": data_set().features},
    "nn.ComputationGraph.predict_labels": lambda folder: {"x": data_set().features},
    "nn.ComputationGraph.set_input": lambda folder: {"number": 0, "x": data_set().features},
    "nn.ComputationGraph.set_label": lambda folder: {"number": 0, "y": data_set().labels},
    "nn.ComputationGraph.set_learning_rate": {"rate": 0.1},
    "nn.ComputationGraph.set_param": lambda folder: {"key": "dense_W", "value": graph().get_param("dense_W")},
    "nn.ComputationGraph.set_param_table": lambda folder: {"table": graph().param_table()},
    "nn.ComputationGraph.set_params": lambda folder: {"params": graph().params()},
    "nn.ComputationGraph.set_updater_state": lambda folder: {"state": graph().updater_state()},
    "nn.ComputationGraph.update": lambda folder: {"gradient": graph().gradient()},
    "nn.ComputationGraphConfiguration.with_counts": {"iteration_count": 1, "epoch_count": 1},
    "nn.ComputationGraph.picture": lambda folder: {"target": folder / "picture.svg"},
    "nn.NeuralNetConfiguration.graph": {
        "inputs": {"x": InputType.feed_forward(4)},
        "nodes": {"both": (MergeVertex(), "x"), "out": (OutputLayer(n_out=3), "both")},
        "outputs": ["out"],
    },
    "nn.PreprocessorVertex": {"preprocessor": CnnToFeedForwardPreProcessor(2, 2, 1)},
    "nn.TransferLearning.GraphBuilder": lambda folder: {"graph": graph()},
    **KERAS,
    "nn.load": lambda folder: {"path": saved_graph(folder)},
}  # fmt: skip
