"""The examples of design/api.md, as they stand there; each with what it must give.

Lines of the document are kept as they are written, which is why some formatting rules are off.
"""
# ruff: noqa: I001

import subprocess
import sys

import numpy as np
import pytest

import nd
from tests.stand_ins import TOLERANCE

RNG = np.random.default_rng(6)


# ---- Facade


def test_facade_backend_and_dtype():
    import nd

    nd.backend().name  # "numpy" or "cupy"; chosen by ND_BACKEND = numpy | cupy | auto (default auto)
    with nd.use_backend("numpy"):
        ...  # for a block; nd.set_backend("cupy") for good
    nd.set_default_dtype("float64")  # default float32

    assert nd.backend().name in ("numpy", "cupy")
    assert nd.default_dtype() == "float64"


def test_facade_arrays():
    a = nd.create([[1.0, 2.0], [3.0, 4.0]])  # shape (2, 2)
    z = nd.zeros(1, 431080, order="f")
    o = nd.ones(3, 4)
    u = nd.create_uninitialized((2, 3, 4), order="c")

    assert [array.shape for array in (a, z, o, u)] == [(2, 2), (1, 431080), (3, 4), (2, 3, 4)]
    assert {nd.dtype_name(array) for array in (a, z, o, u)} == {"float32"}
    assert nd.item(nd.sum(z)) == 0.0
    assert nd.item(nd.sum(o)) == 12.0


def test_facade_gemm():
    a, b, c = nd.create([[1.0, 2.0], [3.0, 4.0]]), nd.create([[1.0], [10.0]]), nd.zeros(2, 1)
    result = nd.gemm(
        a, b, c, transpose_a=True, transpose_b=False, alpha=1.0, beta=0.0
    )  # result in c, and returned; without c a new array

    assert result is c
    assert nd.to_host(c).tolist() == [[31.0], [42.0]]
    assert nd.to_host(nd.gemm(a, b)).tolist() == [[21.0], [43.0]]


def test_facade_exec():
    x = nd.create([-1.0, 2.0])
    new = nd.exec(nd.ops.RectifiedLinear(x))  # new z;  RectifiedLinear(x, z=x) is in place

    assert nd.to_host(new).tolist() == [0.0, 2.0]
    assert nd.to_host(x).tolist() == [-1.0, 2.0]
    assert nd.exec(nd.ops.RectifiedLinear(x, z=x)) is x
    assert nd.to_host(x).tolist() == [0.0, 2.0]


def test_facade_exec_random():
    x = nd.ones(10000)
    dropped = nd.execRandom(nd.ops.DropOutInverted(x, p=0.5))  # p is the probability to RETAIN, as in DL4J
    assert set(nd.to_host(dropped).tolist()) == {0.0, 2.0}
    mostly_kept = nd.to_host(nd.execRandom(nd.ops.DropOutInverted(x, p=0.9)))
    assert np.count_nonzero(mostly_kept) == pytest.approx(9000, abs=200)  # 6 standard deviations


def test_facade_random():
    nd.random.set_seed(123)
    first = nd.rand(3, 4)
    second = nd.randn(3, 4)
    nd.random.set_seed(123)
    nd.rand(3, 4)
    again = nd.randn(3, 4)
    assert first.shape == second.shape == (3, 4)
    np.testing.assert_array_equal(nd.to_host(second), nd.to_host(again))
    assert np.all((nd.to_host(first) >= 0.0) & (nd.to_host(first) <= 1.0))
    assert np.any(nd.to_host(second) < 0.0)


def test_facade_windows_and_host():
    x = nd.rand(2, 3, 5, 6)
    kernel, stride, padding, dilation, same_mode = (2, 3), (1, 2), (1, 0), (1, 1), False
    col = nd.im2col(x, kernel, stride, padding, dilation, same_mode)
    image = nd.col2im(col, (5, 6), stride, padding, dilation, same_mode)
    assert col.shape == (2, 3, 2, 3, 6, 2)
    assert image.shape == (2, 3, 5, 6)
    nd.to_host(x)  # numpy.ndarray, no copy on the NumPy backend
    assert type(nd.to_host(x)) is np.ndarray
    with nd.use_backend("numpy"):
        y = nd.rand(2)
        assert nd.to_host(y) is y


def test_diagnosis():
    done = subprocess.run([sys.executable, "-m", "nd"], capture_output=True, text=True, check=True)
    assert "backend numpy: usable" in done.stdout
    assert "backend cupy: " in done.stdout
    assert " is chosen, because " in done.stdout


# ---- LeNet on MNIST


def lenet():
    from nn import (
        ConvolutionLayer,
        DenseLayer,
        InputType,
        MultiLayerNetwork,
        NeuralNetConfiguration,
        OutputLayer,
        SubsamplingLayer,
    )
    from optimize import Nesterovs

    conf = NeuralNetConfiguration(seed=123, l2=5e-4, weight_init="xavier", updater=Nesterovs(0.01, momentum=0.9)).list(
        ConvolutionLayer(n_out=20, kernel_size=(5, 5), activation="identity"),
        SubsamplingLayer("max", kernel_size=(2, 2), stride=(2, 2)),
        ConvolutionLayer(n_out=50, kernel_size=(5, 5), activation="identity"),
        SubsamplingLayer("max", kernel_size=(2, 2), stride=(2, 2)),
        DenseLayer(n_out=500, activation="relu"),
        OutputLayer(n_out=10, loss="negativeloglikelihood", activation="softmax"),
        input_type=InputType.convolutional_flat(28, 28, 1),
    )
    net = MultiLayerNetwork(conf).init()
    return net  # noqa: RET504


def test_lenet_summary(capsys):
    net = lenet()
    print(net.summary())  # layer, type, in -> out shapes, parameters, and the total
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["layer", "type", "in", "->", "out", "activations", "weights", "parameters"]
    rows = [line.split() for line in lines[2:8]]
    kinds = ["Convolution", "Subsampling", "Convolution", "Subsampling", "Dense", "Output"]
    assert [next(word for word in row if word.endswith("Layer")) for row in rows] == [f"{kind}Layer" for kind in kinds]
    assert [row[-1] for row in rows] == ["520", "0", "25,050", "0", "400,500", "5,010"]
    assert lines[-1] == "total parameters: 431,080"


@pytest.mark.usefixtures("mnist_folder")
def test_lenet_trains_evaluates_and_is_saved(tmp_path, monkeypatch, capsys):
    from nd.dataset import EarlyTerminationDataSetIterator, MnistDataSetIterator
    from nn import MultiLayerNetwork
    from optimize import PerformanceListener, ScoreIterationListener

    def one_batch(iterator):
        return EarlyTerminationDataSetIterator(iterator, 1)

    monkeypatch.chdir(tmp_path)
    net = lenet()
    net.set_listeners(ScoreIterationListener(100), PerformanceListener())
    net.fit(one_batch(MnistDataSetIterator(64, train=True, seed=123)), epochs=3)  # progress bar on a terminal
    evaluation = net.evaluate(one_batch(MnistDataSetIterator(256, train=False)))
    print(evaluation.stats())
    accuracy = evaluation.accuracy()
    net.save("lenet.zip")
    again = MultiLayerNetwork.load("lenet.zip")  # Java Deeplearning4j opens this file too

    printed = capsys.readouterr().out
    assert printed.startswith("Score at iteration 0 is ")
    assert "Accuracy" in printed
    assert evaluation.num_row_counter == 256
    assert 0.0 <= accuracy <= 1.0
    assert (net.iteration_count, net.epoch_count) == (3, 3)
    images = MnistDataSetIterator(8, train=False).next().features
    np.testing.assert_array_equal(nd.to_host(again.output(images)), nd.to_host(net.output(images)))
    np.testing.assert_array_equal(nd.to_host(again.updater_state()), nd.to_host(net.updater_state()))


@pytest.mark.usefixtures("mnist_folder")
def test_mnist_batches():
    from nd.dataset import MnistDataSetIterator

    batch = MnistDataSetIterator(64, train=True, seed=123).next()
    features, labels = np.asarray(batch.features), np.asarray(batch.labels)
    assert (features.shape, labels.shape) == ((64, 784), (64, 10))
    assert (features.min(), features.max()) == (0.0, 1.0)
    np.testing.assert_array_equal(np.sort(labels, 1), np.eye(10)[[9] * 64])


# ---- the network of the source-reading articles


def articles_network(iterations=1):
    from nn import (
        Activation,
        DenseLayer,
        LossFunction,
        NeuralNetConfiguration,
        OptimizationAlgorithm,
        OutputLayer,
        Updater,
        WeightInit,
    )

    return (
        NeuralNetConfiguration.Builder()
        .seed(12345)
        .iterations(iterations)
        .optimizationAlgo(OptimizationAlgorithm.STOCHASTIC_GRADIENT_DESCENT)
        .learningRate(0.01)
        .weightInit(WeightInit.XAVIER)
        .updater(Updater.SGD)
        .list()
        .layer(0, DenseLayer.Builder().nIn(1).nOut(2).activation(Activation.RELU).dropOut(0.5).build())
        .layer(1, OutputLayer.Builder(LossFunction.MSE).activation(Activation.IDENTITY).nIn(2).nOut(1).build())
        .pretrain(False)
        .backprop(True)
        .build()
    )


def test_builder_chain_is_the_configuration_in_plain_names():
    from nn import DenseLayer, NeuralNetConfiguration, OutputLayer
    from optimize import Sgd

    plain = NeuralNetConfiguration(seed=12345, iterations=1, weight_init="xavier", updater=Sgd(0.01)).list(
        DenseLayer(n_in=1, n_out=2, activation="relu", drop_out=0.5),
        OutputLayer(loss="mse", activation="identity", n_in=2, n_out=1),
    )
    assert articles_network() == plain


def test_builder_chain_trains():
    from nn import MultiLayerNetwork

    x, y = np.array([[0.5], [-1.0], [2.0], [1.0]]), np.array([[1.0], [-2.0], [4.0], [2.0]])
    net = MultiLayerNetwork(articles_network(iterations=3)).init()
    before = np.array(nd.to_host(net.params()))
    net.fit(x, y)
    assert net.iteration_count == 3  # steps on the same minibatch
    assert np.any(nd.to_host(net.params()) != before)


def test_a_misspelt_setting_is_named():
    from nn import DenseLayer

    with pytest.raises(nd.ChoiceError, match=r"DenseLayer\.Builder: unknown setting 'n_outs'.*Did you mean 'n_out'\?"):
        DenseLayer.Builder().nOuts(2)


# ---- what can be seen inside


@pytest.fixture
def net():
    from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
    from optimize import Adam

    conf = NeuralNetConfiguration(seed=3, dtype="float64", l2=0.01, updater=Adam(0.05)).list(
        DenseLayer(n_in=4, n_out=3, activation="tanh"), OutputLayer(n_in=3, n_out=2, activation="softmax")
    )
    return MultiLayerNetwork(conf).init()


x, y = RNG.normal(size=(6, 4)), np.eye(2)[RNG.integers(0, 2, 6)]


def test_parameters_can_be_seen_and_set(net):
    n_params = 4 * 3 + 3 + 3 * 2 + 2
    assert net.params().shape == (1, n_params)
    v = nd.arange(n_params, dtype="float64")
    net.set_params(v)
    table = net.param_table()
    assert {key: view.shape for key, view in table.items()} == {
        "0_W": (4, 3),
        "0_b": (1, 3),
        "1_W": (3, 2),
        "1_b": (1, 2),
    }
    np.testing.assert_array_equal(nd.to_host(table["0_W"]), np.arange(12).reshape(3, 4).T)
    nd.fill(table["0_b"], -1.0)
    assert nd.to_host(net.params())[0, 11:16].tolist() == [11.0, -1.0, -1.0, -1.0, 15.0]


def test_gradient_and_score_can_be_seen(net):
    net.set_input(x)
    net.set_labels(y)
    net.compute_gradient_and_score()
    W = net.gradient().gradient_for_variable()["0_W"]
    flat = net.flattened_gradients()
    score = net.score()

    assert (W.shape, flat.shape, type(score)) == ((4, 3), (1, 23), float)
    np.testing.assert_array_equal(nd.to_host(flat)[0, :12], nd.to_host(W).T.ravel())
    weights = [nd.to_host(net.param_table()[key]) for key in ("0_W", "1_W")]
    p = nd.to_host(net.output(x))
    loss = -np.mean(np.sum(y * np.log(p), 1)) + 0.005 * sum(np.sum(w**2) for w in weights)
    np.testing.assert_allclose(score, loss, **TOLERANCE["float64"])


def test_activations_can_be_seen(net):
    x_, act_0, act_1 = net.feed_forward(x)
    params = {key: nd.to_host(view) for key, view in net.param_table().items()}
    z = x @ params["0_W"] + params["0_b"]
    np.testing.assert_allclose(
        nd.to_host(net.get_layer(0).pre_output(nd.create(x), training=False)), z, **TOLERANCE["float64"]
    )
    np.testing.assert_array_equal(nd.to_host(x_), x)
    np.testing.assert_allclose(nd.to_host(act_0), np.tanh(z), **TOLERANCE["float64"])
    np.testing.assert_array_equal(nd.to_host(act_1), nd.to_host(net.output(x)))
    assert [a.shape for a in net.feed_forward_to_layer(0, x, train=False)] == [(6, 4), (6, 3)]
    np.testing.assert_array_equal(nd.to_host(net.predict(x)), np.argmax(nd.to_host(act_1), 1))


def test_solver_takes_one_minibatch_as_fit_does(net):
    from optimize import CollectScoresListener, Solver

    twin, listener = net.clone(), CollectScoresListener()
    net.set_input(x)
    net.set_labels(y)
    Solver(net.conf, model=net, listeners=[listener]).optimize()  # one minibatch, as fit does
    twin.fit(x, y)
    np.testing.assert_array_equal(nd.to_host(net.params()), nd.to_host(twin.params()))
    np.testing.assert_array_equal(nd.to_host(net.updater_state()), nd.to_host(twin.updater_state()))
    assert listener.scores == [twin.score()]


# ---- names that scripts rely on


def test_names_that_scripts_rely_on():
    from nd.dataset import (
        DataSet,
        DataSetIterator,
        ListDataSetIterator,
        AsyncDataSetIterator,
        MnistDataSetIterator,
        DigitsDataSetIterator,
    )
    from nd.evaluation import Evaluation
    from optimize import Sgd, Nesterovs, Adam, MapSchedule, StepSchedule, CollectScoresListener

    data = DataSet(x, y, features_mask=None, labels_mask=None)
    assert (data.features_mask, data.labels_mask) == (None, None)
    iterators = (ListDataSetIterator, AsyncDataSetIterator, MnistDataSetIterator, DigitsDataSetIterator)
    assert all(issubclass(kind, DataSetIterator) for kind in iterators)
    assert isinstance(CollectScoresListener(frequency=1).scores, list)
    assert Adam(MapSchedule("iteration", {0: 0.05, 4: 0.04})) != Adam(0.05)
    assert Sgd(StepSchedule("epoch", 0.1, 0.5, 2)) != Nesterovs(StepSchedule("epoch", 0.1, 0.5, 2))
    assert Evaluation().num_row_counter == 0


@pytest.mark.parametrize("as_iterator", [True, False])
def test_the_score_is_that_before_the_update(net, as_iterator):
    from nd.dataset import DataSet, ListDataSetIterator

    before = net.score(DataSet(x, y))
    if as_iterator:
        iterator = ListDataSetIterator(DataSet(x, y), 6)
        net.fit(iterator, epochs=1)
    else:
        features, labels = x, y
        net.fit(features, labels)
    np.testing.assert_allclose(net.score(), before, **TOLERANCE["float64"])
    assert net.score(DataSet(x, y)) < before
    assert net.epoch_count == as_iterator
