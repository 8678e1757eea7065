"""Memory of a ROC: every probability with its label, or counts at fixed thresholds; and the curves from them.

Counting is host work, so this module uses NumPy whatever the backend.
"""

from __future__ import annotations

import numpy as np

from .curves import PrecisionRecallCurve, RocCurve


class ExactPairs:
    """Every probability with its label: 5 bytes a pair for float32."""

    def __init__(self) -> None:
        self._scores = np.empty(0, np.float32)
        self._positive = np.empty(0, np.bool_)
        self.count = 0

    def add(self, scores: np.ndarray, positive: np.ndarray) -> None:
        """Keep a minibatch: probabilities ``[rows]`` and whether the labels are 1, ``[rows]``."""
        dtype = np.result_type(self._scores, scores)
        end = self.count + len(scores)
        if dtype != self._scores.dtype or end > len(self._scores):
            size = max(end, len(self._scores) if end <= len(self._scores) else 2 * self.count)
            grown_scores, grown_positive = np.empty(size, dtype), np.empty(size, np.bool_)
            grown_scores[: self.count] = self._scores[: self.count]
            grown_positive[: self.count] = self._positive[: self.count]
            self._scores, self._positive = grown_scores, grown_positive
        self._scores[self.count : end], self._positive[self.count : end] = scores, positive
        self.count = end

    def merge(self, other: ExactPairs) -> None:
        """Keep the probabilities of another one too."""
        self.add(other._scores[: other.count], other._positive[: other.count])

    def roc_curve(self, positives: int, negatives: int, remove_redundant: bool) -> RocCurve:
        """Return the curve from (0, 0) to (1, 1), thresholds going down."""
        score, tp, fp = self._reached()
        columns = [
            _ends(max(1.0, score[0]), score, min(0.0, score[-1])),
            _ends(0.0, _ratio(fp, negatives), 1.0),
            _ends(0.0, _ratio(tp, positives), 1.0),
        ]
        threshold, x, y = _needed(columns) if remove_redundant else columns
        return RocCurve(threshold, x, y)

    def pr_curve(self, positives: int, negatives: int, remove_redundant: bool) -> PrecisionRecallCurve:
        """Return the curve from recall 1 to recall 0, thresholds going up."""
        score, tp, fp = self._reached()
        total = positives + negatives
        columns = [
            _ends(max(1.0, score[0]), score, min(0.0, score[-1])),
            _ends(1.0, _ratio(tp, tp + fp), positives / total),
            _ends(0.0, _ratio(tp, positives), 1.0),
            _ends(0, tp, positives),
            _ends(0, fp, negatives),
            _ends(positives, positives - tp, 0),
        ]
        columns = [column[::-1] for column in columns]
        threshold, precision, recall, tp, fp, fn = _needed(columns) if remove_redundant else columns
        return PrecisionRecallCurve(threshold, precision, recall, tp, fp, fn, total)

    def _reached(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return every distinct probability, from the highest on, and the positives and negatives at or above it."""
        order = np.argsort(self._scores[: self.count])[::-1]
        scores, tp = self._scores[order].astype(np.float64), np.cumsum(self._positive[order], dtype=np.int64)
        last = np.append(scores[1:] != scores[:-1], True)  # of equal ones: they are told apart by no threshold
        return scores[last], tp[last], (np.arange(1, self.count + 1) - tp)[last]


class ThresholdCounts:
    """Counts at ``steps + 1`` thresholds from 0 to 1."""

    def __init__(self, steps: int) -> None:
        self.threshold = np.arange(steps + 1) * (1.0 / steps)
        self.tp, self.fp = np.zeros(steps + 1, np.int64), np.zeros(steps + 1, np.int64)

    def add(self, scores: np.ndarray, positive: np.ndarray) -> None:
        """Count a minibatch: probabilities ``[rows]`` and whether the labels are 1, ``[rows]``."""
        # Compared as Java does, in the type of the probabilities. At the last threshold nothing is positive.
        reached = np.searchsorted(self.threshold[:-1].astype(scores.dtype), scores, side="right")
        for counts, cells in ((self.tp, reached[positive]), (self.fp, reached[~positive])):
            at_least = np.bincount(cells, minlength=len(counts))[::-1].cumsum()[::-1]
            counts[:-1] += at_least[1:]

    def merge(self, other: ThresholdCounts) -> None:
        """Add the counts of another one at the same thresholds."""
        self.tp += other.tp
        self.fp += other.fp

    def roc_curve(self, positives: int, negatives: int, remove_redundant: bool) -> RocCurve:
        """Return the rates at the thresholds, all of which stay."""
        return RocCurve(self.threshold, _ratio(self.fp, negatives), _ratio(self.tp, positives))

    def pr_curve(self, positives: int, negatives: int, remove_redundant: bool) -> PrecisionRecallCurve:
        """Return precision and recall at the thresholds: 1 where nothing is predicted, or nothing is, positive."""
        predicted = self.tp + self.fp
        precision = np.where(predicted == 0, 1.0, self.tp / np.maximum(predicted, 1))
        recall = self.tp / positives if positives else np.ones(len(self.tp))
        total = positives + negatives
        return PrecisionRecallCurve(self.threshold, precision, recall, self.tp, self.fp, positives - self.tp, total)


def _ratio(counts: np.ndarray, total: int | np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):  # 0/0 is NaN: there is no rate of a class that did not occur
        ratio: np.ndarray = counts / np.asarray(total)
    return ratio


def _ends(first: float, inner: np.ndarray, last: float) -> np.ndarray:
    return np.concatenate([[first], inner, [last]], dtype=inner.dtype)


def _needed(columns: list[np.ndarray]) -> list[np.ndarray]:
    """Return the columns, x and y second and third, without points that lie amid three of the same x or y."""
    kept = np.ones(len(columns[0]), np.bool_)
    for values in columns[1:3]:
        same = values[1:] == values[:-1]
        kept[1:-1] &= ~(same[1:] & same[:-1])
    return [column[kept] for column in columns]
