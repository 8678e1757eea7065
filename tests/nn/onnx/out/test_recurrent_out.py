"""Recurrent layers and attention as ONNX: lengths, opsets, formats, double precision, layers inside of others."""

import itertools

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

import nd
from nd.activations import ACTIVATIONS, Activation
from nn import (
    LSTM,
    Bidirectional,
    Convolution1DLayer,
    DenseLayer,
    FrozenLayer,
    GlobalPoolingLayer,
    GravesBidirectionalLSTM,
    GravesLSTM,
    InputType,
    LastTimeStep,
    LearnedSelfAttentionLayer,
    MaskZeroLayer,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    RecurrentAttentionLayer,
    RnnLossLayer,
    RnnOutputLayer,
    SelfAttentionLayer,
    SimpleRnn,
    TimeDistributed,
)
from nn.onnx.out import LAYERS
from tests.cases.layers import LAYER_CASES, make_features
from tests.nn.layers.test_every_layer import make_network
from tests.onnx_at_work import CLOSE, Written
from tests.stand_ins import make_backend

FAMILIES = {"attention", "recurrent", "wrapping"}
"""Modules whose layers are looked at here."""
ROWS = [
    pytest.param(case, id=f"{kind}-{case.variant}", marks=[pytest.mark.slow] * (number > 0))
    for kind, rows in LAYER_CASES.items()
    for number, case in enumerate(rows)
    if LAYERS.get(type(case.layer).__name__, "").partition(":")[0] in FAMILIES
]
SIZES = ((2, 5), (1, 1), (4, 9))
"""Examples and time steps."""
OPSETS = [13, *(pytest.param(opset, marks=pytest.mark.slow) for opset in (15, 17, 21, 23))]
OPSETS += [onnx.defs.onnx_opset_version() - 2]
UNITS = [
    LSTM(n_out=4, activation="tanh"),
    GravesLSTM(n_out=4, activation="tanh"),
    SimpleRnn(n_out=4, activation="tanh"),
    SimpleRnn(n_out=4, activation="tanh", has_layer_norm=True),
]
AROUND = [
    GravesBidirectionalLSTM(n_out=3, activation="tanh"),
    *(Bidirectional(LSTM(n_out=3, activation="tanh"), mode) for mode in ("add", "average", "concat", "mul")),
    Bidirectional(SimpleRnn(n_out=3, activation="tanh", has_layer_norm=True), "mul"),
    Bidirectional(GravesBidirectionalLSTM(n_out=3, activation="tanh")),
    Bidirectional(FrozenLayer(GravesLSTM(n_out=3, activation="tanh")), "add"),
    FrozenLayer(Bidirectional(SimpleRnn(n_out=3, activation="tanh"))),
    MaskZeroLayer(Bidirectional(LSTM(n_out=3, activation="tanh"))),
    TimeDistributed(DenseLayer(n_out=3, activation="tanh", has_layer_norm=True)),
    SelfAttentionLayer(n_out=4, n_heads=2, project_input=True, weight_init="xavier"),
    LearnedSelfAttentionLayer(n_out=4, n_heads=2, n_queries=3, project_input=True, weight_init="xavier"),
    RecurrentAttentionLayer(n_out=4, n_heads=2, weight_init="xavier"),
]
LAST = [
    LastTimeStep(LSTM(n_out=4, activation="tanh")),
    LastTimeStep(MaskZeroLayer(GravesLSTM(n_out=4, activation="tanh"))),
    LastTimeStep(Bidirectional(MaskZeroLayer(SimpleRnn(n_out=4, activation="tanh")))),
    LastTimeStep(Convolution1DLayer(n_out=4, kernel_size=1, activation="tanh")),
    Bidirectional(LastTimeStep(SimpleRnn(n_out=4, activation="tanh")), "add"),
]


def network(*layers, dtype="float32", data_format=None, **settings):
    base = NeuralNetConfiguration(seed=5, dtype=dtype, weight_init="xavier", bias_init=0.1)
    kind = InputType.recurrent(3, None, data_format) if data_format else InputType.recurrent(3)
    return MultiLayerNetwork(base.list(*layers, **{"input_type": kind, **settings})).init()


def over_steps(layer, **settings):
    return network(layer, RnnOutputLayer(n_out=2, activation="softmax"), **settings)


def series(examples, steps, seed=0):
    """Return series with blank steps ``[N, 3, T]``."""
    rng = np.random.default_rng([examples, steps, seed])
    return rng.normal(0.0, 0.8, (examples, 3, steps)) * (rng.random((examples, 1, steps)) < 0.7)


def named(layers):
    return [pytest.param(layer, id=f"{number}-{type(layer).__name__}") for number, layer in enumerate(layers)]


def model_of(net, opset=18):
    least = onnx.helper.find_min_ir_version_for([onnx.helper.make_opsetid("", opset)])
    return Written(net, opset=opset, ir_version=max(least, 10))


@pytest.mark.parametrize("case", ROWS)
def test_row_in_double_precision(case):
    written = Written(make_network(case, "float64"))
    for n in (3, 1):
        written.check(make_features(case, n=n))


@pytest.mark.parametrize("layer", named([*UNITS, *AROUND]))
@pytest.mark.quick_rows(every=3)
def test_series_of_every_length(layer):
    for dtype in ("float32", "float64"):
        written = Written(over_steps(layer, dtype=dtype))
        for size in SIZES:
            written.check(series(*size))


@pytest.mark.parametrize("layer", named(LAST))
def test_last_steps_of_series_of_every_length(layer):
    for dtype in ("float32", "float64"):
        written = Written(network(layer, OutputLayer(n_out=2, activation="softmax"), dtype=dtype))
        for size in SIZES:
            written.check(series(*size))


@pytest.mark.parametrize("opset", OPSETS)
def test_opsets(opset):
    attention = SelfAttentionLayer(n_out=4, n_heads=2, project_input=True, weight_init="xavier")
    for dtype in ("float32", "float64"):
        layers = [*UNITS, AROUND[2], attention, AROUND[-1], LAST[1]]
        written = model_of(network(*layers, OutputLayer(n_out=2, activation="softmax"), dtype=dtype), opset)
        written.check(series(2, 4))


def test_the_channels_last():
    for layer in (*UNITS, AROUND[0], AROUND[3]):
        written = Written(over_steps(layer, data_format="NWC"))
        for size in SIZES:
            written.check(series(*size).transpose(0, 2, 1))


def test_without_input_types():
    layers = [LSTM(n_in=3, n_out=4, activation="tanh"), Bidirectional(SimpleRnn(n_in=4, n_out=3, activation="tanh"))]
    written = Written(network(*layers, RnnOutputLayer(n_in=6, n_out=2, activation="softmax"), input_type=None))
    for size in SIZES:
        written.check(series(*size))


# ---- activations, and the operators that are taken


def units_of(activation):
    gates = {"activation": activation, "gate_activation": activation}
    return [
        LSTM(n_out=3, activation=activation),
        GravesLSTM(n_out=3, **gates),
        Bidirectional(SimpleRnn(n_out=3, activation=activation)),
        RecurrentAttentionLayer(n_out=3, activation=activation, project_input=False),
    ]


EVERY = [
    pytest.param(name, marks=[pytest.mark.slow] * (name not in ("hardsigmoid", "swish")))
    for name in ACTIVATIONS
    if not ACTIVATIONS[name]().over_rows
]


@pytest.mark.parametrize("name", EVERY)
def test_activations(name):
    activation = ACTIVATIONS[name]()
    for layer, dtype in itertools.product(units_of(activation), ("float32", "float64")):
        written = Written(over_steps(layer, dtype=dtype))
        written.check(series(2, 3))
        assert len({"LSTM", "RNN", "Scan"} & set(written.ops)) == 1


@pytest.mark.parametrize("name", ["elu", "leakyrelu", "relu", "softplus", "softsign", "tanh"])
def test_large_numbers(name):
    layers = [LSTM(n_out=4, activation=name), SimpleRnn(n_out=4, activation=name)]
    for layer in layers:
        Written(network(layer, RnnLossLayer(loss="mse", activation="identity"))).check(300.0 * series(2, 3))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_operators(dtype):
    own = dtype == "float32"
    expected = [(LSTM, "LSTM"), (GravesLSTM, "LSTM"), (SimpleRnn, "RNN"), (GravesBidirectionalLSTM, "LSTM")]
    for kind, op in expected:
        ops = Written(over_steps(kind(n_out=2, activation="tanh"), dtype=dtype)).ops
        assert (op in ops, "Scan" in ops) == (own, not own)


def test_both_directions_are_one_operator():
    for layer in (AROUND[0], AROUND[3]):
        nodes = Written(over_steps(layer)).model.graph.node
        (node,) = (node for node in nodes if node.op_type == "LSTM")
        said = {one.name: onnx.helper.get_attribute_value(one) for one in node.attribute}
        assert said == {"direction": b"bidirectional", "hidden_size": 3}


def test_activations_that_the_operator_has_not_by_itself_are_named():
    layer = LSTM(n_out=2, activation="softsign", gate_activation="hardsigmoid")
    (node,) = (node for node in Written(over_steps(layer)).model.graph.node if node.op_type == "LSTM")
    said = {one.name: onnx.helper.get_attribute_value(one) for one in node.attribute}
    assert said["activations"] == [b"HardSigmoid", b"Softsign", b"Softsign"]
    assert "Scan" in Written(over_steps(SimpleRnn(n_out=2, activation=ACTIVATIONS["elu"](0.5)))).ops


def test_the_reference_implementation_computes_the_same():
    """It has no Scan from the last step to the first."""
    x = series(2, 4)
    for layer in (UNITS[0], UNITS[3], RecurrentAttentionLayer(n_out=4, weight_init="xavier")):
        net = over_steps(layer, dtype="float64")
        found = ReferenceEvaluator(Written(net).model).run(None, {"input": x})[0]
        np.testing.assert_allclose(found, nd.to_host(net.output(x)), **CLOSE)


@pytest.mark.parametrize("layer", named([UNITS[1], UNITS[3], AROUND[3], AROUND[-1]]))
def test_networks_on_another_backend(layer):
    models = []
    for name in ("numpy", "strict"):
        with nd.use_backend(make_backend(name)):
            models.append(Written(over_steps(layer)).model.SerializeToString())
    assert models[0] == models[1]


# ---- what is refused


class Doubled(Activation):
    """A function of a user's own."""

    def value(self, z, out=None, training=False):
        return nd.multiply(z, 2.0, out)


def test_functions_and_layers_of_a_users_own_are_refused():
    net = over_steps(LSTM(n_out=2, activation=Doubled()))
    with pytest.raises(nd.ConfigurationError, match=r"layer 0 \(LSTM\): its activation Doubled is no function of ONNX"):
        Written(net)
    own = type("Own", (DenseLayer,), {"__module__": "own"})
    net = network(TimeDistributed(own(n_out=2)), GlobalPoolingLayer("avg"), OutputLayer(n_out=2, activation="softmax"))
    with pytest.raises(nd.ConfigurationError, match=r"layer 0 \(TimeDistributed\): ONNX has nothing like Own"):
        Written(net)
