"""ND4J's fluent style of updaters and schedules; defaults are compared in tests/nn/conf/test_java_defaults.py."""

import copy
import inspect
import pickle
from dataclasses import fields

import pytest

import nd
from nn import NeuralNetConfiguration, Updater
from optimize import (
    AdaDelta,
    Adam,
    AMSGrad,
    CosineSchedule,
    CycleSchedule,
    ExponentialSchedule,
    FixedSchedule,
    InverseSchedule,
    MapSchedule,
    Nesterovs,
    PolySchedule,
    RampSchedule,
    RmsProp,
    ScheduleType,
    Sgd,
    SigmoidSchedule,
    StepSchedule,
)
from optimize.schedules import SCHEDULES
from optimize.updaters import UPDATERS
from tests.cells import every_row

HALVED = StepSchedule("epoch", 0.1, 0.5, 2)


def test_updaters_setting_by_setting():
    assert Adam.Builder().learningRate(1e-3).beta1(0.8).build() == Adam(1e-3, beta1=0.8)
    assert AMSGrad.Builder().epsilon(1e-5).build() == AMSGrad(epsilon=1e-5)
    assert RmsProp.Builder().rmsDecay(0.9).learningRate(0.2).build() == RmsProp(0.2, 0.9)
    assert AdaDelta.Builder().rho(0.9).build() == AdaDelta(0.9)
    assert Nesterovs.Builder().momentum(0.8).learningRate(0.2).build() == Nesterovs(0.2, 0.8)


def test_schedules_of_updaters_by_nd4js_names():
    assert Adam.Builder().learningRateSchedule(HALVED).build() == Adam(HALVED)
    built = Nesterovs.Builder().learningRateSchedule(HALVED).momentumISchedule(HALVED).build()
    assert built == Nesterovs(HALVED, HALVED)


@every_row("name", UPDATERS)
def test_every_updater_has_a_builder(name):
    updater = UPDATERS[name]
    builder = updater.Builder()
    for field in fields(updater):
        builder = getattr(builder, field.name)(field.default)
    assert updater.Builder().build() == builder.build() == updater()
    with pytest.raises(nd.ChoiceError, match=rf"{updater.__name__}.Builder: unknown setting 'lerning_rate'"):
        updater.Builder().lerningRate(0.1)


def test_arguments_by_position():
    assert Sgd.Builder(0.5).build() == Sgd(0.5)
    assert Nesterovs.Builder(0.9).build() == Nesterovs(momentum=0.9)  # as new Nesterovs(0.9) in Java
    assert Nesterovs.Builder(0.2, 0.9).build() == Nesterovs(0.2, 0.9)
    assert Nesterovs.Builder(HALVED).build() == Nesterovs(HALVED)  # which is the rate in Java too
    with pytest.raises(nd.ConfigurationError, match=r"Sgd.Builder: takes at most \['learning_rate'\], got \[1, 2\]"):
        Sgd.Builder(1, 2)


def test_one_number_alone_must_say_what_it_is():
    with pytest.raises(
        nd.ConfigurationError,
        match=r"got 0.9, which is the momentum in Java.*Nesterovs\(learning_rate=0.9\) or Nesterovs\(momentum=0.9\)",
    ):
        Nesterovs(0.9)
    assert Nesterovs(0.1, 0.9) == Nesterovs() == Nesterovs(0.1, momentum=0.9) == Nesterovs(learning_rate=0.1)
    assert Nesterovs(HALVED).momentum == 0.9


def test_it_is_copied_pickled_and_described_as_the_others():
    updater = Nesterovs(0.2, 0.8)
    assert copy.deepcopy(updater) == pickle.loads(pickle.dumps(updater)) == copy.copy(updater) == updater
    assert list(inspect.signature(Nesterovs).parameters) == ["learning_rate", "momentum"]
    assert NeuralNetConfiguration(updater=Updater.NESTEROVS, learning_rate=0.2).updater == Nesterovs(0.2, 0.9)


def test_schedules():
    built = MapSchedule.Builder(ScheduleType.ITERATION).add(0, 0.1).add(10, 0.05).build()
    assert built == MapSchedule("iteration", {0: 0.1, 10: 0.05})
    with pytest.raises(nd.ConfigurationError, match="MapSchedule: the map must contain key 0"):
        MapSchedule.Builder(ScheduleType.EPOCH).add(1, 0.1).build()
    first = MapSchedule.Builder("epoch").values({0: 1.0})
    assert first.add(2, 0.5).build() == MapSchedule("epoch", {0: 1.0, 2: 0.5})


SETTINGS = {
    CycleSchedule: ("iteration", 0.1, 1.0, 10, 2, 0.1), ExponentialSchedule: ("epoch", 0.1, 0.9),
    CosineSchedule: ("epoch", 0.1, 10, 0.0),
    FixedSchedule: (0.1,), InverseSchedule: ("epoch", 0.1, 0.9, 2.0), MapSchedule: ("epoch", {0: 0.1}),
    PolySchedule: ("epoch", 0.1, 2.0, 10), RampSchedule: (HALVED, 5), SigmoidSchedule: ("epoch", 0.1, 0.9, 5),
    StepSchedule: ("epoch", 0.1, 0.5, 2),
}  # fmt: skip


@every_row("schedule", SCHEDULES.values())
def test_every_schedule_has_a_builder(schedule):
    values = SETTINGS[schedule]
    builder = schedule.Builder()
    for field, value in zip(fields(schedule), values, strict=True):
        builder = getattr(builder, field.name)(value)
    assert builder.build() == schedule.Builder(*values).build() == schedule(*values)
