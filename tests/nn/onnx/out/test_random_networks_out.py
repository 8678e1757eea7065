"""Random networks and graphs as ONNX: the checker with full shape inference, and onnxruntime beside the network."""

import numpy as np
import pytest

import nd
from nn.onnx.out import LAYERS, VERTICES
from tests.networks_of_all_kinds import KINDS
from tests.onnx_at_work import Written

QUICK, MANY, MOST = 5, 200, 1000


def check(kind, number):
    """Compare one network at two sizes of the minibatch; return the names of its parts' classes, none where none is."""
    drawn = KINDS[kind](number)
    if drawn is None:
        return set()
    net, features = drawn
    features = [nd.to_host(x) for x in features]
    written = Written(net)
    written.check(*features)
    written.check(*(np.concatenate([x, 0.5 * x[:1]]) if kind != "layers" else x[:2] for x in features))
    parts = [node.conf for node in net.conf.nodes]
    return {type(part).__name__ for part in [*parts, *(part.innermost for part in parts)]}


@pytest.mark.parametrize("kind", KINDS)
def test_a_few(kind):
    assert sum(bool(check(kind, number)) for number in range(QUICK)) >= QUICK - 2


@pytest.mark.slow
def test_many_with_every_layer_and_vertex():
    counts, parts = {}, set()
    for kind in KINDS:
        number = counts[kind] = 0
        while counts[kind] < MANY or (kind == "layers" and number < MOST and not {*LAYERS} <= parts):
            of_network = check(kind, number)
            counts[kind] += bool(of_network)
            parts |= of_network
            number += 1
    assert min(counts.values()) >= MANY
    assert sorted({*LAYERS, *VERTICES} - {"OnnxVertex"} - parts) == []
