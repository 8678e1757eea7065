"""Time LeNet's training step or predictions on a CUDA device against PyTorch, in turn in one process.

Ours runs as CUDA graphs (the default) and eagerly; PyTorch eagerly and at its best: fused updater and CUDA graph, with
channels_last and torch.compile where they are faster. float32 throughout, without TF32 unless --tf32 allows it to both.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import statistics
import sys
from typing import Any

import gpu_clock
import gpu_contenders as who
from gpu_epochs import epochs
from gpu_report import about_here, header, heading, section_text, table
from lenet_floor import floor_ms, work
from sections import with_section

RESULTS = pathlib.Path(__file__).parent / "RESULTS.md"
BATCHES = [16, 64, 256, 1024, 4096]
UNUSABLE = 2
"""Exit code where there is no device, no CuPy or no PyTorch for it."""


def main(arguments: list[str] | None = None) -> int:
    chosen = parse(arguments)
    missing = what_is_missing()
    if missing:
        print(f"lenet_gpu: {missing}", file=sys.stderr)
        return UNUSABLE
    who.allow_tf32(chosen.tf32)
    report = measured(chosen)
    print(f"{header(report)}\n\n{table(report['results'])}")
    print("\n".join(report["notes"]))
    if chosen.json:
        pathlib.Path(chosen.json).write_text(json.dumps(report, indent=2) + "\n")
    if chosen.write:
        text = RESULTS.read_text() if RESULTS.exists() else "# Results\n"
        RESULTS.write_text(with_section(text, heading(chosen.inference, chosen.tf32), section_text(report)))
        print(RESULTS)
    return 0


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch", type=int, nargs="+", default=BATCHES, help=f"default: {BATCHES}")
    parser.add_argument("--inference", action="store_true", help="predictions, softmax included, not training steps")
    parser.add_argument("--tf32", action="store_true", help="allow TF32 in products to both")
    parser.add_argument("--no-compile", action="store_true", help="leave torch.compile out: it takes its time")
    parser.add_argument("--rounds", type=int, default=gpu_clock.ROUNDS, help=f"default: {gpu_clock.ROUNDS}")
    parser.add_argument(
        "--seconds", type=float, default=gpu_clock.SECONDS, help=f"default: {gpu_clock.SECONDS}, a turn"
    )
    parser.add_argument("--epochs", type=int, default=0, help="also train so many epochs of MNIST through fit")
    parser.add_argument("--json", metavar="FILE", help="write everything into a file")
    parser.add_argument("--write", action="store_true", help=f"put a section into {RESULTS.name}")
    return parser.parse_args(arguments)


def what_is_missing() -> str:
    """Return why nothing can be measured here, in one line; nothing where it can."""
    from backends.errors import BackendError

    try:
        who.make_backend(graphs=True, tf32=False)
    except BackendError as error:
        return str(error)
    try:
        import torch
    except ImportError as error:
        return f"PyTorch must be importable, got {error}. Run: pip install torch"
    if not torch.cuda.is_available():
        return f"PyTorch must see the CUDA device, got torch {torch.__version__} that sees none. Install one for CUDA."
    return ""


def measured(chosen: argparse.Namespace) -> dict[str, Any]:
    """Measure everything that the command line asks for: all times first, for a profiler may slow what follows."""
    backends = {graphs: who.make_backend(graphs, chosen.tf32) for graphs in (True, False)}
    report: dict[str, Any] = {"tf32": chosen.tf32, "inference": chosen.inference, "command": command(chosen)}
    report.update(ceilings=gpu_clock.ceilings(), notes=[], results=[], epochs=None)
    peers = {}
    for batch in chosen.batch:
        peers[batch] = best_peer(backends[True], batch, chosen, report["notes"])
        report["results"].append(timed(backends, batch, peers[batch], chosen, report["ceilings"]))
        free_memory()
    if chosen.epochs:
        report["epochs"] = epochs(backends[True], chosen.epochs, report["notes"])
    try:
        count_kernels(report["results"], backends, peers, chosen)
    except Exception as error:  # the times are good without CUPTI
        report["notes"].append(f"Kernels could not be counted: {type(error).__name__}: {one_line(error)}")
    return {**report, **about_here()}


def contenders(
    backends: dict[bool, Any], batch: int, peer: who.Peer | None, inference: bool
) -> dict[str, who.Contender]:
    """Return everybody, the first of which the others are compared with."""
    captured, net, host = who.ours(backends[True], batch)
    found = {who.CAPTURED: captured, who.EAGER: who.ours(backends[False], batch)[0]}
    found[who.FED] = who.ours(backends[True], batch, from_host=True)[0]
    found[who.PEER_EAGER] = who.theirs(net, backends[True], host, who.Peer("eager"), inference)
    if peer is not None:
        found[f"{who.PEER_BEST}, {peer.name}"] = who.theirs(net, backends[True], host, peer, inference)
    return found


def best_peer(backend: Any, batch: int, chosen: argparse.Namespace, notes: list[str]) -> who.Peer | None:
    """Return the fastest way to run PyTorch; note the ways that do not work here."""
    best: tuple[float, who.Peer | None] = (float("inf"), None)
    _, net, host = who.ours(backend, batch)
    for peer in who.BEST:
        if peer.compiled and chosen.no_compile:
            continue
        try:
            step = work_of(who.theirs(net, backend, host, peer, chosen.inference), chosen.inference)
            found = gpu_clock.in_turn({"": (step, gpu_clock.events_of("torch"))}, 3, chosen.seconds / 2)
        except Exception as error:  # no compiler for Triton, an operation that cannot be captured
            notes.append(f"torch, {peer.name}, batch {batch}: {type(error).__name__}: {one_line(error)}")
            continue
        best = min(best, (statistics.median(each.device for each in found[""]), peer), key=lambda each: each[0])
    return best[1]


def work_of(each: who.Contender, inference: bool) -> gpu_clock.Step:
    return each.output if inference else each.step


def timed(
    backends: dict[bool, Any],
    batch: int,
    peer: who.Peer | None,
    chosen: argparse.Namespace,
    ceilings: dict[str, float],
) -> dict[str, Any]:
    """Return medians, best and ratios of one batch size."""
    everybody = contenders(backends, batch, peer, chosen.inference)
    who.check_all(everybody, not chosen.inference, chosen.tf32)
    running = {
        name: (work_of(each, chosen.inference), gpu_clock.events_of(each.events)) for name, each in everybody.items()
    }
    blocks = gpu_clock.in_turn(running, chosen.rounds, chosen.seconds)
    floor = floor_ms(work(batch, not chosen.inference), **ceilings)
    what = "lenet inference" if chosen.inference else "lenet training step"
    return result(what, batch, floor, blocks)


def result(what: str, batch: int, floor: float, blocks: dict[str, list[gpu_clock.Block]]) -> dict[str, Any]:
    """Return medians, best, the share of the floor and the ratios of medians to ours."""
    device = {name: [each.device for each in found] for name, found in blocks.items()}
    ours = statistics.median(device[who.CAPTURED])
    rows = {
        name: {
            "median_ms": statistics.median(device[name]),
            "best_ms": min(device[name]),
            "wall_ms": statistics.median(each.wall for each in found),
            "host_ms": statistics.median(each.host for each in found),
            "floor_share": floor / statistics.median(device[name]),
            "ratio": statistics.median(device[name]) / ours,
        }
        for name, found in blocks.items()
    }
    return {"what": what, "batch": batch, "floor_ms": floor, "who": rows}


def count_kernels(
    results: list[dict[str, Any]],
    backends: dict[bool, Any],
    peers: dict[int, who.Peer | None],
    chosen: argparse.Namespace,
) -> None:
    """Add to every row what the profiler sees; contenders are new, for it must be there when graphs are made."""
    gpu_clock.kernels(lambda: None)
    for each in results:
        everybody = contenders(backends, each["batch"], peers[each["batch"]], chosen.inference)
        for name, contender in everybody.items():
            step = work_of(contender, chosen.inference)
            for _ in range(gpu_clock.WARM_STEPS):
                step()
            each["who"][name].update(gpu_clock.kernels(step))
        del everybody
        free_memory()


def free_memory() -> None:
    import cupy
    import torch

    cupy.get_default_memory_pool().free_all_blocks()
    torch.cuda.empty_cache()


def command(chosen: argparse.Namespace) -> str:
    """Return how to measure this again."""
    flags = [f"--{name}" for name in ("inference", "tf32") if getattr(chosen, name)]
    flags += ["--no-compile"] * chosen.no_compile + [f"--epochs {chosen.epochs}"] * bool(chosen.epochs)
    return " ".join(["python benchmarks/lenet_gpu.py --batch", *map(str, chosen.batch), *flags, "--write"])


def one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


if __name__ == "__main__":
    sys.exit(main())
