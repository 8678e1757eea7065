"""How a network divides minibatches among workers, and what it has recorded."""

import nd
from backends.cpu import numpy_backend
from nn.step.worker import StepInput


def workers_of(net, shape, training=True):
    """Return for each worker the parts of features of that shape that it computes."""
    computer = net.engine.gradients if training else net.engine.outputs
    with nd.use_backend(net.backend):
        features = nd.create_uninitialized(*shape, dtype="uint8")
        return [list(parts) for parts in computer.plans.of(StepInput((features,))).workers]


def split_small_minibatches(monkeypatch):
    """Make every minibatch of two examples worth splitting on NumPy, whatever the network computes."""
    for name, value in (
        ("LEAST_MULTIPLICATIONS", -1),
        ("LEAST_PER_STEP", 0),
        ("LEAST_PER_MEETING", 0),
        ("MULTIPLICATIONS_PER_PARAMETER", 0),
        ("LEAST_EXAMPLES", 2),
        ("DENSE", -1),
        ("TILE_BYTES", 1),
        ("VECTOR", 1),
    ):
        monkeypatch.setattr(numpy_backend, name, value)


def recorded(computer):
    """Return how many recordings each worker has."""
    return [len(worker.recordings) for worker in computer.workers]


def recorded_updates(updater):
    """Return how many recordings each worker of an update has."""
    return [len(recordings) for recordings in updater.recordings]


def replanned(backend, **changes):
    """Return a backend's plan of updates with some of its fields changed."""
    plan = backend.plan_update
    return lambda length: plan(length)._replace(**changes)
