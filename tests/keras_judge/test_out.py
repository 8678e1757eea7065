"""Networks as files that Keras opens: what Keras computes is what the network does. `make test-extras`."""

import numpy as np
import pytest

import nd
from nn import (
    DenseLayer,
    EmbeddingSequenceLayer,
    InputType,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    RnnOutputLayer,
)
from nn.keras.out import LAYERS, VERTICES
from tests.cases.layers import LAYER_CASES, make_features
from tests.cases.vertices import VERTEX_CASES
from tests.networks_of_all_kinds import KINDS, features_of, graph_of
from tests.nn.layers.test_every_layer import make_network
from tests.sweeps import rows_of, share

CLOSE = {"rtol": 1e-5, "atol": 1e-5}  # of Keras' float32 to ours
QUICK, MANY = 2, share(30)
pytestmark = pytest.mark.filterwarnings(
    "ignore::nn.files.findings.ModelFileWarning",
    "ignore:Skipping variable loading",
    "ignore:Explicitly requested dtype",  # of JAX, which has float32 alone
    "ignore:__array__ implementation:DeprecationWarning",  # of Keras 3.15, by NumPy 2
)


def as_list(found):
    return list(found) if isinstance(found, (list, tuple)) else [found]


def agrees(keras, net, batches, folder):
    """Write a network and compare what Keras makes of the file; tell whether Keras could say it."""
    path = folder / "net.keras"
    try:
        net.save(path)
    except nd.ConfigurationError:
        return False
    model = keras.models.load_model(path)
    for features in batches:
        features = [np.asarray(x, net.dtype) for x in features]
        theirs = as_list(model(features if len(features) > 1 else features[0]))
        for a, b in zip(as_list(net.output(*features)), theirs, strict=True):
            np.testing.assert_allclose(np.asarray(b), nd.to_host(a), **CLOSE)
    return True


def drawn(kind, number):
    made = KINDS[kind](number)
    return made and (made[0], [nd.to_host(x) for x in made[1]])


@pytest.mark.parametrize("kind", KINDS)
def test_a_few(keras, kind, tmp_path):
    agreed, number = 0, 0
    while agreed < QUICK:
        net = drawn(kind, number)
        number += 1
        agreed += bool(net and agrees(keras, net[0], [net[1]], tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_many(keras, kind, tmp_path):
    agreed, number = 0, 0
    while agreed < MANY:
        net = drawn(kind, number)
        number += 1
        agreed += bool(net and agrees(keras, net[0], [net[1], [x[:1] for x in net[1]]], tmp_path))
    assert agreed == MANY


@pytest.mark.slow
def test_every_row(keras, tmp_path):
    said = set()
    cases = [case for rows in LAYER_CASES.values() for case in rows]
    for case in rows_of(cases):
        net = make_network(case, "float32")
        if agrees(keras, net, [[make_features(case, n=n)] for n in (3, 1)], tmp_path):
            said |= parts_of(net)
    for case in rows_of([case for rows in VERTEX_CASES.values() for case in rows]):
        net = graph_of(case)
        if agrees(keras, net, [features_of(case)], tmp_path):
            said |= parts_of(net)
    net, numbers = series_of_numbers()
    assert agrees(keras, net, [[numbers], [numbers[:1]]], tmp_path)
    said |= parts_of(net)
    missing = sorted({*LAYERS, *VERTICES} - {"OnnxVertex"} - said)
    assert missing == [] or len(rows_of(cases)) < len(cases)


def series_of_numbers():
    """Return a network over series that are looked up, and its input; those of the layer's cases end in rows."""
    layers = EmbeddingSequenceLayer(n_in=9, n_out=4, has_bias=True), RnnOutputLayer(n_in=4, n_out=2, loss="mse")
    conf = NeuralNetConfiguration(seed=1, updater="sgd").list(*layers, input_type=InputType.recurrent(1, 5))
    return MultiLayerNetwork(conf).init(), np.array([[[0, 8, 3, 3, 1]], [[2, 7, 6, 0, 4]]], np.float32)


def parts_of(net):
    """Return the names of the classes of a network's parts."""
    parts = [node.conf for node in net.conf.nodes]
    return {type(part).__name__ for part in [*parts, *(part.innermost for part in parts)]}


def test_the_loss_that_a_model_is_compiled_with(keras, tmp_path):
    tail = OutputLayer(n_out=3, loss="mcxent", activation="softmax")
    conf = NeuralNetConfiguration(seed=1, l2=0.1, updater="adam").list(
        DenseLayer(n_out=4, activation="tanh"), tail, input_type=InputType.feed_forward(5)
    )
    net = MultiLayerNetwork(conf).init()
    net.save(tmp_path / "net.keras")
    model = keras.models.load_model(tmp_path / "net.keras")
    x = np.random.default_rng(0).normal(size=(6, 5)).astype(np.float32)
    y = np.eye(3, dtype=np.float32)[[0, 1, 2, 0, 1, 2]]
    assert type(model.optimizer).__name__ == "Adam"
    np.testing.assert_allclose(model.evaluate(x, y, verbose=0), float(net.score(nd.dataset.DataSet(x, y))), rtol=1e-5)
