"""Solver: trains a net of Caffe's, tests others meanwhile, and writes snapshots that go on to the same bits."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from nd import ConfigurationError, FormatError
from nd.arguments import Natural, checked
from nd.classes import ExplainedType
from nd.state import Restoring

from .configuration import Training
from .files import read_solver
from .net import Net
from .schema import Message, check_kind
from .snapshots import SavedState, read_state, write_state
from .solver_nets import net_to_train, nets_to_test
from .solving import log_lines
from .solving.commands import outputs_of
from .solving.history import Place, history_of, restore_history
from .solving.log_lines import Output
from .solving.rates import PolicyRate
from .solving.smoothing import SmoothedLoss
from .solving.updates import rule_for
from .text import parse_text
from .uncopied import Uncopied
from .upgrade import upgrade_solver

LOGGER = logging.getLogger(__name__)
HDF5 = 0  # SolverParameter.SnapshotFormat
NO_NORM = 1e-30  # stands for clip_gradients of 0, so that a gradient of zeros is not divided by its norm


@checked
def get_solver(source: Any, *, dtype: str = "float32", folder: str | os.PathLike[str] = "") -> Solver:
    """Return the solver that a file describes, of any of the six types.

    Parameters
    ----------
    source : path, text of a prototxt, or SolverParameter
        A text has a brace in it, or a colon before a space.
    dtype : {"float32", "float64"}
    folder : path
        From which files are named that it and its nets read; Caffe's is the working directory.

    Raises
    ------
    FileNotFoundError, FormatError
        As `read_solver`.
    ConfigurationError, ChoiceError, ShapeError
        A setting cannot be, or a net.
    """
    return Solver(_message_of(source), dtype=dtype, folder=folder)


def _message_of(source: Any) -> Message:
    if isinstance(source, str) and ("{" in source or ": " in source):
        return upgrade_solver(parse_text(source, "SolverParameter"))
    if isinstance(source, (str, os.PathLike)) or hasattr(source, "read"):
        return read_solver(source)
    check_kind("get_solver", source, "SolverParameter")
    return upgrade_solver(source)


class Solver(Uncopied, metaclass=ExplainedType):
    """Caffe's solver.

    Parameters
    ----------
    param : SolverParameter
        Of the newest schema.
    dtype : {"float32", "float64"}
    folder : path

    Attributes
    ----------
    param : SolverParameter
    net : Net
        That is trained.
    test_nets : list of Net
        They use its parameters.

    Notes
    -----
    A step is the one that all networks have: recorded, by all workers. The gradient is cut, divided by `iter_size`,
    regularised, and becomes the update. Source: BVLC Caffe, solver.cpp, sgd_solver.cpp. Differs: a loss or gradient
    that is not finite raises NumericError, with everything as it was; the backend decides on what is computed, not
    `solver_mode`; the norm that `clip_gradients` sees is that of the divided gradient, against a norm divided likewise.
    """

    instead = "Write a snapshot, and restore another solver from it."

    @checked
    def __init__(self, param: Message, *, dtype: str = "float32", folder: str | os.PathLike[str] = "") -> None:
        check_kind("Solver", param, "SolverParameter")
        self.param, self._folder = param, folder
        if param.iter_size < 1:
            raise ConfigurationError(f"solver: iter_size must be >= 1, got {param.iter_size}.")
        self._rate = PolicyRate.of(param)
        clip = max(param.clip_gradients, NO_NORM) / param.iter_size if param.clip_gradients >= 0.0 else None
        seed = param.random_seed if param.random_seed >= 0 else None
        training = Training(partial(rule_for, param), clip)
        settings: dict[str, Any] = {"dtype": dtype, "folder": folder}
        self.net = Net(net_to_train(param, folder), seed=seed, training=training, **settings)
        self.test_nets = [Net(message, seed=seed, **settings) for message in nets_to_test(param, folder)]
        for net in self.test_nets:
            net.share_with(self.net)
        if param.debug_info:
            self.net.debug_info = True
        self._on_start: list[Callable[[], object]] = []
        self._on_gradients: list[Callable[[], object]] = []
        self._action: Callable[[], str] = lambda: "none"
        self._stopped = False
        for path in (path for weights in param.weights for path in weights.split(",")):
            for net in (self.net, *self.test_nets):
                net.copy_from(path.strip())

    # ---- as pycaffe has it

    @property
    def iter(self) -> int:
        """Updates that were made."""
        return self.net.network.iteration_count

    @property
    def max_iter(self) -> int:
        """Updates that `solve` makes."""
        return int(self.param.max_iter)

    @property
    def type(self) -> str:
        """``"SGD"``, ``"Nesterov"``, ``"AdaGrad"``, ``"RMSProp"``, ``"AdaDelta"`` or ``"Adam"``."""
        return str(self.param.type)

    @property
    def lr(self) -> float:
        """The learning rate of the next update, before multipliers."""
        return self._rate.value_at(self.iter, 0)

    @checked
    def add_callback(self, on_start: Callable[[], object], on_gradients_ready: Callable[[], object]) -> None:
        """Have functions called before every iteration computes, and between gradient and update."""
        self._on_start.append(on_start)
        self._on_gradients.append(on_gradients_ready)

    @checked
    def set_action_function(self, function: Callable[[], str]) -> None:
        """Have a function asked, after every update and before every test, for "none", "snapshot" or "stop"."""
        self._action = function

    @checked
    def step(self, n: Natural) -> float:
        """Take n steps; return the smoothed loss of the last one, NaN without any.

        Raises
        ------
        NumericError
            A loss or a gradient is not finite: parameters, history and count are as they were before that step.
        """
        param, start, self._stopped = self.param, self.iter, False
        smoothed = SmoothedLoss(param.average_loss, start)
        shown = start, time.perf_counter()
        for _ in range(n):
            with self.net.network.lock:  # other threads' steps come before or after
                number = self.iter
                if self._is_test_due(number):
                    self.test_all()
                if self._stopped:
                    break
                smoothed.add(self._take(), number)
                if param.display and number % param.display == 0:
                    shown = self._display(number, smoothed.value, *shown)
                self._act(self._action())
                if self._stopped:
                    break
                if param.snapshot and self.iter % param.snapshot == 0:
                    self.snapshot()
        self.net.network.updater.guard.check(self.net.network)
        return smoothed.value if self.iter > start else float("nan")

    def _take(self) -> float:
        for function in self._on_start:
            function()
        loss, _ = self.net.steps.take(self.param.iter_size, self._gradients_ready if self._on_gradients else None)
        return loss

    def _gradients_ready(self, result: Any) -> None:
        result.gradient()
        for function in self._on_gradients:
            function()

    def _is_test_due(self, number: int) -> bool:
        every = self.param.test_interval
        return every > 0 and number % every == 0 and (number > 0 or self.param.test_initialization)

    def _act(self, action: str) -> None:
        if action == "snapshot":
            self.snapshot()
        self._stopped = self._stopped or action == "stop"

    def _display(self, number: int, loss: float, since: int, began: float) -> tuple[int, float]:
        """Log an iteration; return its number and the time, from which the next line counts."""
        now = time.perf_counter()
        LOGGER.info("%s", log_lines.iteration(number, loss, number - since, now - began, self.param.display))
        _say(log_lines.train_outputs(outputs_of(self.net)))
        LOGGER.info("%s", log_lines.learning_rate(number, self._rate.value_at(number, 0)))
        return number, now

    def solve(self, resume_file: str | os.PathLike[str] | None = None) -> None:
        """Take steps up to `max_iter`, with tests and snapshots as the file says, perhaps from a snapshot on."""
        param = self.param
        _say(log_lines.solving(self.net.name, param.lr_policy))
        if param.solver_mode == 1:
            LOGGER.info("solver_mode is GPU; the backend that computes is %s.", self.net.network.backend.name)
        if resume_file is not None:
            self.restore(resume_file)
        self._stopped, began_at = False, self.iter
        self.step(max(0, self.max_iter - self.iter))
        if param.snapshot_after_train and (not param.snapshot or self.iter % param.snapshot != 0):
            self.snapshot()
        if self._stopped:
            LOGGER.info(log_lines.STOPPED)
            return
        if param.display and self.iter % param.display == 0 and self.iter > began_at:
            loss = self.net.forward_from_to(0, len(self.net.layers) - 1)
            LOGGER.info("%s", log_lines.last_iteration(self.iter, loss))
        if param.test_interval and self.iter % param.test_interval == 0:
            self.test_all()

    def apply_update(self) -> None:
        """Make one update with the diffs of the parameters as they are, and count it."""
        self.net.network.apply_update(self.param.iter_size)

    # ---- tests

    def test_all(self) -> None:
        """Test all nets."""
        self._stopped = False
        for number in range(len(self.test_nets)):
            if not self._stopped:
                self.test(number)

    @checked
    def test(self, number: Natural = 0) -> dict[str, Any]:
        """Test a net on `test_iter` minibatches; return the means of its outputs by name, lists of numbers.

        Raises ConfigurationError where there is no such test net.
        """
        if number >= len(self.test_nets):
            raise ConfigurationError(f"test: the net must be below {len(self.test_nets)}, the test nets, got {number}.")
        LOGGER.info("%s", log_lines.testing(self.iter, number))
        net, loss, self._stopped = self.test_nets[number], 0.0, False
        sums: list[Output] = []
        count = self.param.test_iter[number]
        for _ in range(count):
            self._act(self._action())
            if self._stopped:
                LOGGER.info(log_lines.INTERRUPTED)
                return {}
            with self.net.network.lock:  # whose parameters these are
                loss += net.forward_from_to(0, len(net.layers) - 1)
                outputs = outputs_of(net)
            sums = [_added(*pair) for pair in zip(sums, outputs, strict=True)] if sums else outputs
        means = [one._replace(values=[value / count for value in one.values]) for one in sums]
        if self.param.test_compute_loss:
            LOGGER.info("%s", log_lines.test_loss(loss / count))
        _say(log_lines.test_outputs(means))
        return {one.name: list(one.values) for one in means}

    # ---- snapshots

    def snapshot(self) -> str:
        """Write weights and state beside one another; return the name of the state's file.

        Names are `snapshot_prefix`, ``_iter_``, the count, and ``.caffemodel`` and ``.solverstate``, in HDF5 with
        ``.h5`` behind them.
        """
        hdf5 = self.param.snapshot_format == HDF5
        network = self.net.network
        with network.lock:  # both files are of one count
            stem, ending = f"{self.param.snapshot_prefix}_iter_{self.iter}", ".h5" if hdf5 else ""
            learned = f"{stem}.caffemodel{ending}"
            weights, target = (os.path.join(self._folder, name) for name in (learned, f"{stem}.solverstate{ending}"))
            LOGGER.info("%s", log_lines.snapshotting(weights, False, hdf5))
            self.net.save(weights, self.param.snapshot_diff)
            LOGGER.info("%s", log_lines.snapshotting(target, True, hdf5))
            write_state(self._state(learned), target)
        return target

    def _state(self, learned_net: str) -> SavedState:
        network = self.net.network
        with Restoring(), network.engine.on_backend():
            network.updater.guard.settle(network)
            history = history_of(network.updater, self._places(), self.type)
            current = self._rate.current_step(self.iter - 1) if self.iter else 0
            return SavedState(self.iter, learned_net, current, history, self._readers_state())

    @checked
    def restore(self, source: str | os.PathLike[str]) -> None:
        """Go on from a snapshot, to the same bits as without the stop.

        Of Caffe's own snapshots data begin anew: their files do not say where readers stood.

        Raises
        ------
        FileNotFoundError, FormatError
            As `read_state` and `read_weights`; or the state is another solver's. Nothing has changed then.
        """
        LOGGER.info("%s", log_lines.restoring(str(source)))
        state, network = read_state(source), self.net.network
        with network.lock, Restoring(), network.engine.on_backend():
            before = network.updater.saved(), network.iteration_count, self._readers_state()
            try:
                if state.learned_net:
                    self.net.copy_from(os.path.join(self._folder, state.learned_net))
                restore_history(network.updater, self._places(), self.type, state.history, str(source))
                if state.extra:
                    self._restore_readers(state.extra, str(source))
                network.iteration_count = state.iter
            except BaseException:
                vectors, network.iteration_count, readers = before
                network.updater.restore(vectors)
                self._restore_readers(readers, str(source))
                raise

    def _places(self) -> list[Place]:
        layout = self.net.network.engine.vectors.layout
        return [Place(view.start, view.stop, view.spec.shape) for view in layout.views]

    def _nets(self) -> Sequence[Net]:
        return [self.net, *self.test_nets]

    def _readers_state(self) -> bytes:
        """Return where generators and readers of all nets stand."""
        states = [
            {"random": list(net.random.get_state()), "data": [layer.get_state() for layer in net.data_layers]}
            for net in self._nets()
        ]
        return json.dumps(states).encode()

    def _restore_readers(self, extra: bytes, who: str) -> None:
        try:
            states = json.loads(extra)
            for net, state in zip(self._nets(), states, strict=True):
                net.random.set_state(tuple(state["random"]))
                for layer, its_own in zip(net.data_layers, state["data"], strict=True):
                    layer.set_state(its_own)
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise FormatError(f"{who}: where readers stood cannot be read, got {error!r}. Is it damaged?") from error


def _say(lines: Any) -> None:
    for line in lines:
        LOGGER.info("%s", line)


def _added(one: Output, other: Output) -> Output:
    return one._replace(values=[a + b for a, b in zip(one.values, other.values, strict=True)])
