"""FineTuneConfiguration: what it changes, and what stays."""

import pytest

import nd
import nn.dl4j  # noqa: F401  whose names are asked for here
from nn import (
    ActivationLayer,
    DenseLayer,
    DropConnect,
    Dropout,
    FineTuneConfiguration,
    FrozenLayer,
    GaussianDropout,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    NormalDistribution,
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
from tests.nn.transferlearning.test_editing import X, Y, trained


def test_only_what_is_set_changes():
    net = trained()
    tune = FineTuneConfiguration(l2=0.5, activation="sigmoid")
    transfer = TransferLearning(net, fine_tune_configuration=tune, validate_output_layer_config=False)
    conf = transfer.build().conf
    for old, new in zip(net.conf.layers, conf.layers, strict=True):
        assert (new.l2, type(new.activation).__name__) == (0.5, "Sigmoid")
        assert (new.updater, new.drop_out, new.n_in, new.name) == (old.updater, old.drop_out, old.n_in, old.name)
    assert (conf.base.seed, conf.base.l2) == (11, 0.5)


def test_zero_removes():
    settings = FineTuneConfiguration(l2=0, drop_out=0)
    conf = TransferLearning(trained(), fine_tune_configuration=settings).build().conf
    assert [layer.regularization_of(False) for layer in conf.layers] == [()] * 3
    assert conf.layers[1].drop_out is None


def test_a_penalty_takes_the_place_of_all_others():
    def penalties(net, **settings):
        tune = FineTuneConfiguration(**settings)
        layers = TransferLearning(net, fine_tune_configuration=tune).build().conf.layers
        return {layer.regularization_of(False) for layer in layers}

    assert penalties(trained(), weight_decay=0.25) == {(WeightDecay(0.25),)}
    decaying = trained(l2=None, weight_decay=0.5)
    assert penalties(decaying, l2=0.25) == {(L2Regularization(0.25),)}
    assert penalties(decaying, l1=0.25) == {(L1Regularization(0.25),)}
    assert penalties(decaying, l1_bias=0.25) == {(WeightDecay(0.5),)}  # those on weights stay


def test_constraints_take_the_place_of_all_others():
    net = trained(constrain_bias=NonNegativeConstraint())
    tune = FineTuneConfiguration(constrain_weights=MaxNormConstraint(0.5))
    layers = TransferLearning(net, fine_tune_configuration=tune).build().conf.layers
    expected = trained(constrain_weights=MaxNormConstraint(0.5)).conf.layers
    assert [layer.constraints for layer in layers] == [layer.constraints for layer in expected]
    kept = TransferLearning(net, fine_tune_configuration=FineTuneConfiguration(seed=3)).build().conf.layers
    assert [layer.constraints for layer in kept] == [layer.constraints for layer in net.conf.layers]


def tuned(net, tune):
    return TransferLearning(net, fine_tune_configuration=tune).build().conf


NOISY = {
    "weight_noise": DropConnect(0.5),
    "drop_out": 0.7,
    "gradient_normalization": "clip_l2_per_layer",
    "constrain_weights": MaxNormConstraint(1.0),
    "constrain_bias": NonNegativeConstraint(),
}


@pytest.mark.parametrize("name", ["weight_noise", "drop_out", "gradient_normalization", "constraints"])
def test_none_removes(name):
    """As DL4J 1.0.0-M1.1 with null."""
    net = trained(**NOISY)
    assert all(getattr(layer, name) not in (None, "none") for layer in net.conf.layers)
    expected = trained(**{key: value for key, value in NOISY.items() if not key.startswith(name[:9])})
    camel = {"weight_noise": "weightNoise", "drop_out": "dropOut", "gradient_normalization": "gradientNormalization"}
    built = getattr(FineTuneConfiguration.Builder(), camel.get(name, name))(None).build()
    for tune in (FineTuneConfiguration(**{name: None}), built):
        conf = tuned(net, tune)
        for layer, old, plain in zip(conf.layers, net.conf.layers, expected.conf.layers, strict=True):
            assert getattr(layer, name) == (getattr(plain, name) if name != "drop_out" else None)
            for other in {"weight_noise", "drop_out", "gradient_normalization", "constraints"} - {name}:
                assert getattr(layer, other) == getattr(old, other)
    assert repr(FineTuneConfiguration(**{name: None})) == f"FineTuneConfiguration({name}=None)"


def test_none_is_not_set_where_a_layer_cannot_be_without():
    assert FineTuneConfiguration(updater=None, seed=None, l2=None, weight_noise=None).settings == {"weight_noise": None}


def test_a_network_without_its_noise_trains_as_one_that_never_had_it():
    net = trained(weight_noise=DropConnect(0.5))
    new = TransferLearning(net, fine_tune_configuration=FineTuneConfiguration(weight_noise=None, drop_out=None)).build()
    first, second = (new.clone() for _ in range(2))
    nd.random.set_seed(1)
    first.fit(X, Y)
    nd.random.set_seed(2)
    second.fit(X, Y)
    assert (first.params() == second.params()).all()


def test_constraints_as_a_layer_has_them():
    net = trained(**NOISY)
    for given in (MaxNormConstraint(0.5), [MaxNormConstraint(0.5), NonNegativeConstraint(params=("b",))]):
        layers = tuned(net, FineTuneConfiguration(constraints=given)).layers
        expected = (MaxNormConstraint(0.5, params=("W",), dimensions=(1,)), NonNegativeConstraint(params=("b",)))
        expected = expected[: 1 if given == MaxNormConstraint(0.5) else 2]
        assert [layer.constraints for layer in layers] == [expected] * 3
    both = FineTuneConfiguration(constraints=MaxNormConstraint(0.5), constrain_bias=NonNegativeConstraint())
    assert {layer.constraints for layer in tuned(net, both).layers} == {
        (MaxNormConstraint(0.5, params=("W",), dimensions=(1,)), NonNegativeConstraint(params=("b",)))
    }
    assert tuned(net, FineTuneConfiguration(constraints=[])).layers[0].constraints is None
    with pytest.raises(nd.ConfigurationError, match="FineTuneConfiguration: constraints must be constraints such as"):
        FineTuneConfiguration(constraints="max norm")


def test_every_setting_of_javas_builder_has_its_call():
    """The names are those of DL4J 1.0.0-M1.1's FineTuneConfiguration.Builder."""
    dist = NormalDistribution(0.0, 0.5)
    tune = (
        FineTuneConfiguration.Builder()
        .activation("softmax").weightInit("relu").biasInit(0.5).dist(dist).l1(0.1).l2(0.2).l1Bias(0.3).l2Bias(0.4)
        .weightDecay(0.5, False).weightDecayBias(0.6).dropout(GaussianDropout(0.3)).dropOut(0.9)
        .weightNoise(DropConnect(0.5)).updater(Sgd(0.1)).biasUpdater(Sgd(0.2)).miniBatch(False)
        .maxNumLineSearchIterations(7).seed(9).optimizationAlgo("stochastic_gradient_descent").stepFunction(None)
        .minimize(True).gradientNormalization("clip_l2_per_layer").gradientNormalizationThreshold(0.5)
        .convolutionMode("same").cudnnAlgoMode("PREFER_FASTEST").constraints([MaxNormConstraint(2.0)])
        .pretrain(False).backprop(True).backpropType("Standard").tbpttFwdLength(20).tbpttBackLength(20)
        .trainingWorkspaceMode("ENABLED").inferenceWorkspaceMode("ENABLED").build()
    )  # fmt: skip
    layer = tuned(trained(), tune).layers[0]
    assert layer.weight_decay == WeightDecay(0.5, apply_lr=False)  # the later call removes L2, as in Java
    assert not layer.l2
    assert (layer.l1, layer.l1_bias, layer.bias_init, layer.updater) == (0.1, 0.3, 0.5, Sgd(0.1))
    assert (layer.weight_noise, layer.drop_out) == (DropConnect(0.5), Dropout(0.9))


def test_a_distribution_is_the_weight_init():
    dist = NormalDistribution(0.0, 0.5)
    assert {layer.weight_init for layer in tuned(trained(), FineTuneConfiguration(dist=dist)).layers} == {dist}


@pytest.mark.parametrize(("call", "value"), [("pretrain", True), ("backprop", False)])
def test_how_fit_trains_can_be_changed(call, value):
    tune = getattr(FineTuneConfiguration.Builder(), call)(value).build()
    base = TransferLearning(trained(), fine_tune_configuration=tune).build().conf.base
    assert (getattr(base, call), getattr(trained().conf.base, call)) == (value, not value)


def test_rates_change_the_updaters_that_there_are():
    net = trained(bias_updater=Sgd(0.3))
    conf = TransferLearning(net, fine_tune_configuration=FineTuneConfiguration(learning_rate=0.02)).build().conf
    assert {layer.updater for layer in conf.layers} == {Nesterovs(learning_rate=0.02)}
    assert {layer.bias_updater for layer in conf.layers} == {Sgd(0.02)}
    beside = FineTuneConfiguration(updater=Nesterovs(momentum=0.5), learning_rate=0.02)
    conf = TransferLearning(net, fine_tune_configuration=beside).build().conf
    assert {layer.updater for layer in conf.layers} == {Nesterovs(0.02, 0.5)}
    named = FineTuneConfiguration(updater="adam", learning_rate=0.5)
    assert {layer.updater for layer in TransferLearning(net, fine_tune_configuration=named).build().conf.layers} == {
        Adam(0.5)
    }


def test_layers_that_are_activations_and_frozen_layers_stay():
    conf = NeuralNetConfiguration(seed=3).list(
        FrozenLayer(DenseLayer(n_in=2, n_out=2, activation="tanh")), ActivationLayer("relu"), OutputLayer(n_out=2)
    )
    net = MultiLayerNetwork(conf).init()
    tune = FineTuneConfiguration(activation="cube", seed=4)
    new = TransferLearning.Builder(net).fineTuneConfiguration(tune).validateOutputLayerConfig(False).build().conf
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
    with pytest.raises(nd.ConfigurationError, match="seed must be an integer of 64 bits or None, got 'x'"):
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


def test_truncated_backprop_stays_and_can_be_changed():
    """In Java that of a network of layers is forgotten where the fine-tune configuration says nothing."""
    layers = DenseLayer(n_in=2, n_out=3), OutputLayer(n_in=3, n_out=2)
    series = {"backprop_type": "truncated_bptt", "tbptt_fwd_length": 5, "tbptt_back_length": 4, "tbptt_exact": True}
    net = MultiLayerNetwork(NeuralNetConfiguration(seed=3).list(*layers, **series)).init()
    changes = FineTuneConfiguration.Builder().backpropType("TruncatedBPTT").tbpttFwdLength(8).build()
    assert of_series(TransferLearning(net).build()) == series
    assert of_series(TransferLearning(net, fine_tune_configuration=changes).build()) == {
        **series,
        "tbptt_fwd_length": 8,
    }
    graph = net.to_computation_graph()
    assert of_series(TransferLearning.GraphBuilder(graph).build()) == series
    changed = TransferLearning.GraphBuilder(graph).fineTuneConfiguration(changes).build()
    assert of_series(changed) == {**series, "tbptt_fwd_length": 8}
    with pytest.raises(nd.ChoiceError, match="unknown backprop_type 'tbptt'"):
        FineTuneConfiguration(backprop_type="tbptt")


def of_series(network):
    names = "backprop_type", "tbptt_fwd_length", "tbptt_back_length", "tbptt_exact"
    return {name: getattr(network.conf, name) for name in names}
