"""EvaluationCalibration: bins counted one comparison at a time, and scikit-learn's calibration curve."""

import numpy as np
import pytest
from sklearn.calibration import calibration_curve

import nd
from nd.evaluation import EvaluationCalibration

CLOSE = 1e-12
RNG = np.random.default_rng(6)


def sample(dtype, rows=400, classes=3):
    scores = np.exp(2 * RNG.normal(size=(rows, classes)))
    return np.eye(classes)[RNG.integers(0, classes, rows)].astype(dtype), (
        scores / scores.sum(1, keepdims=True)
    ).astype(dtype)


def evaluated(labels, predictions, *settings):
    evaluation = EvaluationCalibration(*settings)
    evaluation.eval(labels, predictions)
    return evaluation


def counted(values, bins, weights=None):
    """Counts of each bin by comparing with its two edges, in the type of the values; the last one ends with 1."""
    inside = []
    for j in range(bins):
        below = values <= 1 if j == bins - 1 else values < values.dtype.type((j + 1) * (1.0 / bins))
        inside.append((values >= values.dtype.type(j * (1.0 / bins))) & below)
    return [(cell if weights is None else cell * weights).sum() for cell in inside]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_histograms_of_every_class(dtype):
    labels, predictions = sample(dtype)
    predictions[:4] = np.eye(4, 3)  # ends of the first and the last bin
    evaluation = evaluated(labels, predictions, 7, 12)
    residuals = np.abs(labels - predictions)
    assert evaluation.get_residual_plot_all_classes().bin_counts.tolist() == counted(residuals, 12)
    assert evaluation.get_probability_histogram_all_classes().bin_counts.tolist() == counted(predictions, 12)
    for cls in range(3):
        own = labels[:, cls] == 1
        assert evaluation.get_residual_plot(cls).bin_counts.tolist() == counted(residuals[own, cls], 12)
        assert evaluation.get_probability_histogram(cls).bin_counts.tolist() == counted(predictions[own, cls], 12)
    np.testing.assert_array_equal(evaluation.get_label_counts_each_class(), labels.sum(axis=0))
    predicted = np.bincount(predictions.argmax(axis=1), minlength=3)
    np.testing.assert_array_equal(evaluation.get_prediction_counts_each_class(), predicted)
    assert evaluation.num_classes() == 3


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_reliability_diagrams(dtype):
    labels, predictions = sample(dtype)
    evaluation, whole = evaluated(labels, predictions, 8), EvaluationCalibration(8, exclude_empty_bins=False)
    for cls in range(3):
        fractions, means = calibration_curve(labels[:, cls], predictions[:, cls], n_bins=8)
        diagram = evaluation.get_reliability_diagram(cls)
        np.testing.assert_allclose(diagram.fraction_positives_y, fractions, rtol=CLOSE)
        np.testing.assert_allclose(diagram.mean_predicted_value_x, means, rtol=1e-6 if dtype == np.float32 else CLOSE)
        total = np.array(counted(predictions[:, cls], 8))
        gaps = np.abs(diagram.fraction_positives_y - diagram.mean_predicted_value_x) * total[total > 0] / 400
        assert evaluation.expected_calibration_error(cls) == pytest.approx(gaps.sum(), rel=CLOSE)
    mean = np.mean([evaluation.expected_calibration_error(cls) for cls in range(3)])
    assert evaluation.average_expected_calibration_error() == pytest.approx(mean, rel=CLOSE)
    whole.eval([[1.0, 0.0]], [[0.9, 0.1]])
    assert np.isnan(whole.get_reliability_diagram(0).mean_predicted_value_x).tolist() == [True] * 7 + [False]
    assert evaluated([[1.0, 0.0]], [[0.9, 0.1]]).get_reliability_diagram(0).num_points() == 1


def test_titles_and_text():
    evaluation = evaluated(*sample(np.float32))
    assert evaluation.stats() == "EvaluationCalibration(nBins=10)"
    assert evaluation.get_reliability_diagram(2).get_title() == "Reliability Diagram: Class 2"
    assert evaluation.get_residual_plot_all_classes().title == "Residual Plot - All Predictions and Classes"
    assert evaluation.get_residual_plot(1).title == "Residual Plot - Predictions for Label Class 1"
    title = "Network Probabilities Histogram - All Predictions and Classes"
    assert evaluation.get_probability_histogram_all_classes().title == title
    title = "Network Probabilities Histogram - P(class 1) - Data Labelled Class 1 Only"
    assert evaluation.get_probability_histogram(1).title == title


def test_what_is_not_there():
    assert EvaluationCalibration().num_classes() == -1
    with pytest.raises(nd.DataError, match="EvaluationCalibration: nothing has been evaluated, got 0 rows"):
        EvaluationCalibration().get_reliability_diagram(0)
    for cls in (-1, 3):
        with pytest.raises(nd.DataError, match=f"EvaluationCalibration: a class is 0 to 2, got {cls}"):
            evaluated(*sample(np.float32)).get_residual_plot(cls)
    with pytest.raises(nd.DataError, match=r"both must have the same bins, got \(10, 50\) and \(10, 40\)"):
        EvaluationCalibration().merge(EvaluationCalibration(10, 40))
    for bins in ((0, 5), (5, 0)):
        with pytest.raises(
            nd.ArgumentError, match=r"(reliability_diag|histogram)_num_bins must be an integer of 1 to .*, got 0"
        ):
            EvaluationCalibration(*bins)
