"""PyTorch's networks, made from our configurations, are the same networks: in float64, to rounding."""

import pathlib
from dataclasses import replace

import numpy as np
import pytest

import nd

torch = pytest.importorskip("torch", reason="PyTorch is no dependency: `make bench` installs it")
FOLDER = pathlib.Path(__file__).parent.parent.parent / "benchmarks"
BATCH, STEPS = 6, 3
NAMES = (
    "lenet", "vgg", "batch-norm", "depthwise", "unet", "causal-1d", "conv-3d", "residual", "autoencoder", "embedding",
    "mlp-sgd", "bilstm-32-64-5", "lstm-32-64-5", "simple-rnn-32-64-5",
)  # fmt: skip
pytestmark = pytest.mark.slow  # importing PyTorch takes seconds


@pytest.fixture(autouse=True)
def scripts(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))


def peers(name, channels_last=False):
    """Return this library and PyTorch on the same network in float64."""
    from contenders import Ours
    from torch_contender import Theirs

    ours = Ours(name, BATCH, "float64")
    return ours, Theirs(name, BATCH, "torch-channels-last" if channels_last else "torch", "float64")


@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_they_compute_the_same(name, channels_last):
    from contenders import check_gradients, plays

    if channels_last and not plays("torch-channels-last", name, "training"):
        pytest.skip("no format of its own")
    ours, theirs = (each.numbers() for each in peers(name, channels_last))
    assert ours.loss == pytest.approx(theirs.loss, rel=1e-12)
    np.testing.assert_allclose(ours.predictions, theirs.predictions, rtol=0, atol=1e-12)
    assert len(ours.first_steps) == (3 if name in ("lstm-32-64-5", "simple-rnn-32-64-5") else 0)
    for our, their in zip(ours.first_steps, theirs.first_steps, strict=True):
        np.testing.assert_allclose(our, their, rtol=0, atol=1e-12)
    check_gradients(ours.gradients, theirs.gradients, "torch", 1e-10)
    off = {key: gradient * (1 + 1e-9) for key, gradient in theirs.gradients.items()}
    with pytest.raises(SystemExit, match="torch has another gradient of"):
        check_gradients(ours.gradients, off, "torch", 1e-10)


UPDATERS = "adadelta", "adagrad", "adam", "adamax", "amsgrad", "nesterovs", "rmsprop", "sgd"


@pytest.mark.parametrize("name", ["lenet", "residual", *(f"mlp-{name}" for name in UPDATERS)])
def test_steps_lead_to_our_weights(name, monkeypatch):
    """Epsilon next to 0: PyTorch's Adam adds it elsewhere than Java's, and its RMSprop does not begin with it."""
    import networks

    for key in ("adam", "adamax", "amsgrad", "rmsprop"):
        monkeypatch.setitem(networks.UPDATERS, key, replace(networks.UPDATERS[key], epsilon=1e-30))
    ours, theirs = peers(name)
    ties = theirs.translation.ties
    before = {tie.key: nd.to_host(ours.net.get_param(tie.key)).copy() for tie in ties}
    for _ in range(STEPS):
        ours.train()
        theirs.train()
    far = moved = 0.0
    for tie in ties:
        our = nd.to_host(ours.net.get_param(tie.key))
        far += ((our - tie.ours(tie.parameter)) ** 2).sum()
        moved += ((our - before[tie.key]) ** 2).sum()
    assert far < (0.02 if name == "residual" else 1e-6) ** 2 * moved
    assert networks.NETWORKS[name].counts


@pytest.mark.parametrize("name", ["mlp-adabelief", "mlp-nadam"])
def test_what_is_only_the_closest_does_not_count(name):
    from networks import NETWORKS

    assert not NETWORKS[name].counts


def test_another_number_of_parameters_is_refused(monkeypatch):
    """Of a translation that is made wrong on purpose."""
    import torch_layers
    from networks import make
    from torch_models import translate

    net, _ = make("lenet", BATCH)
    monkeypatch.setattr(torch_layers, "_host", lambda net, key: np.zeros((1, 3), np.float32))
    with pytest.raises(SystemExit, match=r"parameters, we have 431080"):
        translate(net)
