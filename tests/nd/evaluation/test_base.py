"""What holds for every evaluation: streams, merges, masks, time series, JSON, reset."""

import json
import tracemalloc

import numpy as np
import pytest

import nd
from nd.evaluation import (
    ROC,
    Evaluation,
    EvaluationBinary,
    EvaluationCalibration,
    IEvaluation,
    RegressionEvaluation,
    ROCBinary,
    ROCMultiClass,
)
from tests.cells import every_row

CLOSE = 1e-12
RNG = np.random.default_rng(8)


def softmaxed(*shape):
    scores = np.exp(RNG.normal(size=shape))
    return (scores / scores.sum(axis=1, keepdims=True)).astype(np.float32)


def one_hot(classes, *shape):
    """One-hot along the second axis: ``[N, classes, ...]``."""
    return np.moveaxis(np.eye(classes, dtype=np.float32)[RNG.integers(0, classes, shape)], -1, 1)


def binary(*shape):
    return (RNG.random(shape) < 0.4).astype(np.float32)


# Name -> how to make one, labels and predictions [40, n] and [12, n, 5]
KINDS = {
    "ROC": (ROC, lambda *rest: (binary(*rest[:1], 1, *rest[1:]), RNG.random((rest[0], 1, *rest[1:]), np.float32))),
    "ROC of 30 steps": (
        lambda: ROC(30),
        lambda *rest: (one_hot(2, *rest), softmaxed(rest[0], 2, *rest[1:])),
    ),
    "Evaluation": (Evaluation, lambda *rest: (one_hot(3, *rest), softmaxed(rest[0], 3, *rest[1:]))),
    "EvaluationBinary": (
        lambda: EvaluationBinary([0.5, 0.25], roc_binary_steps=50),
        lambda *rest: (binary(rest[0], 2, *rest[1:]), RNG.random((rest[0], 2, *rest[1:]), np.float32)),
    ),
    "EvaluationCalibration": (
        EvaluationCalibration,
        lambda *rest: (one_hot(3, *rest), softmaxed(rest[0], 3, *rest[1:])),
    ),
    "ROCBinary": (
        ROCBinary,
        lambda *rest: (binary(rest[0], 3, *rest[1:]), RNG.random((rest[0], 3, *rest[1:]), np.float32)),
    ),
    "ROCMultiClass": (ROCMultiClass, lambda *rest: (one_hot(3, *rest), softmaxed(rest[0], 3, *rest[1:]))),
    "ROCMultiClass of 20 steps": (
        lambda: ROCMultiClass(20),
        lambda *rest: (one_hot(3, *rest), softmaxed(rest[0], 3, *rest[1:])),
    ),
    "RegressionEvaluation": (
        lambda: RegressionEvaluation(2),
        lambda *rest: tuple(RNG.normal(3, 2, (2, rest[0], 2, *rest[1:]))),
    ),
}
EXACT = {"ROC", "ROCBinary", "ROCMultiClass"}


@pytest.fixture(params=sorted(KINDS))
def kind(request):
    return request.param


def filled(kind, labels, predictions, mask=None):
    evaluation = KINDS[kind][0]()
    evaluation.eval(labels, predictions, mask)
    return evaluation


def check_same(ours, theirs):
    """The same numbers: those of the metrics, and all that goes into JSON."""
    assert ours.values() == pytest.approx(theirs.values(), rel=CLOSE)
    assert_close(json.loads(ours.to_json()), json.loads(theirs.to_json()))


def assert_close(ours, theirs):
    assert type(ours) is type(theirs)
    if isinstance(ours, dict):
        assert list(ours) == list(theirs)
        for name in ours:
            # Sums of bins differ in the last bits by the order of their terms, which base64 does not forgive.
            if name != "rDiagBinSumPredictions":
                assert_close(ours[name], theirs[name])
    elif isinstance(ours, list):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            assert_close(one, other)
    elif isinstance(ours, float):
        assert ours == pytest.approx(theirs, rel=CLOSE)
    else:
        assert ours == theirs


def test_there_is_an_example_of_every_kind():
    made = {type(make()) for make, _ in KINDS.values()}
    kinds, waiting = set(), [IEvaluation]
    while waiting:
        kind = waiting.pop()
        waiting += (below := [each for each in kind.__subclasses__() if each.__module__.startswith("nd.")])
        kinds |= {kind} if not below else set()
    assert made == kinds


def test_a_stream_counts_as_the_whole(kind):
    labels, predictions = KINDS[kind][1](40)
    streamed = KINDS[kind][0]()
    for start in (0, 7, 8, 30):
        end = {0: 7, 7: 8, 8: 30, 30: 40}[start]
        streamed.eval(labels[start:end], predictions[start:end])
    streamed.eval(labels[:0], predictions[:0])
    check_same(streamed, filled(kind, labels, predictions))


@every_row("cut", [0, 1, 15, 40])
def test_merged_parts_count_as_the_whole(kind, cut):
    labels, predictions = KINDS[kind][1](40)
    merged, other = KINDS[kind][0](), KINDS[kind][0]()
    merged.eval(labels[:cut], predictions[:cut])
    other.eval(labels[cut:], predictions[cut:])
    before = other.to_json()
    merged.merge(other)
    check_same(merged, filled(kind, labels, predictions))
    assert other.to_json() == before
    merged.eval(labels, predictions)
    assert other.to_json() == before  # nothing is shared


def test_masked_rows_do_not_count(kind):
    labels, predictions = KINDS[kind][1](40)
    mask = (np.arange(40) % 3 > 0).astype(np.float32)
    expected = filled(kind, labels[mask == 1], predictions[mask == 1])
    for shape in ((40,), (40, 1)):
        check_same(filled(kind, labels, predictions, mask.reshape(shape)), expected)


def test_where_everything_is_masked_nothing_happened(kind):
    labels, predictions = KINDS[kind][1](5)
    evaluation = filled(kind, labels, predictions, np.zeros(5))
    assert evaluation.to_json() == KINDS[kind][0]().to_json()
    with pytest.raises(nd.DataError, match="nothing has been evaluated"):
        evaluation.values()


def test_time_series_count_as_their_rows(kind):
    labels, predictions = KINDS[kind][1](12, 5)
    mask = (RNG.random((12, 5)) < 0.7).astype(np.float32)
    as_rows = [np.moveaxis(array, 1, -1).reshape(60, -1) for array in (labels, predictions)]
    kept = mask.ravel() == 1
    check_same(filled(kind, labels, predictions, mask), filled(kind, *(rows[kept] for rows in as_rows)))
    last = KINDS[kind][0]()
    last.axis = 2
    last.eval(np.moveaxis(labels, 1, 2), np.moveaxis(predictions, 1, 2))
    last.axis = 1
    check_same(last, filled(kind, *as_rows))


def test_a_reset_forgets(kind):
    labels, predictions = KINDS[kind][1](40)
    evaluation = filled(kind, *KINDS[kind][1](40))
    evaluation.reset()
    evaluation.eval(labels, predictions)
    check_same(evaluation, filled(kind, labels, predictions))


def test_json_there_and_back(kind):
    evaluation = filled(kind, *KINDS[kind][1](40))
    again = type(evaluation).from_json(evaluation.to_json())
    assert json.loads(again.to_json()) == json.loads(evaluation.to_json())
    assert again.stats() == evaluation.stats() == str(again)
    assert again.values() == pytest.approx(evaluation.values(), rel=1e-9)
    empty = KINDS[kind][0]()
    assert type(empty).from_json(empty.to_json()).to_json() == empty.to_json()


def test_what_comes_out_of_json_goes_on(kind):
    labels, predictions = KINDS[kind][1](40)
    again = type(KINDS[kind][0]()).from_json(filled(kind, labels[:25], predictions[:25]).to_json())
    if kind in EXACT:
        for use in (lambda: again.eval(labels, predictions), lambda: again.merge(filled(kind, labels, predictions))):
            with pytest.raises(nd.DataError, match="an exact ROC out of JSON has no probabilities to add to, got 25"):
                use()
        return
    again.eval(labels[25:], predictions[25:])
    assert again.values() == pytest.approx(filled(kind, labels, predictions).values(), rel=1e-9)


def test_device_arrays_count(kind, backend):
    labels, predictions = KINDS[kind][1](40)
    mask = np.arange(40) % 2
    on_device = [nd.create(array) for array in (labels, predictions, mask)]
    check_same(filled(kind, *on_device), filled(kind, *(nd.to_host(array) for array in on_device)))


def test_numbers_by_name(kind):
    evaluation = filled(kind, *KINDS[kind][1](40))
    assert list(evaluation.METRICS) == sorted(evaluation.METRICS) == list(evaluation.values())
    assert set(evaluation.METRICS) >= evaluation.MINIMIZED
    for name, value in evaluation.values().items():
        assert evaluation.get_value(name.upper()) == value
    with pytest.raises(nd.ChoiceError, match=f"{type(evaluation).__name__}.get_value: unknown metric 'none'"):
        evaluation.get_value("None")


def test_the_type_of_what_is_counted_is_checked(kind):
    labels, predictions = KINDS[kind][1](4)
    broken = predictions.copy()
    broken[2] = np.nan
    with pytest.raises(nd.NumericError, match="predictions must not be NaN"):
        filled(kind, labels, broken)
    with pytest.raises(nd.DTypeError, match="labels must be real numbers, got complex128"):
        filled(kind, labels.astype(complex), predictions)
    with pytest.raises(nd.ShapeError, match=r"labels and predictions must have the same shape, got \[4"):
        filled(kind, labels, predictions[:3])
    with pytest.raises(nd.ShapeError, match=r"expected a mask of shape \[4\] for labels \[4, .*got \[3\]"):
        filled(kind, labels, predictions, np.ones(3))


@pytest.mark.parametrize("kind", sorted(KINDS.keys() - {"Evaluation", "ROC", "ROC of 30 steps"}))
def test_the_number_of_columns_stays(kind):
    labels, predictions = KINDS[kind][1](4)
    more = np.concatenate([labels, labels], 1), np.concatenate([predictions, predictions], 1)
    found = type(KINDS[kind][0]()).__name__
    width = labels.shape[1]
    with pytest.raises(
        nd.ShapeError, match=rf"{found}\.eval: expected {width} (columns|classes|outputs), got {2 * width}"
    ):
        filled(kind, labels, predictions).eval(*more)
    if kind not in ("EvaluationBinary", "RegressionEvaluation"):  # whose number was given
        with pytest.raises(nd.ShapeError, match=rf"{found}\.merge: expected {width} .*got {2 * width}"):
            filled(kind, labels, predictions).merge(filled(kind, *more))


@pytest.mark.parametrize("kind", sorted(KINDS.keys() - {"RegressionEvaluation", "Evaluation"}))
def test_labels_are_0_or_1(kind):
    labels, predictions = KINDS[kind][1](4)
    with pytest.raises(nd.DataError, match=r"labels must be 0 or 1, got values from 0\.1.* to 0\.9"):
        filled(kind, labels * 0.8 + 0.1, predictions)


@pytest.mark.parametrize("kind", sorted({"ROC of 30 steps", "EvaluationCalibration", "ROCMultiClass of 20 steps"}))
def test_probabilities_are_0_to_1(kind):
    labels, predictions = KINDS[kind][1](4)
    with pytest.raises(
        nd.DataError, match=r"predictions must be probabilities from 0 to 1, got values from .* to 4\.0"
    ):
        filled(kind, labels, predictions * 0 + 4)
    rounded = np.where(predictions == predictions.max(), np.float32(1) + np.float32(2e-7), predictions)
    assert filled(kind, labels, rounded).to_json() == filled(kind, labels, rounded.clip(0, 1)).to_json()


OTHER_SETTINGS = {
    "binary_decision_threshold": (Evaluation(), Evaluation(binary_decision_threshold=0.9), "None and 0.9"),
    "cost_array": (Evaluation(cost_array=[1, 2]), Evaluation(cost_array=[[2, 1]]), r"\[1.0, 2.0\] and \[2.0, 1.0\]"),
    "decision_threshold": (EvaluationBinary([0.5]), EvaluationBinary([0.25]), r"\[0.5\] and \[0.25\]"),
    "threshold_steps": (ROCBinary(3), ROCBinary(4), "3 and 4"),
    "top_n": (Evaluation(top_n=2), Evaluation(top_n=3), "2 and 3"),
}


@pytest.mark.parametrize("name", OTHER_SETTINGS)
def test_what_was_decided_otherwise_is_not_merged(name):
    first, second, found = OTHER_SETTINGS[name]
    with pytest.raises(nd.DataError, match=rf"merge: both must have the same {name}, got {found}\. Create both alike"):
        first.merge(second)


def test_another_class_is_not_merged(kind):
    evaluation = KINDS[kind][0]()
    others = [make() for make, _ in KINDS.values() if type(make()) is not type(evaluation)]
    for other in (*others, None):
        with pytest.raises(nd.NdError, match=rf"merge: .*{type(evaluation).__name__}, got "):
            evaluation.merge(other)


@pytest.mark.parametrize("kind", [Evaluation, RegressionEvaluation, EvaluationBinary, EvaluationCalibration, ROCBinary])
def test_a_reset_forgets_how_many_columns_the_data_had(kind):
    evaluation, merged = kind(), kind()
    evaluation.eval(np.eye(3), np.eye(3))
    merged.merge(evaluation)
    for each in (evaluation, merged):
        each.reset()
        each.eval(np.eye(2), np.eye(2))


@pytest.mark.parametrize("given", [Evaluation(["a", "b", "c"]), RegressionEvaluation(["a", "b", "c"])])
def test_a_reset_keeps_names_that_were_given(given):
    given.eval(np.eye(3), np.eye(3))
    given.reset()
    with pytest.raises(nd.ShapeError, match=r"expected 3 (classes|columns), got 2"):
        given.eval(np.eye(2), np.eye(2))


HUGE = {
    "ROC": (ROC, {"thresholdSteps": 2_000_000_000}, "thresholdSteps must be an integer of 0 to 1000000, got"),
    "ROC without counts": (ROC, {"thresholdSteps": 1_000_000}, "counts must be an object of 1000001 thresholds"),
    "ROCBinary": (ROCBinary, {"thresholdSteps": 2_000_000_000}, "thresholdSteps must be an integer of 0 to 1000000"),
    "ROCMultiClass": (ROCMultiClass, {"thresholdSteps": 2_000_000_000}, "Steps must be an integer of 0 to 1000000"),
    "too many bins": (EvaluationCalibration, {"histogramNumBins": 2_000_000_000}, "integer of 0 to 1000000, got 2000"),
    "bins": (
        lambda: filled("EvaluationCalibration", np.eye(3), np.eye(3)),
        {"histogramNumBins": 1_000_000},
        r"residualPlotOverall must have the shape \[1, 1000000\]",
    ),
}


@pytest.mark.parametrize("name", HUGE)
def test_a_small_text_allocates_little(name):
    make, change, message = HUGE[name]
    fields = json.loads(make().to_json()) | change
    tracemalloc.start()
    try:
        with pytest.raises(nd.FormatError, match=message):
            type(make()).from_json(json.dumps(fields))
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


def test_a_mask_has_a_number_for_every_example(kind):
    labels, predictions = KINDS[kind][1](5)
    with pytest.raises(nd.ShapeError, match=r"expected a mask of shape \[5\] .*got \[1, 1\]"):
        filled(kind, labels, predictions, np.ones((1, 1)))


@pytest.mark.parametrize("steps", ["a", 1.5, None, True])
def test_numbers_of_steps_and_bins_are_whole(steps):
    for make in (ROC, ROCBinary, ROCMultiClass):
        with pytest.raises(nd.ArgumentError, match=f"{make.__name__}: threshold_steps must be an integer of 0 to"):
            make(steps)
    with pytest.raises(nd.ArgumentError, match="EvaluationCalibration: reliability_diag_num_bins must be an integer"):
        EvaluationCalibration(steps)
    with pytest.raises(
        nd.ArgumentError, match="EvaluationBinary: size must be an integer of 1 to 1000000 or None, got -1"
    ):
        EvaluationBinary(size=-1)
