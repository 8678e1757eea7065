"""Plots show the numbers that they are given."""

import io

import numpy as np
import pytest

import nd
from nd.evaluation import (
    ConfusionMatrix,
    Histogram,
    PrecisionRecallCurve,
    ReliabilityDiagram,
    RocCurve,
    plot_confusion_matrix,
    plot_histogram,
    plot_precision_recall_curve,
    plot_reliability_diagram,
    plot_roc_curve,
)

ROC_CURVE = RocCurve([1, 0.5, 0], [0, 0.25, 1], [0, 0.5, 1])
PR_CURVE = PrecisionRecallCurve([0, 0.5, 1], [0.5, 0.75, 1], [1, 0.5, 0], [2, 1, 0], [2, 0, 0], [0, 1, 2], 4)
DIAGRAM = ReliabilityDiagram("Reliability Diagram: Class 1", [0.2, 0.8], [0.1, 0.9])


def confusion():
    matrix = ConfusionMatrix(3)
    for actual, predicted, count in ((0, 0, 5), (1, 2, 3), (2, 2, 100)):
        matrix.add(actual, predicted, count)
    return matrix


def lines(figure):
    return [line.get_xydata().tolist() for line in figure.axes[0].get_lines()]


def legend(figure):
    return [text.get_text() for text in figure.axes[0].get_legend().get_texts()]


@pytest.mark.parametrize(
    ("plot", "curve", "behind"),
    [
        (plot_roc_curve, ROC_CURVE, 1),
        (plot_precision_recall_curve, PR_CURVE, 0),
        (plot_reliability_diagram, DIAGRAM, 1),
    ],
)
def test_curves(plot, curve, behind):
    figure = plot(curve, curve, labels=["one", "two"], title="A title")
    expected = np.column_stack([curve.x, curve.y]).tolist()
    assert lines(figure) == [[[0, 0], [1, 1]]][:behind] + [expected] * 2
    assert legend(figure) == ["one", "two"]
    assert figure.axes[0].get_title() == "A title"
    assert legend(plot(curve)) == [curve.get_title()]
    with pytest.raises(nd.ConfigurationError, match=rf"{plot.__name__}: expected curves and a label for each, got 0"):
        plot()
    with pytest.raises(nd.ConfigurationError, match=r"got 1 and \(\)"):
        plot(curve, labels=[])


def test_a_confusion_matrix():
    figure = plot_confusion_matrix(confusion(), ["a", "b", "c"], "Which")
    axes = figure.axes[0]
    np.testing.assert_allclose(axes.get_images()[0].get_array(), np.log1p([[5, 0, 0], [0, 0, 3], [0, 0, 100]]))
    assert [text.get_text() for text in axes.texts] == ["5", "0", "0", "0", "0", "3", "0", "0", "100"]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["a", "b", "c"]
    assert (axes.get_title(), axes.get_ylabel()) == ("Which", "actual")
    assert [text.get_text() for text in plot_confusion_matrix(confusion()).axes[0].get_xticklabels()] == ["0", "1", "2"]
    assert len(plot_confusion_matrix(ConfusionMatrix(21)).axes[0].texts) == 0  # which nobody could read
    with pytest.raises(nd.ConfigurationError, match=r"expected 3 labels, got \['a'\]"):
        plot_confusion_matrix(confusion(), ["a"])


def test_a_histogram():
    figure = plot_histogram(Histogram("Ages", 0.0, 100.0, [3, 1, 4, 1]))
    bars = figure.axes[0].patches
    assert [(bar.get_x(), bar.get_width(), bar.get_height()) for bar in bars] == [
        (0, 25, 3),
        (25, 25, 1),
        (50, 25, 4),
        (75, 25, 1),
    ]
    assert (figure.axes[0].get_title(), figure.axes[0].get_xlim()) == ("Ages", (0, 100))
    assert plot_histogram(Histogram("Ages", 0.0, 1.0, [1]), "Other").axes[0].get_title() == "Other"
    stream = io.BytesIO()
    figure.savefig(stream, format="png")
    assert stream.getvalue().startswith(b"\x89PNG")


def test_without_matplotlib(monkeypatch):
    def refuse(name, *rest):
        raise ModuleNotFoundError("No module named 'matplotlib'", name="matplotlib")

    monkeypatch.setattr("importlib.import_module", refuse)
    for use in (lambda: plot_roc_curve(ROC_CURVE), lambda: plot_histogram(Histogram(None, 0.0, 1.0, [1]))):
        with pytest.raises(
            nd.ConfigurationError, match=r"plot_.*: needs the package matplotlib.*pip install .matplotlib>=3"
        ):
            use()
