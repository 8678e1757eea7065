"""The lines that Caffe's solver and command line log, from their numbers; programs that plot such logs read them.

Numbers have six digits, as C++ prints them: ``0.00992565``, ``1e-05``, ``4.84049e+09``. Source: BVLC Caffe, solver.cpp,
sgd_solver.cpp and caffe.cpp.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

DONE = "Optimization Done."
INTERRUPTED = "Test interrupted."
STARTING = "Starting Optimization"
STOPPED = "Optimization stopped early."


class Output(NamedTuple):
    """An output of a net, for a line of each of its numbers."""

    name: str
    """Of the blob."""
    values: Sequence[float]
    """In the order of its memory."""
    loss_weight: float = 0.0
    """0 for what is no loss."""


# ---- training


def solving(net: str, policy: str) -> Iterator[str]:
    """Yield the lines that begin a run; times in plots count from the first."""
    yield f"Solving {net}"
    yield f"Learning Rate Policy: {policy}"


def iteration(number: int, loss: float, since: int, seconds: float, display: int) -> str:
    """Return the line of an iteration in training.

    Parameters
    ----------
    number : int
        Of the iteration.
    loss : float
        Smoothed.
    since : int
        Iterations since the line before.
    seconds : float
        Since the line before.
    display : int
        Iterations between lines.
    """
    speed = since / (seconds or 1.0)
    return f"Iteration {number} ({speed:g} iter/s, {seconds:g}s/{display} iters), loss = {loss:g}"


def last_iteration(number: int, loss: float) -> str:
    """Return the line of the loss behind the last update."""
    return f"Iteration {number}, loss = {loss:g}"


def learning_rate(number: int, rate: float) -> str:
    """Return the line of an iteration's learning rate."""
    return f"Iteration {number}, lr = {rate:g}"


def multistep(number: int, step: int) -> str:
    """Return the line of an iteration in which a step of the rate is counted."""
    return f"MultiStep Status: Iteration {number}, step = {step}"


def clipping(norm: float, most: float) -> str:
    """Return the line of a gradient whose Euclidean norm is larger than it may be."""
    return f"Gradient clipping: scaling down gradients (L2 norm {norm:g} > {most:g}) by scale factor {most / norm:g}"


def train_outputs(outputs: Iterable[Output]) -> Iterator[str]:
    """Yield a line for each number of a training net's outputs."""
    return _numbered("Train", outputs)


# ---- testing


def testing(number: int, net: int) -> str:
    """Return the line that begins the test of a net in an iteration of training."""
    return f"Iteration {number}, Testing net (#{net})"


def test_loss(loss: float) -> str:
    """Return the line of a test net's mean loss."""
    return f"Test loss: {loss:g}"


def test_outputs(outputs: Iterable[Output]) -> Iterator[str]:
    """Yield a line for each number of a test net's outputs, which are means over its iterations."""
    return _numbered("Test", outputs)


# ---- snapshots


def snapshotting(path: str, is_state: bool, is_hdf5: bool) -> str:
    """Return the line of a file of weights, or of a solver's state, that is written now."""
    return f"Snapshotting {'solver state ' * is_state}to {'HDF5' if is_hdf5 else 'binary proto'} file {path}"


def resuming(path: str) -> str:
    """Return the line of the command line where training goes on from a state."""
    return f"Resuming from {path}"


def restoring(path: str) -> str:
    """Return the line of a solver that is given a state to go on from."""
    return f"Restoring previous solver status from {path}"


def finetuning(path: str) -> str:
    """Return the line of weights that training begins with."""
    return f"Finetuning from {path}"


# ---- the commands test and time


def running(iterations: int) -> str:
    """Return the line that begins the command test."""
    return f"Running for {iterations} iterations."


def batch(number: int, outputs: Iterable[Output]) -> Iterator[str]:
    """Yield a line for each number of the outputs of one iteration."""
    for output in outputs:
        for value in output.values:
            yield f"Batch {number}, {output.name} = {value:g}"


def means(loss: float, outputs: Iterable[Output]) -> Iterator[str]:
    """Yield the lines of the mean loss, and of the mean of each number of the outputs."""
    yield f"Loss: {loss:g}"
    yield from _plain(outputs)


def layer_times(name: str, forward: float, backward: float) -> Iterator[str]:
    """Yield the lines of a layer's mean times in milliseconds."""
    yield f"{name:>10}\tforward: {forward:g} ms."
    yield f"{name:>10}\tbackward: {backward:g} ms."


def timed_iteration(number: int, milliseconds: float) -> str:
    """Return the line of a timed iteration, counted from 1."""
    return f"Iteration: {number} forward-backward time: {milliseconds:g} ms."


def total_times(forward: float, backward: float, total: float, iterations: int) -> Iterator[str]:
    """Yield the lines that end the command time: sums of milliseconds over all iterations, of which they say means."""
    yield f"Average Forward pass: {forward / iterations:g} ms."
    yield f"Average Backward pass: {backward / iterations:g} ms."
    yield f"Average Forward-Backward: {total / iterations:g} ms."
    yield f"Total Time: {total:g} ms."
    yield "*** Benchmark ends ***"


def _numbered(phase: str, outputs: Iterable[Output]) -> Iterator[str]:
    for number, line in enumerate(_plain(outputs)):
        yield f"    {phase} net output #{number}: {line}"


def _plain(outputs: Iterable[Output]) -> Iterator[str]:
    for name, values, weight in outputs:
        for value in values:
            yield f"{name} = {value:g}" + (f" (* {weight:g} = {weight * value:g} loss)" if weight else "")
