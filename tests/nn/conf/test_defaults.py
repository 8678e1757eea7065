"""What a layer takes from the network's defaults, by the table of DL4J's Builder."""

import time

import pytest

import nd
from nd.activations import get_activation
from nd.losses import LossMCXENT
from nn import (
    ActivationLayer,
    ConvolutionLayer,
    DenseLayer,
    DropConnect,
    Dropout,
    DropoutLayer,
    InputType,
    LossLayer,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    NormalDistribution,
    OutputLayer,
    SubsamplingLayer,
)
from nn.layers import BaseLayerConf, LayerConf
from optimize import Adam, L1Regularization, L2Regularization, MapSchedule, Nesterovs, Sgd
from tests.cells import every_row

PARAMETRIC = [
    DenseLayer(n_in=2, n_out=2), ConvolutionLayer(n_in=2, n_out=2), OutputLayer(n_in=2, n_out=2, activation=None),
    LossLayer(activation=None),
]  # fmt: skip
OTHERS = [SubsamplingLayer(), ActivationLayer(), DropoutLayer()]
SECONDS = 60  # within which a seed from the clock must lie

GLOBAL = {
    "drop_out": 0.5,
    "activation": "tanh",
    "weight_init": "relu",
    "bias_init": 0.25,
    "l1": 0.1,
    "l2": 0.2,
    "l1_bias": 0.3,
    "l2_bias": 0.4,
    "updater": Adam(0.5),
    "bias_updater": Sgd(0.6),
    "gradient_normalization": "clip_l2_per_layer",
    "gradient_normalization_threshold": 0.7,
    "weight_noise": DropConnect(0.5),
}
OWN = {
    "drop_out": 1.0,
    "activation": "identity",
    "weight_init": "zero",
    "bias_init": 0.0,
    "l1": 0.0,
    "l2": 0.0,
    "l1_bias": 0.0,
    "l2_bias": 0.0,
    "updater": Nesterovs(),
    "bias_updater": Sgd(),
    "gradient_normalization": "none",
    "gradient_normalization_threshold": 1.0,
    "weight_noise": DropConnect(0.7),
}
"""Values that a test for truth would take for unset."""


def resolved(layer, **defaults):
    return NeuralNetConfiguration(**defaults, validate_output_layer_config=False).list(layer).layers[0]


def as_kept(name, value):
    return {"drop_out": lambda p: Dropout(p), "activation": get_activation}.get(name, lambda v: v)(value)


def ids(layer):
    return type(layer).__name__


def test_defaults_of_the_network():
    conf = NeuralNetConfiguration()
    assert (conf.activation, conf.weight_init, conf.bias_init) == ("sigmoid", "xavier", 0.0)
    assert (conf.updater, conf.bias_updater) == (Sgd(1e-3), None)
    assert (conf.optimization_algo, conf.max_num_line_search_iterations) == ("stochastic_gradient_descent", 5)
    assert (conf.convolution_mode, conf.mini_batch, conf.minimize, conf.iterations) == ("truncate", True, True, 1)
    assert (conf.l1, conf.l2, conf.l1_bias, conf.l2_bias, conf.drop_out) == (None,) * 5
    assert abs(conf.seed - time.time() * 1000) < SECONDS * 1000


def test_the_dtype_is_that_of_the_facade():
    assert NeuralNetConfiguration().dtype == "float32"
    nd.set_default_dtype("float64")
    assert NeuralNetConfiguration().dtype == "float64"
    assert NeuralNetConfiguration(dtype="float32").dtype == "float32"


def test_defaults_of_the_layers():
    conv, pool = resolved(ConvolutionLayer(n_in=1, n_out=1)), resolved(SubsamplingLayer())
    dense = resolved(DenseLayer(n_in=1, n_out=1))
    assert (conv.kernel_size, conv.stride, conv.padding, conv.dilation) == ((5, 5), (1, 1), (0, 0), (1, 1))
    assert (conv.has_bias, conv.convolution_mode, dense.has_bias) == (True, "truncate", True)
    assert (pool.kernel_size, pool.stride, pool.padding, pool.dilation) == ((1, 1), (2, 2), (0, 0), (1, 1))
    assert (pool.pooling_type, pool.convolution_mode, pool.pnorm) == ("max", "truncate", 0)
    assert pool.avg_pool_include_pad_in_divisor is False
    assert OutputLayer().loss == LossLayer().loss == LossMCXENT()
    assert dense.activation == get_activation("sigmoid")
    assert (dense.weight_init, dense.bias_init, dense.updater, dense.bias_updater) == ("xavier", 0.0, Sgd(1e-3), None)


@every_row("layer", PARAMETRIC, ids=ids)
@every_row("name", GLOBAL)
def test_a_global_value_reaches_every_layer_that_has_none(layer, name):
    assert getattr(resolved(layer, **{name: GLOBAL[name]}), name) == as_kept(name, GLOBAL[name])


@every_row("layer", PARAMETRIC, ids=ids)
@every_row("name", OWN)
def test_a_layers_own_value_wins(layer, name):
    sizes = {key: getattr(layer, key) for key in ("n_in", "n_out") if hasattr(layer, key)}
    own = type(layer)(**sizes, **{name: OWN[name]})
    expected = None if name.startswith(("l1", "l2")) and OWN[name] == 0 else as_kept(name, OWN[name])
    assert getattr(resolved(own, **GLOBAL), name) == expected  # no penalty, in the place of the network's


@pytest.mark.parametrize("layer", OTHERS, ids=ids)
def test_layers_without_parameters_take_dropout_and_what_they_have(layer):
    found = resolved(layer, drop_out=0.5, activation="tanh", convolution_mode="same")
    assert found.drop_out == Dropout(0.5)
    assert resolved(type(layer)(drop_out=0.9), drop_out=0.5).drop_out == Dropout(0.9)
    if isinstance(layer, ActivationLayer):
        assert found.activation == get_activation("tanh")
        assert resolved(ActivationLayer("relu"), activation="tanh").activation == get_activation("relu")
    if isinstance(layer, SubsamplingLayer):
        assert found.convolution_mode == "same"


@pytest.mark.parametrize("layer_class", [ConvolutionLayer, SubsamplingLayer])
def test_convolution_mode_of_a_layer_wins(layer_class):
    sizes = {"n_in": 1, "n_out": 1} if layer_class is ConvolutionLayer else {}
    assert resolved(layer_class(**sizes), convolution_mode="strict").convolution_mode == "strict"
    assert resolved(layer_class(**sizes, convolution_mode="Same"), convolution_mode="strict").convolution_mode == "same"


def test_zero_dropout_means_none():
    assert resolved(DenseLayer(n_in=1, n_out=1, drop_out=0.0)).drop_out is None
    assert resolved(DenseLayer(n_in=1, n_out=1), drop_out=0.0).drop_out is None


def test_names_are_numbered_where_there_is_none():
    conf = NeuralNetConfiguration().list(
        DenseLayer(n_in=1, n_out=1), DenseLayer(n_in=1, n_out=1, name="fc"), OutputLayer(n_in=1, n_out=2)
    )
    assert [layer.name for layer in conf.layers] == ["layer0", "fc", "layer2"]


def test_the_layers_given_stay_as_they_are():
    layer = DenseLayer(n_out=3)
    NeuralNetConfiguration(l2=0.5).list(layer, input_type=InputType.feed_forward(2))
    assert (layer.l2, layer.n_in, layer.name) == (None, None, None)
    with pytest.raises(AttributeError, match="cannot assign to field 'n_out'"):
        layer.n_out = 4


def test_a_distribution_by_name_comes_with_the_defaults():
    found = resolved(PARAMETRIC[0], weight_init="distribution", dist=NormalDistribution(0.0, 0.1))
    assert found.weight_init == NormalDistribution(0.0, 0.1)


def test_penalties_on_weights_and_on_biases():
    layer = resolved(DenseLayer(n_in=1, n_out=1, l1=0.0), **GLOBAL)
    assert layer.regularization_of(bias=False) == (L2Regularization(0.2),)
    assert layer.regularization_of(bias=True) == (L1Regularization(0.3), L2Regularization(0.4))
    assert resolved(DenseLayer(n_in=1, n_out=1), l2=0.1).regularization_of(bias=True) == ()
    schedule = MapSchedule("epoch", {0: 0.1, 3: 0.0})
    scheduled = resolved(DenseLayer(n_in=1, n_out=1), l2=schedule)
    assert scheduled.regularization_of(bias=False) == (L2Regularization(schedule),)


def test_updaters_of_weights_and_of_biases():
    both = resolved(DenseLayer(n_in=1, n_out=1), updater=Adam(0.5))
    assert (both.updater_of(bias=False), both.updater_of(bias=True)) == (Adam(0.5), Adam(0.5))
    apart = resolved(DenseLayer(n_in=1, n_out=1), updater=Adam(0.5), bias_updater=Sgd(0.1))
    assert (apart.updater_of(bias=False), apart.updater_of(bias=True)) == (Adam(0.5), Sgd(0.1))


def test_every_layer_inherits_only_fields_that_it_and_the_network_have():
    for layer in (*PARAMETRIC, *OTHERS):
        for name in layer.inherited:
            assert hasattr(layer, name)
            assert hasattr(NeuralNetConfiguration(), name)
    beside_l2 = {"weight_decay", "weight_decay_bias"}  # tests/nn/conf/test_penalties.py
    beside_l2 |= {"regularization", "regularization_bias"}
    assert set(BaseLayerConf.inherited) - {"dist"} - beside_l2 == set(GLOBAL)
    assert set(LayerConf.inherited) == {"drop_out"}


def test_an_own_updater_trains_its_layer_alone():
    """Sgd(0) holds the first layer where it is, while the second one learns."""
    conf = NeuralNetConfiguration(seed=1, updater=Sgd(0.5)).list(
        DenseLayer(n_in=2, n_out=3, activation="tanh", updater=Sgd(0.0)),
        OutputLayer(n_in=3, n_out=1, loss="mse", activation="identity"),
    )
    net = MultiLayerNetwork(conf).init()
    before = {key: nd.to_host(nd.copy(view)) for key, view in net.param_table().items()}
    net.fit([[1.0, 2.0]], [[3.0]])
    moved = {key: bool((nd.to_host(view) != before[key]).any()) for key, view in net.param_table().items()}
    assert moved == {"0_W": False, "0_b": False, "1_W": True, "1_b": True}
