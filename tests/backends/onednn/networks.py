"""Small networks of the kinds that oneDNN computes."""

import numpy as np

import nd
from backends.cpu.numpy_backend import NumpyBackend
from nd.dataset import MultiDataSet
from nn import (
    LSTM,
    ActivationLayer,
    BatchNormalization,
    ComputationGraph,
    ComputationGraphConfiguration,
    ConvolutionLayer,
    Deconvolution2D,
    DenseLayer,
    DepthwiseConvolution2D,
    ElementWiseVertex,
    GlobalPoolingLayer,
    GravesLSTM,
    InputType,
    LocalResponseNormalization,
    MergeVertex,
    NeuralNetConfiguration,
    OutputLayer,
    RnnOutputLayer,
    SubsamplingLayer,
)
from optimize import Nesterovs

CLASSES = 3
IMAGES, SERIES = (2, 12, 12), (5, 9)


def configuration(dtype):
    return NeuralNetConfiguration(seed=3, dtype=dtype, updater=Nesterovs(learning_rate=0.02), weight_init="relu")


def chain(dtype, *layers):
    output = OutputLayer(n_out=CLASSES, activation="softmax")
    return configuration(dtype).list(*layers, output, input_type=InputType.convolutional(*IMAGES[1:], IMAGES[0]))


def graph(dtype, **nodes):
    inputs = {"x": InputType.convolutional(*IMAGES[1:], IMAGES[0])}
    return configuration(dtype).graph(inputs=inputs, nodes=nodes, outputs="out")


def conv(n_out, size=3, activation="relu", **settings):
    return ConvolutionLayer(n_out=n_out, kernel_size=size, convolution_mode="same", activation=activation, **settings)


def pool(kind="max"):
    return SubsamplingLayer(kind, kernel_size=2, stride=2)


def output():
    return OutputLayer(n_out=CLASSES, activation="softmax")


def lenet(dtype):
    return chain(dtype, conv(16, 5, "identity"), pool(), conv(32, 5), pool(), DenseLayer(n_out=20, activation="relu"))


def vgg(dtype):
    return chain(dtype, conv(16), conv(16), pool(), conv(32), conv(32), pool("avg"), DenseLayer(n_out=24))


def normalised(dtype):
    plain = conv(16, activation="identity", has_bias=False)
    return chain(dtype, plain, BatchNormalization(), ActivationLayer("relu"), pool(), LocalResponseNormalization())


def depthwise(dtype):
    layer = DepthwiseConvolution2D(depth_multiplier=2, kernel_size=3, activation="relu")
    return chain(dtype, conv(16), layer, conv(16, 1), GlobalPoolingLayer("avg"))


def residual(dtype):
    return graph(
        dtype,
        first=(conv(16), "x"),
        second=(conv(16, activation="identity"), "first"),
        norm=(BatchNormalization(), "second"),
        added=(ElementWiseVertex("add"), "first", "norm"),
        relu=(ActivationLayer("relu"), "added"),
        pooled=(GlobalPoolingLayer("avg"), "relu"),
        out=(output(), "pooled"),
    )


def unet(dtype):
    return graph(
        dtype,
        down=(conv(16), "x"),
        halved=(pool(), "down"),
        deep=(conv(32), "halved"),
        up=(Deconvolution2D(n_out=16, kernel_size=2, stride=2, activation="relu"), "deep"),
        beside=(MergeVertex(), "down", "up"),
        joined=(conv(16), "beside"),
        pooled=(GlobalPoolingLayer("avg"), "joined"),
        out=(output(), "pooled"),
    )


def series(dtype):
    layers = LSTM(n_out=16, activation="tanh"), GravesLSTM(n_out=12, activation="tanh")
    last = RnnOutputLayer(n_out=CLASSES, activation="softmax")
    return configuration(dtype).list(*layers, last, input_type=InputType.recurrent(*SERIES))


NETWORKS = {function.__name__: function for function in (depthwise, lenet, normalised, residual, series, unet, vgg)}


def network(name, backend, dtype="float32"):
    """Return a graph of that name that lives on a backend."""
    conf = NETWORKS[name](dtype)
    with nd.use_backend(backend):
        graph = (
            conf if isinstance(conf, ComputationGraphConfiguration) else ComputationGraphConfiguration.of_chain(conf)
        )
        return ComputationGraph(graph).init()


def data(name, n, seed=1):
    rng = np.random.default_rng(seed)
    labels = np.eye(CLASSES)[rng.integers(0, CLASSES, (n, SERIES[1]) if name == "series" else n)]
    if name == "series":
        return MultiDataSet([rng.normal(size=(n, *SERIES))], [labels.transpose(0, 2, 1).copy()])
    return MultiDataSet([rng.normal(size=(n, *IMAGES))], [labels])


def step(net, given):
    """Return score and gradient of a minibatch."""
    net.set_inputs(*given.features)
    net.set_labels(*given.labels)
    net.compute_gradient_and_score()
    return net.score(), np.array(nd.to_host(net.flattened_gradients()), np.float64).reshape(-1)


def output_of(net, given):
    found = net.output(*given.features)
    return np.array(nd.to_host(found[0] if isinstance(found, (list, tuple)) else found), np.float64)


def without(threads=1):
    """Return a backend without oneDNN."""
    backend = NumpyBackend(threads)
    backend.onednn = None
    return backend
