"""Gradients that are sums: of what workers compute of a minibatch, of its shards, of several minibatches.

Bits depend on how a minibatch is cut, and on the order in which parts are added. Shares of workers are as many as are
fast. Shards give the same bits however many threads compute them: shard r of S has examples r N // S to
(r + 1) N // S, possibly none; gradients and losses are added pairwise in the tree of halves: shards [0, S) are those of
[0, S // 2) and those of [S // 2, S).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial, reduce
from itertools import chain
from operator import add
from typing import TYPE_CHECKING, Any, TypeVar

import nd
from nd.arguments import shown
from nd.state import computing
from nd.typing import Array

from ..terms.shard import Shard
from .worker import OnForward, Part, Pass, Run, StepInput, Worker, copied, joined

if TYPE_CHECKING:
    from optimize.step import StepResult

    from .shared_nodes import SharedNodes
    from .worker import GradientComputer

T = TypeVar("T")


def compute_in_shares(
    computer: GradientComputer,
    step: StepInput,
    plan: nd.WorkPlan,
    counts: tuple[int, int],
    on_forward: OnForward | None,
) -> tuple[Pass, tuple[Array, ...], Array | float]:
    """Let every worker compute its share; return what is beside the gradient, further gradients, the penalties."""
    count, vectors = len(plan.workers), computer.shared.vectors
    workers, (meeting, seats) = computer.workers_for(count), computer.meeting_of(count)
    parts = [
        [Part(step.part(rows), seat, len(own) == 1) for rows in own]
        for own, seat in zip(plan.workers, seats, strict=True)
    ]
    runs: Any = computer.runs(workers, parts, meeting, on_forward, step)

    def share(number: int) -> tuple[Pass, Array | float]:
        own = vectors.penalty_sum.share(*counts, number, count) if count > 1 else vectors.guard.penalty(*counts)
        return total(workers[number], runs[number]), own

    computed = nd.run_tasks([partial(share, number) for number in range(count)], plan.light, meeting)
    more = tuple(worker.gradient for worker in workers[1:])
    return sum_of([one for one, _ in computed]), more, reduce(add, [penalty for _, penalty in computed])


def total(worker: Worker, runs: Sequence[Run]) -> Pass:
    """Run parts one after the other, and add them up: the gradient is then this worker's."""
    if len(runs) == 1:
        return runs[0]()
    passes, so_far = [], worker.aside(0)
    for number, run in enumerate(runs, 1):
        passes.append(copied(run()))
        if number == 1:
            nd.assign(so_far, worker.gradient)
        else:
            nd.add(so_far, worker.gradient, worker.gradient if number == len(runs) else so_far)
    worker.final(0, worker.gradient.shape[0])
    of_all = sum_of(passes)
    return of_all._replace(evidence=worker.observed(of_all.loss))


def sum_of(passes: Sequence[Pass]) -> Pass:
    """Return what several passes give beside their gradients as that of one; losses are added one after the other."""
    losses, evidence, states, kept = zip(*passes, strict=True)
    seen = () if None in evidence else tuple(chain(*evidence))
    return Pass(reduce(add, losses), seen, joined(states), joined(kept))


def compute_sum(
    computer: GradientComputer,
    steps: Sequence[StepInput],
    iteration: int,
    epoch: int,
    on_forward: OnForward | None = None,
) -> StepResult:
    """Compute several minibatches, one after the other, and add up their gradients and losses.

    Layers write their gradients outright: what they have written is added, as a flat vector. The penalties count
    once.

    Raises
    ------
    DTypeError
        They are none, or something else.
    """
    if not isinstance(steps, Sequence) or not steps or not all(isinstance(step, StepInput) for step in steps):
        raise nd.DTypeError(
            f"compute_gradient_and_score: step must be a StepInput, or several, got {shown(steps)}. Make one with "
            "net.step_input(data)."
        )
    if len(steps) == 1:
        return computer.compute(steps[0], iteration, epoch, on_forward)
    shared, vectors, losses, hears = computer.shared, computer.shared.vectors, [], computer.shared.on_final
    if computer.total is None:
        computer.total = nd.create_uninitialized(*computer.workers[0].gradient.shape, dtype=shared.dtype)
    shared.on_final = None  # of one minibatch no stretch is final
    try:
        for number, step in enumerate(steps):
            result = computer.compute(step, iteration, epoch, on_forward)
            losses.append(nd.copy(result.loss))
            gradient = vectors.gradients.whole()
            with computing(nd.backend()):
                nd.addi(computer.total, gradient) if number else nd.assign(computer.total, gradient)
    finally:
        shared.on_final = hears
    with computing(nd.backend()):
        nd.assign(vectors.gradients.whole(), computer.total)
        loss = sum(losses[1:], losses[0])
    computer.workers[0].final(0, gradient.shape[0])
    examples = sum(step.examples for step in steps)
    divisor = examples if computer._averaged else 1
    score = vectors.guard.score(loss, result.penalty, divisor)
    return result._replace(loss=loss, examples=examples, divisor=divisor, known_score=score)


# ---- shards


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
    twin = None
    for number, place in enumerate(rows):
        if present[number]:
            shard = step.part(place)
            if shared.draws:  # the numbers that these examples have in the minibatch
                shard = replace(shard, shard=Shard(place.start, place.stop - place.start, step.examples))
                twin = computer.twin_of(generator, shard.shard)
            parts[number] = Part(shard, next(free), False, twin)
    workers = computer.workers_for(len(borders))
    runs = computer.runs(workers, [parts[slice(*border)] for border in borders], meeting, on_forward, step)
    tasks = [partial(summed, worker, own) for worker, own in zip(workers, runs, strict=True)]
    passes = [one for of_worker in nd.run_tasks(tasks, False, meeting, undivided=True) for one in of_worker]
    if twin is not None:
        generator.set_state(twin.get_state())  # where all of them stand
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
