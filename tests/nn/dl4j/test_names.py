"""Names, getters and own parts that ported programs use."""

import numpy as np
import pytest

import nd
import nn.dl4j
from nd.evaluation import IEvaluation
from nn.dl4j import (
    ROC,
    Activation,
    BatchNormalization,
    CNN2DFormat,
    ConvolutionMode,
    DataSet,
    DataSetPreProcessor,
    DenseLayer,
    Evaluation,
    EvaluationBinary,
    IDropout,
    InputType,
    Layer,
    ListDataSetIterator,
    LossFunctions,
    LossMixtureDensity,
    MaxNormConstraint,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    RegressionEvaluation,
    RNNFormat,
    RnnLossLayer,
    ROCBinary,
    SeparableConvolution2D,
    Sgd,
    SpaceToDepthLayer,
    Subsampling1DLayer,
    WeightInitIdentity,
    WeightInitVarScalingNormalFanIn,
)

X, Y = np.arange(6.0).reshape(2, 3), np.ones((2, 2))


def test_a_star_brings_what_is_ours_alone():
    homes = {name: getattr(nn.dl4j, name).__module__.partition(".")[0] for name in nn.dl4j.__all__}
    others = {name for name, home in homes.items() if home not in ("nd", "nn", "optimize")}
    assert others == {"DL4JInvalidConfigException", "DL4JInvalidInputException"}  # nd's errors, made below it
    assert len(homes) > 300


def test_evaluations_with_javas_arguments():
    costs = np.array([1.0, 2.0])
    assert Evaluation(0.25).binary_decision_threshold == 0.25
    assert Evaluation("a", "b").labels_list == Evaluation(["a", "b"]).labels_list == ["a", "b"]
    assert Evaluation(2, 0).binary_positive_class == 0
    assert Evaluation(costs).cost_array.tolist() == Evaluation(["a", "b"], costs).cost_array.tolist() == [1.0, 2.0]
    mixed = Evaluation(0.5, costs)
    assert (mixed.binary_decision_threshold, mixed.cost_array.tolist()) == (0.5, [1.0, 2.0])
    assert Evaluation().top_n == 1
    assert EvaluationBinary(4, None).roc_binary is None
    assert EvaluationBinary(4, 30).roc_binary == ROCBinary(30)
    assert EvaluationBinary(np.array([0.2, 0.3])).decision_threshold.ravel().tolist() == [0.2, 0.3]
    assert ROC(0, True, 2048) == nd.evaluation.ROC(0, True)
    assert isinstance(nd.evaluation.Evaluation(), Evaluation)


def test_every_kind_of_evaluation_is_read():
    for made in (Evaluation(2), EvaluationBinary(2), ROC(), RegressionEvaluation("a", "b")):
        found = IEvaluation.fromJson(made.toJson())
        assert type(found) is type(made)
        assert found == made
    with pytest.raises(nd.FormatError, match=r"IEvaluation\.from_json: expected one of Evaluation, .* got 'X'"):
        IEvaluation.from_json('{"@class": "org.nd4j.X"}')
    with pytest.raises(nd.FormatError, match=r"IEvaluation\.from_json: the text must be JSON"):
        IEvaluation.from_json("{")


def test_points_of_curves():
    roc = ROC()
    roc.eval(np.array([[0.0], [1.0]]), np.array([[0.25], [0.75]]))
    curve = roc.getRocCurve()
    assert curve.getThreshold().tolist() == [1.0, 0.75, 0.0]
    assert curve.getThreshold(1) == 0.75
    curve = roc.getPrecisionRecallCurve()
    assert curve.getPrecision().tolist() == [curve.getPrecision(i) for i in range(curve.numPoints())]
    assert curve.getPointAtThreshold(0.5).getThreshold() == 0.75
    assert curve.getConfusionMatrixAtThreshold(0.5).getTpCount() == 1


def test_averages_of_regression_in_javas_spelling():
    found = RegressionEvaluation(2)
    found.eval(np.arange(6.0).reshape(3, 2), np.arange(6.0).reshape(3, 2) ** 1.1)
    assert found.averagecorrelationR2() == found.average_pearson_correlation()
    assert found.averagerootMeanSquaredError() == found.average_root_mean_squared_error()
    assert found.averagerelativeSquaredError() == found.average_relative_squared_error()
    assert found.correlationR2(1) == found.pearson_correlation(1)


def test_formats_of_inputs():
    assert InputType.recurrent(3, RNNFormat.NCW) == InputType.recurrent(3)
    assert InputType.recurrent(3, 4, RNNFormat.NCW).time_series_length == 4
    assert InputType.convolutional(2, 3, 1, CNN2DFormat.NCHW) == InputType.convolutional(2, 3, 1)
    assert InputType.convolutional3D(2, 3, 4, 1).shape == (1, 2, 3, 4)
    assert InputType.convolutional(2, 3, 1, CNN2DFormat.NHWC).shape == (2, 3, 1)
    assert InputType.convolutional3D("NDHWC", 2, 3, 4, 1).shape == (2, 3, 4, 1)
    assert InputType.recurrent(3, 4, RNNFormat.NWC).shape == (4, 3)
    with pytest.raises(nd.ConfigurationError, match=r"InputType: data_format must be NCHW or NHWC, got <RNNFormat.NCW"):
        InputType.convolutional(2, 3, 1, RNNFormat.NCW)


def test_builders_and_nested_names():
    loss = LossMixtureDensity.builder().gaussians(2).labelWidth(3).build()
    assert (loss.mixtures, loss.labels_width) == (2, 3)
    assert SpaceToDepthLayer.Builder(2, SpaceToDepthLayer.DataFormat.NCHW).build().blocks == 2
    assert WeightInitIdentity() == "identity"
    assert WeightInitVarScalingNormalFanIn(2.0).scale == 2.0


class Halved(IDropout):
    def __init__(self, factor):
        self.factor, self.calls = factor, []

    def applyDropout(self, x, result, iteration, epoch, workspaces):
        self.calls.append((iteration, epoch, "forth"))
        result[...] = x * self.factor
        return result

    def backprop(self, gradient, result, iteration, epoch):
        self.calls.append((iteration, epoch, "back"))
        result[...] = gradient * self.factor
        return result


def test_a_dropout_of_ones_own_with_javas_methods():
    halved = Halved(0.5)
    conf = (
        NeuralNetConfiguration.Builder().seed(1).updater(Sgd(0.1)).list()
        .layer(DenseLayer.Builder().nIn(3).nOut(4).activation(Activation.TANH).build())
        .layer(OutputLayer.Builder(LossFunctions.LossFunction.MSE).nIn(4).nOut(2).dropOut(halved)
               .activation(Activation.IDENTITY).build()).build()
    )  # fmt: skip
    net = MultiLayerNetwork(conf).init()
    before = {key: np.array(view) for key, view in net.paramTable().items()}
    net.fit(DataSet(X, Y))
    net.fit(DataSet(X, Y))
    assert halved.calls == [(0, 0, "forth"), (0, 0, "back"), (1, 0, "forth"), (1, 0, "back")]
    hidden = np.tanh(X @ before["0_W"] + before["0_b"]) * 0.5
    delta = (hidden @ before["1_W"] + before["1_b"] - Y) / 2 * 2 / 2  # 2 / n_out, and the mean of two examples
    twin = MultiLayerNetwork(conf).init()
    twin.fit(DataSet(X, Y))
    np.testing.assert_allclose(twin.getParam("1_W"), before["1_W"] - 0.1 * hidden.T @ delta, rtol=1e-4, atol=1e-6)
    below = delta @ before["1_W"].T * 0.5 * (1 - (hidden * 2) ** 2)
    np.testing.assert_allclose(twin.getParam("0_W"), before["0_W"] - 0.1 * X.T @ below, rtol=1e-4, atol=1e-6)


class OneWay(IDropout):
    def applyDropout(self, x, result, iteration, epoch, workspaces):
        result[...] = x
        return result


class WayBack(IDropout):
    def backprop(self, gradient, result, iteration, epoch):
        return gradient


@pytest.mark.parametrize(
    ("own", "missing"), [(OneWay(), r"OneWay: .* backprop\("), (WayBack(), r"WayBack: .* applyDropout\(")]
)
def test_methods_that_a_dropout_of_ones_own_has_not(own, missing):
    output = OutputLayer(n_in=4, n_out=2, loss="mse", drop_out=own)
    net = MultiLayerNetwork(NeuralNetConfiguration(seed=1).list(DenseLayer(n_in=3, n_out=4), output)).init()
    with pytest.raises(nd.ConfigurationError, match=missing):
        net.fit(DataSet(X, Y))


class Doubled(DataSetPreProcessor):
    def preProcess(self, data_set):
        data_set.setFeatures(data_set.getFeatures() * 2)


def test_a_pre_processor_with_javas_method():
    iterator = ListDataSetIterator([DataSet(X, Y)])
    iterator.setPreProcessor(Doubled())
    np.testing.assert_array_equal(iterator.next().features, X * 2)


def test_constraints_of_one_parameter():
    limit = MaxNormConstraint(1.0, 1)
    separable = SeparableConvolution2D.Builder(2, 2).nIn(2).nOut(2)
    assert [each.params for each in separable.constrainPointWise(limit).build().constraints] == [("pW",)]
    normal = BatchNormalization.Builder().setBetaConstraints([limit]).setGammaConstraints([limit]).build()
    assert [each.params for each in normal.constraints] == [("beta",), ("gamma",)]


def test_the_mode_of_training():
    layer = DenseLayer.Builder().nIn(3).nOut(2).dropOut(0.5).build()
    net = MultiLayerNetwork(NeuralNetConfiguration(seed=1).list(layer, OutputLayer(n_out=2, loss="mse"))).init()
    np.testing.assert_array_equal(net.output(X, Layer.TrainingMode.TEST), net.output(X))
    assert (np.asarray(net.output(X, Layer.TrainingMode.TRAIN)) != np.asarray(net.output(X))).any()


def test_penalties_as_a_list():
    assert DenseLayer(n_in=2, n_out=2).getRegularization() == []
    assert [type(each).__name__ for each in DenseLayer(n_in=2, n_out=2, l2=0.1).getRegularization()] == [
        "L2Regularization"
    ]
    assert len(DenseLayer(n_in=2, n_out=2, l1_bias=0.1).getRegularizationBias()) == 1


def test_types_of_arrays():
    """As Java infers them."""
    shapes = (2, 3), (2, 3, 4), (2, 3, 4, 5), (2, 3, 4, 5, 6)
    found = InputType.inferInputTypes(*(np.zeros(shape) for shape in shapes))
    assert [repr(each) for each in found] == [
        "feed_forward(3)", "recurrent(3x4)", "convolutional(4x5x3)", "convolutional3d(4x5x6x3)",
    ]  # fmt: skip
    with pytest.raises(nd.ShapeError, match=r"infer_input_type: expected 2 to 5 axes, got \[2\]"):
        InputType.inferInputType(np.zeros(2))


def test_causal_pooling_pads_nothing():
    """Java's numbers: what it calls causal is truncate, for pooling."""
    x = np.arange(1.0, 15.0).reshape(1, 2, 7)
    x[0, 0, 3] = -5.0
    javas = {
        ("max", 3, 1): [[3, 3, 5, 6, 7], [10, 11, 12, 13, 14]], ("max", 2, 2): [[2, 3, 6], [9, 11, 13]],
        ("avg", 3, 1): [[2, 0, 1, 2, 6], [9, 10, 11, 12, 13]], ("avg", 2, 2): [[1.5, -1, 5.5], [8.5, 10.5, 12.5]],
    }  # fmt: skip
    for (kind, kernel, stride), expected in javas.items():
        layer = Subsampling1DLayer.Builder(kind, kernel, stride).convolutionMode(ConvolutionMode.Causal).build()
        loss = RnnLossLayer(loss="mse", activation="identity")
        conf = NeuralNetConfiguration(seed=1).list(layer, loss, input_type=InputType.recurrent(2, 7))
        np.testing.assert_allclose(MultiLayerNetwork(conf).init().output(x)[0], expected, atol=1e-6)
        assert '"Causal"' in conf.to_json()
        mask = np.ones((1, 7))
        assert MultiLayerNetwork(conf).init().get_layer(0).feed_forward_mask(mask).shape == (1, len(expected[0]))
