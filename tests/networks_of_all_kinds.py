"""Networks of every kind: drawn at random with their features, and graphs of a single vertex."""

import numpy as np

import nd
from nn import ComputationGraph, InputType, MultiLayerNetwork, NeuralNetConfiguration
from nn.conf.graph import ComputationGraphConfiguration
from nn.terms.data_formats import outward
from tests.cases.layers import make_features
from tests.cases.random_graphs import draw_graph
from tests.cases.random_networks import draw
from tests.cases.random_pretrained import draw_pretrained
from tests.cases.random_series import draw_series


def of_layers(number):
    drawn = draw(number)
    return None if drawn is None else (drawn[1], [make_features(drawn[0])])


def of_graphs(number):
    drawn = draw_graph(number)
    return ComputationGraph(drawn.conf).init(), list(drawn.data.features)


def of_series(number):
    drawn = draw_series(number)
    return MultiLayerNetwork(drawn.conf).init(), [drawn.data.features]


def of_pretrained(number):
    drawn = draw_pretrained(number)
    is_graph = isinstance(drawn.conf, ComputationGraphConfiguration)
    return (ComputationGraph if is_graph else MultiLayerNetwork)(drawn.conf).init(), [drawn.data.features]


KINDS = {"graphs": of_graphs, "layers": of_layers, "pretrained": of_pretrained, "series": of_series}
"""Kind -> function of a number that returns a network and its features, None where none is drawn, sorted."""


def graph_of(case, dtype="float32"):
    """Return a graph whose only node is the row's vertex, and the names of its inputs."""
    names = [f"in{number}" for number in range(len(case.shapes))]
    data_format = getattr(case.vertex, "data_format", None)
    types = [InputType.infer_input_type(nd.ones(*shape)) for shape in shapes_of(case)]
    if data_format is not None:
        types = [type(kind)(**{**vars(kind), "data_format": data_format}) for kind in types]
    inputs = dict(zip(names, types, strict=True))
    inputs |= {name: InputType.infer_input_type(nd.ones(*shape)) for name, (shape, _) in case.network.items()}
    base = NeuralNetConfiguration(seed=7, dtype=dtype)
    conf = base.graph(inputs, {"v": (case.vertex, *names)}, ["v"], allow_disconnected=True)
    return ComputationGraph(conf.with_confs([case.vertex]) if in_files(case) else conf).init()


def in_files(case):
    """Tell whether a configured network would merge other axes, so that the row's vertex comes from files alone."""
    return getattr(case.vertex, "merge_axis", None) == 1 and case.vertex.data_format is not None


def shapes_of(case):
    return case.shapes[:1] * len(case.shapes) if in_files(case) else case.shapes


def features_of(case, times=1):
    """Return features for every input of the row's graph, of so many times the examples."""
    shapes = [*shapes_of(case), *(shape for shape, _ in case.network.values())]
    rng = np.random.default_rng(times)
    arrays = [rng.normal(0.0, 0.8, (times * shape[0], *shape[1:])) for shape in shapes]
    data_format = getattr(case.vertex, "data_format", None)
    return [outward(x, data_format) if x.ndim == len(data_format or "") else x for x in arrays]
