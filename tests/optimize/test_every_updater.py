"""Every updater, over the rows of tests/cases/updaters.py."""

import ast
import pathlib
import tracemalloc
from dataclasses import asdict

import numpy as np
import pytest

import nd
from optimize import (
    AdaDelta,
    AdaGrad,
    Adam,
    L1Regularization,
    L2Regularization,
    MapSchedule,
    Nadam,
    NetworkUpdater,
    NoOp,
    RmsProp,
    Segment,
    Sgd,
    StepSchedule,
    Updater,
    WeightDecay,
    get_updater,
)
from optimize import updaters as package
from optimize.step import negative_gradient_step
from optimize.updaters import UPDATERS
from tests.cases.updaters import CASES
from tests.cells import every_row
from tests.stand_ins import TOLERANCE
from tests.step_plans import replanned
from tests.updates import run_update

NAMES = sorted(CASES)
HANDS = [pytest.param(hand, id=f"{name}-{n}") for name in NAMES for n, hand in enumerate(CASES[name].hands)]
EXAMS = [pytest.param(*exam, id=f"{name}-{exam[0]}") for name in NAMES for exam in CASES[name].exam.items()]
NOT_UPDATERS = {"__init__", "base", "by_name"}

RNG = np.random.default_rng(7)
GRADIENTS = RNG.normal(size=(6, 23))
START = RNG.normal(size=(1, 23))
REGULARIZATION = (L1Regularization(0.01), L2Regularization(0.1))


class Bench:
    """A vector of parameters with its gradient and the updater over them."""

    def __init__(self, segments, start, dtype):
        self.params, self.gradient = nd.create(start, dtype), nd.zeros(start.shape, dtype=dtype)
        self.updater = NetworkUpdater(segments, self.params, self.gradient)

    def run(self, gradients, first_iteration=0):
        for iteration, gradient in enumerate(gradients, first_iteration):
            self.step(gradient, iteration, epoch=0)
        return self

    def step(self, gradient, iteration, epoch):
        nd.assign(self.gradient, nd.create(np.asarray(gradient)[None]))
        run_update(self.updater, None, iteration, epoch, negative_gradient_step)

    @property
    def host(self):
        """Parameters and state, as numpy copies."""
        return np.array(nd.to_host(self.params)), np.array(nd.to_host(self.updater.state))


def whole(updater, start=START):
    return [Segment(0, start.shape[1], updater)]


def test_table_cases_and_files_are_the_same():
    folder = pathlib.Path(package.__file__).parent
    files = {path.stem for path in folder.glob("*.py")} - NOT_UPDATERS
    assert set(UPDATERS) == set(CASES) == files
    for name, kind in UPDATERS.items():
        tree = ast.parse((folder / f"{name}.py").read_text())
        assert [node.name for node in tree.body if isinstance(node, ast.ClassDef)] == [kind.__name__]
        assert issubclass(kind, Updater)
        assert all(type(hand.updater) is kind for hand in CASES[name].hands)


@every_row("name", NAMES)
def test_every_case_is_complete(name):
    case = CASES[name]
    assert case.hands
    assert all(len(hand.gradients) == len(hand.updates) == 3 for hand in case.hands)
    assert set(case.exam) == (set() if case.exempt else {"parabola", "rosenbrock"})
    assert set(case.hands[0].state) == set(UPDATERS[name].state_names)


@every_row("name", NAMES)
def test_defaults_are_those_of_dl4j(name):
    assert asdict(get_updater(name)) == asdict(UPDATERS[name]()) == CASES[name].defaults


@every_row("name", NAMES)
def test_hyper_parameters_must_be_numbers_or_schedules(name):
    for field in CASES[name].defaults:
        with pytest.raises(nd.ArgumentError, match=rf"{field} must be a number .* got 'fast'"):
            UPDATERS[name](**{field: "fast"})


@every_row("name", NAMES)
def test_decays_are_in_0_to_1_and_epsilon_is_no_less_than_0(name):
    for field in CASES[name].defaults.keys() & {"beta1", "beta2", "momentum", "rho", "rms_decay"}:
        for value in (-0.1, 1.1):
            with pytest.raises(nd.ArgumentError, match=rf"{field} must be a number in 0\.\.1.*, got {value}"):
                UPDATERS[name](**{field: value})
    if "epsilon" in CASES[name].defaults:
        for value in (-1e-8, StepSchedule("epoch", 1.0, 0.5, 1)):
            with pytest.raises(nd.ConfigurationError, match="epsilon must be a number >= 0, got "):
                UPDATERS[name](epsilon=value)


def test_nadam_has_no_step_for_a_beta1_of_1():
    with pytest.raises(nd.ConfigurationError, match=r"Nadam: beta1 must be < 1, got 1\.0"):
        Nadam(beta1=1.0)


@pytest.mark.parametrize(("updater", "start"), [(AdaGrad(epsilon=0.5), 1e-6), (RmsProp(epsilon=0.5), 0.5)])
def test_states_that_do_not_start_at_0(backend, dtype, updater, start):
    segments = [Segment(0, 3, Adam()), Segment(3, 6, updater), Segment(6, 7, updater, REGULARIZATION)]
    state = Bench(segments, START[:, :7], dtype).host[1]
    np.testing.assert_array_equal(state, np.array([[0.0] * 6 + [start] * 4], dtype))


def test_the_learning_rate_now():
    halved = MapSchedule("epoch", {0: 0.5, 1: 0.25})
    assert [RmsProp(halved).learning_rate_at(7, epoch) for epoch in (0, 1)] == [0.5, 0.25]
    assert AdaDelta().learning_rate_at(0, 0) == NoOp().learning_rate_at(0, 0) == 1.0


@every_row("name", NAMES)
def test_get_updater_takes_names_and_instances(name):
    assert get_updater(name.upper()) == UPDATERS[name]()
    for field in CASES[name].defaults:
        assert get_updater(name, **{field: 0.25}) == UPDATERS[name](**{field: 0.25}) != UPDATERS[name]()
    updater = CASES[name].hands[0].updater
    assert get_updater(updater) is updater


@every_row("name", NAMES)
def test_get_updater_refuses_a_hyper_parameter_that_there_is_not(name):
    with pytest.raises(nd.ConfigurationError, match=r"wings"):
        get_updater(name, wings=2.0)
    with pytest.raises(nd.ConfigurationError, match=r"state_names"):
        get_updater(name, state_names=("A",))


def test_get_updater_names_what_it_expects():
    assert get_updater("none") == get_updater("noop")
    with pytest.raises(nd.ChoiceError, match=r"unknown updater 'nestrovs'.*adam.*sgd.*Did you mean 'nesterovs'\?"):
        get_updater("nestrovs")
    with pytest.raises(nd.ConfigurationError, match=r"expected a name or an updater such as Sgd\(0.1\), got 0.1"):
        get_updater(0.1)


@pytest.mark.parametrize("hand", HANDS)
def test_three_steps_by_hand(backend, dtype, hand):
    start = np.linspace(-1.0, 1.0, len(hand.gradients[0]))[None]
    bench = Bench(whole(hand.updater, start), start, dtype)
    expected = start.copy()
    for step in (0, 1, 2):
        bench.step(hand.gradients[step], iteration=step, epoch=step)
        np.testing.assert_allclose(nd.to_host(bench.gradient)[0], hand.updates[step], **TOLERANCE[dtype])
        expected -= hand.updates[step]
    params, state = bench.host
    np.testing.assert_allclose(params, expected, **TOLERANCE[dtype])
    names = type(hand.updater).state_names
    np.testing.assert_allclose(state[0], np.concatenate([[], *(hand.state[n] for n in names)]), **TOLERANCE[dtype])
    assert nd.dtype_name(bench.params) == nd.dtype_name(bench.updater.state) == dtype


@pytest.mark.parametrize("name", NAMES)
def test_steps_equal_the_float64_oracle(backend, dtype, name):
    case = CASES[name]
    updater = case.hands[0].updater
    bench = Bench(whole(updater), START, dtype)
    for iteration, expected in enumerate(case.oracle(updater, GRADIENTS)):
        bench.step(GRADIENTS[iteration], iteration, epoch=0)
        np.testing.assert_allclose(nd.to_host(bench.gradient)[0], expected, **TOLERANCE[dtype])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.numpy_first
def test_chunks_make_no_difference(backend, dtype, name, monkeypatch):
    updater = CASES[name].hands[0].updater
    segments = [Segment(0, 9, updater, REGULARIZATION), Segment(9, 11, updater), Segment(11, 23, updater)]
    monkeypatch.setattr(backend, "plan_update", replanned(backend, chunk=1 << 20))
    params, state = Bench(segments, START, dtype).run(GRADIENTS).host
    monkeypatch.setattr(backend, "plan_update", replanned(backend, chunk=5))
    chunked_params, chunked_state = Bench(segments, START, dtype).run(GRADIENTS).host
    np.testing.assert_array_equal(chunked_params, params)
    np.testing.assert_array_equal(chunked_state, state)
    assert np.all(params != START)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.quick_rows(every=3)
def test_state_lies_block_after_block(backend, name):
    """Neighbours with equal updaters are one block [state 1 of all | state 2 of all]; others start a new one."""
    updater, other = CASES[name].hands[0].updater, _different(name)
    equal = get_updater(name, **{field: getattr(updater, field) for field in CASES[name].defaults})
    runs = [(updater, 0, 3), (equal, 3, 5), (other, 5, 9), (updater, 9, 11)]
    bench = Bench([Segment(start, stop, it) for it, start, stop in runs], START[:, :11], "float64")
    bench.run(GRADIENTS[:3, :11])
    blocks = [(updater, range(5)), (other, range(5, 9)), (updater, range(9, 11))]
    expected = []
    for kind, elements in blocks:
        states = [_state_of_one(kind, element) for element in elements]
        expected += [state[number] for number in range(len(kind.state_names)) for state in states]
    np.testing.assert_array_equal(bench.host[1], np.reshape(expected, (1, -1)))


def _different(name):
    """An updater of another configuration, with state, and where there can be one of the same class."""
    if CASES[name].defaults and UPDATERS[name].state_names:
        return get_updater(name, **{next(iter(CASES[name].defaults)): 0.0123})
    return get_updater("adam", learning_rate=0.0123)


def _state_of_one(updater, element):
    """State of a vector that holds only that element."""
    one = START[:, element : element + 1]
    return Bench(whole(updater, one), one, "float64").run(GRADIENTS[:3, element : element + 1]).host[1][0]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.numpy_first
def test_resumed_training_equals_uninterrupted(backend, dtype, name):
    updater = CASES[name].hands[0].updater
    segments = [Segment(0, 9, updater, REGULARIZATION), Segment(9, 20, Sgd(0.01)), Segment(20, 23, updater)]
    full_params, full_state = Bench(segments, START, dtype).run(GRADIENTS).host
    params, state = Bench(segments, START, dtype).run(GRADIENTS[:3]).host
    resumed = Bench(segments, params, dtype)
    nd.assign(resumed.updater.state, nd.create(state))
    np.testing.assert_array_equal(nd.to_host(resumed.updater.state), state)
    resumed_params, resumed_state = resumed.run(GRADIENTS[3:], first_iteration=3).host
    np.testing.assert_array_equal(resumed_params, full_params)
    np.testing.assert_array_equal(resumed_state, full_state)
    forgetful = Bench(segments, params, dtype).run(GRADIENTS[3:], first_iteration=3).host[0]
    assert np.array_equal(forgetful, full_params) is (not updater.state_names)


@every_row("name", NAMES)
def test_steps_after_the_first_make_no_arrays(name):
    """On NumPy, where what is made anew costs more than what is computed."""
    n = 1 << 17
    segments = [Segment(0, n, UPDATERS[name](), (*REGULARIZATION, WeightDecay(0.1)))]
    with nd.use_backend("numpy"):
        bench = Bench(segments, np.ones((1, n)), "float32")
        for iteration in range(2):
            run_update(bench.updater, 8, iteration, 0, negative_gradient_step)
        tracemalloc.start()
        try:
            run_update(bench.updater, 8, 2, 0, negative_gradient_step)
            assert tracemalloc.get_traced_memory()[1] < n  # bytes, a quarter of a vector
        finally:
            tracemalloc.stop()


# ---- the exam


def parabola(x):
    """Gradient of |x - (1, -1)|^2."""
    return [2.0 * (x[0] - 1.0), 2.0 * (x[1] + 1.0)]


def rosenbrock(x):
    """Gradient of (1 - x0)^2 + 100 (x1 - x0^2)^2, whose minimum is at (1, 1)."""
    return [-2.0 * (1.0 - x[0]) - 400.0 * x[0] * (x[1] - x[0] ** 2), 200.0 * (x[1] - x[0] ** 2)]


EXAM = {
    "parabola": {"slope": parabola, "start": [[-1.0, 10.0]], "goal": [[1.0, -1.0]], "steps": 800},
    "rosenbrock": {"slope": rosenbrock, "start": [[0.0, 0.0]], "goal": [[1.0, 1.0]], "steps": 15000},
}
SLOW = (), pytest.mark.slow  # 15,000 steps
EXAM_DISTANCE = 0.02  # of every coordinate from the minimum; both start at least 1 away


@pytest.mark.parametrize(
    ("function", "updater"),
    [pytest.param(*exam.values, id=exam.id, marks=SLOW[exam.values[0] != "parabola"]) for exam in EXAMS],
)
def test_finds_the_minimum(function, updater, request):
    exam = EXAM[function]
    with nd.use_backend(request.config.getoption("--backend") or "numpy"):
        bench = Bench(whole(updater, np.array(exam["start"])), np.array(exam["start"]), "float64")
        for iteration in range(exam["steps"]):
            nd.assign(bench.gradient, nd.create([exam["slope"](nd.to_host(bench.params)[0].tolist())], "float64"))
            run_update(bench.updater, None, iteration, 0, negative_gradient_step)
        np.testing.assert_allclose(bench.host[0], exam["goal"], rtol=0.0, atol=EXAM_DISTANCE)
