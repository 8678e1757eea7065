"""The input of one step: what a network is given of a minibatch, and what decides on the operations."""

from __future__ import annotations

from typing import NamedTuple

import nd
from nd.execution.recording import mapped
from nd.typing import Array

from ..terms.shard import Shard

Arrays = tuple[Array, ...]
Masks = tuple[Array | None, ...]


class Truncation(NamedTuple):
    """How the way back goes through a segment of series in layers with a state; see `Context`. By default all of it."""

    restarts: bool = False
    back_length: int | None = None


MOST_SHARDS = 256
WHOLE = Truncation()


class StepArrays(NamedTuple):
    """Everything whose numbers change from step to step; see `StepInput`."""

    features: Arrays
    labels: Arrays
    features_masks: Masks
    labels_masks: Masks
    state: Arrays


class StepInput:
    """Features ``[N, ...]``, labels and masks of one minibatch, or of a segment of its series.

    Parameters
    ----------
    features, labels : tuple of array
        Of every input and of every output of the network; no labels for a prediction.
    features_masks, labels_masks : tuple of array or None
        Of every input and of every output; without them there are none.
    state : tuple of array ``[N, ...]``
        Carried by layers from the segment before.
    truncation : Truncation
        Of the way back.
    loss_weights : tuple of float
        For every output what its loss is multiplied by; none for 1.
    shards : int
        Into how many the examples are cut, whatever computes them; 0 for as many parts as are fast.
    shard : Shard, optional
        Where these examples lie in the minibatch whose random numbers they share.
    share : float, optional
        The part of the minibatch that these examples are; None where no node asks for it.

    Attributes
    ----------
    examples : int
        N: rows of the first labels, of which networks that stack inputs have more; without them of features.
    key : tuple
        Shapes of everything, the truncation and the weights of losses: steps of one key take the same operations.
    """

    __slots__ = (
        "arrays", "examples", "features", "features_masks", "key", "labels", "labels_masks", "loss_weights", "shard",
        "shards", "share", "state", "truncation",
    )  # fmt: skip

    def __init__(
        self,
        features: Arrays,
        labels: Arrays = (),
        features_masks: Masks = (),
        labels_masks: Masks = (),
        state: Arrays = (),
        truncation: Truncation = WHOLE,
        loss_weights: tuple[float, ...] = (),
        shards: int = 0,
        shard: Shard | None = None,
        share: float | None = None,
    ) -> None:
        features_masks, labels_masks = features_masks or (None,) * len(features), labels_masks or (None,) * len(labels)
        self.features, self.labels, self.state, self.truncation = features, labels, state, truncation
        self.features_masks, self.labels_masks, self.loss_weights = features_masks, labels_masks, loss_weights
        self.shards, self.shard, self.share = shards, shard, share
        self.arrays = StepArrays(features, labels, features_masks, labels_masks, state)
        self.examples: int = (labels or features)[0].shape[0]
        every = (*features, *labels, *features_masks, *labels_masks, *state)
        self.key: tuple[object, ...] = tuple([None if array is None else array.shape for array in every])
        if truncation is not WHOLE or loss_weights or shard is not None or share is not None:
            self.key = (*self.key, truncation, loss_weights, shard, share)

    def labels_mask(self, output: int) -> Array | None:
        """Return the mask of an output's labels, None for none."""
        return self.labels_masks[output] if self.labels_masks else None

    def with_arrays(self, arrays: StepArrays) -> StepInput:
        """Return the same with others in the place of `arrays`."""
        return StepInput(*arrays, self.truncation, self.loss_weights, self.shards, self.shard, self.share)

    def with_state(self, state: Arrays) -> StepInput:
        """Return the same with another state."""
        return self.with_arrays(self.arrays._replace(state=state))

    def with_loss_weights(self, weights: tuple[float, ...]) -> StepInput:
        """Return the same with other weights of the outputs' losses."""
        return StepInput(*self.arrays, self.truncation, weights, self.shards, self.shard, self.share)

    def in_shards(self, shards: int) -> StepInput:
        """Return the same, cut into so many shards when it is computed.

        Raises
        ------
        SizeError
            They are more than `MOST_SHARDS`.
        """
        if shards > MOST_SHARDS:
            raise nd.SizeError(
                f"shards must be at most {MOST_SHARDS}, got {shards}: every one takes memory, and some take a thread. "
                "As many as threads will ever compute are enough."
            )
        if shards == self.shards:
            return self
        return StepInput(*self.arrays, self.truncation, self.loss_weights, shards, self.shard, self.share)

    def shard_of(self, rows: slice, draws: bool) -> StepInput:
        """Return views of some of the examples; where random numbers are drawn, with those of the minibatch."""
        part = self.part(rows)
        shard = Shard(rows.start, rows.stop - rows.start, self.examples) if draws else None
        return StepInput(*part.arrays, self.truncation, self.loss_weights, shard=shard, share=part.share)

    def part(self, rows: slice) -> StepInput:
        """Return views of some of the examples."""
        if rows.start == 0 and rows.stop == self.examples:
            return self
        arrays: StepArrays = mapped(lambda x: None if x is None else x[rows, ...], self.arrays)
        share = None if self.share is None else self.share * (rows.stop - rows.start) / self.examples
        return StepInput(*arrays, self.truncation, self.loss_weights, self.shards, self.shard, share)
