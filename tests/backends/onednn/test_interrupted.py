"""SIGINT at random moments of fit with convolution, batch normalisation, LSTM: no hang, and training goes on."""

import random
import signal
import time

import numpy as np
import pytest

import nd
from backends.cpu.numpy_backend import NumpyBackend
from nd.dataset import MultiDataSet
from nn import (
    LSTM,
    BatchNormalization,
    ComputationGraph,
    Convolution1DLayer,
    InputType,
    NeuralNetConfiguration,
    RnnOutputLayer,
)
from optimize import Nesterovs
from tests.nn.step.test_interrupted_at_random import Alarm
from tests.sweeps import share

EPOCHS, LENGTH = 8, 12
PATIENCE = 30  # seconds


def network(threads):
    layers = {
        "conv": (Convolution1DLayer(n_out=16, kernel_size=3, convolution_mode="same", activation="relu"), "x"),
        "norm": (BatchNormalization(), "conv"),
        "lstm": (LSTM(n_out=16, activation="tanh"), "norm"),
        "out": (RnnOutputLayer(n_out=3, activation="softmax"), "lstm"),
    }
    conf = NeuralNetConfiguration(seed=5, updater=Nesterovs(learning_rate=0.05)).graph(
        inputs={"x": InputType.recurrent(16, LENGTH)}, nodes=layers, outputs="out"
    )
    with nd.use_backend(NumpyBackend(threads)):
        return ComputationGraph(conf).init()


def batches():
    rng = np.random.default_rng(6)
    labels = np.eye(3)[rng.integers(0, 3, (24, LENGTH))].transpose(0, 2, 1)
    return MultiDataSet([rng.normal(size=(24, 16, LENGTH))], [labels.copy()])


def seconds_of_fit(net, given):
    began = time.perf_counter()
    net.fit(given, epochs=EPOCHS)
    return time.perf_counter() - began


def vectors(net):
    return nd.to_host(net.params()).tobytes(), nd.to_host(net.updater_state()).tobytes()


def interrupted(net, given, after):
    """Fit, with a SIGINT after some seconds; tell whether one was sent, and whether KeyboardInterrupt came out."""

    def work(alarm):
        alarm.after(after)
        net.fit(given, epochs=EPOCHS)

    alarm = Alarm()
    error = alarm.interrupting(work)
    return alarm.sent, error is not None


def states(given, threads):
    """Return the parameters and updater state of a run that is not interrupted after each step."""
    net = network(threads)
    found = [vectors(net)]
    for _ in range(EPOCHS + 1):
        net.fit(given)
        found.append(vectors(net))
    return found


def check(count, threads, onednn):
    rng, given = random.Random(7), batches()
    expected, lasts = states(given, threads), seconds_of_fit(network(threads), given)
    done, tries, before = 0, 0, onednn.omp_threads()
    while done < count:
        tries += 1
        assert tries < 20 * count + 200
        net, began = network(threads), time.perf_counter()
        sent, came = interrupted(net, given, rng.uniform(0.0, lasts * 1.1))
        if not came:
            lasts = min(lasts, time.perf_counter() - began)  # the first one had kernels to make
            assert not sent, "a SIGINT was lost"
            continue
        done += 1
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        assert onednn.omp_threads() == before
        assert vectors(net) == expected[net.iteration_count]
        net.fit(given)
        assert vectors(net) == expected[net.iteration_count]
    assert done == count


def test_4_interrupts(onednn):
    check(4, 2, onednn)


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
def test_100_interrupts(threads, onednn):
    """200 in all."""
    check(share(100), threads, onednn)
