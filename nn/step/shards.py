"""Minibatches in a fixed number of shards: the same bits however many threads compute them.

Bits depend on how a minibatch is cut, and on the order in which parts are added. Shard r of S has examples r N // S to
(r + 1) N // S, possibly none; gradients and losses are added pairwise in the tree of halves: shards [0, S) are those of
[0, S // 2) and those of [S // 2, S).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import add
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import nd
from nd.random import Random
from nd.state import InForce, computing

from .worker import HalfWay, OnForward, Pass, Worker, copied, joined

if TYPE_CHECKING:
    from .shared_nodes import SharedNodes
    from .step_input import StepInput
    from .worker import GradientComputer

T = TypeVar("T")


class Shard(NamedTuple):
    """Some examples of a minibatch."""

    step: StepInput
    seat: nd.Seat
    random: Random | None
    """In the state in which all shards begin, as all draw the numbers of the minibatch; None where nothing is drawn."""


class Group:
    """Shards that one worker computes, one after the other: a part of the tree.

    Parameters
    ----------
    worker : Worker
    shards : sequence of Shard or None
        None for those without examples.
    """

    def __init__(self, worker: Worker, shards: Sequence[Shard | None]) -> None:
        self.worker, self._shards = worker, shards

    def compute(self) -> list[Pass]:
        """Leave the sum of the gradients in the worker's; return what there is beside them, in memory of its own."""
        return self._added([None if shard is None else partial(self._whole_way, shard) for shard in self._shards])

    def forward(self) -> list[HalfWay | None]:
        """Go half of the way with all shards, unrecorded."""
        return [None if shard is None else self._half_way(place, shard) for place, shard in enumerate(self._shards)]

    def backward(self, half_ways: Sequence[HalfWay | None]) -> list[Pass]:
        """Do as `compute`, from half way on."""
        return self._added([None if half_way is None else half_way.backward for half_way in half_ways])

    def _whole_way(self, shard: Shard) -> Pass:
        with InForce(None, shard.random):
            return self.worker.compute(shard.step, shard.seat, alone=False)

    def _half_way(self, place: int, shard: Shard) -> HalfWay:
        with InForce(None, shard.random):
            return self.worker.half_way(place, shard.step, shard.seat)

    def _added(self, runs: Sequence[Callable[[], Pass] | None], level: int = 0) -> list[Pass]:
        """Run a part of the tree; two vectors of its leaves are never needed at once but on its way down."""
        if len(runs) == 1:
            return [] if runs[0] is None else [copied(runs[0]())]
        left, right = halves(runs)
        done = self._added(left, level)
        if not done or not any(right):
            return done or self._added(right, level)
        gradient, aside = self.worker.gradient, self.worker.aside(level)
        nd.assign(aside, gradient)
        done += self._added(right, level + 1)
        nd.addi(gradient, aside)
        return done


def compute_in_shards(computer: GradientComputer, step: StepInput, on_forward: OnForward | None) -> Pass:
    """Leave the gradient of a minibatch in the network's vector; return what there is beside it."""
    shared, count = computer.shared, step.shards
    check_shards(shared)
    rows = [slice(r * step.examples // count, (r + 1) * step.examples // count) for r in range(count)]
    present = [place.stop > place.start for place in rows]
    meeting = computer.meeting_of(sum(present))
    borders = [border for border in nd.plan_shards(count, meeting is not None) if any(present[slice(*border)])]
    seats = iter([nd.ALONE] * count if meeting is None else meeting.seats)
    generator, draws = nd.random.get_random(), shared.draws
    shards = [
        Shard(step.shard_of(place, draws), next(seats), generator.copy() if draws else None) if there else None
        for place, there in zip(rows, present, strict=True)
    ]
    workers = computer.workers_for(len(borders))
    groups = [Group(worker, shards[slice(*border)]) for worker, border in zip(workers, borders, strict=True)]
    tasks: Sequence[Callable[[], list[Pass]]] = [group.compute for group in groups]
    if on_forward is not None:
        half_ways = nd.run_tasks([group.forward for group in groups], False, meeting, undivided=True)
        seen = [half_way.activations for of_group in half_ways for half_way in of_group if half_way is not None]
        on_forward(step.features, list(joined([tuple(activations) for activations in seen])))
        tasks = [partial(group.backward, of_group) for group, of_group in zip(groups, half_ways, strict=True)]
    passes = [one for of_group in nd.run_tasks(tasks, False, meeting, undivided=True) for one in of_group]
    for shard in shards if draws else ():
        if shard is not None:
            generator.set_state(shard.random.get_state())  # type: ignore[union-attr]  # all of them stand there
    gradients = {first: worker.gradient for (first, _), worker in zip(borders, workers, strict=True)}
    losses = iter([one.loss for one in passes])
    with computing(nd.backend()):
        gradient = pairwise([gradients.get(r) for r in range(count)], nd.addi)
        loss = pairwise([next(losses) if there else None for there in present], add)
        (evidence,) = nd.run_tasks([partial(shared.vectors.guard.observe, loss, gradient)])
    workers[0].final(0, gradient.shape[0])
    return Pass(loss, evidence, joined([one.state for one in passes]), joined([one.kept for one in passes]))


def halves(leaves: Sequence[T]) -> tuple[Sequence[T], Sequence[T]]:
    """Cut the leaves of a tree into those of its two branches."""
    middle = len(leaves) // 2
    return leaves[:middle], leaves[middle:]


def pairwise(leaves: Sequence[Any], plus: Callable[[Any, Any], Any]) -> Any:
    """Return the sum of the leaves of a tree; None where there is nothing."""
    if len(leaves) == 1:
        return leaves[0]
    left, right = (pairwise(half, plus) for half in halves(leaves))
    if left is None or right is None:
        return right if left is None else left
    return plus(left, right)


def check_shards(shared: SharedNodes) -> None:
    """Raise ConfigurationError unless parts of every minibatch give the numbers of all of it."""
    if shared.splits_but_for_noise(training=True):
        return
    for node in shared.nodes:
        if not node.layer.may_split(True):
            raise nd.ConfigurationError(
                f"shards: {node.layer.label} must compute examples by themselves, got one that needs all of the "
                "minibatch, or draws numbers. Leave shards out."
            )
    raise nd.ConfigurationError("shards: preprocessors must compute examples by themselves. Leave shards out.")
