"""RegressionEvaluation: against scikit-learn and SciPy, by hand, and Java's formulas on Java's file."""

import json
import math

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics as sk

import nd
from nd.evaluation import RegressionEvaluation

CLOSE = 1e-10
RNG = np.random.default_rng(2)
LABELS = RNG.normal([0, 5, -3], [1, 0.1, 10], (300, 3))
PREDICTIONS = LABELS + RNG.normal(0, [0.5, 0.1, 3], (300, 3))


def evaluated(truth, predictions, mask=None, parts=1, **settings):
    evaluation = RegressionEvaluation(**settings)
    for part in range(parts):
        rows = slice(part, None, parts)
        evaluation.eval(truth[rows], predictions[rows], None if mask is None else mask[rows])
    return evaluation


def check_column(evaluation, column, truth, guess):
    assert evaluation.mean_squared_error(column) == pytest.approx(sk.mean_squared_error(truth, guess), rel=CLOSE)
    assert evaluation.mean_absolute_error(column) == pytest.approx(sk.mean_absolute_error(truth, guess), rel=CLOSE)
    rmse = sk.root_mean_squared_error(truth, guess)
    assert evaluation.root_mean_squared_error(column) == pytest.approx(rmse, rel=CLOSE)
    assert evaluation.r_squared(column) == pytest.approx(sk.r2_score(truth, guess), rel=CLOSE)
    assert evaluation.relative_squared_error(column) == pytest.approx(1 - sk.r2_score(truth, guess), rel=CLOSE)
    assert evaluation.pearson_correlation(column) == pytest.approx(stats.pearsonr(truth, guess)[0], rel=CLOSE)


@pytest.mark.parametrize("parts", [1, 2, 7])
def test_every_column(parts):
    evaluation = evaluated(LABELS, PREDICTIONS, parts=parts)
    for column in range(3):
        check_column(evaluation, column, LABELS[:, column], PREDICTIONS[:, column])
    for name in ("mean_squared_error", "mean_absolute_error", "root_mean_squared_error", "relative_squared_error"):
        mean = np.mean([getattr(evaluation, name)(column) for column in range(3)])
        assert getattr(evaluation, f"average_{name}")() == pytest.approx(mean, rel=CLOSE)
    mean = np.mean([evaluation.pearson_correlation(column) for column in range(3)])
    assert evaluation.average_pearson_correlation() == pytest.approx(mean, rel=CLOSE)
    mean = np.mean([evaluation.r_squared(column) for column in range(3)])
    assert evaluation.average_r_squared() == pytest.approx(mean, rel=CLOSE)


@pytest.mark.parametrize("parts", [1, 5])
def test_large_means_do_not_cancel(parts):
    far = 1e7  # where the sum of squares has no digit left for a variance of 1
    evaluation = evaluated(LABELS[:, :1] + far, PREDICTIONS[:, :1] + far, parts=parts)
    assert evaluation.r_squared(0) == pytest.approx(sk.r2_score(LABELS[:, 0], PREDICTIONS[:, 0]), rel=1e-7)
    expected = stats.pearsonr(LABELS[:, 0], PREDICTIONS[:, 0])[0]
    assert evaluation.pearson_correlation(0) == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("parts", [1, 4])
def test_values_are_masked_one_by_one(parts):
    mask = (RNG.random((300, 3)) < 0.6).astype(np.float32)
    evaluation = evaluated(np.where(mask, LABELS, np.nan), PREDICTIONS, mask, parts)
    for column in range(3):
        kept = mask[:, column] == 1
        check_column(evaluation, column, LABELS[kept, column], PREDICTIONS[kept, column])
    series = [array.reshape(60, 5, 3).swapaxes(1, 2) for array in (LABELS, PREDICTIONS, mask)]
    assert evaluated(*series).values() == pytest.approx(evaluation.values(), rel=CLOSE)


def test_labels_that_do_not_vary():
    same = evaluated([[2.0], [2.0]], [[2.0], [2.0]])
    assert same.relative_squared_error(0) == math.inf
    assert math.isnan(same.r_squared(0))
    assert math.isnan(same.pearson_correlation(0))
    off = evaluated([[0.1], [0.1], [0.1]], [[0.2], [0.3], [0.5]])
    assert (off.relative_squared_error(0), off.r_squared(0)) == (math.inf, -math.inf)
    again = RegressionEvaluation.from_json(off.to_json())  # whose variance is a difference of rounded sums
    assert (again.relative_squared_error(0), again.r_squared(0)) == (math.inf, -math.inf)


def test_a_column_without_values():
    evaluation = evaluated(LABELS, PREDICTIONS, np.repeat([[1, 0, 1]], 300, axis=0))
    for metric in (evaluation.mean_squared_error, evaluation.mean_absolute_error, evaluation.relative_squared_error):
        assert math.isnan(metric(1))
    assert math.isnan(evaluation.pearson_correlation(1))
    assert math.isnan(evaluation.average_mean_squared_error())
    assert math.isnan(evaluation.average_mean_absolute_error())
    check_column(evaluation, 2, LABELS[:, 2], PREDICTIONS[:, 2])
    assert json.loads(evaluation.to_json())["currentMean"]["data"][1] == 0.0


def test_javas_formulas_on_javas_sums(reference):
    """Java's own way from sums to metrics, which is not ours, on the sums that Java wrote."""
    text = (reference / "regression/eval_100b/regressionEvaluation.json").read_text()
    evaluation, sums = RegressionEvaluation.from_json(text), json.loads(text)
    for i in range(3):
        n, mean, guess = (sums[name][i] for name in ("exampleCountPerColumn", "currentMean", "currentPredictionMean"))
        squared, guess_squared, products = (
            sums[name][i] for name in ("sumSquaredLabels", "sumSquaredPredicted", "sumOfProducts")
        )
        error = sums["sumSquaredErrorsPerColumn"][i]
        assert evaluation.mean_squared_error(i) == pytest.approx(error / n)
        assert evaluation.mean_absolute_error(i) == pytest.approx(sums["sumAbsErrorsPerColumn"][i] / n)
        total = squared + mean * (n * mean - 2 * sums["sumLabels"][i])
        assert evaluation.r_squared(i) == pytest.approx((total - error) / total, rel=1e-6)  # float32 means
        rse = (guess_squared - 2 * products + squared) / (squared - n * mean * mean)
        assert evaluation.relative_squared_error(i) == pytest.approx(rse, rel=1e-5)
        spread = math.sqrt(squared - n * mean * mean) * math.sqrt(guess_squared - n * guess * guess)
        assert evaluation.pearson_correlation(i) == pytest.approx((products - n * guess * mean) / spread)


def test_sums_in_json():
    fields = json.loads(evaluated([[1.0, 2.0], [3.0, -2.0]], [[2.0, 2.0], [3.0, 0.0]]).to_json())
    assert fields.pop("@class") == "org.nd4j.evaluation.regression.RegressionEvaluation"
    rest = {name: fields.pop(name) for name in ("axis", "initialized", "columnNames", "precision")}
    assert rest == {"axis": 1, "initialized": True, "columnNames": ["col_0", "col_1"], "precision": 5}
    expected = {
        "exampleCountPerColumn": [2, 2], "labelsSumPerColumn": [4, 0], "sumSquaredErrorsPerColumn": [1, 4],
        "sumAbsErrorsPerColumn": [1, 2], "currentMean": [2, 0], "currentPredictionMean": [2.5, 1],
        "sumOfProducts": [11, 4], "sumSquaredLabels": [10, 8], "sumSquaredPredicted": [13, 4], "sumLabels": [4, 0],
    }  # fmt: skip
    assert {name: value["data"] for name, value in fields.items()} == expected
    assert {(value["dataType"], *value["shape"]) for value in fields.values()} == {("DOUBLE", 2)}
    assert json.loads(RegressionEvaluation().to_json())["sumLabels"] is None


def test_the_table():
    text = evaluated(
        [[1.0, 5.0], [3.0, 5.0]], [[1.5, 5.0], [2.5, 5.0]], column_names=["a", "longer"], precision=2
    ).stats()
    assert text == (
        "Column     MSE         MAE         RMSE        RSE         PC          R^2         \n"
        "a          2.50e-01    5.00e-01    5.00e-01    2.50e-01    1.00e+00    7.50e-01    \n"
        "longer     0.00e+00    0.00e+00    0.00e+00    Infinity    NaN         NaN         \n"
    )
    assert RegressionEvaluation().stats() == "RegressionEvaluation: No Data"
    assert RegressionEvaluation(3).stats() == "RegressionEvaluation: No Data"


def test_merging_into_an_empty_one_takes_the_names():
    empty = RegressionEvaluation()
    empty.merge(evaluated(LABELS, PREDICTIONS, column_names=["a", "b", "c"], precision=3))
    assert (empty.column_names, empty.precision, empty.num_columns()) == (["a", "b", "c"], 3, 3)
    with pytest.raises(nd.ShapeError, match=r"RegressionEvaluation\.merge: expected 3 columns, got 2"):
        empty.merge(evaluated(LABELS[:, :2], PREDICTIONS[:, :2]))


def test_what_is_not_there():
    with pytest.raises(nd.DataError, match="RegressionEvaluation: nothing has been evaluated, got 0 rows"):
        RegressionEvaluation(2).mean_squared_error(0)
    with pytest.raises(nd.DataError, match="RegressionEvaluation: a column is 0 to 2, got 3"):
        evaluated(LABELS, PREDICTIONS).r_squared(3)
    for settings, message in (
        ({"column_names": 0}, "column_names must be .* an integer of 1 to 1000000 or None, got 0"),
        ({"column_names": []}, "expected at least one column, got none"),
        ({"precision": -1}, "precision must be an integer of 0 to 100, got -1"),
        ({"precision": 101}, "precision must be an integer of 0 to 100, got 101"),
    ):
        with pytest.raises(nd.ConfigurationError, match=message):
            RegressionEvaluation(**settings)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"columnNames": None}, "columnNames must be a list of names where initialized is true, got None"),
        ({"initialized": 1}, "initialized must be true or false, got 1"),
        ({"sumLabels": [1.0]}, r"sumLabels must have the shape \[3\], got \[1\]"),
        ({"sumLabels": None}, "sumLabels must be finite numbers, got None"),
        ({"currentMean": [1.0, 2.0, "NaN"]}, "currentMean must be finite numbers"),
        (
            {"exampleCountPerColumn": [3.0, 3.0, -1.0]},
            r"exampleCountPerColumn must not be negative, got \[3.0, 3.0, -1",
        ),
        ({"sumSquaredLabels": [-1.0, 1.0, 1.0]}, "sumSquaredLabels must not be negative"),
        ({"precision": -5}, "precision must be an integer of 0 to 100, got -5"),
    ],
)
def test_bad_json(change, message):
    fields = json.loads(evaluated(LABELS, PREDICTIONS).to_json()) | change
    with pytest.raises(nd.FormatError, match=message):
        RegressionEvaluation.from_json(json.dumps(fields))
