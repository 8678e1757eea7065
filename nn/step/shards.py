"""Minibatches in a fixed number of shards: the same bits however many threads compute them.

Bits depend on how a minibatch is cut, and on the order in which parts are added. Shard r of S has examples r N // S to
(r + 1) N // S, possibly none; gradients and losses are added pairwise in the tree of halves: shards [0, S) are those of
[0, S // 2) and those of [S // 2, S).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import add
from typing import TYPE_CHECKING, Any, TypeVar

import nd
from nd.state import computing

from .worker import OnForward, Part, Pass, Run, Worker, copied, sum_of

if TYPE_CHECKING:
    from .shared_nodes import SharedNodes
    from .step_input import StepInput
    from .worker import GradientComputer

T = TypeVar("T")


def compute_in_shards(computer: GradientComputer, step: StepInput, on_forward: OnForward | None) -> Pass:
    """Leave the gradient of a minibatch in the network's vector; return what there is beside it."""
    shared, count = computer.shared, step.shards
    check_shards(shared)
    rows = [slice(r * step.examples // count, (r + 1) * step.examples // count) for r in range(count)]
    present = [place.stop > place.start for place in rows]
    meeting, seats = computer.meeting_of(sum(present))
    borders = [border for border in nd.plan_shards(count, meeting is not None) if any(present[slice(*border)])]
    generator, free = nd.random.get_random(), iter(seats)
    parts: list[Part | None] = [None] * count
    for number, place in enumerate(rows):
        if present[number]:
            shard = step.shard_of(place, shared.draws)
            twin = computer.twin_of(generator, shard.shard) if shared.draws else None
            parts[number] = Part(shard, next(free), False, twin)
    workers = computer.workers_for(len(borders))
    runs = computer.runs(workers, [parts[slice(*border)] for border in borders], meeting, on_forward, step)
    tasks = [partial(summed, worker, own) for worker, own in zip(workers, runs, strict=True)]
    passes = [one for of_worker in nd.run_tasks(tasks, False, meeting, undivided=True) for one in of_worker]
    for part in parts:
        if part is not None and part.random is not None:
            generator.set_state(part.random.get_state())  # where all of them stand
    gradients = {first: worker.gradient for (first, _), worker in zip(borders, workers, strict=True)}
    losses = iter([one.loss for one in passes])
    with computing(nd.backend()):
        gradient = pairwise([gradients.get(r) for r in range(count)], nd.addi)
        loss = pairwise([next(losses) if there else None for there in present], add)
        (seen,) = nd.run_tasks([partial(shared.vectors.guard.observe, loss, gradient)])
    workers[0].final(0, gradient.shape[0])
    return sum_of(passes)._replace(loss=loss, evidence=seen)


def halves(leaves: Sequence[T]) -> tuple[Sequence[T], Sequence[T]]:
    """Cut the leaves of a tree into those of its two branches."""
    middle = len(leaves) // 2
    return leaves[:middle], leaves[middle:]


def summed(worker: Worker, runs: Sequence[Run | None], level: int = 0, aside: bool = False) -> list[Pass]:
    """Run the leaves of a tree, and add up their gradients; return what there is beside them, as copies.

    The sum is in the worker's gradient, or in its memory `aside` of that level.
    """
    if len(runs) == 1:
        done = [] if runs[0] is None else [copied(runs[0]())]
        if aside and done:
            nd.assign(worker.aside(level), worker.gradient)
        return done
    left, right = halves(runs)
    if not any(left) or not any(right):
        return summed(worker, left if any(left) else right, level, aside)
    done = summed(worker, left, level, True) + summed(worker, right, level + 1)
    total = worker.aside(level)
    nd.add(total, worker.gradient, total if aside else worker.gradient)
    return done


def pairwise(leaves: Sequence[object], plus: Callable[[Any, Any], Any]) -> Any:
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
