"""Java's constructors, builders and nested names, as ported programs use them."""

import pickle
from operator import attrgetter

import numpy as np
import pytest

import nd
import nn.dl4j as dl4j
import optimize
from nn.dl4j import (
    Activation,
    CheckpointListener,
    DataSet,
    DataSetLossCalculator,
    DefaultGradient,
    DenseLayer,
    EarlyStoppingConfiguration,
    EarlyStoppingResult,
    EarlyStoppingTrainer,
    Evaluation,
    EvaluationAveraging,
    ListDataSetIterator,
    LossFMeasure,
    LossFunctions,
    MaxEpochsTerminationCondition,
    MaxNormConstraint,
    MinMaxNormConstraint,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    Nd4j,
    Nesterovs,
    NeuralNetConfiguration,
    OutputLayer,
    Random,
    RegressionEvaluation,
    ROCScoreCalculator,
    Sgd,
    TimeUnit,
    UnitNormConstraint,
)

X = np.random.default_rng(3).standard_normal((6, 4))
Y = np.eye(3)[[0, 1, 2, 0, 1, 2]]


def configuration():
    return (
        NeuralNetConfiguration.Builder().seed(6).activation(Activation.TANH).updater(Sgd(0.1)).l2(1e-4).dropOut(0.5)
        .list().layer(DenseLayer.Builder().nIn(4).nOut(3).build())
        .layer(OutputLayer.Builder(LossFunctions.LossFunction.NEGATIVELOGLIKELIHOOD).nIn(3).nOut(3).build()).build()
    )  # fmt: skip


def test_numbers_by_position():
    assert (Nesterovs(0.8).momentum, Nesterovs(0.8).learning_rate) == (0.8, 0.1)
    assert (Nesterovs(0.2, 0.8).momentum, Nesterovs(0.2, 0.8).learning_rate) == (0.8, 0.2)
    assert Nesterovs.Builder().momentum(0.5).build() == Nesterovs(0.5)
    assert LossFMeasure(2.0).beta == 2.0
    assert MaxNormConstraint(2, 1).dimensions == UnitNormConstraint(1).dimensions == (1,)
    assert MaxNormConstraint(2.0, {"b", "W"}, 1, 2).params == ("W", "b")
    short, long = MinMaxNormConstraint(0.3, 0.4, 1), MinMaxNormConstraint(0.3, 0.4, 0.5, 0)
    assert ((short.rate, short.dimensions), (long.rate, long.dimensions)) == ((1.0, (1,)), (0.5, (0,)))


def test_names_of_columns_one_by_one():
    for named in (RegressionEvaluation("x", "y"), RegressionEvaluation(["x", "y"])):
        assert named.column_names == ["x", "y"]
    assert RegressionEvaluation(2).column_names == ["col_0", "col_1"]
    assert RegressionEvaluation().column_names is None


def test_nested_names():
    assert Evaluation.Metric.F1 == "f1"
    assert RegressionEvaluation.Metric.MSE == "mse"
    assert EarlyStoppingResult.TerminationReason.EpochTerminationCondition == "epoch_termination"
    assert (ROCScoreCalculator.ROCType.MULTICLASS, ROCScoreCalculator.Metric.AUPRC) == ("multiclass", "auprc")


def test_orders_of_arrays_are_passed_by():
    assert Nd4j.rand("c", [2, 3]).shape == Nd4j.create(dl4j.DataType.FLOAT, [2, 3], "f").shape == (2, 3)
    data = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert Nd4j.create(data, [2, 3], "f").tolist() == [[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]]
    assert Nd4j.create(data, [2, 3], "c").tolist() == Nd4j.create(data, 2, 3).tolist()


def test_a_network_from_parameters():
    net = MultiLayerNetwork(configuration())
    net.setListeners()
    again = MultiLayerNetwork(configuration(), net.params())
    np.testing.assert_array_equal(again.params(), net.params())
    with pytest.raises(nd.ShapeError, match="27"):
        MultiLayerNetwork(configuration(), np.zeros((1, 3)))


def test_a_configuration_equals_what_its_json_says():
    conf = configuration()
    again = MultiLayerConfiguration.fromJson(conf.toJson())
    assert conf.equals(again)
    assert conf == again
    assert conf != MultiLayerConfiguration.fromJson(conf.toJson().replace(": 0.0001", ": 0.0002"))
    assert conf != conf.with_counts(3, 1)
    assert conf != "a configuration"
    net = MultiLayerNetwork(conf, MultiLayerNetwork(conf).init().params())
    net.fit(DataSet(X, Y))
    assert net.getLayerWiseConfigurations().getIterationCount() == 1


def test_a_split_shuffles_with_the_next_long():
    shuffled, split = DataSet(X, Y), DataSet(X, Y).splitTestAndTrain(4, Random(5))
    shuffled.shuffle(Random(5).nextLong())
    np.testing.assert_array_equal(split.getTrain().getFeatures(), shuffled.getFeatures()[:4])
    np.testing.assert_array_equal(split.getTest().getLabels(), shuffled.getLabels()[4:])


def test_evaluations_of_java():
    evaluation = Evaluation({0: "a", 1: "b", 2: "c"})
    evaluation.eval(Y, Y[[0, 1, 1, 0, 1, 0]])
    assert evaluation.getClassLabel(2) == "c"
    assert evaluation.precision(EvaluationAveraging.Micro) == evaluation.precision(averaging="micro") == 4 / 6
    assert evaluation.f1(EvaluationAveraging.MACRO) == evaluation.f1(averaging="macro")
    assert evaluation.scoreForMetric(Evaluation.Metric.ACCURACY) == evaluation.accuracy()
    assert evaluation.getConfusionMatrix().getCount(2, 1) == 1
    assert evaluation.getConfusionMatrix().toCSV() == (
        ",,Predicted Class,\n,,0,1,2,Total\nActual Class,0,2,0,0,2\n,1,0,2,0,2\n,2,1,1,0,2\n,Total,3,3,0,\n"
    )
    twin = Evaluation(["a", "b", "c"])
    assert evaluation != twin
    twin.eval(Y, Y[[0, 1, 1, 0, 1, 0]])
    assert evaluation == twin
    with pytest.raises(nd.DataError, match=r"labels must have the keys 0\.\.1, got \[1, 2\]"):
        Evaluation({1: "a", 2: "b"})
    roc = dl4j.ROCMultiClass()
    roc.eval(Y, np.full((6, 3), 1 / 3))
    assert roc.calculateAUCPR(0) == roc.calculate_auc_pr(0)
    assert roc.getRocCurve(0).calculateAUC() == roc.calculateAUC(0)
    np.testing.assert_array_equal(roc.getRocCurve(0).getTpr(), roc.get_roc_curve(0).y)


def test_gradients_of_ones_own():
    gradient = DefaultGradient()
    with pytest.raises(nd.ConfigurationError, match="expected gradients of variables, got none"):
        gradient.gradient()
    assert gradient.setGradientFor("0_W", nd.create([[1.0, 2.0], [3.0, 4.0]])) is None
    gradient.setGradientFor("0_b", nd.create([[5.0, 6.0]]), "c")
    assert gradient.gradient().tolist() == [[1.0, 3.0, 2.0, 4.0, 5.0, 6.0]]
    assert gradient.gradient(["0_b"]).tolist() == [[5.0, 6.0]]
    assert gradient.flatteningOrderForVariable("0_b") == "c"
    assert gradient.flatteningOrderForVariable("0_W") is None
    with pytest.raises(nd.ChoiceError, match="unknown variable '1_W'"):
        gradient.getGradientFor("1_W")
    gradient.clear()
    assert gradient.gradientForVariable() == {}


def test_an_update_is_kept_as_the_gradient():
    net = MultiLayerNetwork(configuration()).init()
    before, gradient = net.params().copy(), DefaultGradient()
    gradient.setGradientFor("0_b", np.ones((1, 3)))
    net.update(gradient)
    changed = np.flatnonzero((net.params() - before)[0])
    assert changed.tolist() == [12, 13, 14]
    assert net.gradient().getGradientFor("0_b").tolist() == [[1.0, 1.0, 1.0]]


def test_checkpoints_by_their_builder(tmp_path, capsys):
    net = MultiLayerNetwork(configuration())
    listener = CheckpointListener.Builder(tmp_path).keepLast(2).saveEveryNEpochs(1).logSaving(False).build()
    net.setListeners(listener)
    net.fit(ListDataSetIterator([DataSet(X, Y)]), 3)
    last = listener.lastCheckpoint()
    assert [each.getCheckpointNum() for each in listener.availableCheckpoints()] == [1, 2]
    assert CheckpointListener.availableCheckpoints(tmp_path) == listener.availableCheckpoints()
    assert (last.getEpoch(), last.getIteration()) == (3, 3)
    assert last.getFilename() == "checkpoint_2_MultiLayerNetwork.zip"
    assert CheckpointListener.lastCheckpoint(tmp_path).getCheckpointNum() == 2
    for named in (last, 2):
        np.testing.assert_array_equal(CheckpointListener.loadCheckpointMLN(tmp_path, named).params(), net.params())
    every = CheckpointListener.Builder(tmp_path / "more").keepLastAndEvery(2, 3).saveEvery(90, TimeUnit.SECONDS).build()
    assert (every.keep_last, every.keep_every, every.every_seconds) == (2, 3, 90.0)
    assert CheckpointListener.Builder(tmp_path).keepAll().saveEveryNIterations(5).build().keep_last is None


def test_early_stopping_initialises_the_network():
    data = ListDataSetIterator([DataSet(X, Y)])
    stopping = (
        EarlyStoppingConfiguration.Builder().scoreCalculator(DataSetLossCalculator(data, True))
        .epochTerminationConditions(MaxEpochsTerminationCondition(2)).build()
    )  # fmt: skip
    result = EarlyStoppingTrainer(stopping, MultiLayerNetwork(configuration()), data).fit()
    assert result.getTerminationReason() == EarlyStoppingResult.TerminationReason.EpochTerminationCondition


def test_a_split_wants_a_generator():
    with pytest.raises(nd.ArgumentError, match="split_test_and_train: random must be a JavaRandom or None, got 5"):
        DataSet(X, Y).splitTestAndTrain(4, 5)


def test_javas_constants():
    """As javap prints them."""
    found = {name: attrgetter(name)(dl4j) for name in JAVAS_CONSTANTS}
    assert found == JAVAS_CONSTANTS
    with pytest.raises(AttributeError, match="'Adam' object has no attribute 'DEFAULT_MOMENTUM'"):
        dl4j.Adam.DEFAULT_MOMENTUM


JAVAS_CONSTANTS = {
    "AMSGrad.DEFAULT_AMSGRAD_LEARNING_RATE": 0.001, "AMSGrad.DEFAULT_AMSGRAD_BETA1_MEAN_DECAY": 0.9,
    "ActivationELU.DEFAULT_ALPHA": 1.0, "ActivationLReLU.DEFAULT_ALPHA": 0.01, "ActivationRReLU.DEFAULT_L": 0.125,
    "ActivationRReLU.DEFAULT_U": 1 / 3, "ActivationThresholdedReLU.DEFAULT_THETA": 1.0,
    "AdaBelief.DEFAULT_BETA2_VAR_DECAY": 0.999, "AdaBelief.DEFAULT_EPSILON": 1e-14,
    "AdaBelief.DEFAULT_LEARNING_RATE": 0.001, "AdaDelta.DEFAULT_ADADELTA_EPSILON": 1e-6,
    "AdaDelta.DEFAULT_ADADELTA_RHO": 0.95, "AdaGrad.DEFAULT_ADAGRAD_EPSILON": 1e-6,
    "AdaGrad.DEFAULT_ADAGRAD_LEARNING_RATE": 0.1, "AdaMax.DEFAULT_ADAMAX_EPSILON": 1e-8,
    "Adam.DEFAULT_ADAM_BETA1_MEAN_DECAY": 0.9, "Adam.DEFAULT_ADAM_BETA2_VAR_DECAY": 0.999,
    "Adam.DEFAULT_ADAM_EPSILON": 1e-8, "Adam.DEFAULT_ADAM_LEARNING_RATE": 0.001,
    "LossBinaryXENT.DEFAULT_CLIPPING_EPSILON": 1e-5, "LossFMeasure.DEFAULT_BETA": 1.0,
    "MinMaxNormConstraint.DEFAULT_RATE": 1.0, "Nadam.DEFAULT_NADAM_EPSILON": 1e-8,
    "Nesterovs.DEFAULT_NESTEROV_LEARNING_RATE": 0.1, "Nesterovs.DEFAULT_NESTEROV_MOMENTUM": 0.9,
    "RmsProp.DEFAULT_RMSPROP_EPSILON": 1e-8, "RmsProp.DEFAULT_RMSPROP_LEARNING_RATE": 0.1,
    "RmsProp.DEFAULT_RMSPROP_RMSDECAY": 0.95, "Sgd.DEFAULT_SGD_LR": 0.001,
}  # fmt: skip


def test_classes_with_javas_arguments_are_ours():
    assert isinstance(Nesterovs(0.9), Nesterovs)
    assert isinstance(Nesterovs(0.9), optimize.Nesterovs)
    assert isinstance(optimize.MaxNormConstraint(2.0), MaxNormConstraint)
    assert not isinstance(Sgd(0.1), Nesterovs)
    assert type(RegressionEvaluation("a", "b")) is nd.evaluation.RegressionEvaluation


class Stricter(dl4j.Evaluation):
    """A program's own class, below one with Java's constructor."""

    def accuracy(self):
        return 0.25


def test_classes_of_ones_own_below_them_are_made():
    assert type(Stricter(2)) is Stricter
    assert Stricter().accuracy() == 0.25
    assert not isinstance(Evaluation(2), Stricter)
    assert isinstance(Stricter(2), Evaluation)
    assert isinstance(dl4j.InputType.feedForward(3), dl4j.InputType)
    assert (MaxNormConstraint.__module__, Nesterovs(learning_rate=0.2).learning_rate) == ("nn.dl4j.constructors", 0.2)
    assert pickle.loads(pickle.dumps(MaxNormConstraint)) is MaxNormConstraint
    assert RegressionEvaluation(2, precision=3).precision == 3


def test_a_setter_does_not_take_the_place_of_a_method():
    net = MultiLayerNetwork(configuration()).init()
    with pytest.raises(AttributeError, match="'MultiLayerNetwork' object has no attribute 'setScore'"):
        net.setScore(3.0)


def test_what_a_program_asks_of_a_configuration():
    conf = configuration()
    layer = conf.getConf(0).getLayer()
    assert layer.getUpdaterByParam("W") == Sgd(0.1)
    assert layer.getRegularizationByParam("W") == [optimize.L2Regularization(1e-4)]
    assert layer.getRegularizationByParam("b") == []
    assert (layer.isPretrainParam("W"), layer.clone() is layer, MaxNormConstraint(2.0, 1).clone().max_norm) == (
        False, True, 2.0,
    )  # fmt: skip
    assert conf.getConf(0).variables() == ["W", "b"]
    assert (conf.getConf(0).getSeed(), conf.getDataType(), conf.getInputPreProcessors()) == (6, dl4j.DataType.FLOAT, {})
    assert conf.getLayerActivationTypes(dl4j.InputType.feedForward(4)) == [dl4j.InputType.feedForward(3)] * 2
    with pytest.raises(nd.ChoiceError, match="DenseLayer: get_updater_by_param: unknown parameter 'gain'"):
        layer.getUpdaterByParam("gain")


def test_a_preprocessor_by_hand():
    images = np.arange(24.0).reshape(2, 3, 2, 2)
    pre = dl4j.CnnToFeedForwardPreProcessor(2, 2, 3)
    rows = pre.preProcess(nd.create(images, "float64"), -1, dl4j.LayerWorkspaceMgr.noWorkspaces())
    assert (rows.shape, rows.dtype) == ((2, 12), np.float64)
    np.testing.assert_array_equal(rows, images.reshape(2, 12))
    np.testing.assert_array_equal(pre.backprop(rows, 2, dl4j.LayerWorkspaceMgr.noWorkspaces()), images)
    series = dl4j.RnnToFeedForwardPreProcessor().preProcess(nd.create(images[:, :, 0]), 2, None)
    np.testing.assert_array_equal(series, images[:, :, 0].transpose(2, 0, 1).reshape(4, 3))


def test_layers_around_recurrent_ones():
    lstm = dl4j.LSTM.Builder().nIn(3).nOut(2).activation(Activation.TANH).build()
    both = dl4j.Bidirectional(dl4j.Bidirectional.Mode.ADD, lstm)
    assert (both.layer, both.mode, isinstance(both, dl4j.Bidirectional)) == (lstm, "add", True)
    assert dl4j.Bidirectional(lstm).mode is dl4j.Bidirectional.Mode.CONCAT
    assert dl4j.Bidirectional.Builder().rnnLayer(lstm).mode(dl4j.Bidirectional.Mode.MUL).build().mode == "mul"
    assert dl4j.LastTimeStep(both).layer == both
    zeros = dl4j.MaskZeroLayer.Builder().setUnderlying(lstm).setMaskValue(1.5).build()
    assert zeros == dl4j.MaskZeroLayer(lstm, 1.5)
    dense = DenseLayer.Builder().nIn(3).nOut(2).build()
    assert dl4j.TimeDistributed(dense, dl4j.RNNFormat.NWC).data_format == "NWC"
