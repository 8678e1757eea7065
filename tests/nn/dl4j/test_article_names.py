"""What articles that read Deeplearning4j's source call by name: it runs, or says what is called here."""

import numpy as np
import pytest

import nd
import nn.dl4j as dl4j
import optimize
from nn import (
    LSTM,
    RBM,
    ArchitectureType,
    ComputationGraph,
    ConvolutionLayer,
    DenseLayer,
    FrozenLayer,
    InputType,
    MultiLayerNetwork,
    NetworkType,
    NeuralNetConfiguration,
    OutputLayer,
    RnnOutputLayer,
    Task,
    TimeDistributed,
    build_task,
    task_by_model,
)  # fmt: skip
from nn.layers import LAYERS
from nn.layers.kinds import LAYER_TYPES, LayerType, layer_type
from optimize import ScoreIterationListener, Solver
from tests.cells import every_row

X, Y = np.arange(12.0).reshape(3, 4) / 12.0, np.eye(3)[[0, 1, 2]]
L1, L2 = 0.25, 0.5


def network(*layers, **settings):
    layers = layers or (DenseLayer(n_in=4, n_out=2, activation="tanh"), OutputLayer(n_out=3, activation="softmax"))
    return MultiLayerNetwork(NeuralNetConfiguration(seed=1, **settings).list(*layers)).init()


# ---- networks


def test_feed_forward_to_layer_of_the_minibatch_that_is_set():
    net = network()
    with pytest.raises(nd.ConfigurationError, match="features must be given, or set_input come first, got none"):
        net.feed_forward_to_layer(0)
    net.set_input(X)
    for activations in (net.feedForwardToLayer(0, True), net.feed_forward_to_layer(0), net.feedForwardToLayer(0, X)):
        assert len(activations) == 2
        expected = np.tanh(X @ nd.to_host(net.get_param("0_W")) + nd.to_host(net.get_param("0_b")))
        np.testing.assert_allclose(nd.to_host(activations[1]), expected, rtol=1e-5)


def test_init_with_parameters_of_ones_own(backend):
    conf = network().conf
    vector = nd.create(np.linspace(-1.0, 1.0, 19).reshape(1, 19), "float32")
    copied, shared = MultiLayerNetwork(conf).init(vector), MultiLayerNetwork(conf).init(vector, clone=False)
    nd.assign(vector, nd.multiply(vector, 2.0))
    expected = np.linspace(-1.0, 1.0, 19, dtype="float32").reshape(1, 19)
    np.testing.assert_array_equal(nd.to_host(copied.params()), expected)
    np.testing.assert_array_equal(nd.to_host(shared.params()), 2.0 * expected)
    shared.fit(X, Y)
    np.testing.assert_array_equal(nd.to_host(shared.params()), nd.to_host(vector))
    assert not np.array_equal(nd.to_host(vector), 2.0 * expected)
    flat = nd.zeros(19, dtype="float32")
    MultiLayerNetwork(conf).init(flat, False).fit(X, Y)
    assert np.any(nd.to_host(flat))


def test_what_cannot_be_shared_is_refused():
    conf = network().conf
    for wrong in ([0.0] * 19, np.zeros((1, 19))):
        with pytest.raises(nd.DTypeError, match="init: with clone=False params must be an array of float32, got "):
            MultiLayerNetwork(conf).init(wrong, False)
    with pytest.raises(nd.ShapeError, match=r"init: expected \[1, 19\], got \[1, 7\]"):
        MultiLayerNetwork(conf).init(nd.zeros(1, 7), False)
    unwritable = np.zeros((1, 19), "float32")
    unwritable.flags.writeable = False
    with pytest.raises(nd.DTypeError, match=r"init: .* can be written to, got a read-only one. Leave clone out"):
        MultiLayerNetwork(conf).init(unwritable, False)
    with pytest.raises(nd.ConfigurationError, match=r"clone=False must come with the first init, .* Call set_params"):
        network().init(nd.zeros(1, 19), False)


def test_whether_init_was_called():
    net = MultiLayerNetwork(network().conf)
    assert (net.init_done, net.initDone, net.isInitCalled()) == (False, False, False)
    with pytest.raises(AttributeError, match="init_done"):
        net.initDone = True
    net.init()
    assert (net.init_done, net.initDone, net.isInitCalled()) == (True, True, True)


def test_configurations_say_how_they_train():
    conf = NeuralNetConfiguration(seed=1, iterations=3, pretrain=True, backprop=False).list(RBM(n_in=4, n_out=2))
    assert (conf.is_pretrain(), conf.is_backprop(), conf.num_iterations) == (True, False, 3)
    assert (conf.isPretrain(), conf.isBackprop(), conf.getNumIterations()) == (True, False, 3)
    base = conf.get_conf(0)
    assert (base.num_iterations, base.getNumIterations(), base.isPretrain(), base.isBackprop()) == (3, 3, True, False)


def test_truncated_backprop_by_its_name():
    layers = LSTM(n_in=2, n_out=3), RnnOutputLayer(n_out=1, loss="mse", activation="identity")
    settings = {"backprop_type": "truncated_bptt", "tbptt_fwd_length": 2, "tbptt_back_length": 2}
    conf = NeuralNetConfiguration(seed=1).list(*layers, **settings)
    x, y = np.ones((2, 2, 5)), np.ones((2, 1, 5))
    net, other = MultiLayerNetwork(conf).init(), MultiLayerNetwork(conf).init()
    net.doTruncatedBPTT(x, y, None, None)
    other.fit(x, y)
    assert net.iteration_count == 3
    np.testing.assert_array_equal(nd.to_host(net.params()), nd.to_host(other.params()))
    with pytest.raises(nd.ConfigurationError, match="must have truncated backprop, got 'standard'"):
        network().doTruncatedBPTT(X, Y)


# ---- layers


def test_penalties_of_a_layer():
    net = network(l1=L1, l2=L2, l1_bias=0.125)
    for layer in net.layers:
        W, b = (nd.to_host(layer.params[name]) for name in "Wb")
        nd.assign(layer.params["b"], b + 1.0)
        expected = L1 * np.abs(W).sum() + 0.125 * b.size
        assert layer.calc_l1() == layer.calcL1() == pytest.approx(expected, rel=1e-6)
        assert layer.calc_l2() == layer.calcL2(True) == pytest.approx(0.5 * L2 * (W * W).sum(), rel=1e-6)
    assert sum(layer.calc_l1() for layer in net.layers) == pytest.approx(net.calcL1(), rel=1e-6)
    assert sum(layer.calc_l2() for layer in net.layers) == pytest.approx(net.calcL2(True), rel=1e-6)


def test_penalties_of_what_pretraining_alone_trains():
    layer = network(RBM(n_in=4, n_out=2), OutputLayer(n_out=3, activation="softmax"), l2_bias=L2).layers[0]
    nd.assign(layer.params["vb"], 1.0)
    assert (layer.calc_l2(), layer.calc_l2(False)) == (0.0, pytest.approx(0.5 * L2 * 4))


TYPES = {
    "CONVOLUTIONAL": (
        "CnnLossLayer Convolution1D Convolution1DLayer Convolution3D ConvolutionLayer Cropping1D Cropping2D "
        "Deconvolution2D DepthwiseConvolution2D SeparableConvolution2D SpaceToBatchLayer SpaceToDepthLayer "
        "ZeroPadding3DLayer ZeroPaddingLayer"
    ),
    "CONVOLUTIONAL3D": "Cnn3DLossLayer Cropping3D",
    "NORMALIZATION": "BatchNormalization LocalResponseNormalization",
    "RECURRENT": (
        "Bidirectional EmbeddingSequenceLayer GravesBidirectionalLSTM GravesLSTM LSTM MaskZeroLayer RnnLossLayer "
        "RnnOutputLayer ZeroPadding1DLayer"
    ),
    "SUBSAMPLING": "GlobalPoolingLayer Subsampling1DLayer Subsampling3DLayer SubsamplingLayer",
    "UPSAMPLING": "RepeatVector Upsampling1D Upsampling2D Upsampling3D",
}
"""``type()`` of 1.0.0-M2.1's layers at work, as its sources have it; all others are FEED_FORWARD."""


def test_every_layer_has_javas_type():
    expected = {name: kind for kind, names in TYPES.items() for name in names.split()}
    wrapping = {"FrozenLayer", "FrozenLayerWithBackprop", "TimeDistributed"}
    for kind in LAYERS.values():
        if kind.__name__ not in wrapping:
            assert layer_type(kind.__new__(kind)).name == expected.get(kind.__name__, "FEED_FORWARD"), kind
    assert list(LAYER_TYPES) == sorted(LAYER_TYPES)
    assert layer_type(FrozenLayer(LSTM(n_out=2))) is LayerType.RECURRENT
    assert layer_type(TimeDistributed(DenseLayer(n_out=2))) is LayerType.FEED_FORWARD


def test_a_layer_at_work_says_its_type_and_configuration():
    layer = network().layers[0]
    assert layer.type() is dl4j.Layer.Type.FEED_FORWARD is LayerType.FEED_FORWARD
    assert layer.layer_conf() is layer.layerConf() is layer.conf


def test_an_activation_goes_back_with_two_arguments(backend):
    z, epsilon = nd.create([[0.5, -1.0, 2.0]]), nd.create([[1.0, 2.0, -3.0]])
    for name in ("relu", "tanh", "softmax", "identity", "leakyrelu"):
        activation = nd.activations.get_activation(name)
        gradient, of_parameters = activation.backprop(z, epsilon)
        expected = activation.backprop(z, activation.value(z), nd.copy(epsilon))
        np.testing.assert_allclose(nd.to_host(gradient), nd.to_host(expected))
        assert of_parameters is None
    assert nd.to_host(dl4j.ActivationReLU().backprop(z, epsilon).getFirst()).tolist() == [[1.0, 0.0, -3.0]]


@pytest.mark.parametrize("name", nd.activations.ACTIVATIONS)
def test_every_activation_refuses_what_does_not_fit(name):
    activation, z = nd.activations.get_activation(name), nd.ones(2, 3)
    for epsilon, error, said in (
        (None, nd.DTypeError, "epsilon must be an array, got None"),
        ([[1.0]], nd.DTypeError, "epsilon must be an array, got "),
        (nd.ones(2, 2), nd.ShapeError, r"epsilon must be \[2, 3\], as z is, got \[2, 2\]"),
        (nd.ones(1, 3), nd.ShapeError, r"epsilon must be \[2, 3\], as z is, got \[1, 3\]"),
        (nd.ones(2, 3, dtype="float64"), nd.DTypeError, "epsilon must be float32, as z is, got float64"),
    ):
        with pytest.raises(error, match=rf"{type(activation).__name__}\.backprop: {said}"):
            activation.backprop(z, epsilon)
    with pytest.raises(nd.DTypeError, match="z must be an array, got "):
        activation.backprop([[1.0]], z)


def test_an_own_activation_of_java_goes_back_as_it_is_written():
    class Doubling(dl4j.BaseActivationFunction):
        def getActivation(self, x, training):
            return 2.0 * x

        def backprop(self, x, epsilon):
            return dl4j.Pair(2.0 * epsilon, None)

    assert Doubling().backprop(nd.ones(1, 2), nd.ones(1, 2)).first.tolist() == [[2.0, 2.0]]


def test_the_order_of_gradients():
    assert dl4j.DefaultGradient.DEFAULT_FLATTENING_ORDER == "f"


# ---- solvers


def test_a_solver_has_what_it_was_made_of():
    net, listener = network(), ScoreIterationListener(1)
    net.set_input(X)
    net.set_labels(Y)
    solver = Solver.Builder().configure(net.conf).listener(listener).model(net).build()
    assert solver.model is net
    assert list(solver.listeners) == [listener]
    params = nd.ones(1, 2)
    solver.step_function(params, nd.ones(1, 2), 0.5)
    assert params.tolist() == [[0.0, 0.0]]
    assert solver.stepFunction is solver.step_function is solver.optimizer.stepFunction


STEPS = {
    "DefaultStepFunction": [1.5, 0.0],
    "GradientStepFunction": [2.0, -1.0],
    "NegativeDefaultStepFunction": [0.5, 2.0],
    "NegativeGradientStepFunction": [0.0, 3.0],
}
"""Name -> [1, 1] after half a step along [1, -2]."""


@every_row("name", sorted(STEPS))
def test_the_classes_of_step_functions(name):
    function = getattr(dl4j, name)()
    params = nd.ones(1, 2)
    function.step(params, nd.create([[1.0, -2.0]]), 0.5)
    assert params.tolist() == [STEPS[name]]
    conf = dl4j.NeuralNetConfiguration.Builder().stepFunction(function).build()
    assert (
        conf.step_function
        == function
        == name.removesuffix("StepFunction").replace("eD", "e_d").replace("eG", "e_g").lower()
    )


def test_the_line_search_stands_beside_the_optimizers():
    assert optimize.BackTrackLineSearch(max_iterations=3).getMaxIterations() == 3


# ---- the facade, ops


def test_zeros_of_rows_and_columns():
    assert nd.create(1, 7).tolist() == [[0.0] * 7]
    assert nd.create(2, 3, "f").flags.f_contiguous
    assert nd.create(5, "float64").tolist() == 5.0
    with pytest.raises(nd.ShapeError, match=r"create: every length must be an integer >= 0, got \[1, -7\]"):
        nd.create(1, -7)


def test_reshape_in_both_orders(backend):
    x = np.arange(6.0).reshape(2, 3)
    for shape in ((3, 2), (6,), (1, -1), [2, 3]):
        for order in "cf":
            expected = x.reshape(tuple(shape), order=order)
            np.testing.assert_array_equal(nd.to_host(nd.reshape(nd.create(x), shape, order=order)), expected)
    assert nd.to_host(nd.reshape(nd.create(x), 6, "f")).tolist() == [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]
    with pytest.raises(nd.ChoiceError, match="unknown order 'k'"):
        nd.reshape(nd.create(x), (3, 2), order="k")


def test_is_max_by_position(backend):
    x = nd.create([[1.0, 5.0, 5.0], [4.0, 2.0, 3.0]])
    expected = [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
    assert nd.to_host(nd.exec(dl4j.IsMax(x, 1))).tolist() == expected
    z = nd.zeros(2, 3, dtype=nd.dtype_name(x))
    assert nd.exec(nd.ops.IsMax(x, z, 1)) is z
    assert nd.to_host(z).tolist() == expected


@every_row("name", ["DropOut", "DropOutInverted", "LegacyDropOutInverted"])
def test_dropout_with_javas_arguments(name):
    """`nd.ops` has p and then z, and a new array without z."""
    java, ours = getattr(dl4j, name), getattr(nd.ops, name)
    nd.random.set_seed(3)
    expected = nd.execRandom(ours(nd.ones(4, 5), p=0.5)).tolist()
    for settings in ((0.5,), (nd.zeros(4, 5), 0.5), (nd.zeros(4, 5), 0.5, 20)):
        x = nd.ones(4, 5)
        nd.random.set_seed(3)
        op = java(x, *settings)
        assert dl4j.Nd4j.getExecutioner().exec(op).tolist() == expected
        assert op.z is (x if len(settings) == 1 else settings[0])
    x = nd.ones(4, 5)
    assert nd.execRandom(java(x, p=0.5)) is not x
    with pytest.raises(nd.ArgumentError, match=f"{name}: expected x, z, p and perhaps a length, got 6"):
        java(x, x, 0.5, 20, 1, 2)


def test_probablistic_merge_of_two_arrays():
    x, y = nd.ones(4, 5), nd.zeros(4, 5)
    nd.random.set_seed(3)
    drawn = nd.to_host(nd.random.get_random().uniform(20)).reshape(4, 5)
    nd.random.set_seed(3)
    merged = nd.execRandom(dl4j.ProbablisticMerge(x, y, 0.25))
    np.testing.assert_array_equal(nd.to_host(merged), drawn <= 0.25)
    with pytest.raises(nd.ShapeError, match=r"ProbablisticMerge: y must be \[4, 5\], got \[5, 4\]"):
        nd.ops.ProbablisticMerge(x, nd.zeros(5, 4))


def test_the_factory_of_ops():
    factory = dl4j.Nd4j.getOpFactory()
    x, y, z = nd.create([-1.0, 2.0]), nd.create([3.0, 4.0]), nd.zeros(2)
    assert nd.exec(factory.createTransform("relu", x)).tolist() == [0.0, 2.0]
    assert nd.exec(factory.createTransform("abs", x, z)) is z
    assert nd.exec(factory.createTransform("Add", x, y, z)).tolist() == z.tolist() == [2.0, 6.0]
    with pytest.raises(nd.ChoiceError, match="createTransform: unknown op 'nothing'"):
        factory.createTransform("nothing", x)


def test_the_wrapper_of_blas():
    blas = dl4j.Nd4j.getBlasWrapper()
    x, y = nd.create([3.0, -4.0]), nd.create([1.0, 2.0])
    assert (blas.level1().asum(x), blas.level1().nrm2(x), blas.level1().iamax(x)) == (7.0, 5.0, 1)
    assert blas.dot(x, y) == blas.level1().dot(2, 1.0, x, y) == -5.0
    assert blas.level1().axpy(2, 0.5, x, y) is y
    assert y.tolist() == [2.5, 0.0]
    assert blas.level1().scal(2, 2.0, x).tolist() == x.tolist() == [6.0, -8.0]
    assert blas.level3().gemm(nd.ones(1, 2), nd.ones(2, 1)).tolist() == [[2.0]]


def test_a_generator_has_state():
    assert dl4j.Nd4j.getRandom().getStatePointer() is not None


def test_javas_exceptions():
    with pytest.raises(dl4j.DL4JInvalidInputException, match="expected"):
        network().output(np.ones((3, 5)))
    assert issubclass(nd.ConfigurationError, dl4j.DL4JInvalidConfigException)


# ---- tasks


def test_tasks_of_networks():
    """A dense network is RECURRENT: it is where Java begins, and no layer of it says otherwise."""
    dense = task_by_model(network())
    assert dense == Task(network_type="multilayernetwork", architecture_type="recurrent")
    assert dense == dl4j.ModelSerializer.taskByModel(network())
    assert (dense.getNetworkType(), dense.getArchitectureType()) == (
        NetworkType.MULTILAYER_NETWORK, ArchitectureType.RECURRENT
    )  # fmt: skip
    rbm = network(RBM(n_in=4, n_out=2), OutputLayer(n_out=3, activation="softmax"))
    assert task_by_model(rbm).architecture_type is ArchitectureType.RBM
    assert task_by_model(graph_of_images()) == Task(network_type="computationalgraph", architecture_type="convolution")


def graph_of_images():
    conf = NeuralNetConfiguration(seed=1).graph(
        inputs={"in": InputType.convolutional(4, 4, 1)},
        nodes={
            "conv": (ConvolutionLayer(n_out=2, kernel_size=(2, 2)), "in"),
            "out": (OutputLayer(n_out=3, activation="softmax"), "conv"),
        },
        outputs="out",
    )
    return ComputationGraph(conf).init()


def test_a_task_of_data_is_empty_as_in_java():
    empty = Task()
    assert build_task(X, Y) == dl4j.TaskUtils.buildTask(nd.dataset.DataSet(X, Y)) == empty
    assert (empty.network_type, empty.architecture_type, empty.getNumFeatures(), empty.num_samples) == (
        None, None, 0, 0
    )  # fmt: skip
    assert Task(num_features=4, num_labels=3, num_samples=150).toCompactString() == "F: 4/L: 3/S: 150 "
