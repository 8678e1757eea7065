"""loss_weights of fit: the gradient of the weighted sum of the outputs' losses, for every layer with a loss."""

import numpy as np
import pytest

import nd
from nd.dataset import ExistingMultiDataSetIterator, MultiDataSet
from nn import Convolution3D, ConvolutionLayer, DenseLayer, MultiLayerNetwork, OCNNOutputLayer, SimpleRnn
from nn.layers.losses.output import WithLoss
from tests.cases.layers import LAYER_CASES, make_features, make_labels
from tests.cells import every_row
from tests.nn.layers.test_every_layer import make_network
from tests.nn.networks.test_graph import Y1, Y2, A, B, N, by_hand, data, host, network

BELOW = {1: DenseLayer(n_out=4), 2: SimpleRnn(n_out=4), 3: ConvolutionLayer(n_out=4, kernel_size=(1, 1))}
BELOW[4] = Convolution3D(n_out=2, kernel_size=(1, 1, 1))


def ends():
    """Yield two rows of every layer with a loss, behind another layer where it has no parameters itself."""
    for cases in LAYER_CASES.values():
        for case in [case for case in cases if not case.tail and isinstance(case.layer, (WithLoss, OCNNOutputLayer))][
            :2
        ]:
            below = BELOW[len(case.input_type.shape)]
            yield case if hasattr(case.layer, "n_in") else case._replace(layer=below, tail=(case.layer,))


ENDS = list(ends())
WEIGHTS = {"kind": 0.5, "size": 3.0}
COLUMNS = tuple(np.full((N, 1), weight) for weight in WEIGHTS.values())


@pytest.mark.parametrize("given", [WEIGHTS, [0.5, 3.0], {"size": 6.0, "kind": 1.0}])
def test_a_step_is_the_gradient_by_hand(given):
    """A mask of rows that holds the weights, in the formulas written in NumPy, is a weight of the loss."""
    net, twice = network(l2=0.2), given == {"size": 6.0, "kind": 1.0}
    expected, scale = by_hand(net, COLUMNS), 2.0 if twice else 1.0
    history = net.fit(data(), loss_weights=given)
    for name, view in net.param_table().items():
        gradient = scale * expected.gradients[name] / N + (0.2 * expected.params[name] if name.endswith("_W") else 0.0)
        np.testing.assert_allclose(view, expected.params[name] - 0.1 * gradient, rtol=1e-12, atol=1e-14)
    score = scale * sum(loss.sum() for loss in expected.losses) / N + 0.2 * expected.penalty
    assert history.score == pytest.approx([score], rel=1e-12)
    assert net.score() == pytest.approx(score, rel=1e-12)


@pytest.mark.parametrize("form", ["iterator", "batches of arrays", "eager"])
def test_every_way_to_train_has_the_weights(form):
    """All steps, recorded ones too: labels' masks with these numbers stand in for the weights."""
    rows = (slice(0, 4), slice(4, 6))
    masked = [MultiDataSet([A[r], B[r]], [Y1[r], Y2[r]], None, [column[r] for column in COLUMNS]) for r in rows]
    expected = network()
    expected.fit(ExistingMultiDataSetIterator(masked), epochs=4)
    net, settings = network(), {"epochs": 4, "loss_weights": WEIGHTS}
    plain = [MultiDataSet([A[r], B[r]], [Y1[r], Y2[r]]) for r in rows]
    if form == "iterator":
        net.fit(ExistingMultiDataSetIterator(plain), **settings)
    elif form == "eager":
        with nd.eager():
            net.fit(plain, **settings)
    else:
        net.fit([A, B], [Y1, Y2], batch_size=4, shuffle=False, **settings)
    np.testing.assert_allclose(host(net.params()), host(expected.params()), rtol=1e-12, atol=1e-14)


def test_they_are_in_the_validation_score_and_gone_after_the_call(tmp_path):
    net = network()
    history = net.fit(data(), validation_data=data(), loss_weights=WEIGHTS)
    now = by_hand(net, COLUMNS)
    assert history.validation_score == pytest.approx([sum(loss.sum() for loss in now.losses) / N], rel=1e-12)
    plain = by_hand(net)
    assert net.score(data()) == pytest.approx(sum(loss.sum() for loss in plain.losses) / N, rel=1e-12)
    net.fit(data())
    for name, view in net.param_table().items():
        stepped = plain.params[name] - 0.1 * plain.gradients[name] / N
        np.testing.assert_allclose(view, stepped, rtol=1e-12, atol=1e-14)


@every_row("case", ENDS, ids=lambda case: f"{type((case.layer, *case.tail)[-1]).__name__}-{case.variant}")
def test_a_weight_of_every_layer_with_a_loss_multiplies_its_step(case):
    """With Sgd the step is the gradient; center loss moves its centers by means, no gradient, which go along."""
    steps = []
    for weight in (1.0, 0.25):
        net = make_network(case, updater="sgd", learning_rate=0.1)
        x = make_features(case)
        shape = net.output(x).shape
        before = host(net.params()).copy()
        net.fit(x, make_labels(case, shape[1:], 0, shape[0]), loss_weights=[weight])
        steps.append((host(net.params()) - before, net.score()))
    (whole, score), (quarter, of_quarter) = steps
    assert np.abs(whole).max() > 0
    np.testing.assert_allclose(quarter, 0.25 * whole, rtol=1e-9, atol=1e-12)
    assert of_quarter == pytest.approx(0.25 * score, rel=1e-9)


REFUSED = {
    "no such output": ({"sizes": 1.0}, nd.ChoiceError, "unknown output 'sizes', .*kind, size.* mean 'size'"),
    "one too few": ([1.0], nd.ConfigurationError, "a weight for each of 2 outputs, got 1. Or name some"),
    "below 0": ({"size": -1.0}, nd.ArgumentError, "loss_weights must be .* number >= 0"),
    "a number": (0.5, nd.ArgumentError, "loss_weights must be a mapping from .* or a sequence"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_before_anything_is_trained(name):
    given, error, message = REFUSED[name]
    net = network()
    with pytest.raises(error, match=message):
        net.fit(data(), loss_weights=given)
    assert net.iteration_count == 0


def test_layers_one_after_the_other_have_one_weight():
    case = LAYER_CASES["rnn_output"][0]
    net = make_network(case, updater="sgd", learning_rate=0.1)
    assert isinstance(net, MultiLayerNetwork)
    x = make_features(case)
    y = make_labels(case, net.output(x).shape[1:])
    with pytest.raises(nd.ConfigurationError, match="a weight for each of 1 outputs, got 2"):
        net.fit(x, y, loss_weights=[1.0, 2.0])
