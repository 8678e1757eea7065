import math

import pytest

import nd
from optimize import (
    CycleSchedule,
    FixedSchedule,
    InverseSchedule,
    MapSchedule,
    Nesterovs,
    PolySchedule,
    RampSchedule,
    Schedule,
    ScheduleType,
    Sgd,
    SigmoidSchedule,
    StepSchedule,
)
from optimize.schedules import SCHEDULES, as_schedule
from tests.cells import every_row

ARGUMENTS = {
    "cosine": (8.0, 4, 2.0),
    "cycle": (0.1, 0.5, 10, 2, 0.5),
    "exponential": (8.0, 0.5),
    "fixed": (0.5,),
    "inverse": (8.0, 1.0, 2.0),
    "map": ({0: 1.0},),
    "poly": (8.0, 2.0, 4),
    "ramp": (0.5, 4),
    "sigmoid": (8.0, -1.0, 4),
    "step": (1.0, 0.5, 1),
}
COUNTING = sorted(SCHEDULES.keys() - {"fixed", "ramp"})
MAKERS = [lambda kind, name=name: SCHEDULES[name](kind, *ARGUMENTS[name]) for name in COUNTING]
THREE_RATES = MapSchedule("iteration", {0: 0.05, 4: 0.04, 10: 0.01})


@pytest.mark.parametrize("counters", [(0, 0), (7, 3), (10**9, 10**6)])
def test_fixed_never_changes(counters):
    assert FixedSchedule(0.3).value_at(*counters) == 0.3


@pytest.mark.parametrize(
    ("count", "value"), [(0, 0.05), (3, 0.05), (4, 0.04), (5, 0.04), (9, 0.04), (10, 0.01), (10**9, 0.01)]
)
def test_map_takes_the_largest_key_reached(count, value):
    assert THREE_RATES.value_at(count, 0) == value
    assert MapSchedule("epoch", THREE_RATES.values).value_at(0, count) == value


@pytest.mark.parametrize(
    ("count", "value"), [(0, 8.0), (2, 8.0), (3, 4.0), (5, 4.0), (6, 2.0), (8, 2.0), (9, 1.0), (30, 8.0 / 1024)]
)
def test_step_decays_once_per_step(count, value):
    assert StepSchedule("iteration", initial_value=8.0, decay_rate=0.5, step=3).value_at(count, 0) == value
    assert StepSchedule("epoch", initial_value=8.0, decay_rate=0.5, step=3).value_at(0, count) == value


@pytest.mark.parametrize(("count", "value"), [(0, 8.0), (2, 8.0), (3, 4.0), (4, 4.0), (5, 2.0), (7, 2.0), (8, 1.0)])
def test_a_step_may_be_a_fraction(count, value):
    assert StepSchedule("iteration", initial_value=8.0, decay_rate=0.5, step=2.5).value_at(count, 0) == value


E = math.e
BY_HAND = {  # name -> count -> value, at the borders and between them
    "cosine": {0: 8.0, 1: 5.0 + 3.0 * 0.5**0.5, 2: 5.0, 3: 5.0 - 3.0 * 0.5**0.5, 4: 2.0, 5: 2.0, 10**9: 2.0},
    "cycle": {
        0: 0.1, 1: 0.2, 3: 0.4, 4: 0.5, 5: 0.4, 7: 0.2, 8: 0.1, 9: 0.05, 10: 0.1, 14: 0.5, 19: 0.05,
    },
    "exponential": {0: 8.0, 1: 4.0, 2: 2.0, 3: 1.0, 10: 8.0 / 1024},
    "inverse": {0: 8.0, 1: 2.0, 2: 8.0 / 9, 3: 0.5},
    "map": {0: 1.0, 9: 1.0},
    "poly": {0: 8.0, 1: 4.5, 2: 2.0, 3: 0.5, 4: 0.0, 5: 0.0, 10**9: 0.0},
    "sigmoid": {3: 8.0 * E / (1 + E), 4: 4.0, 5: 8.0 / (1 + E), 0: 8.0 / (1 + E**-4), 10**6: 0.0},
    "step": {0: 1.0, 1: 0.5, 3: 0.125},
}  # fmt: skip


@pytest.mark.parametrize("name", COUNTING)
def test_by_hand_at_the_borders_and_by_either_counter(name):
    for count, value in BY_HAND[name].items():
        by_iteration, by_epoch = (SCHEDULES[name](kind, *ARGUMENTS[name]) for kind in ("iteration", "epoch"))
        assert by_iteration.value_at(count, 77) == pytest.approx(value, rel=1e-14, abs=0.0)
        assert by_epoch.value_at(77, count) == pytest.approx(value, rel=1e-14, abs=0.0)


def test_poly_falls_where_javas_grows():
    values = [PolySchedule("iteration", 1.0, 0.5, 100).value_at(i, 0) for i in range(101)]
    assert values == sorted(values, reverse=True)
    assert values[75] == 0.5


def test_a_rising_sigmoid():
    schedule = SigmoidSchedule("epoch", 2.0, 1.0, 3)
    assert schedule.value_at(0, 3) == 1.0
    assert schedule.value_at(0, 2) == pytest.approx(2.0 / (1.0 + E), rel=1e-14)
    assert (schedule.value_at(0, 10**6), SigmoidSchedule("epoch", 2.0, 1.0, 10**6).value_at(0, 0)) == (2.0, 0.0)


def test_a_cycle_with_a_step_too_many_does_not_jump():
    """10 - 1 is odd: up in 4 steps, down in 4, and the ninth stays at the start."""
    schedule = CycleSchedule.of("iteration", max_learning_rate=1.0, cycle_length=10)
    assert schedule == CycleSchedule("iteration", 0.1, 1.0, 10, 1, 0.1)
    assert [schedule.value_at(i, 0) for i in (4, 7, 8, 9, 10)] == pytest.approx([1.0, 0.325, 0.1, 0.1, 0.1])


@pytest.mark.parametrize(("cycle_length", "annealing"), [(4, 0), (5, 1), (14, 1), (15, 2), (25, 3), (100, 10)])
def test_the_short_cycle_anneals_for_a_tenth_rounded_half_up(cycle_length, annealing):
    assert CycleSchedule.of("epoch", 1.0, cycle_length).annealing_length == annealing


@pytest.mark.parametrize(("iteration", "value"), [(0, 0.125), (1, 0.25), (2, 0.375), (3, 0.5), (4, 0.5), (10**9, 0.5)])
def test_a_ramp_reaches_its_base_in_its_last_iteration(iteration, value):
    assert RampSchedule(0.5, 4).value_at(iteration, 99) == value
    assert RampSchedule(StepSchedule("epoch", 1.0, 0.5, 1), 4).value_at(iteration, 1) == value
    assert RampSchedule(0.5, 1).value_at(iteration, 0) == 0.5


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: InverseSchedule("epoch", 1.0, -0.1, 1.0), r"InverseSchedule: gamma must be a number >= 0, got -0\.1"),
        (lambda: PolySchedule("epoch", 1.0, 1.0, 0), r"PolySchedule: max_iter must be an integer >= 1, got 0"),
        (lambda: RampSchedule(1.0, 0), r"RampSchedule: num_iter must be an integer >= 1, got 0"),
        (lambda: RampSchedule("fast", 3), r"RampSchedule: base_schedule must be a Schedule or a number, got 'fast'"),
        (lambda: CycleSchedule("epoch", 0.1, 1.0, 10, 9, 0.1), r"annealing_length must be in 0\.\..* = 8, got 9"),
        (lambda: CycleSchedule("epoch", 0.1, 1.0, 10, -1, 0.1), r"CycleSchedule: annealing_length must be .* got -1"),
    ],
)
def test_what_cannot_be_computed_is_refused(make, message):
    with pytest.raises(nd.ConfigurationError, match=message):
        make()


@every_row("name", sorted(SCHEDULES))
def test_usable_for_rate_and_momentum(name):
    values = ARGUMENTS[name] if name in ("fixed", "ramp") else ("iteration", *ARGUMENTS[name])
    schedule = SCHEDULES[name](*values)
    assert Sgd(schedule).coefficients(3, 0) == (schedule.value_at(3, 0),)
    assert Nesterovs(0.1, momentum=schedule).coefficients(3, 0)[2] == schedule.value_at(3, 0)


def test_only_the_named_counter_is_followed():
    assert THREE_RATES.value_at(3, 100) == 0.05
    assert StepSchedule("epoch", 8.0, 0.5, 3).value_at(100, 2) == 8.0


def test_map_does_not_depend_on_the_order_of_its_keys_or_on_later_changes():
    source = {4: 0.04, 10: 0.01, 0: 0.05}
    schedule = MapSchedule("iteration", source)
    source[5] = 99.0
    assert schedule == THREE_RATES
    assert hash(schedule) == hash(THREE_RATES)
    assert [schedule.value_at(i, 0) for i in range(11)] == [0.05] * 4 + [0.04] * 6 + [0.01]
    assert Nesterovs(schedule) == Nesterovs(THREE_RATES) != Nesterovs(MapSchedule("epoch", source))


@every_row("spelling", ["iteration", "ITERATION", "Iteration", ScheduleType.ITERATION])
@every_row("make", MAKERS)
def test_schedule_types_in_any_case(spelling, make):
    assert make(spelling).schedule_type is ScheduleType.ITERATION
    assert make(spelling) == make("iteration") != make("EPOCH")


@pytest.mark.parametrize("make", MAKERS)
def test_unknown_schedule_type(make):
    with pytest.raises(
        nd.ChoiceError, match=r"Schedule: unknown schedule type 'iterations', expected one of epoch, iteration\. Did"
    ):
        make("iterations")


@pytest.mark.parametrize(("values", "keys"), [({1: 0.1, 5: 0.2}, r"\[1, 5\]"), ({}, r"\[\]")])
def test_map_needs_key_0(values, keys):
    with pytest.raises(nd.ConfigurationError, match=rf"MapSchedule: the map must contain key 0, got keys {keys}"):
        MapSchedule("iteration", values)


@pytest.mark.parametrize("step", [0, -1, 0.0, float("nan")])
def test_step_must_be_positive(step):
    with pytest.raises(nd.ConfigurationError, match=rf"StepSchedule: step must be a number > 0, got {step}"):
        StepSchedule("iteration", 1.0, 0.5, step)


@pytest.mark.parametrize("number", [0, 3, 0.25])
def test_a_number_is_a_fixed_schedule(number):
    assert as_schedule("who", number) == FixedSchedule(float(number))


def test_a_schedule_stays_itself():
    assert as_schedule("who", THREE_RATES) is THREE_RATES


@pytest.mark.parametrize("value", [None, "0.1", True, [0.1]])
def test_neither_number_nor_schedule(value):
    with pytest.raises(nd.ConfigurationError, match=r"who: expected a finite number or a schedule, got "):
        as_schedule("who", value)


@every_row("name", sorted(SCHEDULES))
def test_schedules_are_frozen_and_compare_by_value(name):
    values = ARGUMENTS[name] if name in ("fixed", "ramp") else ("epoch", *ARGUMENTS[name])
    schedule = SCHEDULES[name](*values)
    assert isinstance(schedule, Schedule)
    assert schedule == SCHEDULES[name](*values)
    assert hash(schedule) == hash(SCHEDULES[name](*values))
    with pytest.raises(AttributeError, match="cannot assign to field"):
        schedule.schedule_type = "iteration"


def test_every_schedule_has_a_case():
    assert SCHEDULES.keys() == ARGUMENTS.keys()
    assert sorted(BY_HAND) == COUNTING
    assert list(SCHEDULES) == sorted(SCHEDULES)
