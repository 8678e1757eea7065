"""Names of Java's Builders that mean fields of other names here, and what Builders are asked for."""

import pytest

import nd
from nn import dl4j
from nn.dl4j import InputType, NeuralNetConfiguration


def test_recurrent_layers():
    norm = dl4j.MaxNormConstraint(1.0, 1)
    builder = dl4j.LSTM.Builder().nIn(3).nOut(2).gateActivationFunction("hardsigmoid").constrainRecurrent(norm)
    layer = builder.constrainInputWeights(norm).weightInitRecurrent("xavier").build()
    assert layer.gate_activation == dl4j.ActivationHardSigmoid()
    assert [one.params for one in layer.constraints] == [("RW",), ("W",)]
    assert builder.getGateActivationFn() == "hardsigmoid"
    assert (builder.getRecurrentConstraints(), builder.clone().getInputWeightConstraints()) == (norm, norm)
    assert dl4j.LSTM.Builder().getRecurrentConstraints() is None
    assert builder.getWeightInitFnRecurrent() == "xavier"
    assert dl4j.GravesLSTM.Builder().gateActivationFunction("tanh").getGateActivationFn() == "tanh"


def test_other_layers():
    assert dl4j.CapsuleLayer.Builder(10, 16).inputShape(72, 8).build().input_capsule_dimensions == 8
    assert dl4j.SpaceToDepthLayer.Builder().setBlockSize(2).build().blocks == 2
    centers = getattr(dl4j.CenterLossOutputLayer.Builder("mcxent"), "lambda")(0.25)
    assert centers.getLambda() == 0.25
    assert dl4j.OCNNOutputLayer.Builder().lossFunction("mse").getLossFn() is None


def test_settings_that_change_nothing_are_known():
    builder = dl4j.ConvolutionLayer.Builder(3, 3).cudnnAlgoMode(dl4j.AlgoMode.PREFER_FASTEST)
    assert (builder.getCudnnAlgoMode(), builder.getGainInit()) == ("PREFER_FASTEST", None)
    assert NeuralNetConfiguration.Builder().seed(3).getCacheMode() is None
    with pytest.raises(nd.ChoiceError, match="unknown setting 'get_nothing'"):
        NeuralNetConfiguration.Builder().getNothing()


def test_a_list_of_layers():
    builder = NeuralNetConfiguration.Builder().list().layer(dl4j.DenseLayer.Builder().nOut(4).build())
    with pytest.raises(nd.ConfigurationError, match="getLayerActivationTypes: the type of the input must be known"):
        builder.getLayerActivationTypes()
    assert builder.setInputType(InputType.feedForward(3)).getLayerActivationTypes() == [InputType.feedForward(4)]


def test_a_graph():
    dense, output = dl4j.DenseLayer(n_in=3, n_out=4), dl4j.OutputLayer(n_in=4, n_out=2)
    builder = NeuralNetConfiguration.Builder().graphBuilder().addInputs("in").addLayer("dense", dense, "in")
    assert builder.getLastAdded() == "dense"
    builder.addLayer("out", output, "dense").setOutputs("out").setInputTypes(InputType.feedForward(3))
    assert builder.getVertices() == {"dense": dense, "out": output}
    assert builder.getVertexInputs() == {"dense": ["in"], "out": ["dense"]}
    assert (builder.getNetworkInputs(), builder.getNetworkOutputs()) == (["in"], ["out"])
    assert builder.getLayerActivationTypes()["dense"] == InputType.feedForward(4)
