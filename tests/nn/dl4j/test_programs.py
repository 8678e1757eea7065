"""Java's spelling for ported programs: own activations and losses, arrays, iterators, trainers, what is imported."""

import subprocess
import sys

import numpy as np
import pytest

import nd
from nn.dl4j import *  # noqa: F403
from nn.dl4j import (
    Activation,
    BaseActivationFunction,
    DataSet,
    DataType,
    DenseLayer,
    GradientCheckUtil,
    ILossFunction,
    IrisDataSetIterator,
    ListDataSetIterator,
    LossFunctions,
    ModelSerializer,
    MultiLayerNetwork,
    Nd4j,
    NeuralNetConfiguration,
    NormalizerStandardize,
    OutputLayer,
    Pair,
    Random,
    Sgd,
)

RNG = np.random.default_rng(5)
X, Y = RNG.normal(size=(6, 4)), np.eye(3)[RNG.integers(0, 3, 6)]


class TanhOfJava(BaseActivationFunction):
    def getActivation(self, x, training):
        return np.tanh(x)

    def backprop(self, x, epsilon):
        return Pair(epsilon * (1.0 - np.tanh(x) ** 2), None)


class SquaresOfJava(ILossFunction):
    def computeScoreArray(self, labels, preOutput, activationFn, mask):
        scores = ((activationFn.getActivation(preOutput, True) - labels) ** 2).sum(1)
        return scores if mask is None else scores * mask[:, 0]

    def computeGradient(self, labels, preOutput, activationFn, mask):
        output = activationFn.getActivation(preOutput, True)
        gradient = activationFn.backprop(preOutput, 2 * (output - labels)).getFirst()
        return gradient if mask is None else gradient * mask


def network(activation, loss):
    conf = (
        NeuralNetConfiguration.Builder().seed(12).dataType(DataType.DOUBLE).updater(Sgd(0.1)).list()
        .layer(DenseLayer.Builder().nIn(4).nOut(5).activation(activation).build())
        .layer(OutputLayer.Builder(loss).nIn(5).nOut(3).activation(Activation.SIGMOID).build()).build()
    )  # fmt: skip
    net = MultiLayerNetwork(conf)
    net.init()
    return net


def test_own_parts_of_a_program_train_as_the_librarys():
    own = network(TanhOfJava(), SquaresOfJava())
    usual = network(Activation.TANH, LossFunctions.LossFunction.L2)
    mask = np.array([[1.0], [0], [1], [1], [0], [1]])
    for net in (own, usual):
        for labels_mask in (None, mask):
            for _ in range(3):
                net.fit(DataSet(X, Y, None, labels_mask))
    np.testing.assert_allclose(own.params(), usual.params(), rtol=1e-12)
    assert own.score() == pytest.approx(usual.score(), rel=1e-12)
    np.testing.assert_allclose(own.scoreExamples(DataSet(X, Y), True), usual.scoreExamples(DataSet(X, Y), True))


class WithoutBackprop(BaseActivationFunction):
    def getActivation(self, x, training):
        return np.tanh(x)


class WithoutForward(BaseActivationFunction):
    def backprop(self, x, epsilon):
        return epsilon


class WithoutGradient(ILossFunction):
    def computeScoreArray(self, labels, preOutput, activationFn, mask):
        return ((preOutput - labels) ** 2).sum(1)


class WithoutScore(ILossFunction):
    def computeGradient(self, labels, preOutput, activationFn, mask):
        return preOutput - labels


@pytest.mark.parametrize(
    ("activation", "loss", "missing"),
    [
        (WithoutBackprop(), SquaresOfJava(), r"WithoutBackprop: .* a method backprop\(x, epsilon\)"),
        (WithoutForward(), SquaresOfJava(), r"WithoutForward: .* a method getActivation\(x, training\)"),
        (TanhOfJava(), WithoutGradient(), "WithoutGradient: .* a method computeGradient"),
        (TanhOfJava(), WithoutScore(), "WithoutScore: .* a method computeScoreArray"),
    ],
)
def test_methods_that_own_parts_have_not(activation, loss, missing):
    with pytest.raises(nd.ConfigurationError, match=missing):
        network(activation, loss).fit(DataSet(X, Y))


@pytest.mark.parametrize("wrong", [False, True])
def test_gradients_are_checked_against_differences(wrong, capsys):
    class Wrong(TanhOfJava):
        def backprop(self, x, epsilon):
            return Pair(1.01 * epsilon * (1.0 - np.tanh(x) ** 2), None)

    net = network(Wrong() if wrong else TanhOfJava(), SquaresOfJava())
    before = net.params().copy()
    conf = GradientCheckUtil.MLNConfig().net(net).input(X).labels(Y).epsilon(1e-6).maxRelError(1e-5)
    assert GradientCheckUtil.checkGradients(conf) is not wrong
    assert ("FAILED" in capsys.readouterr().out) is wrong
    assert GradientCheckUtil.checkGradients(net, 1e-6, 1e-5, 1e-8, "zeros", False, X, Y) is not wrong
    np.testing.assert_array_equal(net.params(), before)


def test_arrays():
    assert Nd4j.create([1.0, 2.0, 3.0, 4.0], 2, 2).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert Nd4j.create(2, 3).shape == Nd4j.zeros([2, 3]).shape == (2, 3)
    assert Nd4j.create(DataType.DOUBLE, 2).dtype == Nd4j.ones(DataType.DOUBLE, 2).dtype == np.float64
    assert Nd4j.valueArrayOf(2, 2, 7.0).tolist() == Nd4j.valueArrayOf([2, 2], 7.0).tolist() == [[7.0, 7.0]] * 2
    assert Nd4j.linspace(0, 1, 5).tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert Nd4j.arange(1, 4).tolist() == [1.0, 2.0, 3.0]
    rows = Nd4j.create([[1.0, 2.0], [3.0, 4.0]])
    assert Nd4j.vstack(rows, rows[0]).shape == (3, 2)
    assert Nd4j.hstack([rows, rows]).shape == (2, 4)
    assert Nd4j.toFlattened("f", rows, rows).tolist() == [1.0, 3.0, 2.0, 4.0] * 2
    np.testing.assert_array_equal(Nd4j.gemm(rows, rows, True, False), rows.T @ rows)
    Nd4j.getRandom().setSeed(5)
    first = Nd4j.rand(2, 2)
    Nd4j.getRandom().setSeed(5)
    np.testing.assert_array_equal(Nd4j.rand(DataType.FLOAT, 2, 2), first)


def test_arrays_in_files(tmp_path):
    rows = Nd4j.create([[1.0, 2.0], [3.0, 4.0]])
    Nd4j.writeAsNumpy(rows, tmp_path / "rows.npy")
    np.testing.assert_array_equal(Nd4j.createFromNpyFile(tmp_path / "rows.npy"), rows)
    (tmp_path / "broken.npy").write_bytes(b"\x93NUMPY")
    with pytest.raises(nd.FormatError, match="expected an array as NumPy saves it"):
        Nd4j.createFromNpyFile(tmp_path / "broken.npy")


def test_java_util_random():
    """What ``new java.util.Random(7)`` draws."""
    random = Random(7)
    drawn = [random.nextDouble(), random.nextFloat(), random.nextBoolean(), random.nextLong(), random.nextGaussian(),
             random.nextGaussian(), random.nextInt(9)]  # fmt: skip
    assert drawn == [
        0.7306990420600421, pytest.approx(0.7491696, abs=1e-7), False, 6425179856112732765, 0.5839644686524605,
        0.30600316566821373, 3,
    ]  # fmt: skip


def test_a_list_is_grouped_by_fives():
    examples = DataSet(X, Y).asList()
    sizes = [[each.numExamples() for each in iterator] for iterator in (
        ListDataSetIterator(examples), ListDataSetIterator(examples, 4), ListDataSetIterator([DataSet(X, Y)] * 6, 4),
    )]  # fmt: skip
    assert sizes == [[5, 1], [4, 2], [24, 12]]


def test_models_and_normalizers_by_the_serializer(tmp_path):
    net = network(Activation.TANH, LossFunctions.LossFunction.MSE)
    ModelSerializer.writeModel(net, tmp_path / "net.zip", True)
    again = ModelSerializer.restoreMultiLayerNetwork(tmp_path / "net.zip")
    np.testing.assert_array_equal(again.params(), net.params())
    assert ModelSerializer.restoreMultiLayerNetworkAndNormalizer(tmp_path / "net.zip").getSecond() is None


def test_a_program_as_it_stands_in_java():
    conf = (
        NeuralNetConfiguration.Builder().seed(6).activation(Activation.TANH).updater(Sgd(0.1)).l2(1e-4).list()
        .layer(DenseLayer.Builder().nIn(4).nOut(3).build())
        .layer(OutputLayer.Builder(LossFunctions.LossFunction.NEGATIVELOGLIKELIHOOD).nIn(3).nOut(3).build()).build()
    )  # fmt: skip
    model = MultiLayerNetwork(conf)
    model.init()
    normalizer = NormalizerStandardize()
    iterator = IrisDataSetIterator(150, 150)
    normalizer.fit(iterator)
    iterator.setPreProcessor(normalizer)
    model.fit(iterator, 200)
    assert (model.getEpochCount(), model.getIterationCount(), model.getnLayers()) == (200, 200, 2)
    assert model.getLayerWiseConfigurations().getConf(0).getLayer().getNIn() == 4
    assert model.getLayer(0).conf().getLayer().getActivationFn() == Activation.TANH.getActivationFunction()
    assert model.evaluate(iterator).accuracy() > 0.8


def test_importing_it_changes_nothing_else():
    """Names of the packages are what they were, and so is what classes had; iterators and trainer are others here."""
    program = (
        "import nn, nd.dataset, optimize, optimize.earlystopping as stopping\n"
        "before = {m: {n: getattr(m, n) for n in m.__all__} for m in (nn, nd.dataset, optimize, stopping)}\n"
        "members = {v: dict(vars(v)) for v in before[nn].values() if isinstance(v, type)}\n"
        "import nn.dl4j\n"
        "assert all(getattr(m, n) is v for m, names in before.items() for n, v in names.items())\n"
        "assert all(vars(v)[n] is one for v, own in members.items() for n, one in own.items() if n[:2] != '__')\n"
        "assert nn.dl4j.ListDataSetIterator is not nd.dataset.ListDataSetIterator\n"
        "assert nn.dl4j.DenseLayer is nn.DenseLayer\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
