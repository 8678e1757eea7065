"""dist and weight_init, as in Deeplearning4j 1.0: ``dist(d)`` is ``weightInit(d)``, and the later call counts."""

import numpy as np
import pytest

import nd
from nn import (
    DenseLayer,
    FineTuneConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    NormalDistribution,
    OutputLayer,
    PReLULayer,
    TransferLearning,
    UniformDistribution,
    WeightInit,
)

SMALL, WIDE = NormalDistribution(0.0, 1e-3), UniformDistribution(3.0, 4.0)


def first_of(base, **settings):
    return base.list(DenseLayer(n_in=3, n_out=2, **settings)).layers[0].weight_init


def test_a_distribution_alone():
    assert DenseLayer(dist=SMALL).weight_init == SMALL
    assert DenseLayer.Builder().dist(SMALL).build() == DenseLayer(weight_init=SMALL)
    assert first_of(NeuralNetConfiguration(seed=1, dist=SMALL)) == SMALL
    assert NeuralNetConfiguration.Builder().seed(1).dist(SMALL).build() == NeuralNetConfiguration(
        seed=1, weight_init=SMALL
    )
    assert PReLULayer.Builder().dist(SMALL).build().weight_init == SMALL
    assert NeuralNetConfiguration(seed=1).weight_init == "xavier"


def test_weights_are_drawn_from_it():
    conf = NeuralNetConfiguration(seed=1, dist=SMALL).list(DenseLayer(n_in=50, n_out=40), OutputLayer(n_out=2))
    W = nd.to_host(MultiLayerNetwork(conf).init().get_param("0_W"))
    assert 0.9e-3 < np.std(W) < 1.1e-3


def test_a_layers_own_wins_over_the_networks():
    base = NeuralNetConfiguration(seed=1, dist=SMALL)
    assert first_of(base, weight_init="relu") == "relu"
    assert first_of(base, dist=WIDE) == WIDE
    assert first_of(NeuralNetConfiguration(seed=1, weight_init="relu"), dist=WIDE) == WIDE


@pytest.mark.parametrize("target", [DenseLayer, NeuralNetConfiguration, PReLULayer])
def test_of_the_builders_calls_the_later_one_counts(target):
    def built(*calls):
        builder = target.Builder()
        for name, value in calls:
            builder = getattr(builder, name)(value)
        return builder.build().weight_init

    assert built(("weightInit", WeightInit.RELU), ("dist", SMALL)) == SMALL
    assert built(("dist", SMALL), ("weightInit", WeightInit.RELU)) == "relu"
    assert built(("dist", SMALL), ("weightInit", WIDE)) == WIDE
    assert built(("dist", SMALL), ("dist", WIDE)) == WIDE
    # 0.x's way, where DISTRIBUTION and dist belong together
    assert built(("weightInit", WeightInit.DISTRIBUTION), ("dist", SMALL)) == SMALL
    assert built(("dist", SMALL), ("weightInit", WeightInit.DISTRIBUTION)) == SMALL


@pytest.mark.parametrize("target", [DenseLayer, NeuralNetConfiguration])
def test_two_at_once_are_refused(target):
    with pytest.raises(
        nd.ConfigurationError, match=rf"{target.__name__}: give weight_init or dist, not both, got 'relu'"
    ):
        target(weight_init="relu", dist=SMALL)
    with pytest.raises(
        nd.ConfigurationError, match=rf"{target.__name__}: weight_init 'distribution' needs dist, got None"
    ):
        target(weight_init="distribution")
    with pytest.raises(
        nd.ConfigurationError, match=rf"{target.__name__}: dist must be a Distribution or None, got 'normal'"
    ):
        target(dist="normal")


def test_fine_tuning_takes_either():
    conf = NeuralNetConfiguration(seed=1).list(DenseLayer(n_in=3, n_out=2), OutputLayer(n_out=2))
    net = MultiLayerNetwork(conf).init()
    for tune in (
        FineTuneConfiguration(dist=SMALL),
        FineTuneConfiguration.Builder().weightInit("relu").dist(SMALL).build(),
    ):
        new = TransferLearning(net, fine_tune_configuration=tune).build().conf
        assert [layer.weight_init for layer in new.layers] == [SMALL, SMALL]
