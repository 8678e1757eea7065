"""Pretraining as Deeplearning4j did it, repeated: AutoEncoder and VariationalAutoencoder of 1.0.0-M1.1, RBM of 0.9.1.

A folder has x, y, params0, out0 of inference, params_l0_0, params_l0_1, ... after each pretrain_layer and params1 after
three fits; of an RBM hidden, params_pre0, params_pre1, ... after each pretrain, and out1 then.
"""

import json

import numpy as np
import pytest

import nd
from nd.dataset import DataSet
from nn import (
    RBM,
    JavaLimitWarning,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    load,
)
from nn.layers.pretraining.rbm import RBMRuntime
from tests.cells import wide_values
from tests.java_runs import FEW, Run, distance

WEIGHTS = 3e-6
"""Of weights and normal noise drawn from the seed: Java's logarithm and cosine are in single precision."""
EXACT = 5e-7
PRETRAINED = (
    "autoencoder_0.0", "autoencoder_0.3", "vae_bernoulli", "vae_gauss_identity", "vae_gauss_tanh", "vae_loss_mse",
)  # fmt: skip
HIDDEN = ("BINARY", "GAUSSIAN", "IDENTITY", "RECTIFIED", "SOFTMAX")
MACHINES = 21
SIGMAS = 5.0
"""Of the difference of two means or deviations: 170 numbers are compared, and one in a million is further."""
SEEDS = 1000


def host(array):
    return np.asarray(nd.to_host(array))


def few(kind):
    return sorted(path.parent.name for path in (FEW / kind).glob("*/conf.json"))


def drawn(name):
    """Whether the parameters after a step of contrastive divergence depend on what is drawn, with one step of Gibbs."""
    return "GAUSSIAN" in name


# ---- AutoEncoder, VariationalAutoencoder


def check_pretraining(folder):
    """From the seed: weights, what corrupts the input, and the numbers z are drawn as Java draws them."""
    run = Run(folder)
    net = MultiLayerNetwork(MultiLayerConfiguration.from_json(run.text)).init()
    assert distance(net.params(), run.params0) < WEIGHTS
    assert distance(net.output(run.x), run.out0) < WEIGHTS
    for number in range(5):
        net.pretrain_layer(0, run.x)
        assert distance(net.params(), run.arrays[f"params_l0_{number}"]) < WEIGHTS
    scores = []
    for _ in run.fits:
        net.fit(run.x, run.y)
        scores.append(net.score())
    assert distance(scores, run.fits) < WEIGHTS
    assert distance(net.params(), run.params1) < WEIGHTS
    if run.z is None:
        return
    layer = net.get_layer(0)
    assert distance(layer.generate_at_mean_given_z(run.z), run.generated_mean) < WEIGHTS
    if layer.has_loss_function():
        assert distance(layer.reconstruction_error(run.x), run.error) < WEIGHTS
        return
    nd.random.set_seed(7)
    assert distance(layer.reconstruction_log_probability(run.x, 5), run.logprob_seed7_5) < WEIGHTS


@pytest.mark.parametrize("name", few("pretrain"))
def test_layers_that_java_pretrained_here(name):
    check_pretraining(FEW / "pretrain" / name)


def test_layers_that_java_pretrained(reference):
    folder = reference / "java-runs" / "pretrain"
    assert sorted(path.name for path in folder.iterdir()) == sorted(PRETRAINED)
    for name in PRETRAINED:
        check_pretraining(folder / name)


# ---- RBM


def check_machine(folder):
    """From Java's own parameters, as release 0.9.1 drew weights with another generator; see the next test for noise."""
    run = Run(folder)
    net = MultiLayerNetwork(MultiLayerConfiguration.from_json(run.text))
    assert (net.conf.base.pretrain, net.conf.base.backprop) == (True, False)
    net.init(run.params0.reshape(1, -1))
    noisy = net.conf.layers[0].hidden_unit == "gaussian"  # Java's output has noise, ours in training alone
    if not noisy:
        assert distance(net.get_layer(0).activate(run.x), run.hidden) < EXACT
        assert distance(net.output(run.x), run.out0) < EXACT
    if drawn(folder.name):
        return
    for number in range(4):
        net.pretrain(run.x)
        assert distance(net.params(), run.arrays[f"params_pre{number}"]) < EXACT
    assert distance(net.output(run.x), run.out1) < EXACT


def check_machine_file(folder, tmp_path):
    """A zip of 0.9.1 runs, goes on, and is written again: for this library alone, of which it warns."""
    run = Run(folder)
    loaded = load(folder / "model.zip")
    assert type(loaded.conf.layers[0]) is RBM
    assert (loaded.conf.base.pretrain, loaded.conf.base.backprop) == (True, False)
    if not drawn(folder.name):
        assert distance(loaded.params(), run.params_pre3) == 0.0
    if loaded.conf.layers[0].hidden_unit != "gaussian":
        assert distance(loaded.output(run.x), run.out1) < EXACT
    before = host(loaded.params()).copy()
    loaded.fit(DataSet(run.x, run.y))  # which pretrains, and trains on no labels
    after = host(loaded.params())
    assert (after[0, :29] != before[0, :29]).any()
    assert (after[0, 29:] == before[0, 29:]).all()
    with pytest.warns(JavaLimitWarning, match="RBM"):
        loaded.save(tmp_path / "again.zip")
    again = load(tmp_path / "again.zip")
    assert again.conf == loaded.conf
    assert (host(again.params()) == after).all()


@pytest.mark.parametrize("name", few("rbm"))
def test_machines_of_java_here(name, tmp_path):
    check_machine(FEW / "rbm" / name)
    check_machine_file(FEW / "rbm" / name, tmp_path)


def test_machines_of_java(reference, tmp_path):
    folders = sorted((reference / "java-runs" / "rbm").iterdir())
    assert len(folders) == MACHINES
    for folder in folders:
        check_machine(folder)
        check_machine_file(folder, tmp_path)


MACHINES_OF_MANY_SEEDS = json.loads((FEW.parent / "java_rbm_draws.json").read_text())["machines"]


@pytest.mark.parametrize(
    "machine", wide_values(MACHINES_OF_MANY_SEEDS, 2), ids=lambda one: f"{one['visible']}-{one['hidden']}".lower()
)
@pytest.mark.quick_rows(1)
def test_a_step_with_noise_is_spread_as_in_java(machine, monkeypatch):
    """The change of every parameter by the first step of pretraining, over a thousand seeds of both.

    Java 0.9.1 has a generator that nobody else has; what can be compared are the mean and the standard deviation, which
    say where noise comes in, and how much of it. All draw from the same parameters and data, tests/java/release-0.9.1.

    Means of Gaussian units lie in Java's memory by columns, and are read by rows: each unit gets the mean of another.
    Read so, everything agrees.
    """
    unit_of = RBMRuntime._unit

    def unit_as_java(self, unit, z, activation):
        if unit == "gaussian":
            means = nd.reshape(nd.copy(nd.transpose(z)), tuple(z.shape))
            nd.addi(nd.muli(z, 0.0), means)
        return unit_of(self, unit, z, activation)

    monkeypatch.setattr(RBMRuntime, "_unit", unit_as_java)
    x = np.reshape(machine["x"], (6, 5)).astype(np.float64)
    start = np.array(machine["params"])
    units = {"hidden_unit": machine["hidden"], "visible_unit": machine["visible"], "k": machine["k"]}
    layer = RBM(n_in=5, n_out=4, reconstruction_loss="mse", **units)
    conf = NeuralNetConfiguration(
        seed=1, dtype="float64", updater="sgd", learning_rate=0.1, pretrain=True, backprop=False
    )
    net = MultiLayerNetwork(conf.list(layer, OutputLayer(n_in=4, n_out=2, activation="softmax"))).init()
    net.random.set_seed(99)
    rest, changes = host(net.params())[0, 29:], np.empty((SEEDS, 29))
    for seed in range(SEEDS):
        net.set_params(np.concatenate([start, rest]))
        net.pretrain_layer(0, x)
        changes[seed] = host(net.params())[0, :29] - start
    means, deviations = np.array(machine["means"]), np.array(machine["deviations"])
    ours = changes.std(0)
    errors = np.sqrt(ours**2 / SEEDS + deviations**2 / machine["seeds"])
    assert (np.abs(changes.mean(0) - means) <= SIGMAS * errors + 1e-5).all()
    fourth = ((changes - changes.mean(0)) ** 4).mean(0) / np.maximum(ours, 1e-9) ** 4  # 3 of normal numbers
    of_deviations = ours * np.sqrt(np.maximum(fourth - 1.0, 0.5) / (2.0 * SEEDS))
    assert (np.abs(ours - deviations) <= SIGMAS * of_deviations + 1e-5).all()
    assert (deviations > 1e-4).any()  # else there would be nothing to see
