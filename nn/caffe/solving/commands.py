"""``python -m nn.caffe train|test|time|device_query``: Caffe's own command line, with its options and its log."""

from __future__ import annotations

import argparse
import logging
import time
from collections.abc import Callable, Iterator
from typing import Any

import nd
from nd import ConfigurationError

from ..files import read_solver
from . import log_lines
from .actions import ACTIONS, SignalActions
from .glog import logging_to_stderr
from .log_lines import Output

_LOG = logging.getLogger(__name__)


def run_train(arguments: argparse.Namespace) -> None:
    """Train what a solver says, from the start, from a snapshot, or from weights."""
    from ..solver import get_solver

    if arguments.snapshot and arguments.weights:
        raise ConfigurationError(
            f"train: expected --snapshot to go on from or --weights to begin with, got {arguments.snapshot!r} and "
            f"{arguments.weights!r}. Leave one out."
        )
    message = read_solver(arguments.solver)
    message.train_state.level = arguments.level
    message.train_state.stage.extend(_parts(arguments.stage))
    with logging_to_stderr(), SignalActions(arguments.sigint_effect, arguments.sighup_effect) as actions:
        _say_backend(arguments)
        solver = get_solver(message)
        solver.set_action_function(actions)
        if arguments.snapshot:
            _LOG.info(log_lines.resuming(arguments.snapshot))
            solver.restore(arguments.snapshot)
        for weights in _parts(arguments.weights):
            _LOG.info(log_lines.finetuning(weights))
            for net in (solver.net, *solver.test_nets):
                net.copy_from(weights)
        _LOG.info(log_lines.STARTING)
        solver.solve()
        _LOG.info(log_lines.DONE)


def run_test(arguments: argparse.Namespace) -> None:
    """Score a net with given weights: the mean of its outputs over minibatches of its own data layer."""
    from ..net import Net

    with logging_to_stderr():
        _say_backend(arguments)
        net = Net(
            arguments.model, arguments.weights, phase="TEST", level=arguments.level, stages=_parts(arguments.stage)
        )
        _LOG.info(log_lines.running(arguments.iterations))
        loss, sums = 0.0, list[Output]()
        for number in range(arguments.iterations):
            loss += net.forward_from_to(0, len(net.layers) - 1)
            outputs = outputs_of(net)
            _say(log_lines.batch(number, outputs))
            sums = [_added(*pair) for pair in zip(sums, outputs, strict=True)] if sums else outputs
        count = arguments.iterations
        means = [one._replace(values=[value / count for value in one.values]) for one in sums]
        _say(log_lines.means(loss / count, means))


def run_time(arguments: argparse.Namespace) -> None:
    """Measure how long each layer of a net takes, forward and backward."""
    from ..net import Net

    with logging_to_stderr():
        _say_backend(arguments)
        net = Net(arguments.model, phase=arguments.phase, level=arguments.level, stages=_parts(arguments.stage))
        last = len(net.layers) - 1
        _LOG.info("Performing Forward")
        _LOG.info("Initial loss: %g", net.forward_from_to(0, last))
        _LOG.info("Performing Backward")
        net.backward()
        _LOG.info("*** Benchmark begins ***")
        _LOG.info("Testing for %d iterations.", arguments.iterations)
        begun = _now()
        forward, backward = [0.0] * (last + 1), [0.0] * (last + 1)
        for number in range(arguments.iterations):
            start = _now()
            for at in range(last + 1):
                forward[at] += _timed(net.forward_from_to, at)
            for at in range(last, -1, -1):
                backward[at] += _timed(net.backward_from_to, at)
            _LOG.info(log_lines.timed_iteration(number + 1, _now() - start))
        total, count = _now() - begun, arguments.iterations
        _LOG.info("Average time per layer: ")
        for name, *times in zip(net.layer_names, forward, backward, strict=True):
            _say(log_lines.layer_times(name, times[0] / count, times[1] / count))
        _say(log_lines.total_times(sum(forward), sum(backward), total, count))


def run_device_query(arguments: argparse.Namespace) -> str:
    """Return facts about the backend that arrays are on."""
    backend = nd.backend()
    facts = backend.describe()
    width = max(map(len, facts), default=0)
    lines = [f"backend {backend.name}", *(f"  {fact:<{width}}  {value}" for fact, value in facts.items())]
    if arguments.gpu:
        lines.append(_ignored(arguments.gpu))
    return "\n".join(lines)


def outputs_of(net: Any) -> list[Output]:
    """Return the outputs of a net's last pass, with their loss weights."""
    weights = net.blob_loss_weights
    return [
        Output(name, nd.to_host(nd.reshape(net.blobs[name].data, (-1,))).tolist(), weights.get(name, 0.0))
        for name in net.outputs
    ]


def add_commands(commands: Any) -> None:
    """Declare the four commands among those of a parser, with Caffe's options, ``-gpu`` as well as ``--gpu``."""
    command = commands.add_parser("train", help="Train or finetune a net by its solver.")
    _add(command, "solver", required=True, metavar="PROTOTXT", help="the solver")
    _add(command, "snapshot", default="", metavar="SOLVERSTATE", help="the state to go on from")
    _add(
        command, "weights", default="", metavar="CAFFEMODEL,...", help="weights to begin with, copied one after another"
    )
    for name, default in (("sigint", "stop"), ("sighup", "snapshot")):
        said = f"what {name.upper()} does: {', '.join(ACTIONS)}; by default %(default)s"
        _add(command, f"{name}_effect", default=default, choices=ACTIONS, help=said, metavar="ACTION")
    _add_common(command, run_train)
    command = commands.add_parser("test", help="Score a net with given weights.")
    _add(command, "model", required=True, metavar="PROTOTXT", help="the net")
    _add(command, "weights", required=True, metavar="CAFFEMODEL", help="its weights")
    _add_iterations(command)
    _add_common(command, run_test)
    command = commands.add_parser("time", help="Measure how long the layers of a net take.")
    _add(command, "model", required=True, metavar="PROTOTXT", help="the net")
    _add(command, "phase", default="TRAIN", choices=("TRAIN", "TEST"), help="TRAIN, the default, or TEST")
    _add_iterations(command)
    _add_common(command, run_time)
    command = commands.add_parser("device_query", help="Facts about the backend and its device.")
    _add(command, "gpu", default="", metavar="IDS", help="has no effect; ND_DEVICE selects a device")
    command.set_defaults(run=run_device_query)


def _add_common(command: argparse.ArgumentParser, run: Callable[[argparse.Namespace], None]) -> None:
    _add(command, "stage", default="", metavar="NAME,...", help="stages of the net's state, beside its own")
    _add(command, "level", default=0, type=int, help="level of the net's state, by default %(default)s")
    _add(command, "gpu", default="", metavar="IDS", help="has no effect; ND_BACKEND and ND_DEVICE select a device")
    command.set_defaults(run=run)


def _add_iterations(command: argparse.ArgumentParser) -> None:
    _add(command, "iterations", default=50, type=_positive, metavar="N", help="by default %(default)s")


def _add(command: argparse.ArgumentParser, name: str, **settings: Any) -> None:
    command.add_argument(f"--{name}", f"-{name}", **settings)


def _positive(text: str) -> int:
    if text.isdecimal() and text.isascii() and int(text) >= 1:
        return int(text)
    raise argparse.ArgumentTypeError(f"expected an integer >= 1, got {text!r}")


def _parts(text: str) -> list[str]:
    """Return what stands between the commas of an option."""
    return [part.strip() for part in text.split(",") if part.strip()]


def _say(lines: Iterator[str]) -> None:
    for line in lines:
        _LOG.info("%s", line)


def _say_backend(arguments: argparse.Namespace) -> None:
    _LOG.info("Use backend %s.", nd.backend().name)
    if arguments.gpu:
        _LOG.info(_ignored(arguments.gpu))


def _ignored(gpu: str) -> str:
    return f"Option --gpu {gpu} has no effect: ND_BACKEND and ND_DEVICE select where arrays are."


def _added(one: Output, other: Output) -> Output:
    values = [a + b for a, b in zip(one.values, other.values, strict=True)]
    return one._replace(values=values)


def _timed(run: Callable[[int, int], object], layer: int) -> float:
    """Return the milliseconds that a pass through one layer takes."""
    start = _now()
    run(layer, layer)
    return _now() - start


def _now() -> float:
    """Return the time in milliseconds, once the device has run everything before."""
    nd.synchronize()
    return 1e3 * time.perf_counter()
