"""Random nets of Caffe as graphs: the same outputs, losses and gradients."""

import numpy as np
import pytest

import nd
from nn.caffe.net import Net
from tests.cases.random_caffe_nets import CLASSES, EXAMPLES, deployed, draw_net, fill, trained
from tests.sweeps import share

MANY = pytest.param(range(12, 12 + share(388)), marks=pytest.mark.slow, id="more")
SEEDS = [*range(12)]


def numbers(net, seed):
    rng = np.random.default_rng(seed)
    return rng.normal(0.0, 1.0, net.blobs["data"].shape), rng.integers(0, CLASSES, EXAMPLES)


def check_outputs(seed):
    net = Net(deployed(draw_net(seed)), dtype="float64", seed=seed)
    fill(net, seed)
    x, _ = numbers(net, seed)
    expected = net.forward(data=x)["prob"]
    (given,) = net.to_computation_graph().output(x)
    np.testing.assert_allclose(given, expected, rtol=1e-10, atol=1e-12)


def check_gradients(seed):
    """Compare gradients by a net of gradients, which become a graph's parameters as weights do."""
    text = trained(draw_net(seed))
    net, of_gradients = (Net(text, phase="TRAIN", dtype="float64", seed=seed) for _ in range(2))
    fill(net, seed)
    x, labels = numbers(net, seed)
    net.blobs["data"].data, net.blobs["label"].data = x, labels
    graph = net.to_computation_graph()
    weights = graph.param_table()
    loss = net.forward_backward()
    for name, blobs in net.params.items():
        for blob, of_gradient in zip(blobs, of_gradients.params[name], strict=True):
            of_gradient.data = blob.diff
    wanted = of_gradients.to_computation_graph().param_table()
    given, _ = graph.calculate_gradients([x], [np.eye(CLASSES)[labels]])
    assert graph.score() == pytest.approx(loss, rel=1e-10)
    for key, gradient in given.gradient_for_variable().items():
        only_there = np.array_equal(wanted[key], weights[key])  # the factors of a Bias, say, whatever the net's numbers
        if only_there or key.endswith(("_mean", "_log10stdev")):
            continue
        at_most = 1e-9 * max(1.0, np.abs(wanted[key]).max())
        np.testing.assert_allclose(np.asarray(gradient) / EXAMPLES, wanted[key], rtol=1e-8, atol=at_most, err_msg=key)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.quick_rows(every=3)
def test_outputs(seed):
    check_outputs(seed)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.quick_rows(every=3)
def test_gradients(seed):
    check_gradients(seed)


@pytest.mark.parametrize("seeds", [MANY])
@pytest.mark.parametrize("check", [check_outputs, check_gradients])
def test_many(seeds, check):
    for seed in seeds:
        check(seed)


def test_nets_have_every_type():
    texts = "".join(draw_net(seed).text for seed in SEEDS)
    for kind in ("Convolution", "Deconvolution", "Pooling", "LRN", "BatchNorm", "Scale", "Eltwise", "Concat", "Slice"):
        assert f'type: "{kind}"' in texts


def test_float32():
    net = Net(deployed(draw_net(3)), seed=3)
    fill(net, 3)
    x, _ = numbers(net, 3)
    expected = net.forward(data=x)["prob"]
    (given,) = net.to_computation_graph().output(nd.create(x, "float32"))
    np.testing.assert_allclose(given, expected, rtol=1e-5, atol=1e-6)
