"""Articles 2 and 4: LenetMnistExample, from init to the data."""

import hashlib
import struct
import tempfile
from pathlib import Path

import numpy as np

import nd
import nn.dl4j as dl4j
from nd.dataset import DataSet, DigitsDataSetIterator, MnistDataSetIterator
from nd.dataset.fetch import IdxFile, read_idx
from nn import (
    ConvolutionLayer,
    DenseLayer,
    FeedForwardToCnnPreProcessor,
    InputType,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
)
from optimize import Nesterovs
from tests.cases.articles.fixtures import digits, host, lenet, near, one_filter, refused

# %% 1 | LenetMnistExample | `examples/lenet_mnist.py` | [inside/lenet.md](inside/lenet.md)
net, data = lenet(updater=Nesterovs(0.01, momentum=0.9)), digits(64)
before = net.score(data)
net.fit(data, epochs=5)
assert net.score(data) < before

# %% 2 | class diagram, sequence diagrams of init and fit | in the walk-throughs, drawn from the code; `net.picture`
# draws a network | [inside/lenet.md](inside/lenet.md), [inside/fit.md](inside/fit.md)
with tempfile.TemporaryDirectory() as folder:
    lenet().picture(f"{folder}/lenet.svg")
    assert "conv1" in Path(folder, "lenet.svg").read_text()

# %% 3 | `MultiLayerNetwork.init()` counts nParamsPerLayer, paramLength | the same |
# [inside/lenet.md](inside/lenet.md#init-one-vector-and-views-of-it)
net = lenet(n_out=(20, 50), dense=500)
assert net.num_params() == (20 * 25 + 20) + (50 * 20 * 25 + 50) + (800 * 500 + 500) + (500 * 10 + 10) == 431080

# %% 4 | `conf.getLayer().initializer().numParams(conf)` | `layer.num_params()` |
# [inside/lenet.md](inside/lenet.md#init-one-vector-and-views-of-it)
assert [layer.num_params() for layer in lenet().layers] == [78, 0, 304, 0, 1040, 170]

# %% 5 | `ConvolutionParamInitializer`: nIn * nOut * kernel (+ nOut with bias) | the same |
# `tests/nn/layers/test_convolution.py`
assert [one_filter(has_bias=bias).layers[0].num_params() for bias in (True, False)] == [5, 4]

# %% 6 | `getKernelSize()`, `getNIn()`, `getNOut()`, `hasBias()` | the same; fields | [layers.md](layers.md)
conf = lenet().layers[2].conf
assert (tuple(conf.kernel_size), conf.n_in, conf.n_out, conf.has_bias) == ((5, 5), 3, 4, True)
assert (conf.getNIn(), conf.getNOut()) == (3, 4)

# %% 7 | `flattenedParams = Nd4j.create(1, paramLength)` | `net.params()` | [inside/lenet.md](inside/lenet.md)
assert lenet().params().shape == (1, 1592)

# %% 8 | `init(parameters, clone)` | the same: with clone False the network trains in that memory |
# `tests/nn/dl4j/test_article_names.py`
vector = nd.zeros(1, 1592)
copied = MultiLayerNetwork(lenet().conf).init(vector)
shared = MultiLayerNetwork(lenet().conf).init(vector, clone=False)
nd.fill(vector, 2.0)
assert (host(copied.params()) == 0.0).all()
assert (host(shared.params()) == 2.0).all()

# %% 9 | paramsView: slices, paramCountSoFar | `net.param_table()` has a view for each |
# [inside/lenet.md](inside/lenet.md#init-one-vector-and-views-of-it)
net, start = lenet(), 0
for view in net.param_table().values():
    nd.fill(view, float(start))
    assert net.params()[0, start] == net.params()[0, start + view.size - 1] == start
    start += view.size
assert start == net.num_params()

# %% 10 | `conf.getLayer().instantiate(conf, listeners, i, paramsView, ...)` | not here: a layer works within its
# network

# %% 11 | `layerMap`, `getLayer("conv1")` | `get_layer("conv1")` | `tests/nn/networks/test_inside.py`
assert lenet().get_layer("conv1") is not None
with refused(nd.ChoiceError, "unknown layer 'nothing', expected one of conv1, conv2"):
    lenet().getLayer("nothing")

# %% 12 | two layers of one name are refused | the same | `tests/nn/conf/test_stacking.py`
layers = [DenseLayer(n_in=3, n_out=3, name="a"), OutputLayer(n_out=1, loss="mse", activation="identity", name="a")]
with refused(nd.ConfigurationError, "a"):
    NeuralNetConfiguration(seed=1).list(*layers)

# %% 13 | `MnistDataFetcher.fetch`: order[cursor], hasMore | `MnistDataSetIterator`, `DigitsDataSetIterator` |
# `tests/nd/dataset/test_mnist_iterator.py`
iterator = DigitsDataSetIterator(500, train=True, seed=1)
one, two = DigitsDataSetIterator(50, seed=1).next(), DigitsDataSetIterator(50, seed=2).next()
assert (host(one.features) != host(two.features)).any()  # another order
assert len(list(iterator)) == 3
assert not iterator.has_next()

# %% 14 | `MnistManager`: `readImageUnsafe`, `readLabel` | `read_idx` reads a whole file |
# `tests/nd/dataset/test_mnist_fetch.py`
content = struct.pack(">4I", 0x803, 2, 1, 2) + bytes([7, 8, 9, 255])  # two images of 1 by 2
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "images-idx3-ubyte")
    path.write_bytes(content)
    images = read_idx(path, IdxFile(path.name, (2, 1, 2), hashlib.sha256(content).hexdigest()))
assert images.tolist() == [[[7, 8]], [[9, 255]]]

# %% 15 | one-hot: `labelData[i][label] = 1.0f` | the same | [data.md](data.md)
labels = host(digits().labels)
assert labels.shape == (8, 10)
assert (labels.sum(1) == 1.0).all()
assert set(labels.ravel()) == {0.0, 1.0}

# %% 16 | pixels / 255; binarize: above 30 | the same | `tests/nd/dataset/test_mnist_iterator.py`
pixels = host(digits().features)
assert (pixels.min(), pixels.max()) == (0.0, 1.0)
assert np.allclose(pixels * 255.0, np.round(pixels * 255.0), atol=1e-4)
assert "binarize" in MnistDataSetIterator.__doc__

# %% 17 | `Nd4j.create(float[][])`, order f of the fetcher | the same | `tests/nd/test_create.py`
assert nd.create([[1.0, 2.0], [3.0, 4.0]]).tolist() == [[1.0, 2.0], [3.0, 4.0]]
assert digits().features.flags.f_contiguous

# %% 18 | `new DataSet(features, labels)` | the same | [data.md](data.md)
assert DataSet(np.ones((4, 2)), np.ones((4, 3))).num_examples() == 4

# %% 19 | `Nd4j.createBuffer`, `ArrayUtil.flatten`, `getStrides` | not here: NumPy's arrays come with their memory and
# strides

# %% 20 | `AbstractLayer.activate(input, training)` sets the input | `layer.activate(x, training)`; nothing is kept |
# `tests/nn/layers/test_by_hand.py`
layer, x = lenet().get_layer("dense"), np.ones((2, 64), np.float32)
first = host(layer.activate(x, False))
layer.activate(2.0 * x, True)
near(layer.activate(x, False), first, 0.0)

# %% 21 | `InputType.convolutionalFlat(28, 28, 1)` | the same; `convolutional_flat` | [layers.md](layers.md)
assert dl4j.InputType.convolutionalFlat(28, 28, 1) == InputType.convolutional_flat(28, 28, 1)

# %% 22 | `.setInputType(...)` | the same; `input_type=` of `list` | [layers.md](layers.md)
builder = NeuralNetConfiguration.Builder().seed(1).list().layer(DenseLayer(n_out=3))
conf = builder.layer(OutputLayer(n_out=2, activation="softmax")).setInputType(InputType.feed_forward(5)).build()
assert conf.layers[0].n_in == 5

# %% 23 | preprocessors come from `getPreProcessorForInputType` | the same | [inside/lenet.md](inside/lenet.md)
kinds = {number: type(each).__name__ for number, each in lenet().conf.preprocessors.items()}
assert kinds == {0: "FeedForwardToCnnPreProcessor", 4: "CnnToFeedForwardPreProcessor"}

# %% 24 | "Don't override preprocessor setting": the user's own stays | the same, and the sizes behind follow it |
# `tests/nn/conf/test_stacking.py`
builder = NeuralNetConfiguration.Builder().seed(1).list().layer(ConvolutionLayer(n_out=2, kernel_size=(2, 2)))
builder = builder.layer(OutputLayer(n_out=2, activation="softmax")).setInputType(InputType.convolutional_flat(7, 4, 1))
net = MultiLayerNetwork(builder.inputPreProcessor(0, FeedForwardToCnnPreProcessor(4, 7, 1)).build()).init()
assert net.feed_forward(np.ones((3, 28)))[1].shape == (3, 2, 3, 6)

# %% 25 | preprocessors of one's own in `list(...)` | `list(..., preprocessors={0: ...})` |
# `tests/nn/conf/test_stacking.py`
layers = ConvolutionLayer(n_in=1, n_out=2, kernel_size=(2, 2)), OutputLayer(n_out=2, activation="softmax")
given = {0: FeedForwardToCnnPreProcessor(4, 7, 1)}
conf = NeuralNetConfiguration(seed=1).list(*layers, preprocessors=given, input_type=InputType.feed_forward(28))
assert conf.preprocessors[0] == given[0]

# %% 26 | `FeedForwardToCnnPreProcessor(h, w, c)`, JSON | the same | [layers.md](layers.md)
conf = lenet().conf
assert type(conf).from_json(conf.to_json()).preprocessors == conf.preprocessors

# %% 27 | the network runs preprocessors, not the layer | the same | `tests/nn/dl4j/test_preprocessors.py`
net = lenet()
assert net.feed_forward(np.zeros((2, 784)))[1].shape == (2, 3, 24, 24)
assert net.get_layer("conv1").activate(nd.zeros(2, 1, 28, 28)).shape == (2, 3, 24, 24)

# %% 28 | `input.reshape('c', N, C, H, W)` | the same | `tests/nn/dl4j/test_preprocessors.py`
rows = np.arange(24.0).reshape(2, 12)
near(FeedForwardToCnnPreProcessor(2, 2, 3).pre_process(nd.create(rows), 2), rows.reshape(2, 3, 2, 2), 0.0)
