"""Which output layers are refused, by the list that Deeplearning4j made (tests/java, OutputLayers.java)."""

import json
import pathlib

import numpy as np
import pytest

import nd
from nd.activations import ACTIVATIONS
from nd.evaluation import Evaluation
from nn import (
    CenterLossOutputLayer,
    Cnn3DLossLayer,
    CnnLossLayer,
    DenseLayer,
    LossLayer,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    RnnLossLayer,
    RnnOutputLayer,
    TransferLearning,
)
from optimize.earlystopping import ClassificationScoreCalculator
from tests.cells import every_row

JAVA = json.loads((pathlib.Path(__file__).parents[2] / "cases" / "java_output_layers.json").read_text())
BUILT, EVALUATED = set(JAVA["refused_when_built"]), set(JAVA["refused_when_evaluated"])
LOSSES = sorted({line.split()[1] for line in BUILT} | {"MSE", "SPARSE_MCXENT", "KL_DIVERGENCE"})
WITH_OUTPUTS = [OutputLayer, RnnOutputLayer, CenterLossOutputLayer]
WITHOUT = [LossLayer, RnnLossLayer, CnnLossLayer, Cnn3DLossLayer]
WRONG = OutputLayer(n_in=4, n_out=3, loss="mcxent", activation="sigmoid")
RIGHT = OutputLayer(n_in=3, n_out=3, loss="mse", activation="tanh")
FEATURES, LABELS = np.linspace(0.0, 1.0, 24).reshape(6, 4), np.eye(3)[[0, 0, 1, 1, 2, 2]]


def network(*layers, **settings):
    return NeuralNetConfiguration(seed=1, **settings).list(*layers)


def refused(*layers):
    try:
        network(*layers)
    except nd.ConfigurationError as error:
        return "validate_output_layer_config=False" in str(error)
    return False


def layer_of(layer_class, loss, activation, n):
    sizes = {"n_in": 4, "n_out": n} if layer_class in WITH_OUTPUTS else {}
    return layer_class(**sizes, loss=loss.lower(), activation=activation)


# Center loss with sparse labels is refused for the labels, whatever the activation.
PAIRS = [
    (layer_class, loss)
    for layer_class in (*WITH_OUTPUTS, *WITHOUT)
    for loss in LOSSES
    if (layer_class, loss) != (CenterLossOutputLayer, "SPARSE_MCXENT")
]


@every_row(("layer_class", "loss"), PAIRS)
@pytest.mark.slow
def test_javas_list(layer_class, loss):
    sizes = (1, 3) if layer_class in WITH_OUTPUTS else (1,)
    cases = [(activation, n) for activation in ACTIVATIONS for n in sizes]
    ours = {(a, n) for a, n in cases if refused(layer_of(layer_class, loss, a, n))}
    java = {(a, n) for a, n in cases if f"{layer_class.__name__} {loss} {a.upper()} {n}" in BUILT}
    assert ours == java


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        (WRONG, r"layer 0 \(OutputLayer\): LossMCXENT must have outputs that sum to 1, got sigmoid\. Use act.*softmax"),
        (OutputLayer(n_in=4, n_out=3, activation="relu"), r"values in 0\.\.1, got relu\. Use activation='softmax', or"),
        (
            OutputLayer(n_in=4, n_out=3, loss="xent", activation="tanh"),
            r"LossBinaryXENT must have .* values in 0\.\.1, got tanh\. Use activation='sigmoid'",
        ),
        (
            OutputLayer(n_in=4, n_out=3, loss="xent"),
            r"independent outputs, got softmax, .* sum to 1\. Use loss='mcxent'",
        ),
        (OutputLayer(n_in=4, n_out=1), r"two outputs or more, got n_out=1, .*'sigmoid' with loss='xent'"),
    ],
)
def test_messages_say_what_to_use(layer, message):
    with pytest.raises(nd.ConfigurationError, match=message):
        network(layer)


def test_a_layer_in_the_middle_is_refused_for_being_there():
    assert JAVA["odd_places"]["in the middle"] is True
    for layer in (WRONG, RIGHT):
        with pytest.raises(nd.ConfigurationError, match=r"layer 0 .*must be the last layer, as it has a loss"):
            network(layer, RIGHT)


def test_the_check_can_be_switched_off():
    conf = network(WRONG, validate_output_layer_config=False)
    builder = NeuralNetConfiguration.Builder().seed(1).list().layer(WRONG).validateOutputLayerConfig(False)
    assert builder.build() == conf
    with pytest.raises(nd.ConfigurationError, match="outputs that sum to 1"):
        NeuralNetConfiguration.Builder().list().layer(WRONG).build()
    with pytest.raises(nd.ConfigurationError, match="validate_output_layer_config must be True or False, got 'no'"):
        NeuralNetConfiguration(validate_output_layer_config="no")


def test_the_switch_is_in_dl4js_json_and_files_are_not_checked():
    """As Java: whatever a file says, it is read; one that does not say anything counts as true."""
    assert not any(JAVA["odd_places"][f"read, {case}"] for case in ("said false", "said true", "not said"))
    document = json.loads(network(WRONG, validate_output_layer_config=False).to_json())
    assert document["validateOutputLayerConfig"] is False
    assert json.loads(network(RIGHT).to_json())["validateOutputLayerConfig"] is True
    for said, expected in ((False, False), (True, True), (None, True)):
        document["validateOutputLayerConfig"] = said
        text = json.dumps({key: value for key, value in document.items() if value is not None})
        read = MultiLayerConfiguration.from_json(text)
        assert read.base.validate_output_layer_config is expected
        assert read.layers[0].activation == WRONG.activation
    document["validateOutputLayerConfig"] = "no"
    with pytest.raises(nd.FormatError, match="validateOutputLayerConfig must be true or false, got 'no'"):
        MultiLayerConfiguration.from_json(json.dumps(document))


def test_the_switch_is_kept_in_a_zip(tmp_path):
    net = MultiLayerNetwork(network(WRONG, validate_output_layer_config=False)).init()
    net.save(tmp_path / "net.zip")
    assert MultiLayerNetwork.load(tmp_path / "net.zip").conf == net.conf


def test_transfer_learning_checks_as_java():
    """The switch of the trained network does not count, that of the builder does."""
    net = MultiLayerNetwork(network(WRONG, validate_output_layer_config=False)).init()
    with pytest.raises(nd.ConfigurationError, match=r"layer 0 \(OutputLayer\): LossMCXENT must have outputs that sum"):
        TransferLearning.Builder(net).build()
    built = TransferLearning.Builder(net).validateOutputLayerConfig(False).build()
    assert built.conf.base.validate_output_layer_config is False
    assert built.conf.layers == net.conf.layers


# ---- evaluation


@every_row("activation", ACTIVATIONS)
@every_row("layer_class", [OutputLayer, LossLayer])
def test_evaluations_as_a_classifier(layer_class, activation):
    last = layer_of(layer_class, "mse", activation, 3)
    layers = [last] if layer_class is OutputLayer else [DenseLayer(n_in=4, n_out=3), last]
    net = MultiLayerNetwork(network(*layers)).init()
    data = nd.dataset.DataSet(FEATURES, LABELS)
    for java, ours in (("evaluate", net.evaluate), ("evaluateROCMultiClass", net.evaluate_roc_multi_class)):
        if f"{layer_class.__name__} {activation.upper()} {java}" in EVALUATED:
            with pytest.raises(nd.ConfigurationError, match=r"must give probabilities, got .* Use evaluate_regression"):
                ours(data)
        else:
            ours(data)
    assert f"{layer_class.__name__} {activation.upper()} doEvaluation" not in EVALUATED
    assert net.do_evaluation(data, Evaluation())[0].num_row_counter == 6
    assert net.evaluate_regression(data).num_columns() == 3


def test_the_roc_of_a_regression_network():
    net = MultiLayerNetwork(network(OutputLayer(n_in=4, n_out=1, loss="mse", activation="identity"))).init()
    data = nd.dataset.DataSet(FEATURES, LABELS[:, :1])
    with pytest.raises(nd.ConfigurationError, match=r"evaluate_roc: layer 0 \(OutputLayer\) must give probabilities"):
        net.evaluate_roc(data)


def test_evaluations_with_the_check_off_and_by_score_calculators():
    layer, data = layer_of(OutputLayer, "mse", "identity", 3), nd.dataset.DataSet(FEATURES, LABELS)
    net = MultiLayerNetwork(network(layer, validate_output_layer_config=False)).init()
    checked = MultiLayerNetwork(network(layer)).init()
    accuracy = net.evaluate(data).accuracy()
    assert ClassificationScoreCalculator("accuracy", data).calculate_score(checked) == accuracy
