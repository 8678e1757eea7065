import pytest

import nd
from optimize import FixedSchedule, MapSchedule, Nesterovs, Schedule, ScheduleType, StepSchedule
from optimize.schedules import SCHEDULES, as_schedule

MAKERS = [lambda kind: MapSchedule(kind, {0: 1.0}), lambda kind: StepSchedule(kind, 1.0, 0.5, 1)]
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


@pytest.mark.parametrize("spelling", ["iteration", "ITERATION", "Iteration", ScheduleType.ITERATION])
@pytest.mark.parametrize("make", MAKERS)
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
    with pytest.raises(nd.ConfigurationError, match=rf"StepSchedule: step must be > 0, got {step}"):
        StepSchedule("iteration", 1.0, 0.5, step)


@pytest.mark.parametrize("number", [0, 3, 0.25])
def test_a_number_is_a_fixed_schedule(number):
    assert as_schedule("who", number) == FixedSchedule(float(number))


def test_a_schedule_stays_itself():
    assert as_schedule("who", THREE_RATES) is THREE_RATES


@pytest.mark.parametrize("value", [None, "0.1", True, [0.1]])
def test_neither_number_nor_schedule(value):
    with pytest.raises(nd.ConfigurationError, match=r"who: expected a number or a schedule, got "):
        as_schedule("who", value)


@pytest.mark.parametrize("name", sorted(SCHEDULES))
def test_schedules_are_frozen_and_compare_by_value(name):
    values = {"fixed": (0.5,), "map": ("epoch", {0: 0.5}), "step": ("epoch", 0.5, 0.1, 2)}[name]
    schedule = SCHEDULES[name](*values)
    assert isinstance(schedule, Schedule)
    assert schedule == SCHEDULES[name](*values)
    assert hash(schedule) == hash(SCHEDULES[name](*values))
    with pytest.raises(AttributeError, match="cannot assign to field"):
        schedule.schedule_type = "iteration"
