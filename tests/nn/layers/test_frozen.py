"""Frozen layers inside of networks: what changes, what is computed, what is written."""

import json

import numpy as np
import pytest

import nd
from backends.cpu.numpy_backend import NumpyBackend
from nd.dataset import DataSet, ListDataSetIterator
from nn import (
    ConvolutionLayer,
    DenseLayer,
    DropConnect,
    DropoutLayer,
    FrozenLayer,
    FrozenLayerWithBackprop,
    InputType,
    LossLayer,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    SubsamplingLayer,
)
from nn.layers.core.frozen import FrozenRuntime
from optimize import Adam, MaxNormConstraint, Nesterovs
from tests.nn.layers.test_every_layer import check_derivative
from tests.stand_ins import TOLERANCE
from tests.step_plans import workers_of

RNG = np.random.default_rng(31)
X = RNG.normal(size=(12, 5))
Y = np.eye(3)[RNG.integers(0, 3, 12)]
IMAGES = RNG.normal(size=(64, 2, 12, 12)).astype(np.float32)
IMAGE_LABELS = np.eye(3, dtype=np.float32)[RNG.integers(0, 3, 64)]


def host(x):
    return nd.to_host(nd.copy(x))


def same(layer):
    return layer


def stack(*wrappers, dtype="float64", **settings):
    """A network of dense layers, each wrapped or not, and an output layer."""
    layers = [
        wrap(DenseLayer(n_out=n_out, activation="tanh")) for wrap, n_out in zip(wrappers, (6, 4, 7), strict=False)
    ]
    conf = NeuralNetConfiguration(**{"seed": 4, "dtype": dtype, "bias_init": 0.1, **settings}).list(
        *layers, OutputLayer(n_out=3, activation="softmax"), input_type=InputType.feed_forward(5)
    )
    return MultiLayerNetwork(conf).init()


def images(freeze, dtype="float32", **settings):
    layers = [
        ConvolutionLayer(n_out=8, kernel_size=3, activation="relu", drop_out=0.8),
        SubsamplingLayer(kernel_size=(2, 2)),
        DenseLayer(n_out=10, activation="relu"),
    ]
    layers = [FrozenLayer(layer) if index in freeze else layer for index, layer in enumerate(layers)]
    conf = NeuralNetConfiguration(**{"seed": 4, "dtype": dtype, **settings}).list(
        *layers, OutputLayer(n_out=3, activation="softmax"), input_type=InputType.convolutional(12, 12, 2)
    )
    return MultiLayerNetwork(conf).init()


def check_frozen_stay_and_others_move(net, data, labels, batch=5):
    before = {key: host(view) for key, view in net.param_table().items()}
    net.fit(ListDataSetIterator(DataSet(data, labels), batch), epochs=3)
    for key, view in net.param_table().items():
        frozen = isinstance(net.conf.layers[int(key[0])], FrozenLayer)
        assert (host(view).tobytes() == before[key].tobytes()) == frozen, key
        if frozen:
            assert not host(net.gradient().gradient_for_variable()[key]).any()


UPDATERS = [Nesterovs(0.1, momentum=0.9), Adam(0.01)]
PENALTIES = {
    "l1": 1e-2, "weight_decay": 1e-2, "l1_bias": 1e-2, "l2_bias": 1e-2, "gradient_normalization": "clip_l2_per_layer",
    "constrain_weights": MaxNormConstraint(0.5),
}  # fmt: skip


@pytest.mark.parametrize("updater", UPDATERS)
@pytest.mark.parametrize("where", [(0,), (0, 1), (1,), (0, 2), (0, 1, 2)])
@pytest.mark.numpy_first
def test_parameters_stay_to_the_bit(where, updater, backend):
    wrappers = [FrozenLayer if index in where else same for index in range(3)]
    net = stack(*wrappers, updater=updater, dtype="float32", weight_noise=DropConnect(0.8), **PENALTIES)
    check_frozen_stay_and_others_move(net, X.astype(np.float32), Y.astype(np.float32))


@pytest.mark.parametrize("where", [(0,), (0, 1), (1, 2), (2,)])
@pytest.mark.parametrize("threads", [1, 2])
def test_parameters_stay_to_the_bit_in_workers(where, threads):
    with nd.use_backend(NumpyBackend(threads=threads)):
        net = images(where, updater=UPDATERS[0], **PENALTIES)
        data, labels = np.tile(IMAGES, (8, 1, 1, 1)), np.tile(IMAGE_LABELS, (8, 1))
        assert len(workers_of(net, data.shape)) == threads or 0 not in where  # dropout
        check_frozen_stay_and_others_move(net, data, labels, len(data))


@pytest.mark.parametrize("where", [(0,), (1, 2)])
def test_parameters_stay_to_the_bit_on_a_device(where, device):
    with nd.use_backend(device):
        check_frozen_stay_and_others_move(images(where, updater=UPDATERS[0], **PENALTIES), IMAGES, IMAGE_LABELS, 24)


def test_a_minibatch_still_comes_in_parts():
    """Dropout in a frozen layer draws nothing, so it does not keep the examples together."""
    with nd.use_backend(NumpyBackend(threads=2)):
        frozen, plain = images((0,)), images(())
        many = (512, *IMAGES.shape[1:])
        assert len(workers_of(frozen, many)) == 2
        assert len(workers_of(plain, many)) == 1


def kinds(net, frozen):
    """What the recorded training step runs, after one."""
    net.fit(IMAGES, IMAGE_LABELS)
    return [type(node.layer).__name__ for node in net.engine.shared_nodes.fused[0]][:frozen]


def test_a_frozen_convolution_and_its_pooling_run_as_one_where_no_gradient_passes():
    with nd.use_backend(NumpyBackend(threads=1)):
        net, apart = images((0, 1)), images((0,))
        assert kinds(net, 2) == ["FrozenPooledConvolution", "DenseRuntime"]
        assert kinds(apart, 2) == ["FrozenRuntime", "SubsamplingRuntime"]
        np.testing.assert_allclose(host(net.params()), host(apart.params()), rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(host(net.output(IMAGES)), host(net.feed_forward(IMAGES)[-1]), **TOLERANCE["float32"])


def test_a_frozen_convolution_above_trainable_layers_runs_by_itself():
    conf = NeuralNetConfiguration(seed=4).list(
        ConvolutionLayer(n_out=4, kernel_size=3, activation="relu"),
        FrozenLayer(ConvolutionLayer(n_out=4, kernel_size=3, activation="relu")),
        FrozenLayer(SubsamplingLayer(kernel_size=(2, 2))),
        OutputLayer(n_out=3, activation="softmax"),
        input_type=InputType.convolutional(12, 12, 2),
    )
    net = MultiLayerNetwork(conf).init()
    before = host(net.get_param("0_W"))
    assert kinds(net, 3) == ["ConvolutionRuntime", "FrozenRuntime", "FrozenRuntime"]
    assert (host(net.get_param("0_W")) != before).any()


# ---- gradients


@pytest.mark.parametrize("frozen", [FrozenLayer, FrozenLayerWithBackprop])
@pytest.mark.parametrize("where", [(1,), (0,), (2,), (1, 2)])
@pytest.mark.numpy_first
def test_gradients_beside_a_frozen_layer_match_central_differences(where, frozen, backend):
    net = stack(*(frozen if index in where else same for index in range(3)))
    net.set_input(nd.create(X, dtype="float64"))
    net.set_labels(nd.create(Y, dtype="float64"))

    def summed_loss():
        net.compute_gradient_and_score()
        return net.score() * len(X)

    summed_loss()
    gradients = {key: nd.copy(g) for key, g in net.gradient().gradient_for_variable().items()}
    for key, view in net.param_table().items():
        if int(key[0]) in where:
            assert not nd.to_host(gradients[key]).any()
        else:
            check_derivative(summed_loss, view, gradients[key], 4)


def test_images_through_a_frozen_convolution_in_the_middle():
    """Trainable below, frozen, trainable above: float64, on whole minibatches."""
    conf = NeuralNetConfiguration(seed=4, dtype="float64").list(
        ConvolutionLayer(n_out=3, kernel_size=3, activation="tanh"),
        FrozenLayer(ConvolutionLayer(n_out=4, kernel_size=2, activation="sigmoid", drop_out=0.5)),
        FrozenLayer(SubsamplingLayer("avg", kernel_size=(2, 2))),
        OutputLayer(n_out=3, activation="softmax"),
        input_type=InputType.convolutional(8, 8, 2),
    )
    net = MultiLayerNetwork(conf).init()
    net.set_input(nd.create(RNG.normal(size=(4, 2, 8, 8)), dtype="float64"))
    net.set_labels(nd.create(Y[:4], dtype="float64"))

    def summed_loss():
        net.compute_gradient_and_score()
        return net.score() * 4

    summed_loss()
    gradients = {key: nd.copy(g) for key, g in net.gradient().gradient_for_variable().items()}
    for key in ("0_W", "0_b", "3_W", "3_b"):
        check_derivative(summed_loss, net.get_param(key), gradients[key], 6)
    assert not nd.to_host(gradients["1_W"]).any()


@pytest.mark.parametrize(("where", "calls"), [((0,), 0), ((0, 1), 0), ((0, 2), 1), ((1,), 1), ((1, 2), 2)])
def test_backpropagation_ends_where_nothing_below_is_trained(where, calls, monkeypatch):
    made = []
    original = FrozenRuntime.backpropagate

    def counted(self, *arguments):
        made.append(self.label)
        return original(self, *arguments)

    monkeypatch.setattr(FrozenRuntime, "backpropagate", counted)
    net = stack(*(FrozenLayer if index in where else same for index in range(3)))
    net.set_input(X)
    net.set_labels(Y)
    net.compute_gradient_and_score()
    assert len(made) == calls


# ---- forward


def test_training_is_as_outside_of_training():
    """Dropout of a frozen layer draws nothing, that of others what it always does."""
    net = stack(lambda layer: FrozenLayer(DenseLayer(n_out=6, activation="tanh", drop_out=0.3)), same)
    state = nd.random.get_random().get_state()
    np.testing.assert_array_equal(net.feed_forward(X, train=True)[1], net.feed_forward(X)[1])
    assert nd.random.get_random().get_state() == state


def test_weights_are_those_of_the_layer_itself():
    plain, frozen = stack(same, same), stack(FrozenLayer, FrozenLayer)
    np.testing.assert_array_equal(host(plain.params()), host(frozen.params()))
    np.testing.assert_allclose(plain.output(X), frozen.output(X), **TOLERANCE["float64"])


def test_the_score_has_no_penalty_for_it():
    data = DataSet(X, Y)
    frozen, without = stack(FrozenLayer, FrozenLayer, l2=0.5), stack(same, same)
    output = host(frozen.param_table()["2_W"])
    assert frozen.score(data) == pytest.approx(without.score(data) + 0.25 * (output**2).sum(), rel=1e-12)


def test_there_is_no_updater_state_for_it():
    net = stack(FrozenLayer, same, updater=Adam(0.01))
    trained = sum(view.size for key, view in net.param_table().items() if not key.startswith("0"))
    assert net.updater_state().shape == (1, 2 * trained)


# ---- configuration


def test_javas_json():
    conf = stack(FrozenLayer, lambda layer: FrozenLayerWithBackprop(DropoutLayer(0.5))).conf
    document = json.loads(conf.to_json())
    first, second = (part["layer"] for part in document["confs"][:2])
    package = "org.deeplearning4j.nn.conf.layers."
    assert first["@class"] == package + "misc.FrozenLayer"
    assert set(first) == {"@class", "constraints", "idropout", "layer", "layerName"}
    assert (first["layer"]["@class"], first["layer"]["nout"]) == (package + "DenseLayer", 6)
    assert first["layerName"] == first["layer"]["layerName"] == "layer0"
    assert document["confs"][0]["variables"] == ["W", "b"]
    assert second["@class"] == package + "misc.FrozenLayerWithBackprop"
    assert second["underlying"]["@class"] == package + "DropoutLayer"
    again = MultiLayerConfiguration.from_json(conf.to_json())
    assert again.layers == conf.layers
    assert again.to_json() == conf.to_json()


def test_json_of_a_layer_that_is_not_whole():
    document = json.loads(stack(FrozenLayer).conf.to_json())
    document["confs"][0]["layer"]["layer"]["activationFn"] = None
    with pytest.raises(nd.FormatError, match=r"layer 0 \(FrozenLayer\) must have activation, got none"):
        MultiLayerConfiguration.from_json(json.dumps(document))
    document["confs"][0]["layer"]["layer"] = None
    with pytest.raises(nd.NdError, match="layer: expected an object with '@class', got None"):
        MultiLayerConfiguration.from_json(json.dumps(document))


def test_a_trained_network_in_a_zip(tmp_path):
    net = stack(FrozenLayer, same, updater=Nesterovs(learning_rate=0.1))
    net.fit(X, Y)
    net.save(tmp_path / "net.zip")
    again = MultiLayerNetwork.load(tmp_path / "net.zip")
    for each in (net, again):
        each.fit(X, Y)
    np.testing.assert_array_equal(host(net.params()), host(again.params()))
    np.testing.assert_array_equal(host(net.updater_state()), host(again.updater_state()))


@pytest.mark.parametrize("layer", [OutputLayer(n_out=2), LossLayer(), FrozenLayer(DenseLayer(n_out=2))])
def test_what_can_be_frozen(layer):
    if isinstance(layer, FrozenLayer):
        assert FrozenLayer(layer).innermost == layer.layer
        return
    with pytest.raises(nd.ConfigurationError, match="a layer with a loss cannot be frozen, got"):
        FrozenLayer(layer)


def test_only_layers_can_be_frozen():
    with pytest.raises(nd.ConfigurationError, match="FrozenLayer: layer must be a layer configuration, got None"):
        FrozenLayer()
    with pytest.raises(nd.ConfigurationError, match=r"FrozenLayerWithBackprop: layer must be .*, got 'dense'"):
        FrozenLayerWithBackprop("dense")


def test_javas_builder_and_names():
    inner = DenseLayer(n_in=2, n_out=3)
    assert FrozenLayer.Builder().layer(inner).build() == FrozenLayer(inner) == FrozenLayer.Builder(inner).build()
    conf = NeuralNetConfiguration(seed=1).list(FrozenLayer(inner, name="eye"), OutputLayer(n_out=2))
    assert (conf.layers[0].name, conf.layers[0].layer.name) == ("eye", "eye")
    assert conf.layers[1].n_in == 3
    assert "0 eye" in MultiLayerNetwork(conf).summary()
