"""Plots of the results of evaluations. They need matplotlib (the extra ``report``).

A function returns a matplotlib Figure, drawn without pyplot: it shows itself in a notebook, `savefig` writes it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from backends.errors import ConfigurationError
from nd.arguments import checked
from nd.extras import optional

from .confusion import ConfusionMatrix
from .curves import PrecisionRecallCurve, RocCurve
from .histograms import Histogram, ReliabilityDiagram

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_COUNTED = 20  # classes up to which the counts are written into a confusion matrix


@checked
def plot_roc_curve(*curves: RocCurve, labels: Sequence[str] | None = None, title: str = "ROC") -> Figure:
    """Plot ROC curves over each other, the diagonal of chance behind them.

    Parameters
    ----------
    *curves : RocCurve
    labels : sequence of str, optional
        Names of the curves. Default: the titles that tell the areas.
    title : str

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ConfigurationError
        matplotlib is not installed, or there are no curves, or not as many labels.
    """
    figure, axes = _square("plot_roc_curve", title, "false positive rate", "true positive rate")
    _lines("plot_roc_curve", axes, curves, labels, chance=True)
    return figure


@checked
def plot_precision_recall_curve(
    *curves: PrecisionRecallCurve, labels: Sequence[str] | None = None, title: str = "Precision-Recall"
) -> Figure:
    """Plot precision over recall. Arguments and errors as `plot_roc_curve`."""
    figure, axes = _square("plot_precision_recall_curve", title, "recall", "precision")
    _lines("plot_precision_recall_curve", axes, curves, labels, chance=False)
    return figure


@checked
def plot_reliability_diagram(
    *diagrams: ReliabilityDiagram, labels: Sequence[str] | None = None, title: str = "Reliability"
) -> Figure:
    """Plot the frequency of classes over their predicted probability, and the diagonal where both agree.

    Arguments and errors as `plot_roc_curve`.
    """
    figure, axes = _square("plot_reliability_diagram", title, "mean predicted probability", "fraction of positives")
    _lines("plot_reliability_diagram", axes, diagrams, labels, chance=True, marker="o")
    return figure


@checked
def plot_confusion_matrix(
    confusion: ConfusionMatrix, labels: Sequence[str] | None = None, title: str | None = None
) -> Figure:
    """Plot a confusion matrix, colours by the logarithm of the counts.

    Parameters
    ----------
    confusion : ConfusionMatrix
        ``evaluation.confusion``; up to 20 classes the counts are written into it.
    labels : sequence of str, optional
        Names of the classes, ``evaluation.labels_list``. Default: their numbers.
    title : str, optional

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ConfigurationError
        matplotlib is not installed, or there are not as many labels as classes.
    """
    counts = confusion.counts.tolist()
    names = [str(name) for name in labels or range(len(counts))]
    if len(names) != len(counts):
        raise ConfigurationError(f"plot_confusion_matrix: expected {len(counts)} labels, got {names}. Name each class.")
    size = min(12.0, 2.0 + 0.45 * len(counts))
    figure = _figure("plot_confusion_matrix", (size, size))
    axes = figure.add_subplot(xlabel="predicted", ylabel="actual", title=title or "")
    axes.imshow([[math.log1p(count) for count in row] for row in counts], cmap="Blues")
    if len(counts) > MOST_COUNTED:
        return figure
    axes.set_xticks(range(len(counts)), names)
    axes.set_yticks(range(len(counts)), names)
    for row, row_counts in enumerate(counts):
        for column, count in enumerate(row_counts):
            axes.text(column, row, str(count), ha="center", va="center", fontsize=8, color="darkorange")
    return figure


@checked
def plot_histogram(histogram: Histogram, title: str | None = None) -> Figure:
    """Plot a histogram as bars.

    Parameters
    ----------
    histogram : Histogram
    title : str, optional
        Default: that of the histogram.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ConfigurationError
        matplotlib is not installed.
    """
    figure = _figure("plot_histogram", (8, 4))
    axes = figure.add_subplot(ylabel="count", title=title or histogram.get_title())
    left, right = histogram.get_bin_lower_bounds(), histogram.get_bin_upper_bounds()
    axes.bar(left, histogram.bin_counts, width=right - left, align="edge", edgecolor="white")
    axes.set_xlim(histogram.lower, histogram.upper)
    return figure


def _figure(who: str, size: tuple[float, float]) -> Figure:
    return optional(who, "matplotlib.figure", "matplotlib", "report").Figure(figsize=size, layout="constrained")


def _square(who: str, title: str, x: str, y: str) -> tuple[Figure, Axes]:
    figure = _figure(who, (5, 5))
    axes = figure.add_subplot(xlabel=x, ylabel=y, title=title, xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    axes.grid(alpha=0.3)
    return figure, axes


def _lines(
    who: str,
    axes: Axes,
    curves: Sequence[RocCurve | PrecisionRecallCurve | ReliabilityDiagram],
    labels: Sequence[str] | None,
    chance: bool,
    marker: str | None = None,
) -> None:
    names = [curve.get_title() for curve in curves] if labels is None else list(labels)
    if not curves or len(names) != len(curves):
        raise ConfigurationError(f"{who}: expected curves and a label for each, got {len(curves)} and {labels}.")
    if chance:
        axes.plot([0, 1], [0, 1], color="gray", linestyle="--", linewidth=1)
    for curve, name in zip(curves, names, strict=True):
        axes.plot(curve.x, curve.y, label=name, marker=marker)
    axes.legend()
