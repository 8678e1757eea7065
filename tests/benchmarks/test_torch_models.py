"""PyTorch's networks, made from our configurations, are the same networks."""

import pathlib

import numpy as np
import pytest

import nd

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


@pytest.mark.parametrize("name", ["lenet", "residual"])
def test_steps_lead_to_our_weights(name):
    from networks import make
    from torch_models import model_of, optimizer_of

    net, data = make(name, BATCH)
    first, model = model_of(net), model_of(net).train()
    optimizer, classes = optimizer_of(net, model), torch.tensor(data.labels.argmax(1))
    for _ in range(STEPS):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(images_of(data)), classes).backward()
        optimizer.step()
        net.fit_batch(data)
    before, theirs, ours = (vector_of(each) for each in (first, model, model_of(net)))
    assert np.linalg.norm(ours - theirs) < 0.02 * np.linalg.norm(ours - before)


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
