"""What users keep in files of their own or send to other processes can be pickled and copied: a table of all kinds."""

import copy
import io
import json
import pickle

import numpy as np
import pytest

import nd
from nd import evaluation
from nd.dataset import AsyncDataSetIterator, DataSet, GeneratorDataSetIterator, ListDataSetIterator
from nd.dataset.normalizers import NORMALIZERS
from nn import DenseLayer, InputType, NeuralNetConfiguration, OutputLayer
from optimize import (
    CycleSchedule,
    ExponentialSchedule,
    FixedSchedule,
    InverseSchedule,
    MapSchedule,
    PolySchedule,
    RampSchedule,
    SigmoidSchedule,
    StepSchedule,
)
from optimize.updaters import UPDATERS
from tests.cases.layers import LAYER_CASES
from tests.cells import every_row
from tests.nd.dataset.test_iterator_state import KINDS

X = np.arange(30, dtype=np.float32).reshape(10, 3) / 30
Y = np.eye(3, dtype=np.float32)[np.arange(10) % 3]
GUESSES = np.roll(Y, 1, axis=0) * 0.5 + 0.5 / 3

COPIES = {"pickle": lambda value: pickle.loads(pickle.dumps(value)), "deepcopy": copy.deepcopy}


@pytest.fixture(params=COPIES)
def copied(request):
    return COPIES[request.param]


def test_data_sets(copied):
    data = DataSet(X[:, :, None], Y[:, :, None], np.ones((10, 1), np.float32), np.ones((10, 1), np.float32))
    twin = copied(data)
    for name in ("features", "labels", "features_mask", "labels_mask"):
        np.testing.assert_array_equal(getattr(twin, name), getattr(data, name))
    twin.features[:] = 0.0
    assert data.features.any()


def rows(iterator):
    return [np.array(data.features).tolist() for data in iterator]


def minibatches():
    for start in range(0, 9, 3):
        yield X[start : start + 3], Y[start : start + 3]


ITERATORS = {
    **{kind: make for kind, make in KINDS.items() if kind != "generator"},  # its function has no name
    "generator": lambda: GeneratorDataSetIterator(minibatches),
}


@pytest.mark.parametrize("kind", ITERATORS)
def test_iterators_stand_where_they_stood(kind, copied):
    iterator = ITERATORS[kind]()
    iterator.next()
    twin = copied(iterator)
    assert twin.state() == iterator.state()
    left = rows(iterator)
    assert rows(twin) == left
    assert len(left) > 0 or kind.endswith("singleton")
    for each in (twin, iterator):
        each.reset()
    assert rows(twin) == rows(iterator)


def test_what_was_read_ahead_is_not_lost_to_either():
    iterator = AsyncDataSetIterator(ListDataSetIterator(DataSet(X, Y), 1), 3)
    first = [iterator.next().features.tolist() for _ in range(2)]
    twin = pickle.loads(pickle.dumps(iterator))
    assert first + rows(twin) == first + rows(iterator) == X[:, None].tolist()


def test_a_generator_that_was_begun_cannot_be_copied():
    with pytest.raises(nd.DataError, match=r"GeneratorDataSetIterator\.state: expected a function"):
        pickle.dumps(GeneratorDataSetIterator(minibatches()))


EVALUATIONS = {
    "Evaluation": (evaluation.Evaluation, Y, GUESSES),
    "EvaluationBinary": (evaluation.EvaluationBinary, Y, GUESSES),
    "EvaluationCalibration": (evaluation.EvaluationCalibration, Y, GUESSES),
    "ROC": (evaluation.ROC, Y[:, :1], GUESSES[:, :1]),
    "ROCBinary": (evaluation.ROCBinary, Y, GUESSES),
    "ROCMultiClass": (evaluation.ROCMultiClass, Y, GUESSES),
    "RegressionEvaluation": (evaluation.RegressionEvaluation, Y, GUESSES),
}


def test_the_table_has_every_evaluation():
    known = {
        name
        for name in evaluation.__all__
        if isinstance(found := getattr(evaluation, name), type) and issubclass(found, evaluation.IEvaluation)
    }
    assert set(EVALUATIONS) == known - {"IEvaluation"}


@every_row("name", EVALUATIONS)
def test_evaluations_go_on(name, copied):
    make, labels, guesses = EVALUATIONS[name]
    found = make()
    found.eval(labels, guesses)
    twin = copied(found)
    before = found.to_json()
    assert twin.to_json() == before
    twin.eval(labels, guesses)
    assert found.to_json() == before
    assert twin.to_json() != before


@pytest.mark.parametrize("name", NORMALIZERS)
def test_normalizers(name, copied):
    normalizer = NORMALIZERS[name]()
    features = (X + 1.0)[:, :, None, None] if name.startswith("image") else X + 1.0
    normalizer.fit(DataSet(features, Y))
    twin = copied(normalizer)
    np.testing.assert_array_equal(twin.transform_features(features), normalizer.transform_features(features))
    streams = io.BytesIO(), io.BytesIO()
    normalizer.save(streams[0])
    twin.save(streams[1])
    assert streams[0].getvalue() == streams[1].getvalue()


SCHEDULES = {
    "cycle": CycleSchedule("iteration", 0.1, 0.5, 10, 2, 0.5),
    "exponential": ExponentialSchedule("iteration", 0.1, 0.9),
    "fixed": FixedSchedule(0.1),
    "inverse": InverseSchedule("iteration", 0.1, 0.9, 2.0),
    "map": MapSchedule("iteration", {0: 0.1, 3: 0.01}),
    "poly": PolySchedule("epoch", 0.1, 2.0, 10),
    "ramp": RampSchedule(FixedSchedule(0.1), 4),
    "sigmoid": SigmoidSchedule("iteration", 0.1, 0.9, 5),
    "step": StepSchedule("iteration", 0.1, 0.5, 2),
}


@every_row("name", SCHEDULES)
def test_schedules(name, copied):
    twin = copied(SCHEDULES[name])
    assert twin == SCHEDULES[name]
    values = [[each.value_at(step, step // 2) for step in range(8)] for each in (twin, SCHEDULES[name])]
    assert values[0] == values[1]


@every_row("name", UPDATERS)
def test_updaters(name, copied):
    assert copied(UPDATERS[name]()) == UPDATERS[name]()


@every_row("name", LAYER_CASES)
def test_configurations_with_every_layer(name, copied):
    for case in LAYER_CASES[name]:
        twin = copied(case.layer)
        assert type(twin) is type(case.layer)
        assert twin == case.layer


def test_configurations(copied):
    conf = NeuralNetConfiguration(seed=3, updater="adam", l2=0.1).list(
        DenseLayer(n_out=4), OutputLayer(n_out=2), input_type=InputType.feed_forward(3)
    )
    assert copied(conf) == conf
    assert json.loads(copied(conf).to_json()) == json.loads(conf.to_json())
