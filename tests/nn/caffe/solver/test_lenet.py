"""LeNet as BVLC trains it, against a LeNet in NumPy: same weights, same minibatches, the same losses."""

import numpy as np
import pytest

from nd.dataset.digits import DigitsDataSetIterator
from nn.caffe import array_to_datum, parse_text, read_net, read_solver, write_database, write_mnist_databases
from nn.caffe.solver import get_solver
from tests.nn.caffe.solver.test_resume import everything


def _conv(number, bottom, outputs):
    return f"""layer {{ name: "conv{number}" type: "Convolution" bottom: "{bottom}" top: "conv{number}"
  param {{ lr_mult: 1 }} param {{ lr_mult: 2 }} convolution_param {{ num_output: {outputs} kernel_size: 5 stride: 1
    weight_filler {{ type: "xavier" }} bias_filler {{ type: "constant" }} }} }}
layer {{ name: "pool{number}" type: "Pooling" bottom: "conv{number}" top: "pool{number}"
  pooling_param {{ pool: MAX kernel_size: 2 stride: 2 }} }}"""


def _full(number, bottom, outputs):
    return f"""layer {{ name: "ip{number}" type: "InnerProduct" bottom: "{bottom}" top: "ip{number}"
  param {{ lr_mult: 1 }} param {{ lr_mult: 2 }} inner_product_param {{ num_output: {outputs}
    weight_filler {{ type: "xavier" }} bias_filler {{ type: "constant" }} }} }}"""


def _data(phase, name, batch):
    return f"""layer {{ name: "mnist" type: "Data" top: "data" top: "label" include {{ phase: {phase} }}
  transform_param {{ scale: 0.00390625 }}
  data_param {{ source: "examples/mnist/mnist_{name}_lmdb" batch_size: {batch} backend: LMDB }} }}"""


NET = f"""name: "LeNet"
{_data("TRAIN", "train", 64)} {_data("TEST", "test", 100)}
{_conv(1, "data", 20)} {_conv(2, "pool1", 50)} {_full(1, "pool2", 500)}
layer {{ name: "relu1" type: "ReLU" bottom: "ip1" top: "ip1" }} {_full(2, "ip1", 10)}
layer {{ name: "accuracy" type: "Accuracy" bottom: "ip2" bottom: "label" top: "accuracy" include {{ phase: TEST }} }}
layer {{ name: "loss" type: "SoftmaxWithLoss" bottom: "ip2" bottom: "label" top: "loss" }}
"""
SOLVER = """net: "examples/mnist/lenet_train_test.prototxt"
test_iter: 100 test_interval: 500 base_lr: 0.01 momentum: 0.9 weight_decay: 0.0005
lr_policy: "inv" gamma: 0.0001 power: 0.75 display: 100 max_iter: 10000
snapshot: 5000 snapshot_prefix: "examples/mnist/lenet" solver_mode: GPU
"""
WHERE = "examples/mnist"


def test_they_are_bvlcs(caffe_reference):
    lenet = caffe_reference / "lenet"
    assert read_net(lenet / "lenet_train_test.prototxt") == parse_text(NET, "NetParameter")
    assert read_solver(lenet / "lenet_solver.prototxt") == parse_text(SOLVER, "SolverParameter")


@pytest.fixture
def digits(tmp_path):
    """The bundled digits as the databases that LeNet reads."""
    folder = tmp_path / WHERE
    folder.mkdir(parents=True)
    for name, train in (("mnist_train_lmdb", True), ("mnist_test_lmdb", False)):
        everything_of = next(iter(DigitsDataSetIterator(2000, train=train)))
        pixels = np.asarray(everything_of.features).reshape(-1, 1, 28, 28) * 255
        labels = np.asarray(everything_of.labels).argmax(1)
        records = [
            (b"%08d" % number, array_to_datum(picture.round().astype(np.uint8), int(label)))
            for number, (picture, label) in enumerate(zip(pixels, labels, strict=True))
        ]
        write_database(folder / name, records)
    return written(tmp_path)


def written(folder):
    (folder / WHERE / "lenet_train_test.prototxt").write_text(NET)
    return folder


def solver_of(folder, more="", **settings):
    return get_solver(SOLVER.replace("test_iter: 100 test_interval: 500", "") + more, folder=folder, **settings)


class LeNet:
    """LeNet and its training in float64: windows by einsum, the softmax and the momentum by their formulas.

    Parameters
    ----------
    params : list of array
        Weights and bias of conv1, conv2, ip1, ip2.
    """

    def __init__(self, params):
        self.params = [np.array(array, dtype=np.float64) for array in params]
        self.speed = [np.zeros_like(array) for array in self.params]
        self.iter = 0

    def step(self, data, labels):
        """Take a step; return the loss before it."""
        loss, gradients = self._gradients(data, labels)
        rate = np.float32(float(np.float32(0.01)) * (1.0 + float(np.float32(1e-4)) * self.iter) ** -0.75)
        decay, momentum = float(np.float32(5e-4)), float(np.float32(0.9))
        for number, g in enumerate(gradients):
            w, v = self.params[number], self.speed[number]
            v *= momentum
            v += float(rate) * (1, 2)[number % 2] * (g + decay * w)
            w -= v
        self.iter += 1
        return loss

    def _gradients(self, data, labels):
        w1, b1, w2, b2, w3, b3, w4, b4 = self.params
        n = len(data)
        windows1, c1 = self._conv(data, w1, b1)
        p1, way1 = self._pool(c1)
        windows2, c2 = self._conv(p1, w2, b2)
        p2, way2 = self._pool(c2)
        flat = p2.reshape(n, -1)
        hidden = flat @ w3.T + b3
        active = np.where(hidden > 0, hidden, 0.0)
        scores = active @ w4.T + b4
        logs = scores - scores.max(1, keepdims=True)
        logs -= np.log(np.exp(logs).sum(1, keepdims=True))
        loss = -logs[np.arange(n), labels].mean()
        e = np.exp(logs)
        e[np.arange(n), labels] -= 1
        e /= n
        e3 = (e @ w4) * (hidden > 0)
        e2 = self._unpool((e3 @ w3).reshape(p2.shape), way2, c2.shape)
        g2, below = self._conv_back(e2, windows2, w2, p1.shape)
        e1 = self._unpool(below, way1, c1.shape)
        g1, _ = self._conv_back(e1, windows1, w1, None)
        gradients = [g1, e1.sum((0, 2, 3)), g2, e2.sum((0, 2, 3)), e3.T @ flat, e3.sum(0), e.T @ active, e.sum(0)]
        return loss, gradients

    @staticmethod
    def _conv(x, w, b):
        windows = np.lib.stride_tricks.sliding_window_view(x, (5, 5), (2, 3)).transpose(0, 2, 3, 1, 4, 5)
        rows = windows.reshape(*windows.shape[:3], -1)
        return rows, (rows @ w.reshape(len(w), -1).T + b).transpose(0, 3, 1, 2)

    @staticmethod
    def _conv_back(e, rows, w, below):
        at_end = e.transpose(0, 2, 3, 1)
        g = np.tensordot(at_end, rows, ((0, 1, 2), (0, 1, 2))).reshape(w.shape)
        if below is None:
            return g, None
        x, (height, width) = np.zeros(below), e.shape[2:]
        for i in range(5):
            for j in range(5):
                x[:, :, i : i + height, j : j + width] += (at_end @ w[:, :, i, j]).transpose(0, 3, 1, 2)
        return g, x

    @staticmethod
    def _pool(x):
        n, c, h, w = x.shape
        four = x.reshape(n, c, h // 2, 2, w // 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(n, c, h // 2, w // 2, 4)
        way = four.argmax(-1)
        return np.take_along_axis(four, way[..., None], -1)[..., 0], way

    @staticmethod
    def _unpool(e, way, shape):
        n, c, h, w = shape
        four = np.zeros((*e.shape, 4))
        np.put_along_axis(four, way[..., None], e[..., None], -1)
        return four.reshape(n, c, h // 2, w // 2, 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(shape)


def compared(folder, steps, dtype, rtol):
    """Train both; assert that all losses are equal, and the parameters behind them."""
    solver = solver_of(folder, "random_seed: 5", dtype=dtype)
    reader = solver_of(folder, "random_seed: 5", dtype="float64").net.data_layers[0]
    lenet = LeNet([blob.data for blob in solver.net.learnable_params])
    losses = []
    for _ in range(steps):
        data, labels = reader.next()
        losses.append((solver.step(1), lenet.step(np.asarray(data), np.asarray(labels).astype(int))))
    mine, theirs = np.transpose(losses)
    np.testing.assert_allclose(mine, theirs, rtol=rtol)
    for blob, w in zip(solver.net.learnable_params, lenet.params, strict=True):
        np.testing.assert_allclose(blob.data, w, rtol=0, atol=rtol * np.abs(w).max())
    assert theirs[-1] < theirs[0]


def test_losses_of_the_first_steps(digits):
    compared(digits, 4, "float32", 1e-4)


@pytest.mark.slow
def test_losses_of_100_steps_on_smaller_minibatches(digits):
    (digits / WHERE / "lenet_train_test.prototxt").write_text(NET.replace("batch_size: 64", "batch_size: 8"))
    compared(digits, 100, "float64", 1e-12)


@pytest.mark.slow
def test_losses_of_100_steps_on_mnist(mnist_folder, tmp_path):
    write_mnist_databases(tmp_path / WHERE)
    written(tmp_path)
    compared(tmp_path, 100, "float64", 1e-12)
    # Single precision goes its own way once a rounding error has turned a ReLU or the winner of a window around.
    compared(tmp_path, 50, "float32", 1e-4)


@pytest.mark.slow
def test_1000_steps_on_mnist(mnist_folder, tmp_path):
    """97 % of the test pictures are right, and a solver that goes on from the middle has the same bits."""
    write_mnist_databases(tmp_path / WHERE)
    written(tmp_path)
    more = "random_seed: 5 test_iter: 100 test_interval: 1000"
    solver = solver_of(tmp_path, more)
    solver.step(500)
    path = solver.snapshot()
    solver.step(500)
    means = solver.test()
    print(means)
    assert means["accuracy"][0] >= 0.97
    resumed = solver_of(tmp_path, more.replace("5 test", "6 test", 1))
    resumed.restore(path)
    resumed.step(500)
    assert everything(resumed) == everything(solver)
    assert resumed.test() == means
