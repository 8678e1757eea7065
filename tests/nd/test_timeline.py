"""A timeline: calls and marks with their times, what they were given and gave."""

import time

import numpy as np
import pytest

import nd
from backends.reporting import Listening, StoppedClock
from nd.execution.executioner import add_listening, remove_listening
from nd.execution.recording import noted
from nd.execution.seen_arrays import ArrayKeeper
from nd.execution.timeline import Timeline, let_hear, name_of
from nd.state import state


@pytest.fixture
def numpy_backend():
    with nd.use_backend("numpy"):
        yield


@pytest.mark.usefixtures("numpy_backend")
def test_calls_and_marks_in_their_order():
    x = nd.ones(2, 3)
    with Timeline(ArrayKeeper(1 << 20)) as timeline:
        timeline.mark("begin", [("x", (x, {"y": x}))])
        y = nd.exp(x)
        nd.addi(y, 1.0)
    assert [event.name for event in timeline.events] == ["", "exp", "add"]
    mark, exp, add = timeline.events
    assert (mark.mark, [seen.name for seen in mark.inputs]) == ("begin", ["x[0]", "x[1].y"])
    assert 0 <= mark.ended <= exp.began <= exp.ended <= add.began <= add.ended <= timeline.seconds
    np.testing.assert_allclose(exp.outputs[0].values, np.e, rtol=1e-6)
    np.testing.assert_array_equal(add.inputs[0].values, exp.outputs[0].values)  # as it was before
    np.testing.assert_allclose(add.outputs[0].values, np.e + 1, rtol=1e-6)
    assert state.hears == ()


@pytest.mark.usefixtures("numpy_backend")
def test_looking_takes_no_time():
    x = nd.ones(3)

    def slow(array):
        time.sleep(0.05)
        return np.asarray(array)

    class Slow(ArrayKeeper):
        def seen(self, name, array, fetch):
            return super().seen(name, array, slow)

    began = time.perf_counter()
    with Timeline(Slow(1 << 20)) as timeline:
        for _ in range(3):
            nd.exp(x)
    assert timeline.seconds < time.perf_counter() - began - 0.25


@pytest.mark.usefixtures("numpy_backend")
def test_telling_others_of_a_call_takes_no_time():
    class Slow(Listening):
        def before(self, backend, name, arguments, named):
            time.sleep(0.05)

        def hear(self, call):
            time.sleep(0.05)

    x = nd.ones(3)
    began = time.perf_counter()
    add_listening(slow := Slow())
    try:
        with Timeline() as timeline:
            for _ in range(3):
                with StoppedClock(), StoppedClock():
                    time.sleep(0.02)
                nd.exp(x)
    finally:
        remove_listening(slow)
    assert timeline.seconds < time.perf_counter() - began - 3 * (2 * 0.05 + 0.02)
    times = [moment for event in timeline.events for moment in (event.began, event.ended)]
    assert times == sorted(times)
    assert times[0] >= 0
    assert times[-1] <= timeline.seconds


@pytest.mark.usefixtures("numpy_backend")
def test_a_block_that_raises_stops_listening():
    with pytest.raises(nd.ShapeError, match="gemm"), Timeline():
        nd.gemm(nd.ones(2, 3), nd.ones(2, 3))
    assert state.hears == ()


@pytest.mark.usefixtures("numpy_backend")
def test_calls_of_a_recording():
    x, said = nd.traceable(nd.create([1.0, 2.0])), []

    def run():
        y = nd.exp(x)
        noted(lambda: said.append(1))
        return nd.multiply(y, y)

    recording = nd.record(run)
    listening = [None]
    assert let_hear(recording, lambda: listening[0])
    recording.replay()
    with Timeline(ArrayKeeper(1 << 20)) as timeline:
        listening[0] = timeline
        recording.replay()
    listening[0] = None
    recording.replay()
    assert [event.name for event in timeline.events] == ["exp", "multiply"]
    assert len(said) == 4
    exp, multiply = timeline.events
    np.testing.assert_allclose(exp.outputs[0].values, np.exp([1.0, 2.0]), rtol=1e-6)
    np.testing.assert_allclose(multiply.outputs[0].values, np.exp([2.0, 4.0]), rtol=1e-6)


def test_names_of_calls():
    x = np.zeros(3)
    assert name_of(np.add.reduce) == "add.reduce"
    assert name_of(x.__setitem__) == "assign"
    assert name_of(np.multiply) == "multiply"
    assert name_of(x.dot) == "dot"
