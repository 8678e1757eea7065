"""SIGINT at random moments of fit: always KeyboardInterrupt, and a network that stands between two steps."""

import functools
import gc
import random
import signal
import time
import traceback

import numpy as np
import pytest

from nn import MultiLayerNetwork
from optimize import Listener
from tests.nn.step.test_interrupted import KINDS, everything, threads
from tests.nn.step.test_interrupted import interrupted as interrupted_at
from tests.sweeps import share

EPOCHS = 10
BEGINNING = 3e-3  # seconds
SEED = 20261123
STEPWISE = [kind for kind in KINDS if kind.startswith("sgd")]
WHEN = ("beginning", "update", "anywhere")


def network(kind):
    return MultiLayerNetwork(KINDS[kind][0]()).init()


def data(kind):
    return KINDS[kind][1]()


def vectors(net):
    """Return parameters, updater state, generator and the number of steps."""
    params, state, generator, iteration, _ = everything(net)
    return params, state, generator, iteration


@functools.cache
def seconds_of_fit(kind):
    """Return how long fit takes when it is not the first in the process."""
    network(kind).fit(data(kind), epochs=EPOCHS)
    net, began = network(kind), time.perf_counter()
    net.fit(data(kind), epochs=EPOCHS)
    return time.perf_counter() - began


class Stopping(Listener):
    """Ends training after a number of steps."""

    def __init__(self, steps):
        self.steps = steps

    def iteration_done(self, model, iteration, epoch):
        if model.iteration_count == self.steps:
            model.stop_training()


@functools.cache
def uninterrupted(kind):
    net = network(kind)
    net.fit(data(kind), epochs=EPOCHS)
    return everything(net)


@functools.cache
def stopped_between_steps(kind, steps):
    """Return what a network is that was stopped after so many steps, and what it is after another epoch."""
    net = network(kind)
    if steps:
        net.set_listeners(Stopping(steps))
        net.fit(data(kind), epochs=EPOCHS)
        net.set_listeners()
    before = vectors(net)
    net.fit(data(kind), epochs=1)
    return before, vectors(net)


class Alarm:
    """Sends this process SIGINT, once, after some time."""

    def __init__(self):
        self.sent = False

    def after(self, seconds):
        signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-6))

    def __call__(self, number, frame):
        self.sent = True
        signal.raise_signal(signal.SIGINT)

    def interrupting(self, work):
        """Return the KeyboardInterrupt that comes out of work(), or None; the alarm is off when this returns.

        It may come as `work` has just ended and the timer is stopped. Callbacks of gc's are off: Python swallows what
        is raised in one, and those that are there are hypothesis's.
        """
        before, callbacks = signal.signal(signal.SIGALRM, self), gc.callbacks[:]
        gc.callbacks.clear()
        try:
            try:
                work(self)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0.0)
        except KeyboardInterrupt as error:
            return error
        finally:
            signal.signal(signal.SIGALRM, before)
            gc.callbacks.extend(callbacks)


def aim(alarm, net, kind, when, rng):
    """Set the alarm: within the first milliseconds, within one of the updates, or anywhere."""
    if when == "beginning":
        alarm.after(rng.uniform(0.0, BEGINNING))
    elif when == "anywhere":
        alarm.after(rng.uniform(0.0, seconds_of_fit(kind)))
    else:
        steps = 3 * EPOCHS if kind != "sgd, one minibatch" else EPOCHS
        chosen, given, lasted = rng.randrange(steps), net.updater.update, [1e-4]

        def update(*arguments, **keywords):
            if net.iteration_count == chosen:
                alarm.after(rng.uniform(0.0, lasted[-1]))
            began = time.perf_counter()
            outcome = given(*arguments, **keywords)
            lasted.append(time.perf_counter() - began)
            return outcome

        net.updater.update = update


def interrupted(kind, when, rng):
    """Return the network, the alarm, and the names of the functions that KeyboardInterrupt went through."""
    net, given, alarm = network(kind), data(kind), Alarm()

    def work(alarm):
        aim(alarm, net, kind, when, rng)
        net.fit(given, epochs=EPOCHS)

    error = alarm.interrupting(work)
    vars(net.updater).pop("update", None)
    return net, alarm, [frame.name for frame in traceback.extract_tb(error.__traceback__)] if error else []


def faults(kind, net, path):
    """Yield what is wrong with a network whose fit was interrupted."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield "another handler of SIGINT is left"
    if threads():
        yield f"threads are left: {threads()}"
    net.save_checkpoint(path)
    found, stepwise = vectors(net), kind in STEPWISE
    before, after = stopped_between_steps(kind, net.iteration_count) if stepwise else (found, None)
    if found != before:
        yield "not what a run is that was stopped between two steps"
    resumed = MultiLayerNetwork.load_checkpoint(path)
    resumed.fit(data(kind), epochs=EPOCHS)
    if everything(resumed) != uninterrupted(kind):
        yield "what was saved does not continue like a run that was never stopped"
    net.fit(data(kind), epochs=1)
    if vectors(net) != after and stepwise:
        yield "it does not continue like a run that was stopped between two steps"
    if not np.isfinite(net.params()).all() or net.iteration_count <= found[3]:
        yield "it does not continue"


def check(kinds, count, path):
    """Interrupt so many calls of fit; return how many of them of each sort, and how many were in an update."""
    rng, wrong = random.Random(SEED), []
    told = dict.fromkeys((*WHEN, "in an update", "over before"), 0)
    while (done := sum(told[when] for when in WHEN)) < count:
        kind, when = kinds[rng.randrange(len(kinds))], WHEN[done % len(WHEN)]
        net, alarm, names = interrupted(kind, when, rng)
        if "fit" not in names:
            told["over before"] += 1
            wrong += [(kind, when, "a SIGINT was lost")] if alarm.sent and not names else []
            assert told["over before"] < 100 + count
            continue
        told[when] += 1
        told["in an update"] += "__exit__" in names and "_step" in names
        wrong += [(kind, when, net.iteration_count, names[-1], fault) for fault in faults(kind, net, path)]
    assert not wrong, "\n".join(map(str, wrong))
    return told


def test_an_alarm_goes_off_within_the_call_that_it_is_of():
    """Also where it comes as the work ends: a KeyboardInterrupt that went past would end pytest."""
    came = 0
    for turn in range(300):
        alarm = Alarm()
        error = alarm.interrupting(lambda alarm, turn=turn: (alarm.after(1e-6), sum(range(turn))))
        assert alarm.sent == (error is not None)
        came += alarm.sent
    assert came > 10
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0.0


def test_12_interrupts_at_random_moments(tmp_path):
    told = check(STEPWISE, 12, tmp_path / "checkpoint.zip")
    assert [told[when] for when in WHEN] == [4, 4, 4]
    assert told["in an update"] >= 1, told


@pytest.mark.slow
def test_at_every_line_before_the_first_step_the_network_may_be_fitted_again():
    network("sgd").fit(data("sgd"))  # what is made once is made
    stopped, lines = 0, 0
    while not stopped:
        lines += 1
        net = network("sgd")
        assert interrupted_at(net, data("sgd"), lines) is not None
        stopped = net.iteration_count
        net.fit(data("sgd"))
        assert net.iteration_count == stopped + 3
    assert lines > 100


@pytest.mark.slow
def test_500_interrupts_at_random_moments(tmp_path):
    told = check(list(KINDS), share(500), tmp_path / "checkpoint.zip")
    assert told["in an update"] >= share(500) // 10, told
    print(told)
