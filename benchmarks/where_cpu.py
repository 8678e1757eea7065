"""Show where this library's training step on the CPU spends its time, and what its matrix products alone would take.

It times the calls that are recorded of a step, by what they are or by the kind of node that makes them, so it knows the
inside of `nn.step.worker`, `nd.execution.recording`, `backends.cpu.recording` and `backends.onednn`.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
from interleaved import WARM_S, machine, versions
from networks import NETWORKS, make
from recorded_nodes import RecordedNodes
from series_networks import SERIES

import nd
from backends.onednn.primitive import Call as OneDnnCall
from nn import MultiLayerConfiguration
from nn.step.worker import StepInput

STEPS = 200
KINDS = {
    "matrix products": ("dot", "matmul", "run_tasks"),
    "copies: columns, weights, staging": ("__setitem__", "copyto", "fill"),
    "max pooling and ReLU": ("greater", "greater_equal", "maximum", "minimum", "multiply", "subtract"),
    "sums: bias, scattering columns": ("add", "reduce"),
}
OF_SERIES = {
    "matrix products": KINDS["matrix products"],
    "copies: weights, staging": KINDS["copies: columns, weights, staging"],
    "gates": ("tanh",),
    "products and sums by element": ("add", "multiply", "reduce", "subtract"),
}
"""The same of networks of recurrent layers."""
Call = Callable[[], object]


def where(name: str, batch: int) -> dict[str, Any]:
    """Return milliseconds per step: medians over many steps; of calls on the first worker."""
    net, data = make(name, batch)
    nodes = RecordedNodes(net)
    started = time.perf_counter()
    while time.perf_counter() < started + WARM_S:
        net.fit_batch(data)
    step = _median(lambda: net.fit_batch(data))
    recording = next(iter(net.engine.gradients.workers[0].recordings._known.values())).recording
    calls, held = recording.of_backend.calls, recording.of_backend.held or (lambda run: run())
    times: list[list[float]] = []
    recording.replay = lambda: times.append(held(lambda: _timed(calls)))
    update: list[float] = []
    compute: list[float] = []
    _time_into(net.updater, "update", update)
    _time_into(net.engine.gradients, "compute", compute)
    for _ in range(STEPS):
        net.fit_batch(data)
    medians = 1000 * np.median(times, axis=0) * len(times) / STEPS  # a large minibatch takes several stretches
    plan = net.engine.gradients.plans.of(StepInput((data.features,)))
    names = [_kind(call, OF_SERIES if name in SERIES else KINDS) for call in calls]
    products = (call for call, kind in zip(calls, names, strict=True) if kind == "matrix products")
    alone = sum(_alone(call, plan) for call in products) * len(times) / STEPS
    return {
        "what": name, "batch": batch, "step": step, "workers": len(plan.workers),
        "compute": 1000 * statistics.median(compute), "update": 1000 * statistics.median(update),
        "calls": _summed(names, medians), "nodes": _summed(nodes.kinds(calls), medians),
        "products_alone": alone, "update_floor": _update_floor(net.num_params()),
    }  # fmt: skip


def _summed(kinds: list[str], milliseconds: Iterable[float]) -> dict[str, Any]:
    """Return for every kind of call how many there are, and their milliseconds."""
    found: dict[str, list[float]] = defaultdict(list)
    for kind, each in zip(kinds, milliseconds, strict=True):
        found[kind].append(each)
    return {kind: {"count": len(each), "ms": sum(each)} for kind, each in found.items()}


def _timed(calls: list[Call]) -> list[float]:
    times, before = [], time.perf_counter()
    for call in calls:
        call()
        after = time.perf_counter()
        times.append(after - before)
        before = after
    return times


def _time_into(owner: Any, method: str, times: list[float]) -> None:
    run = getattr(owner, method)

    def timed(*arguments: Any, **options: Any) -> Any:
        before = time.perf_counter()
        found = run(*arguments, **options)
        times.append(time.perf_counter() - before)
        return found

    setattr(owner, method, timed)


def _median(run: Call, times: int = STEPS) -> float:
    return 1000 * statistics.median(_timed([run] * times))


def _kind(call: Any, kinds: dict[str, tuple[str, ...]]) -> str:
    if isinstance(call, OneDnnCall):
        return f"oneDNN's {call.kernel.name}"
    name = getattr(call.func, "__name__", "")
    if name == "dot" and call.args[0].ndim == 1:  # the gradient's norm
        return "others"
    return next((kind for kind, names in kinds.items() if name in names), "others")


def _alone(call: Call, plan: nd.WorkPlan) -> float:
    """Repeat one call as the step runs it, the other workers resting: its operands stay in the cache."""
    found: list[float] = []
    run = partial(_median, call, 30)
    nd.run_tasks([lambda: found.append(run()), *[lambda: None] * (len(plan.workers) - 1)], plan.light)
    return found[0]


def _update_floor(length: int) -> float:
    """Milliseconds to read and to write three vectors of that length once, on all workers."""
    arrays = [np.ones(length, np.float32) for _ in range(6)]
    workers = nd.backend().workers
    parts = [slice(worker * length // workers, (worker + 1) * length // workers) for worker in range(workers)]

    def copy(part: slice) -> None:
        for source, target in zip(arrays[:3], arrays[3:], strict=True):
            np.copyto(target[part], source[part])

    return _median(lambda: nd.run_tasks([partial(copy, part) for part in parts]))


def table(found: list[dict[str, Any]], by: str) -> str:
    """Return a Markdown table, one column per minibatch; `by` is "calls" or "nodes"."""
    kinds = dict.fromkeys(kind for each in found for kind in each[by])
    rows: list[tuple[str, list[str]]] = [("a step, nothing measured inside", [f"{each['step']:.2f}" for each in found])]
    rows.append(("forward, loss, backward", [f"{each['compute']:.2f}" for each in found]))
    for kind in kinds:
        cells = [each[by].get(kind, {"count": 0, "ms": 0.0}) for each in found]
        rows.append((f"- {kind} (calls)", [f"{cell['ms']:.2f} ({cell['count']})" for cell in cells]))
    rows.append(("- the same products alone, in the cache", [f"{each['products_alone']:.2f}" for each in found]))
    rows.append(("update", [f"{each['update']:.2f}" for each in found]))
    rows.append(("- copying three vectors of its length", [f"{each['update_floor']:.2f}" for each in found]))
    heads = [f"{each['what']}, {each['batch']} on {each['workers']} worker(s)" for each in found]
    lines = [f"| ms | {' | '.join(heads)} |", "|---|" + "---|" * len(found)]
    return "\n".join([*lines, *(f"| {name} | {' | '.join(cells)} |" for name, cells in rows)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--network", choices=NETWORKS, default="lenet")
    parser.add_argument("--batch", type=int, nargs="+", help="default: 16 64 256; of series the network's own")
    parser.add_argument("--by", choices=("calls", "nodes"), help="kinds of calls (default of chains) or of nodes")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    arguments = parser.parse_args()
    batches = [SERIES[arguments.network].batch] if arguments.network in SERIES else [16, 64, 256]
    found = [where(arguments.network, batch) for batch in arguments.batch or batches]
    chain = isinstance(NETWORKS[arguments.network].conf(), MultiLayerConfiguration)
    by = arguments.by or ("calls" if chain else "nodes")
    print(json.dumps(found, indent=2) if arguments.json else f"{machine()}; {versions()}\n{table(found, by)}")


if __name__ == "__main__":
    main()
