"""Networks made of trained ones: what is kept, what is drawn and in which order, what is refused."""

import json
from dataclasses import replace

import numpy as np
import pytest

import nd
from nd.dataset import DataSet
from nd.random import Random
from nn import (
    CnnToFeedForwardPreProcessor,
    ConvolutionLayer,
    DenseLayer,
    Dropout,
    DropoutLayer,
    FeedForwardToCnnPreProcessor,
    FineTuneConfiguration,
    FrozenLayer,
    InputType,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    SubsamplingLayer,
    TransferLearning,
)
from optimize import Adam, Nesterovs, Sgd
from tests.cells import every_row

RNG = np.random.default_rng(41)
X = RNG.normal(size=(6, 5)).astype(np.float32)
Y = np.eye(3, dtype=np.float32)[RNG.integers(0, 3, 6)]


def host(x):
    return nd.to_host(nd.copy(x))


def table(net):
    return {key: host(view) for key, view in net.param_table().items()}


def trained(**settings):
    """5 -> 7 -> 6 -> 3, after two steps."""
    conf = NeuralNetConfiguration(**{"seed": 11, "updater": Nesterovs(learning_rate=0.1), "l2": 1e-3, **settings}).list(
        DenseLayer(n_in=5, n_out=7, activation="tanh"),
        DenseLayer(n_out=6, activation="relu", drop_out=0.9),
        OutputLayer(n_out=3, activation="softmax"),
    )
    net = MultiLayerNetwork(conf).init()
    net.fit(X, Y, epochs=2)
    return net


def image_network(*between, dense=True):
    layers = [
        ConvolutionLayer(n_out=4, kernel_size=3, activation="relu"),
        *between,
        *([DenseLayer(n_out=5, activation="tanh")] if dense else []),
        OutputLayer(n_out=3, activation="softmax"),
    ]
    conf = NeuralNetConfiguration(seed=11).list(*layers, input_type=InputType.convolutional_flat(8, 8, 2))
    return MultiLayerNetwork(conf).init()


def xavier(rng, n_in, n_out):
    """A weight [n_in, n_out] as Java draws it: the vector's elements in order, reshaped in f order."""
    drawn = host(rng.gaussian(n_in * n_out, "float32", 0.0, (2.0 / (n_in + n_out)) ** 0.5))
    return drawn.reshape(n_in, n_out, order="F")


# ---- what is kept


def test_everything_is_kept_where_nothing_changes(backend):
    net = trained()
    before = host(net.params()), host(net.updater_state())
    again = TransferLearning(net).build()
    np.testing.assert_array_equal(host(again.params()), before[0])
    assert again.conf.layers == net.conf.layers
    assert not host(again.updater_state()).any()
    assert before[1].any()
    assert (again.iteration_count, again.epoch_count) == (again.conf.iteration_count, again.conf.epoch_count) == (0, 0)
    again.fit(X, Y, epochs=3)
    np.testing.assert_array_equal(host(net.params()), before[0])
    np.testing.assert_array_equal(host(net.updater_state()), before[1])
    assert net.iteration_count == 2


def test_a_new_output_layer_on_frozen_ones(backend):
    net = trained()
    before = table(net)
    new = TransferLearning(
        net,
        fine_tune_configuration=FineTuneConfiguration(seed=99, updater=Adam(0.01), l2=0.1),
        feature_extractor=1,
        remove_layers_from_output=1,
        add_layers=[OutputLayer(n_out=4, activation="softmax")],
    ).build()
    assert [type(layer).__name__ for layer in new.conf.layers] == ["FrozenLayer", "FrozenLayer", "OutputLayer"]
    assert (new.conf.layers[2].n_in, new.conf.layers[2].name, new.conf.layers[2].updater) == (6, "layer2", Adam(0.01))
    assert (new.conf.base.seed, new.conf.layers[0].layer.updater, new.conf.layers[1].layer.l2) == (99, Adam(0.01), 0.1)
    np.testing.assert_array_equal(host(new.feed_forward(X)[2]), host(net.feed_forward(X)[2]))
    new.fit(X, np.eye(4, dtype=np.float32)[[0, 1, 2, 3, 0, 1]], epochs=5)
    after = table(new)
    for key in ("0_W", "0_b", "1_W", "1_b"):
        assert after[key].tobytes() == before[key].tobytes()
    assert new.iteration_count == 5
    assert table(net).keys() == before.keys()
    assert all((table(net)[key] == before[key]).all() for key in before)


def test_replaced_sizes_keep_the_other_layers():
    net = trained()
    before = table(net)
    new = TransferLearning(net, n_out_replace={1: 9}).build()
    after = table(new)
    assert after["1_W"].shape == (7, 9)
    assert after["2_W"].shape == (9, 3)
    for key in ("0_W", "0_b"):
        assert after[key].tobytes() == before[key].tobytes()
    assert not after["1_b"].any()
    assert new.conf.layers[1].drop_out == Dropout(0.9)
    new.fit(X, Y)


def test_a_replaced_input_keeps_the_other_layers():
    net = trained()
    before = table(net)
    new = TransferLearning(net, n_in_replace={0: (2, "ones")}).build()
    after = table(new)
    np.testing.assert_array_equal(after["0_W"], np.ones((2, before["0_W"].shape[1])))
    for key in ("1_W", "1_b", "2_W", "2_b"):
        assert after[key].tobytes() == before[key].tobytes()
    new.fit(X[:, :2], Y)
    with pytest.raises(nd.ConfigurationError, match=r"layer 2 .*n_in must be 6, the size of what comes in, got 4"):
        TransferLearning(net, n_in_replace={2: 4}).build()


def test_replaced_channels_of_images():
    conf = NeuralNetConfiguration(seed=1).list(
        ConvolutionLayer(n_out=2, kernel_size=2),
        OutputLayer(n_out=3, activation="softmax"),
        input_type=InputType.convolutional_flat(4, 4, 1),
    )
    net = MultiLayerNetwork(conf).init()
    new = TransferLearning.Builder(net).nInReplace(0, 3).build()
    assert new.conf.input_type == InputType.convolutional_flat(4, 4, 3)
    assert tuple(new.output(np.zeros((2, 48), np.float32)).shape) == (2, 3)
    assert table(new)["1_W"].tobytes() == table(net)["1_W"].tobytes()


# ---- random numbers


def test_a_new_layer_is_drawn_from_the_generator_as_it_stands():
    net = trained()
    nd.random.set_seed(77)
    nd.rand(13)  # what a program did in between
    rng = Random(77)
    rng.uniform(13)
    new = TransferLearning(net, remove_layers_from_output=1, add_layers=[OutputLayer(n_out=4)]).build()
    np.testing.assert_array_equal(table(new)["2_W"], xavier(rng, 6, 4))


def test_then_the_new_network_seeds_the_generator_and_draws_everything():
    net = trained()
    TransferLearning(
        net, fine_tune_configuration=FineTuneConfiguration(seed=5), feature_extractor=0, n_out_replace={1: 9}
    ).build()
    rng = Random(5)
    for shape in ((5, 7), (7, 9), (9, 3)):
        xavier(rng, *shape)
    assert nd.random.get_random().get_state() == rng.get_state()


def test_the_order_of_draws():
    """Sizes in the order of layers, each with the next one, removed layers included; then the added layers."""
    net = trained()
    nd.random.set_seed(77)
    rng = Random(77)
    new = TransferLearning(
        net,
        n_out_replace={1: (9, "xavier"), 0: (8, "xavier")},
        remove_layers_from_output=1,
        add_layers=[DenseLayer(n_out=4), DropoutLayer(0.5), OutputLayer(n_out=2)],
    ).build()
    first = xavier(rng, 5, 8)
    xavier(rng, 8, 6)  # layer 1, before its own turn
    second = xavier(rng, 8, 9)
    xavier(rng, 9, 3)  # the output layer, which is removed
    added, last = xavier(rng, 9, 4), xavier(rng, 4, 2)
    expected = {"0_W": first, "1_W": second, "2_W": added, "4_W": last}
    for key, weight in expected.items():
        np.testing.assert_array_equal(table(new)[key], weight)


def test_a_repeated_program_is_repeatable():
    def program():
        net = trained()
        new = TransferLearning(net, n_out_replace={1: (9, "relu", "uniform")}, feature_extractor=0).build()
        new.fit(X, Y, epochs=3)
        return host(new.params())

    np.testing.assert_array_equal(program(), program())


def test_weight_init_of_replaced_layers():
    conf = TransferLearning(trained(), n_out_replace={0: (8, "relu", "uniform")}).build().conf
    assert [layer.weight_init for layer in conf.layers] == ["relu", "uniform", "xavier"]
    conf = TransferLearning(trained(), n_out_replace={0: (8, "relu")}).build().conf
    assert [layer.weight_init for layer in conf.layers] == ["relu", "relu", "xavier"]
    net = TransferLearning(trained(), n_out_replace={1: (4, "ones", "zero")}).build()
    assert (table(net)["1_W"] == 1.0).all()
    assert not table(net)["2_W"].any()


# ---- images


def test_the_next_layer_is_found_behind_pooling_and_rows():
    net = image_network(SubsamplingLayer(kernel_size=(2, 2)), DropoutLayer(0.5))
    new = TransferLearning(net, n_out_replace={0: 6}).build()
    assert new.conf.preprocessors[3] == CnnToFeedForwardPreProcessor(3, 3, 6)
    assert new.conf.layers[3].n_in == 54
    x = RNG.normal(size=(4, 128))
    assert tuple(new.output(x).shape) == (4, 3)
    assert net.conf.preprocessors[3] == CnnToFeedForwardPreProcessor(3, 3, 4)


@pytest.mark.parametrize("reload", [False, True])
def test_added_layers_after_images(reload, tmp_path):
    """A network from a file of Java's has no input type, but its first preprocessor says it."""
    net = image_network(SubsamplingLayer(kernel_size=(2, 2)))
    if reload:
        MultiLayerNetwork(replace(net.conf, input_type=None)).init(net.params()).save(tmp_path / "net.zip")
        net = MultiLayerNetwork.load(tmp_path / "net.zip")
        assert net.conf.input_type is None
    new = TransferLearning(
        net,
        feature_extractor=0,
        remove_layers_from_output=2,
        add_layers=[
            ConvolutionLayer(n_out=2, kernel_size=2, activation="relu"),
            OutputLayer(n_out=2, activation="softmax"),
        ],
    ).build()
    assert (new.conf.layers[2].n_in, new.conf.layers[3].n_in) == (4, 8)
    assert sorted(new.conf.preprocessors) == [0, 3]
    new.fit(RNG.normal(size=(4, 128)), np.eye(2)[[0, 1, 1, 0]])


def test_preprocessors_that_are_given():
    net = image_network(dense=False)
    new = TransferLearning(
        net,
        remove_layers_from_output=1,
        add_layers=[DenseLayer(n_out=8), ConvolutionLayer(n_out=2, kernel_size=1), OutputLayer(n_out=2)],
        input_pre_processors={2: FeedForwardToCnnPreProcessor(2, 2, 2)},
    ).build()
    assert (new.conf.layers[2].n_in, new.conf.layers[3].n_in) == (2, 8)
    assert tuple(new.output(RNG.normal(size=(4, 128))).shape) == (4, 2)


# ---- Java's way


def test_javas_builder_gives_the_same_network():
    net, tune = trained(), FineTuneConfiguration(seed=8, updater=Sgd(0.3))
    nd.random.set_seed(5)
    built = (
        TransferLearning.Builder(net)
        .fineTuneConfiguration(tune)
        .setFeatureExtractor(0)
        .nOutReplace(1, 9, "relu", "xavier")
        .removeOutputLayer()
        .addLayer(DenseLayer.Builder().nIn(9).nOut(4).build())
        .addLayer(OutputLayer(n_out=2))
        .build()
    )
    nd.random.set_seed(5)
    other = TransferLearning(
        net,
        fine_tune_configuration=tune,
        feature_extractor=0,
        n_out_replace={1: (9, "relu", "xavier")},
        remove_layers_from_output=1,
        add_layers=[DenseLayer(n_in=9, n_out=4), OutputLayer(n_out=2)],
    ).build()
    assert built.conf.layers == other.conf.layers
    np.testing.assert_array_equal(host(built.params()), host(other.params()))
    assert isinstance(built.conf.layers[0], FrozenLayer)


def test_javas_builder_takes_preprocessors_and_removes_once():
    net = image_network(dense=False)
    new = (
        TransferLearning.Builder(net)
        .removeLayersFromOutput(1)
        .addLayer(OutputLayer.Builder("mse").nOut(2).build())
        .setInputPreProcessor(1, CnnToFeedForwardPreProcessor(6, 6, 4))
        .build()
    )
    assert new.conf.layers[1].n_in == 144
    with pytest.raises(nd.ConfigurationError, match="layers can be removed once, got 1 more"):
        TransferLearning.Builder(net).removeLayersFromOutput(1).removeOutputLayer()


def test_a_network_with_frozen_layers_is_saved_and_edited_again(tmp_path):
    net = TransferLearning(trained(), feature_extractor=1).build()
    net.save(tmp_path / "net.zip")
    again = MultiLayerNetwork.load(tmp_path / "net.zip")
    assert again.conf.layers == net.conf.layers
    twice = TransferLearning(again, feature_extractor=1, n_out_replace={2: 5}).build()
    assert twice.conf.layers[:2] == net.conf.layers[:2]  # frozen once
    assert [c["layer"]["@class"].rpartition(".")[2] for c in json.loads(twice.conf.to_json())["confs"]] == [
        "FrozenLayer", "FrozenLayer", "OutputLayer",
    ]  # fmt: skip
    assert net.score(DataSet(X, Y)) == again.score(DataSet(X, Y))


# ---- what is refused


@every_row(
    ("settings", "message"),
    [
        ({"n_out_replace": {3: 4}}, r"n_out_replace: layer must be 0\.\.2, got 3"),
        ({"n_out_replace": {0: (4, "relu", "relu", "relu")}}, "n_out_replace takes .*, got"),
        ({"n_out_replace": {0: 0}}, "n_out must be an integer >= 1 or None, got 0"),
        ({"remove_layers_from_output": 3}, r"remove_layers_from_output must be 0\.\.2, got 3"),
        ({"remove_layers_from_output": -1}, "remove_layers_from_output must be an integer >= 0, got -1"),
        ({"feature_extractor": 3}, r"feature_extractor must be a layer 0\.\.2, got 3"),
        ({"feature_extractor": 2}, "a layer with a loss cannot be frozen, got OutputLayer"),
        ({"add_layers": ["dense"]}, r"add_layers must be a sequence of a LayerConf, got \['dense'\]"),
        (
            {"remove_layers_from_output": 1, "add_layers": [DenseLayer(n_in=9, n_out=2)]},
            r"layer 2 \(DenseLayer\): n_in must be \d, .*, got 9",
        ),
        ({"remove_layers_from_output": 1, "add_layers": [DenseLayer()]}, r"layer 2 \(DenseLayer\): n_out is missing"),
        ({"add_layers": [DenseLayer(n_out=2)]}, r"layer 2 \(OutputLayer\) must be the last layer, as it has a loss"),
        (
            {"remove_layers_from_output": 1, "add_layers": [OutputLayer(n_out=2, name="layer0")]},
            r"every layer must have its own name, got 'layer0' for layer 0 .* and layer 2 'layer0' \(OutputLayer\)",
        ),
        ({"input_pre_processors": {2: "rows"}}, "must be a mapping from .* to an InputPreProcessor, got {2: 'rows'}"),
        (
            {"input_pre_processors": {3: CnnToFeedForwardPreProcessor(1, 1, 3)}},
            r"input_pre_processors must be of layers 0\.\.2, got 3",
        ),
    ],
)
def test_edits_that_cannot_be(settings, message):
    with pytest.raises(nd.NdError, match=message):
        TransferLearning(trained(), **settings).build()


def test_frozen_layers_keep_their_sizes():
    net = TransferLearning(trained(), feature_extractor=1).build()
    with pytest.raises(nd.ConfigurationError, match=r"layer 1 \(FrozenLayer\) must be a layer with n_in and n_out"):
        TransferLearning(net, n_out_replace={1: 5}).build()


def test_only_networks_that_are_made():
    with pytest.raises(nd.ConfigurationError, match="TransferLearning: network must be a MultiLayerNetwork, got 3"):
        TransferLearning(3)
    with pytest.raises(nd.ConfigurationError, match=r"init\(\) must come first"):
        TransferLearning(MultiLayerNetwork(trained().conf))


def test_names_of_classes_stay_with_the_layer_that_has_learned_them():
    """Learned anew they would be in the order of the alphabet, which is not that of the outputs that stay."""
    net = trained()
    net.class_names = ("small", "large", "huge")
    frozen = TransferLearning(net, feature_extractor=1).build()
    assert frozen.class_names == ("small", "large", "huge")
    assert TransferLearning(net, n_in_replace={0: 4}).build().class_names == ("small", "large", "huge")
    frozen.fit(X, ["huge", "small", "small", "large", "huge", "small"])
    assert frozen.class_names == ("small", "large", "huge")
    head = OutputLayer(n_out=3, activation="softmax")
    for others in ({"remove_layers_from_output": 1, "add_layers": [head]}, {"n_out_replace": {2: 3}}):
        assert TransferLearning(net, **others).build().class_names is None
