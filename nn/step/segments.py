"""Truncated backprop through time: the segments of a minibatch's series."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from nd.typing import Array

from .worker import WHOLE, Arrays, Masks, StepArrays, StepInput, Truncation

if TYPE_CHECKING:
    from ..conf.nodes import NetworkConfiguration


class Series(NamedTuple):
    """Which arrays of a minibatch are series ``[N, ..., T]``."""

    features: tuple[bool, ...]
    labels: tuple[bool, ...]
    lengths: tuple[int, ...]  # T of them, each once


def series_in(step: StepInput, rows_are_series: Sequence[bool]) -> Series:
    """Return which arrays are series: those of rank 3, and of the inputs where `rows_are_series` rows too."""
    ranks = zip((x.ndim for x in step.features), rows_are_series, strict=True)
    features = tuple(rank == 3 or (rank == 2 and rows) for rank, rows in ranks)
    labels = tuple(y.ndim == 3 for y in step.labels)
    arrays = zip((*step.features, *step.labels), (*features, *labels), strict=True)
    return Series(features, labels, tuple({array.shape[-1]: None for array, timed in arrays if timed}))


def segments_of(step: StepInput, series: Series, conf: NetworkConfiguration, stateful: bool) -> list[StepInput]:
    """Return views of the segments of series of one length, each with how the way back through it goes.

    `stateful` says whether layers carry anything from one to the next. The last segment has what is left. What is no
    series comes into each as it is. Source: DL4J ``ComputationGraph.doTruncatedBPTT``. Differs: masks of what is no
    series stay as they are, where Java fails.
    """
    (times,), length = series.lengths, conf.tbptt_fwd_length
    segments = []
    for start in range(0, times, length):
        steps = slice(start, min(start + length, times))
        truncation = _truncation(conf, start, steps.stop - start) if stateful else WHOLE
        features, features_masks = _cut(step.features, step.features_masks, series.features, steps, times)
        labels, labels_masks = _cut(step.labels, step.labels_masks, series.labels, steps, times)
        arrays = StepArrays(features, labels, features_masks, labels_masks, ())
        segments.append(StepInput(*arrays, truncation, step.loss_weights, step.shards))
    return segments


def _truncation(conf: NetworkConfiguration, start: int, length: int) -> Truncation:
    """Return how the way back goes through a segment; `WHOLE` itself where it is that of ordinary backprop."""
    if not conf.tbptt_exact:
        return Truncation(restarts=True) if start else WHOLE
    return Truncation(back_length=conf.tbptt_back_length) if conf.tbptt_back_length < length else WHOLE


def _cut(
    arrays: Arrays, masks: Masks, timed: Sequence[bool], steps: slice, times: int
) -> tuple[Arrays, tuple[Array | None, ...]]:
    """Return time steps of arrays that are series, and of their masks but those ``[N, 1]`` of all time steps."""
    cut = tuple(array[..., steps] if is_series else array for array, is_series in zip(arrays, timed, strict=True))
    return cut, tuple(
        mask[..., steps] if mask is not None and is_series and mask.shape[-1] == times else mask
        for mask, is_series in zip(masks, timed, strict=True)
    )
