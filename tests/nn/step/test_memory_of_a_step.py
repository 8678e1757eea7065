"""What a training step allocates once it has been run a few times."""

import importlib
import pathlib
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

import nd
from backends.cpu.numpy_backend import UFUNC_BUFFER, NumpyBackend
from nd.dataset import DataSet
from nn import (
    BatchNormalization,
    ComputationGraph,
    ComputationGraphConfiguration,
    ConvolutionLayer,
    DenseLayer,
    InputType,
    LocalResponseNormalization,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    PReLULayer,
)
from optimize import Adam, Nesterovs

ROOT = pathlib.Path(__file__).parent.parent.parent.parent
LARGE = 64 * 1024  # bytes
RNG = np.random.default_rng(2)


def of_example(program, name, *arguments):
    sys.path.insert(0, str(ROOT / "examples"))
    try:
        return getattr(importlib.import_module(program), name)(*arguments)
    finally:
        sys.path.pop(0)


def perceptron(updater):
    layers = (DenseLayer(n_out=300, activation="relu"), OutputLayer(n_out=10, activation="softmax"))
    return NeuralNetConfiguration(seed=1, updater=updater, l2=1e-4).list(
        *layers, input_type=InputType.feed_forward(784)
    )


def normalised():
    layers = (
        ConvolutionLayer(n_out=8, kernel_size=3, activation="identity", has_bias=False),
        BatchNormalization(),
        PReLULayer(shared_axes=(2, 3)),
        LocalResponseNormalization(),
        OutputLayer(n_out=10, activation="softmax"),
    )
    return NeuralNetConfiguration(seed=1, updater=Nesterovs(learning_rate=0.01)).list(
        *layers, input_type=InputType.convolutional_flat(28, 28, 1)
    )


CONFIGURATIONS = {
    "LeNet": lambda: of_example("lenet_mnist", "lenet", 123),
    "LeNet as a graph": lambda: ComputationGraphConfiguration.of_chain(of_example("lenet_mnist", "lenet", 123)),
    "normalised": normalised,
    "perceptron, Nesterovs": lambda: perceptron(Nesterovs(learning_rate=0.01)),
    "perceptron, Adam": lambda: perceptron(Adam(0.01)),
    "residual": lambda: of_example("residual_digits", "residual", 123, 1000),
}


def minibatch(n, order="F"):
    x, y = RNG.random((n, 784), np.float32), np.eye(10, dtype=np.float32)[RNG.integers(0, 10, n)]
    return DataSet(np.array(x, order=order), np.array(y, order=order))


def largest_allocation(run):
    """Return the largest single block that Python and NumPy asked for while `run` ran, as far as its peak shows it.

    NumPy's ufuncs convert and align through buffers of a fixed size. They are not what is looked for, and how many
    there are depends on the BLAS: where that has one thread, a step runs outside of what makes them small.
    """
    before_buffers = np.setbufsize(UFUNC_BUFFER)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        run()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
        np.setbufsize(before_buffers)


def test_the_measurement_sees_a_large_array():
    assert largest_allocation(lambda: np.empty(LARGE, np.uint8).fill(1)) >= LARGE


@pytest.mark.parametrize("threads", [pytest.param(1, marks=pytest.mark.slow), 2])
@pytest.mark.parametrize("name", CONFIGURATIONS)
@pytest.mark.quick_rows("LeNet-2", "perceptron, Adam-2", "normalised-2")
def test_a_step_after_the_third_allocates_nothing_large(name, threads):
    with nd.use_backend(NumpyBackend(threads=threads)):
        conf = CONFIGURATIONS[name]()
        net = (ComputationGraph if isinstance(conf, ComputationGraphConfiguration) else MultiLayerNetwork)(conf).init()
        batches = [minibatch(64), minibatch(64), minibatch(64, "C")]
        for data in batches:
            net.fit_batch(data)
        for data in batches:
            assert largest_allocation(lambda data=data: net.fit_batch(data)) < LARGE


@pytest.mark.slow
def test_a_thousand_further_steps_take_no_memory():
    program = f"""
import resource, sys
import numpy as np
sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / "examples")!r}]
from lenet_mnist import lenet
import nd
from nd.dataset import DataSet
from nn import MultiLayerNetwork
nd.set_backend("numpy")
rng = np.random.default_rng(0)
net = MultiLayerNetwork(lenet(123)).init()
data = DataSet(rng.random((64, 784), np.float32), np.eye(10, dtype=np.float32)[rng.integers(0, 10, 64)])
for _ in range(20):
    net.fit_batch(data)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for _ in range(1000):
    net.fit_batch(data)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 1024  # KB
