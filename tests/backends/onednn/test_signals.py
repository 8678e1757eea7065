"""Signals that come while oneDNN computes: they leave memory as it is, in whatever thread they come."""

import os
import subprocess
import sys
import textwrap

import pytest

from backends.onednn import signal_stack
from tests.sweeps import share

PATIENCE = 300

PROGRAM = """
import ctypes, signal, sys, threading, time
import numpy as np
import nn
import optimize

def network(lstm):
    parts = nn.NeuralNetConfiguration.Builder().seed(1).updater(optimize.Sgd(0.01)).list()
    if lstm:
        parts.layer(nn.LSTM(n_out=256)).layer(nn.RnnOutputLayer(n_out=10)).set_input_type(nn.InputType.recurrent(64))
    else:
        parts.layer(nn.ConvolutionLayer(n_out=20, kernel_size=(5, 5))).layer(nn.SubsamplingLayer())
        parts.layer(nn.ConvolutionLayer(n_out=50, kernel_size=(5, 5))).layer(nn.SubsamplingLayer())
        parts.layer(nn.DenseLayer(n_out=500)).layer(nn.OutputLayer(n_out=10))
        parts.set_input_type(nn.InputType.convolutional(28, 28, 1))
    return nn.MultiLayerNetwork(parts.build()).init()

def passes(net, x, y, fits):
    for _ in range(int(sys.argv[4])):
        net.fit(x, y) if fits else net.output(x)

def many(target, *arguments):
    thread = threading.Thread(target=target, args=arguments)
    thread.start()
    while thread.is_alive():
        signal.pthread_kill(thread.ident, signal.SIGALRM)  # handled by the thread itself: C notes it there
        time.sleep(0.001)

signal.signal(signal.SIGALRM, lambda *_: None)
where, kind, fits = sys.argv[1], sys.argv[2] == "lstm", sys.argv[3] == "fit"
random = np.random.default_rng(1)
x = random.random((32, 64, 40) if kind else (32, 1, 28, 28), dtype=np.float32)
y = np.eye(10, dtype=np.float32)[random.integers(0, 10, (32, 40) if kind else 32)]
arguments = network(kind), x, y.transpose(0, 2, 1) if kind else y, fits
if where == "main":
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    passes(*arguments)
    signal.setitimer(signal.ITIMER_REAL, 0)
else:
    many(passes, *arguments)
    many(passes, *arguments)  # a second thread where the first had its memory
print("whole")
"""


def signalled(where, kind, does, passes):
    """Run a process without pytest's faulthandler, which gives the main thread such a stack."""
    environment = os.environ | {"ND_NUM_THREADS": "2", "PYTHONFAULTHANDLER": ""}
    command = [sys.executable, "-c", PROGRAM, where, kind, does, str(passes)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "whole\n"


@pytest.mark.parametrize(("where", "kind"), [("main", "lstm"), ("thread", "lenet")])
@pytest.mark.quick_rows("thread-lenet")
def test_a_signal_within_a_product_harms_nothing(where, kind):
    """Without a stack for signals each of these dies of a heap in ruins, on processors with AVX-512."""
    signalled(where, kind, "fit", passes=15)


@pytest.mark.slow
@pytest.mark.parametrize("where", ["main", "thread"])
@pytest.mark.parametrize("kind", ["lenet", "lstm"])
@pytest.mark.parametrize("does", ["fit", "output"])
def test_thousands_of_signals_harm_nothing(where, kind, does):
    signalled(where, kind, does, passes=share(300))


def test_a_stack_for_signals_is_given_once_to_each_thread_and_none_is_replaced():
    program = """
        import ctypes, threading
        from backends.onednn import signal_stack as the

        def found():
            stack = the._Stack()
            ctypes.CDLL(None).sigaltstack(None, ctypes.byref(stack))
            return stack.memory, stack.flags, stack.size

        def given():
            the.ensure_signal_stack()
            first = found()
            the.ensure_signal_stack()
            assert found() == first and first[1:] == (0, the._SIZE) and first[0]
            stacks.append(first[0])

        def has_one():
            own = ctypes.create_string_buffer(1 << 15)
            ctypes.CDLL(None).sigaltstack(ctypes.byref(the._Stack(ctypes.addressof(own), 0, 1 << 15)), None)
            the.ensure_signal_stack()
            assert found() == (ctypes.addressof(own), 0, 1 << 15)
            stacks.append(0)

        stacks = []
        given()
        for target in (given, has_one, given):
            thread = threading.Thread(target=target)
            thread.start()
            thread.join()
        assert len(stacks) == 4 and stacks[0] != stacks[1] and len(the._MEMORY) <= 3
    """
    environment = os.environ | {"PYTHONFAULTHANDLER": ""}
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], env=environment, check=False)
    assert done.returncode == 0


def test_where_there_is_no_onednn_nothing_is_asked_of_the_system(monkeypatch):
    """As in a process and thread that have not asked before."""
    monkeypatch.setattr(signal_stack.sys, "platform", "win32")
    monkeypatch.setattr(signal_stack, "_OF_THREAD", type("Fresh", (), {})())
    monkeypatch.setattr(signal_stack, "_give", None)
    signal_stack.ensure_signal_stack()
    assert signal_stack._OF_THREAD.has_stack
