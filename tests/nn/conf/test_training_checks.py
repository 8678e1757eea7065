"""What no step could be taken with is refused where it is given: by list, graph and transfer learning."""

import pytest

import nd
from nd.losses import LossBinaryXENT, LossFMeasure, LossMixtureDensity
from nn import (
    LSTM,
    Bidirectional,
    ComputationGraph,
    DenseLayer,
    InputType,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    RnnOutputLayer,
)
from nn.transferlearning import FineTuneConfiguration, TransferLearning

READS_AHEAD = r"truncated backprop: no layer may look at later time steps, .* got layer (0|'first') \(Bidirectional\)"
SEARCH = r"layer 0 \(DenseLayer\), with optimization_algo='lbfgs': the updater must be Sgd or NoOp, got Adam"
LOSSES = {
    "columns": (LossFMeasure(), r"OutputLayer\): loss LossFMeasure: the output must have 1 or 2 columns, got 3"),
    "mixture": (LossMixtureDensity(mixtures=2, labels_width=2), r"the output must be \[N, 8\] for 2 mixtures"),
    "weights": (LossBinaryXENT(weights=(1.0, 2.0)), r"OutputLayer\): loss LossBinaryXENT: expected 3 weights, got 2"),
}


def chain(*layers, input_type=None, **settings):
    return NeuralNetConfiguration(seed=1, updater="adam").list(*layers, input_type=input_type, **settings)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("input_type", [None, InputType.feed_forward(4)])
def test_a_loss_for_another_number_of_outputs(name, input_type):
    """Whether the sizes are found by the type of the input or given, and in graphs."""
    loss, message = LOSSES[name]
    out = OutputLayer(n_out=3, activation="sigmoid", loss=loss)
    with pytest.raises(nd.ShapeError, match=message):
        chain(DenseLayer(n_in=4, n_out=5), out, input_type=input_type)
    inputs = {"x": input_type or InputType.feed_forward(4)}
    with pytest.raises(nd.ShapeError, match=message):
        NeuralNetConfiguration(seed=1).graph(inputs=inputs, nodes={"out": (out, "x")}, outputs="out")


def test_truncated_backprop_where_no_series_come_in():
    layers = DenseLayer(n_out=5), OutputLayer(n_out=3)
    with pytest.raises(
        nd.ConfigurationError, match=r"series must come in, got input_type=feed_forward\(4\)\. Set back"
    ):
        chain(*layers, input_type=InputType.feed_forward(4), backprop_type="truncated_bptt")


def series():
    return chain(Bidirectional(LSTM(n_out=3)), RnnOutputLayer(n_out=2), input_type=InputType.recurrent(4))


def test_transfer_learning_that_makes_backprop_truncated():
    fine_tune = FineTuneConfiguration(backprop_type="truncated_bptt")
    with pytest.raises(nd.ConfigurationError, match=READS_AHEAD):
        TransferLearning(MultiLayerNetwork(series()).init(), fine_tune_configuration=fine_tune).build()
    conf = NeuralNetConfiguration(seed=1).graph(
        inputs={"x": InputType.recurrent(4)},
        nodes={"first": (Bidirectional(LSTM(n_out=3)), "x"), "out": (RnnOutputLayer(n_out=2), "first")},
        outputs="out",
    )
    builder = TransferLearning.GraphBuilder(ComputationGraph(conf).init()).fine_tune_configuration(fine_tune)
    with pytest.raises(nd.ConfigurationError, match=READS_AHEAD):
        builder.build()


def test_transfer_learning_that_searches_along_lines():
    net = MultiLayerNetwork(chain(DenseLayer(n_in=4, n_out=5), OutputLayer(n_out=3))).init()
    fine_tune = FineTuneConfiguration(optimization_algo="lbfgs")
    with pytest.raises(nd.ConfigurationError, match=SEARCH):
        TransferLearning(net, fine_tune_configuration=fine_tune).build()
    fine_tune = FineTuneConfiguration(optimization_algo="lbfgs", updater="sgd")
    TransferLearning(net, fine_tune_configuration=fine_tune).build()
