"""Graphs that were nets of Caffe: their windows rounded up, their groups, their factors of channels, in Java."""

from __future__ import annotations

import numpy as np

from nd.dataset import MultiDataSet
from nn.caffe.net import Net
from optimize import Nesterovs
from tests.cases.random_caffe_nets import CLASSES, EXAMPLES, draw_net, fill, trained
from tests.cases.random_graphs import RandomGraph

from .graphs import Drawn


def random_nets(count: int) -> list[Drawn]:
    """Return the graphs of nets drawn at random, with data."""
    return [Drawn(f"caffe-{number:03}", _graph_of(number)) for number in range(count)]


def _graph_of(seed: int) -> RandomGraph:
    net = Net(trained(draw_net(seed)), phase="TRAIN", dtype="float64", seed=seed)
    fill(net, seed)
    conf = net.to_computation_graph(seed=seed + 1, updater=Nesterovs(0.01, momentum=0.9)).conf
    rng = np.random.default_rng(seed)
    x, labels = rng.normal(0.0, 1.0, net.blobs["data"].shape), rng.integers(0, CLASSES, EXAMPLES)
    return RandomGraph(conf, MultiDataSet([x], [np.eye(CLASSES)[labels]]), conf.network_input_types(), False)
