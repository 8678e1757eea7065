"""FineTuneConfiguration: what it changes, and what stays."""

import pytest

import nd
from nn import (
    ActivationLayer,
    DenseLayer,
    FineTuneConfiguration,
    FrozenLayer,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    TransferLearning,
)
from optimize import (
    Adam,
    L1Regularization,
    L2Regularization,
    MaxNormConstraint,
    Nesterovs,
    NonNegativeConstraint,
    NoOp,
    Sgd,
    WeightDecay,
)
from tests.nn.transferlearning.test_editing import trained


def test_only_what_is_set_changes():
    net = trained()
    conf = (
        TransferLearning(net, fine_tune_configuration=FineTuneConfiguration(l2=0.5, activation="sigmoid")).build().conf
    )
    for old, new in zip(net.conf.layers, conf.layers, strict=True):
        assert (new.l2, type(new.activation).__name__) == (0.5, "Sigmoid")
        assert (new.updater, new.drop_out, new.n_in, new.name) == (old.updater, old.drop_out, old.n_in, old.name)
    assert (conf.base.seed, conf.base.l2) == (11, 0.5)


def test_zero_removes():
    settings = FineTuneConfiguration(l2=0, drop_out=0)
    conf = TransferLearning(trained(), fine_tune_configuration=settings).build().conf
    assert [layer.regularization_of(False) for layer in conf.layers] == [()] * 3
    assert conf.layers[1].drop_out is None


def test_one_of_l2_and_weight_decay_is_left():
    def penalties(net, **settings):
        tune = FineTuneConfiguration(**settings)
        layers = TransferLearning(net, fine_tune_configuration=tune).build().conf.layers
        return {layer.regularization_of(False) for layer in layers}

    assert penalties(trained(), weight_decay=0.25) == {(WeightDecay(0.25),)}
    decaying = trained(l2=None, weight_decay=0.5)
    assert penalties(decaying, l2=0.25) == {(L2Regularization(0.25),)}
    assert penalties(decaying, l1=0.25) == {(L1Regularization(0.25), WeightDecay(0.5))}


def test_constraints_take_the_place_of_all_others():
    net = trained(constrain_bias=NonNegativeConstraint())
    tune = FineTuneConfiguration(constrain_weights=MaxNormConstraint(0.5))
    layers = TransferLearning(net, fine_tune_configuration=tune).build().conf.layers
    expected = trained(constrain_weights=MaxNormConstraint(0.5)).conf.layers
    assert [layer.constraints for layer in layers] == [layer.constraints for layer in expected]
    kept = TransferLearning(net, fine_tune_configuration=FineTuneConfiguration(seed=3)).build().conf.layers
    assert [layer.constraints for layer in kept] == [layer.constraints for layer in net.conf.layers]


def test_rates_change_the_updaters_that_there_are():
    net = trained(bias_updater=Sgd(0.3))
    conf = TransferLearning(net, fine_tune_configuration=FineTuneConfiguration(learning_rate=0.02)).build().conf
    assert {layer.updater for layer in conf.layers} == {Nesterovs(0.02)}
    assert {layer.bias_updater for layer in conf.layers} == {Sgd(0.02)}
    named = FineTuneConfiguration(updater="adam", learning_rate=0.5)
    assert {layer.updater for layer in TransferLearning(net, fine_tune_configuration=named).build().conf.layers} == {
        Adam(0.5)
    }


def test_layers_that_are_activations_and_frozen_layers_stay():
    conf = NeuralNetConfiguration(seed=3).list(
        FrozenLayer(DenseLayer(n_in=2, n_out=2, activation="tanh")), ActivationLayer("relu"), OutputLayer(n_out=2)
    )
    net = MultiLayerNetwork(conf).init()
    new = TransferLearning(net, fine_tune_configuration=FineTuneConfiguration(activation="cube", seed=4)).build().conf
    assert new.layers[:2] == conf.layers[:2]
    assert type(new.layers[2].activation).__name__ == "Cube"


def test_added_layers_take_what_is_set_and_not_the_old_networks_settings():
    def added(**settings):
        tune = FineTuneConfiguration(**settings)
        return (
            TransferLearning(
                trained(), fine_tune_configuration=tune, add_layers=[DenseLayer(n_out=2, l1=0.5)],
                remove_layers_from_output=1,
            )
            .build().conf.layers[-1]
        )  # fmt: skip

    layer = added(updater=Adam(0.02), weight_init="relu", l1=0.1)
    assert (layer.updater, layer.weight_init, layer.l1, layer.l2) == (Adam(0.02), "relu", 0.5, None)
    layer = added()
    assert (layer.updater, layer.weight_init, type(layer.activation).__name__) == (Sgd(), "xavier", "Sigmoid")


def test_settings_that_make_no_sense():
    with pytest.raises(nd.ChoiceError, match=r"unknown setting 'learning_rat'.*Did you mean 'learning_rate'"):
        FineTuneConfiguration(learning_rat=0.1)
    with pytest.raises(nd.ChoiceError, match="FineTuneConfiguration: unknown setting 'dtype'"):
        FineTuneConfiguration(dtype="float64")
    with pytest.raises(nd.ConfigurationError, match="seed must be an integer, got 'x'"):
        FineTuneConfiguration(seed="x")
    rates = FineTuneConfiguration(learning_rate=0.1)
    with pytest.raises(
        nd.ConfigurationError, match=r"learning_rate must be a setting of the updater, but 'layer0' has"
    ):
        TransferLearning(trained(updater=NoOp()), fine_tune_configuration=rates).build()


def test_fine_tune_builder():
    built = FineTuneConfiguration.Builder().seed(3).dropOut(0.5).updater(Adam(0.1)).l2Bias(0.2).build()
    assert built == FineTuneConfiguration(seed=3, drop_out=0.5, updater=Adam(0.1), l2_bias=0.2)
    assert built != FineTuneConfiguration(seed=3)
    assert repr(FineTuneConfiguration(seed=3, l1=0.5)) == "FineTuneConfiguration(seed=3, l1=0.5)"
