"""Methods of the parts of networks, evaluations and normalizers that exist for Java's sake.

Numbers are what 1.0.0-M2.1 printed for the same calls.
"""

import math

import numpy as np
import pytest

import nd
from nn import dl4j
from nn.dl4j import Evaluation, EvaluationBinary, InputType
from tests.cells import every_row

STATES = {
    "AdaBelief": 20, "AdaDelta": 20, "AdaGrad": 10, "AdaMax": 20, "Adam": 20, "AMSGrad": 30, "Nadam": 20,
    "Nesterovs": 10, "NoOp": 0, "RmsProp": 10, "Sgd": 0,
}  # fmt: skip


@every_row(("name", "size"), STATES.items())
def test_updaters(name, size):
    updater = getattr(dl4j, name)()
    assert updater.stateSize(10) == size
    assert updater.hasLearningRate() is (name not in ("AdaDelta", "NoOp"))
    if updater.hasLearningRate():
        assert updater.getLearningRate() == updater.getLearningRate(0, 0) == updater.learning_rate
        assert updater.getLearningRateSchedule() is None
    else:
        assert math.isnan(updater.getLearningRate(0, 0))


def test_schedules_of_updaters():
    schedule = dl4j.MapSchedule("iteration", {0: 0.1, 5: 0.2})
    assert schedule.getAllKeysSorted() == [0, 5]
    assert dl4j.Adam(schedule).getLearningRateSchedule() is schedule
    assert dl4j.Adam(schedule).getLearningRate(7, 0) == 0.2
    assert dl4j.Nesterovs(0.1, 0.8).currentMomentum(3, 1) == 0.8
    assert dl4j.Nesterovs(0.1, 0.8).getMomentumISchedule() is None
    assert dl4j.Nesterovs(0.1, schedule).getMomentumISchedule() is schedule


def test_penalties_and_activations():
    assert dl4j.L1Regularization(0.5).getL1().valueAt(0, 0) == 0.5
    assert dl4j.L2Regularization(0.5).getL2().valueAt(0, 0) == 0.5
    assert dl4j.WeightDecay(0.5, True).getCoeff().valueAt(0, 0) == 0.5
    assert dl4j.ActivationTanH().numParams() == 0


def test_components_of_a_mixture():
    loss = dl4j.LossMixtureDensity.builder().gaussians(2).labelWidth(3).build()
    found = loss.extractComponents(np.array([[0.1, 0.4, -0.2, 0.3, 1, 2, 3, 4, 5, 6]]))
    np.testing.assert_allclose(nd.to_host(found.alpha), [[0.425557483188341, 0.574442516811659]], rtol=1e-6)
    np.testing.assert_allclose(nd.to_host(found.sigma), [[0.8187307530779818, 1.3498588075760032]], rtol=1e-6)
    assert nd.to_host(found.mu).tolist() == [[[1, 2, 3], [4, 5, 6]]]
    assert loss.getNMixtures() == 2
    with pytest.raises(nd.ShapeError, match=r"extractComponents: output must be \[N, 10\], got \[1, 3\]"):
        loss.extractComponents(np.ones((1, 3)))


@every_row(("kind", "name", "count"), [
    (InputType.feedForward(5), "FF", 5),
    (InputType.recurrent(3, 7), "RNN", 21),
    (InputType.convolutional(4, 5, 3), "CNN", 60),
    (InputType.convolutionalFlat(4, 5, 3), "CNNFlat", 60),
    (InputType.convolutional3D(2, 4, 5, 3), "CNN3D", 120),
])  # fmt: skip
def test_input_types(kind, name, count):
    assert kind.getType() == getattr(InputType.Type, name)
    assert kind.arrayElementsPerExample() == count


def test_more_of_input_types():
    flat = InputType.convolutionalFlat(4, 5, 3)
    assert flat.getUnflattenedType() == InputType.convolutional(4, 5, 3)
    assert (flat.getFlattenedSize(), flat.getDepth()) == (60, 3)
    with pytest.raises(nd.ConfigurationError, match="arrayElementsPerExample: the length of the series must be known"):
        InputType.recurrent(3).arrayElementsPerExample()


@every_row(("vertex", "inputs"), [
    (dl4j.MergeVertex(), (2, 2147483647)),
    (dl4j.ElementWiseVertex("add"), (2, 2147483647)),
    (dl4j.SubsetVertex(0, 1), (1, 1)),
    (dl4j.UnstackVertex(0, 2), (1, 1)),
    (dl4j.L2Vertex(), (2, 2)),
    (dl4j.ScaleVertex(2), (1, 1)),
])  # fmt: skip
def test_vertices(vertex, inputs):
    assert (vertex.minVertexInputs(), vertex.maxVertexInputs()) == inputs
    assert vertex.numParams(True) == 0


def test_layers():
    plain, dense = dl4j.ActivationLayer(activation="tanh"), dl4j.DenseLayer(n_in=3, n_out=2, l2=0.5, updater="adam")
    assert (plain.getConstraints(), plain.getGradientNormalization()) == (None, "none")
    assert (plain.getGradientNormalizationThreshold(), plain.getRegularizationByParam("W")) == (0.0, None)
    assert plain.getUpdaterByParam("W") is None
    frozen = dl4j.FrozenLayer(dense)
    assert frozen.getUpdaterByParam("W") == dense.getUpdaterByParam("W") == dl4j.Adam()
    assert dense.getRegularizationByParam("W") == [dl4j.L2Regularization(0.5)]
    assert dl4j.LSTM(n_in=3, n_out=2).getGateActivationFn() == dl4j.ActivationSigmoid()
    assert dl4j.SpaceToDepthLayer(2).getBlockSize() == 2


def test_noise_and_constraints():
    schedule = dl4j.MapSchedule("iteration", {0: 0.5, 5: 0.6})
    assert (dl4j.Dropout(0.5).getPSchedule(), dl4j.Dropout(schedule).getPSchedule()) == (None, schedule)
    assert dl4j.GaussianNoise(schedule).getStddevSchedule() is schedule
    assert dl4j.GaussianDropout(0.5).getRateSchedule() is None
    dl4j.Dropout(0.5).clear()
    assert dl4j.DropConnect(0.5).getWeightRetainProb() == 0.5
    array = np.array([[3.0, -4.0]], "float32")
    dl4j.NonNegativeConstraint().apply(array)
    assert array.tolist() == [[3, 0]]


def test_evaluations():
    labels, guesses = np.eye(3)[[0, 1, 2, 2]], np.array([[0.5, 0.3, 0.2]] * 3 + [[0.1, 0.2, 0.7]])
    evaluation = Evaluation(["a", "b", "c"], 2)
    with pytest.raises(nd.DataError, match="addToConfusion: the classes must be known"):
        Evaluation().addToConfusion(0, 1)
    evaluation.evalTimeSeries(labels, guesses)
    assert (evaluation.getTopNCorrectCount(), evaluation.getTopNTotalCount()) == (3, 4)
    assert evaluation.averageFBetaNumClassesExcluded() == evaluation.averageF1NumClassesExcluded() == 1
    twin = evaluation.newInstance()
    assert (twin.getNumRowCounter(), twin.getTopN(), twin.getLabelsList()) == (0, 2, ["a", "b", "c"])
    evaluation.addToConfusion(0, 2)
    assert evaluation.getConfusion().getCount(0, 2) == 1
    binary = EvaluationBinary()
    binary.eval(np.array([[1.0, 0], [1, 1]]), np.array([[0.9, 0.8], [0.2, 0.7]]))
    assert (binary.getCountTruePositive(), binary.getCountFalsePositive()) == ([1, 1], [0, 1])
    assert (binary.getCountTrueNegative(), binary.getCountFalseNegative()) == ([0, 0], [1, 0])


@every_row(("name", "kind"), [
    ("NormalizerStandardize", "STANDARDIZE"), ("NormalizerMinMaxScaler", "MIN_MAX"),
    ("ImagePreProcessingScaler", "IMAGE_MIN_MAX"), ("VGG16ImagePreProcessor", "IMAGE_VGG16"),
    ("MultiNormalizerStandardize", "MULTI_STANDARDIZE"), ("MultiNormalizerMinMaxScaler", "MULTI_MIN_MAX"),
    ("MultiNormalizerHybrid", "MULTI_HYBRID"),
])  # fmt: skip
def test_types_of_normalizers(name, kind):
    assert getattr(dl4j, name)().getType() == kind


def test_normalizers_in_files(tmp_path):
    normalizer = dl4j.NormalizerStandardize()
    normalizer.fit(dl4j.DataSet(np.array([[1.0, 2.0], [3.0, 6.0]], "float32"), np.ones((2, 1))))
    file = dl4j.File(tmp_path, "normalizer.bin")
    dl4j.NormalizerSerializer.getDefault().write(normalizer, file)
    again = dl4j.NormalizerSerializer.getDefault().restore(file)
    np.testing.assert_array_equal(again.getMean(), normalizer.getMean())
