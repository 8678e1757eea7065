"""Everything that looks at training without taking part in it: alone, all at once, now and then."""

import contextlib
from collections import Counter
from typing import NamedTuple

import numpy as np

import nd
import optimize
from nd.evaluation import RegressionEvaluation
from optimize import Listener
from optimize.api import AROUND_NODES

STEPS, CHUNK = 20, 5


class AroundNodes(Listener):
    """Counts the calls around nodes, and writes over all that it is shown."""

    def __init__(self):
        self.heard = Counter()

    def _hear(self, hook, name, arrays):
        self.heard[hook, name] += 1
        for array in (*arrays.inputs, *arrays.outputs):
            if array is not None:
                nd.fill(array, np.nan)

    def before_forward(self, model, name, arrays):
        self._hear("before_forward", name, arrays)

    def after_forward(self, model, name, arrays):
        self._hear("after_forward", name, arrays)

    def before_backward(self, model, name, arrays):
        self._hear("before_backward", name, arrays)

    def after_backward(self, model, name, arrays):
        self._hear("after_backward", name, arrays)

    def check(self, net):
        """Assert that every node was called, equally often."""
        names = net.topological_order()[len(net.conf.inputs) :] if hasattr(net.conf, "vertices") else net.layer_names
        assert set(self.heard) == {(hook, name) for hook in AROUND_NODES for name in names}
        assert len(set(self.heard.values())) == 1


LISTENERS = {
    "CheckpointListener": lambda folder, data: {
        "folder": folder / "checkpoints", "save_every_n_iterations": 4, "keep_last": 1,
    },
    "CollectScoresListener": lambda folder, data: {},
    "EvaluativeListener": lambda folder, data: {"data": data, "frequency": 3, "evaluations": [RegressionEvaluation]},
    "HtmlReportListener": lambda folder, data: {"path": folder / "report.html", "frequency": 2},
    "NanListener": lambda folder, data: {},
    "PerformanceListener": lambda folder, data: {"frequency": 3, "report_score": True},
    "ProgressBarListener": lambda folder, data: {"score_frequency": 2},
    "ScoreIterationListener": lambda folder, data: {"print_iterations": 2},
    "StatisticsListener": lambda folder, data: {"frequency": 2},
    "TensorBoardListener": lambda folder, data: {"log_dir": folder / "board", "frequency": 2, "histogram_frequency": 5},
    "TimeIterationListener": lambda folder, data: {"total_iterations": 20},
}  # fmt: skip
"""Name in `optimize` -> its arguments."""
OTHERS = {"ComposableIterationListener": "all of them are in one", "ReduceLearningRateOnPlateau": "it takes part"}


def every_listener(net, folder, data):
    """Return all listeners of the library that only look; labels of another form than outputs are not evaluated."""
    features, labels = data.multi.features, data.multi.labels
    outputs = (
        net.output(*features, features_masks=list(data.multi.features_masks) or None)
        if hasattr(net.conf, "vertices")
        else [net.output(*features)]
    )
    alike = [tuple(one.shape) for one in outputs] == [tuple(one.shape) for one in labels]
    names = [name for name in LISTENERS if alike or name != "EvaluativeListener"]
    return [getattr(optimize, name)(**LISTENERS[name](folder, data)) for name in names]


class Looking(NamedTuple):
    """What is there to look with."""

    net: object
    folder: object
    data: object
    around: AroundNodes


@contextlib.contextmanager
def listening(looking):
    """All listeners of the library, in one."""
    several = every_listener(looking.net, looking.folder, looking.data)
    looking.net.add_listeners(optimize.ComposableIterationListener(*several))
    yield


@contextlib.contextmanager
def around_nodes(looking):
    looking.net.add_listeners(looking.around)
    yield


@contextlib.contextmanager
def hooked(looking):
    """A hook hears every op."""
    heard = []
    nd.add_hook(heard.append)
    try:
        yield
    finally:
        nd.remove_hook(heard.append)
    assert heard


@contextlib.contextmanager
def eager(looking):
    with nd.eager():
        yield


@contextlib.contextmanager
def keeping(looking):
    """Activations and epsilons of all nodes are kept."""
    net = looking.net
    names = range(len(net.layers)) if hasattr(net, "feed_forward_to_layer") else list(net.conf.vertices)
    net.keep(*names)
    yield
    net.keep()


@contextlib.contextmanager
def traced(looking):
    """A step is traced before the first of all, and in the middle: a trace takes many."""
    if looking.net.iteration_count % (STEPS // 2) == 0:
        assert looking.net.trace(looking.data).ops
    yield


WAYS_OF_LOOKING = {
    "around nodes": around_nodes, "eager": eager, "hook": hooked, "keep": keeping, "listeners": listening,
    "trace": traced,
}  # fmt: skip
"""Name -> context manager, given a `Looking`. Each is one more that changes nothing."""


def trained(make, batches, ways, folder):
    """Train a new network for 20 steps, five at a time, looked at in `ways(number)` of the chunk; return what is left.

    That is parameters, updater state and score after every chunk, and the generator's state at the end.
    """
    net, after, around = make(), [], AroundNodes()
    net.random.set_seed(5)
    for number in range(STEPS // CHUNK):
        net.set_listeners()
        chunk = [batches[step % len(batches)] for step in range(number * CHUNK, (number + 1) * CHUNK)]
        looking = Looking(net, folder, batches[0], around)
        with contextlib.ExitStack() as stack:
            for way in ways(number):
                stack.enter_context(WAYS_OF_LOOKING[way](looking))
            net.fit(chunk)
        vectors = [nd.to_host(nd.copy(vector)) for vector in (net.params(), net.updater_state())]
        after.append([*vectors, np.float64(net.score())])
    if around.heard:
        around.check(net)
    return after, net.random.get_state()


def assert_looking_changes_nothing(make, batches, folder, alone=False):
    """Assert that all bits are those of training that nobody looks at.

    Looked at are all steps in all ways at once, steps in ways that change all the time, and with `alone` all steps in
    each way by itself.
    """
    rng, names = np.random.default_rng(7), list(WAYS_OF_LOOKING)
    some = [[name for name in names if rng.integers(0, 2)] for _ in range(STEPS // CHUNK)]
    runs = {"all": lambda number: names, "now and then": lambda number: some[number]}
    if alone:
        runs |= {name: lambda number, name=name: [name] for name in names}
    expected, drawn = trained(make, batches, lambda number: [], folder)
    for run, ways in runs.items():
        found, state = trained(make, batches, ways, folder)
        for number, (mine, theirs) in enumerate(zip(found, expected, strict=True)):
            for what, one, other in zip(("parameters", "updater state", "score"), mine, theirs, strict=True):
                np.testing.assert_array_equal(one, other, err_msg=f"{run}: {what} after chunk {number}")
        assert state == drawn, run
