"""Programs in Java's spelling with layers that are pretrained, and what they ask of them."""

import numpy as np
import pytest

import nd
from nn.dl4j import (
    RBM,
    Activation,
    Adam,
    AutoEncoder,
    BernoulliReconstructionDistribution,
    CompositeReconstructionDistribution,
    DataSet,
    GaussianReconstructionDistribution,
    ListDataSetIterator,
    LossFunction,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    VariationalAutoencoder,
)

X = np.random.default_rng(0).uniform(size=(8, 4)).astype(np.float32)
Y = np.eye(2, dtype=np.float32)[np.arange(8) % 2]


def network(layer, **flags):
    out = OutputLayer.Builder(LossFunction.MCXENT).activation(Activation.SOFTMAX).nIn(layer.n_out).nOut(2).build()
    listed = NeuralNetConfiguration.Builder().seed(1).updater(Adam(0.01)).l2(0.5).list().layer(0, layer).layer(1, out)
    for name, value in flags.items():
        listed = getattr(listed, name)(value)
    net = MultiLayerNetwork(listed.build())
    net.init()
    return net


def variational():
    sizes = VariationalAutoencoder.Builder().encoderLayerSizes(6, 5).decoderLayerSizes(5, 6).numSamples(2)
    return sizes.nIn(4).nOut(2).pzxActivationFunction(Activation.TANH).build()


def host(array):
    return np.array(nd.to_host(array))


def test_builders_are_the_keyword_forms():
    machine = RBM.Builder(RBM.HiddenUnit.RECTIFIED, RBM.VisibleUnit.LINEAR).nIn(4).nOut(3).k(2).build()
    assert machine == RBM(hidden_unit="rectified", visible_unit="linear", n_in=4, n_out=3, k=2)
    ours = AutoEncoder(corruption_level=0.2, sparsity=0.1, n_in=4, n_out=3, reconstruction_loss="mse")
    builder = AutoEncoder.Builder().corruptionLevel(0.2).sparsity(0.1).lossFunction(LossFunction.MSE)
    assert builder.nIn(4).nOut(3).build() == ours
    assert (ours.getCorruptionLevel(), ours.getSparsity(), ours.getVisibleBiasInit()) == (0.2, 0.1, 0.0)
    assert variational().getEncoderLayerSizes() == (6, 5)
    assert variational().getNumSamples() == 2
    by_loss = VariationalAutoencoder.Builder().nIn(4).nOut(2).lossFunction(Activation.TANH, LossFunction.MSE).build()
    assert by_loss.getOutputDistribution().hasLossFunction()


def test_a_composite_distribution_is_built():
    first, second = GaussianReconstructionDistribution(), BernoulliReconstructionDistribution(Activation.SIGMOID)
    builder = CompositeReconstructionDistribution.Builder().addDistribution(3, first)
    built = builder.addDistribution(1, second).build()
    assert built == CompositeReconstructionDistribution((3, 1), (first, second))
    assert (built.getTotalSize(), built.distributionInputSize(4), built.hasLossFunction()) == (4, 7, False)


def test_pretraining_by_javas_names():
    net, by_layer = network(variational()), network(variational())
    iterator = ListDataSetIterator([DataSet(X, Y)], 4)
    net.pretrain(iterator, 2)
    by_layer.pretrainLayer(0, iterator)
    by_layer.pretrainLayer(0, iterator)
    assert (host(net.params()) == host(by_layer.params())).all()
    assert net.getLayer(0).isPretrainLayer()
    assert not net.getLayer(1).isPretrainLayer()


@pytest.mark.parametrize("flags", [{"pretrain": True}, {"backprop": False}, {}])
def test_flags_of_0_9_can_be_asked_for(flags):
    conf = network(variational(), **flags).getLayerWiseConfigurations()
    assert (conf.isPretrain(), conf.isBackprop()) == (flags.get("pretrain", False), flags.get("backprop", True))


def test_what_training_on_labels_changes_can_be_told_apart():
    """By hand: e 4x6, 6x5 and the means 5x2 with biases, of all 196."""
    net = network(variational())
    layer = net.getLayer(0)
    labelled = 4 * 6 + 6 + 6 * 5 + 5 + 5 * 2 + 2
    assert (layer.numParams(), layer.numParams(True), net.numParams(True)) == (196, labelled, labelled + 6)
    assert list(layer.paramTable(True)) == ["e0W", "e0b", "e1W", "e1b", "pZXMeanW", "pZXMeanb"]
    assert set(layer.paramTable(False)) == set(layer.paramTable())
    assert "0_d0W" not in net.paramTable(True)
    assert "0_d0W" in net.paramTable(False)
    weights = {name: (host(view).astype(np.float64) ** 2).sum() for name, view in net.paramTable().items()}
    weights = {name: 0.25 * square for name, square in weights.items() if name.endswith("W")}
    assert net.calcRegularizationScore(False) == pytest.approx(sum(weights.values()), rel=1e-5)
    of_labels = sum(square for name, square in weights.items() if name in net.paramTable(True))
    assert net.calcRegularizationScore(True) == pytest.approx(of_labels, rel=1e-5)


def test_units_of_a_machine_by_formulas():
    layer = network(RBM.Builder().nIn(4).nOut(3).build()).getLayer(0)
    p = {name: host(view).astype(np.float64) for name, view in layer.paramTable().items()}
    hidden = 1.0 / (1.0 + np.exp(-(X @ p["W"] + p["b"])))
    np.testing.assert_allclose(host(layer.propUp(X)), hidden, rtol=1e-5)
    visible = 1.0 / (1.0 + np.exp(-(hidden @ p["W"].T + p["vb"])))
    np.testing.assert_allclose(host(layer.propDown(hidden.astype(np.float32))), visible, rtol=1e-5)
    mean, sample = layer.sampleHiddenGivenVisible(X)
    np.testing.assert_allclose(host(mean), hidden, rtol=1e-5)
    assert set(np.unique(host(sample))) <= {0.0, 1.0}
