"""Time an epoch over a folder of pictures: this library beside PyTorch's DataLoader with torchvision, in turns.

The pictures are JPEGs of 64 by 64, made once. Both decode them, flip them at random, cut out a window of their size
from a padding of 4 pixels, make floats of them and normalize these: here `ImageFolderIterator` with two threads and
`nd.dataset.augmentation`, there `ImageFolder`, torchvision's transforms and a DataLoader with two worker processes,
which stay alive between epochs. Every contender is a process of its own, which waits while another one is timed.
`--python` names an interpreter that has PyTorch and torchvision.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from interleaved import machine

SIZE, CLASSES, PADDING = 64, 10, 4
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
Epoch = Callable[[], int]
"""Reads an epoch, and returns how many pictures it had."""


def make_pictures(folder: Path, count: int) -> None:
    """Write pictures that look like photos to a JPEG decoder: large spots, fine ones, some noise."""
    from PIL import Image

    rng = np.random.default_rng(0)
    for number in range(count):
        spots = [Image.fromarray(rng.integers(0, 256, (n, n, 3), dtype=np.uint8)).resize((SIZE, SIZE)) for n in (4, 16)]
        noise = rng.normal(0, 6, (SIZE, SIZE, 3))
        pixels = 0.7 * np.asarray(spots[0], float) + 0.3 * np.asarray(spots[1], float) + noise
        path = folder / f"class_{number % CLASSES}" / f"{number:06d}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels.clip(0, 255).astype(np.uint8)).save(path, quality=90)


def ours(folder: str, batch: int, workers: int) -> Epoch:
    from nd.dataset import CompositeDataSetPreProcessor, ImageFolderIterator, NormalizerStandardize
    from nd.dataset.augmentation import RandomCrop, RandomFlip

    iterator = ImageFolderIterator(folder, batch, SIZE, workers=workers)
    normalizer = NormalizerStandardize(mean=np.array(MEAN, np.float32), std=np.array(STD, np.float32))
    iterator.set_pre_processor(CompositeDataSetPreProcessor(RandomFlip(), RandomCrop(padding=PADDING), normalizer))

    def epoch() -> int:
        return sum(len(minibatch.features) for minibatch in iterator)

    return epoch


def torchs(folder: str, batch: int, workers: int) -> Epoch:
    import torch
    from torchvision import datasets, transforms

    chain = [
        transforms.RandomHorizontalFlip(),
        transforms.RandomCrop(SIZE, padding=PADDING),
        transforms.ToTensor(),
        transforms.Normalize(MEAN, STD),
    ]
    data = datasets.ImageFolder(folder, transforms.Compose(chain))
    loader: Any = torch.utils.data.DataLoader(
        data, batch, shuffle=True, num_workers=workers, persistent_workers=workers > 0
    )

    def epoch() -> int:
        return sum(len(features) for features, _ in loader)

    return epoch


CONTENDERS = {"ndwright": ours, "torch": torchs}


def contend(who: str, folder: str, batch: int, workers: int) -> None:
    """Answer every line with the pictures per second of an epoch."""
    epoch = CONTENDERS[who](folder, batch, workers)
    epoch()  # workers have started, and files are in the system's memory
    print("ready", flush=True)
    for _ in sys.stdin:
        began = time.perf_counter()
        count = epoch()
        print(count / (time.perf_counter() - began), flush=True)


def started(who: str, arguments: argparse.Namespace, folder: str, python: str) -> subprocess.Popen[str] | None:
    """Return a contender that is ready, None where its package is absent."""
    command = [python, __file__, "--inside", who, folder, str(arguments.batch), str(arguments.workers)]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}  # interpreters lack this library
    given = subprocess.Popen(command, text=True, env=environment, **pipes)
    if given.stdout is not None and given.stdout.readline().strip() == "ready":
        return given
    said = given.communicate()[1].strip().splitlines()
    print(f"{who} is left out: {said[-1] if said else 'no answer'}", file=sys.stderr)
    return None


def compare(arguments: argparse.Namespace, folder: str, pythons: dict[str, str]) -> list[dict[str, Any]]:
    """Return pictures per second; the ratio is the median of how many times ours were theirs in the turn before."""
    running = {who: started(who, arguments, folder, pythons.get(who, sys.executable)) for who in CONTENDERS}
    ready = {who: process for who, process in running.items() if process is not None}
    rates: dict[str, list[float]] = {who: [] for who in ready}
    for _ in range(arguments.rounds):
        for who, process in ready.items():
            process.stdin.write("go\n")  # type: ignore[union-attr]
            process.stdin.flush()  # type: ignore[union-attr]
            rates[who].append(float(process.stdout.readline()))  # type: ignore[union-attr]
    for process in ready.values():
        process.communicate("")
    own = rates["ndwright"]
    return [
        {
            "who": who, "median": statistics.median(each), "best": max(each),
            "ratio": statistics.median(mine / theirs for theirs, mine in zip(each, own, strict=True)),
        }
        for who, each in rates.items()
    ]  # fmt: skip


def table(results: list[dict[str, Any]]) -> str:
    rows = [f"| {each['who']} | {each['median']:.0f} | {each['best']:.0f} | {each['ratio']:.2f} |" for each in results]
    return "\n".join(["| who | pictures a second, median | best | ratio |", "|---|---|---|---|", *rows])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000, help="pictures, default: 10000")
    parser.add_argument("--batch", type=int, default=128, help="pictures in a minibatch, default: 128")
    parser.add_argument("--workers", type=int, default=2, help="threads, or worker processes, default: 2")
    parser.add_argument("--rounds", type=int, default=5, help="epochs of each, default: 5")
    parser.add_argument("--python", nargs="*", default=[], metavar="NAME=PATH", help="interpreters of contenders")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--inside", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.inside:
        who, folder, batch, workers = arguments.inside
        contend(who, folder, int(batch), int(workers))
        return
    os.environ.setdefault("ND_BACKEND", "numpy")
    pythons = dict(each.split("=", 1) for each in arguments.python)
    with tempfile.TemporaryDirectory() as folder:
        make_pictures(Path(folder), arguments.count)
        results = compare(arguments, folder, pythons)
    print(json.dumps(results, indent=2) if arguments.json else f"{machine()}\n{table(results)}")


if __name__ == "__main__":
    main()
