"""PyTorch's networks, made from our configurations, are the same networks."""

import pathlib

import numpy as np
import pytest

import nd
from nn import MultiLayerNetwork

torch = pytest.importorskip("torch", reason="PyTorch is no dependency: `make bench` installs it")
FOLDER = pathlib.Path(__file__).parent.parent.parent / "benchmarks"
BATCH, STEPS = 6, 3
pytestmark = pytest.mark.slow  # importing PyTorch takes seconds


@pytest.fixture(autouse=True)
def scripts(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))


def images_of(data):
    return torch.tensor(np.ascontiguousarray(data.features)).reshape(-1, 1, 28, 28)


@pytest.mark.parametrize("name", ["lenet", "lenet-graph", "residual"])
@pytest.mark.parametrize("training", [False, True])
def test_predictions_are_ours(name, training):
    from networks import make
    from torch_models import model_of

    net, data = make(name, BATCH)
    net.fit_batch(data)  # running statistics other than at first
    ours = net.output(data.features, train=True) if training else net.output(data.features)
    with torch.inference_mode():
        theirs = torch.softmax(model_of(net).train(training)(images_of(data)), 1).numpy()
    np.testing.assert_allclose(nd.to_host(ours[0] if isinstance(ours, list) else ours), theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["lenet", "residual", "lstm-32-64-5"])
def test_steps_lead_to_our_weights(name):
    from networks import make, tensors
    from torch_models import model_of, optimizer_of

    net, data = make(name, BATCH)
    first, model = model_of(net), model_of(net).train()
    optimizer, (inputs, classes) = optimizer_of(net, model), tensors(net, data)
    for _ in range(STEPS):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(inputs), classes).backward()
        optimizer.step()
        net.fit_batch(data)
    before, theirs, ours = (vector_of(each) for each in (first, model, model_of(net)))
    assert np.linalg.norm(ours - theirs) < 0.02 * np.linalg.norm(ours - before)


@pytest.mark.parametrize(("dtype", "far"), [("float32", 1e-6), ("float64", 1e-13)])
@pytest.mark.parametrize("name", ["lstm-32-64-5", "lstm-77-200-200-77", "simple-rnn-32-64-5"])
def test_series_forward_and_back(name, dtype, far):
    from networks import check_gradients, tensors
    from series_networks import SERIES
    from torch_models import gradients_of_series, model_of

    net = MultiLayerNetwork(SERIES[name].conf(dtype)).init()
    data = SERIES[name].minibatch(BATCH)
    model, (series, classes) = model_of(net), tensors(net, data)
    logits = model(series.to(getattr(torch, dtype)))
    theirs = torch.softmax(logits.detach(), 1).reshape(-1, BATCH, logits.shape[1]).permute(1, 2, 0)
    np.testing.assert_allclose(nd.to_host(net.output(data.features)), theirs, rtol=0, atol=far)
    (torch.nn.functional.cross_entropy(logits, classes, reduction="sum") / BATCH).backward()
    check_gradients(net, data, gradients_of_series(net, model), "torch", 5 * far)
    one_is_off = {key: gradient + 1e-3 for key, gradient in gradients_of_series(net, model).items()}
    with pytest.raises(SystemExit, match=r"torch has another gradient of 0_W, by 0\.\d+ of its largest"):
        check_gradients(net, data, one_is_off, "torch")


def test_single_steps_of_series_go_on_from_each_other():
    from networks import make
    from recurrent_cpu import stream

    net, data = make("lstm-32-64-5", 2)
    x = np.ascontiguousarray(data.features[:, :, 0])
    theirs = stream(net, x, "torch")
    steps = [(nd.to_host(net.rnn_time_step(x)).copy(), theirs()) for _ in range(3)]
    for ours, other in steps:
        np.testing.assert_allclose(ours, other, rtol=0, atol=1e-6)
    assert abs(steps[0][0] - steps[2][0]).max() > 1e-3


def vector_of(model):
    """Return everything that is trained, and the running means of batch normalisation."""
    parts = [each.detach() for name, each in model.state_dict().items() if "running_var" not in name]
    return np.concatenate([each.numpy().ravel() for each in parts if each.is_floating_point()])


def test_another_number_of_parameters_is_refused(monkeypatch):
    import torch_models
    from networks import make

    net, _ = make("lenet", BATCH)
    monkeypatch.setattr(torch_models, "_host", lambda net, key: np.zeros((1, 3), np.float32))
    with pytest.raises(SystemExit, match=r"parameters, we have 431080"):
        torch_models.model_of(net)
