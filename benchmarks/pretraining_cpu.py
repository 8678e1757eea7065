"""Time pretraining on the CPU in float32: this library beside scikit-learn's machine and PyTorch, in turns.

`rbm` is a step of contrastive divergence (784-256, CD-1) beside `BernoulliRBM.partial_fit`, `vae` a step of a
variational autoencoder (784-256-32, Bernoulli, Adam) beside PyTorch's. Every contender is a process of its own, which
waits while another one is timed. A contender's package may be absent; `--python NAME=PATH` names an interpreter that
has it.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from interleaved import TURN_S, WARM_S, machine, run_for

CONTENDERS = {"rbm": ("ndwright", "scikit-learn"), "vae": ("ndwright", "torch", "torch-compile")}
VISIBLE, HIDDEN, LATENT = 784, 256, 32
PAUSE_S = 0.15
"""Between turns, in which threads of the contender before fall asleep."""
THREADS = ("ND_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
Step = Callable[[], object]


def minibatch(batch: int) -> np.ndarray:
    return (np.random.default_rng(0).uniform(size=(batch, VISIBLE)) < 0.15).astype(np.float32)


def ours(what: str, x: np.ndarray) -> Step:
    from nd.dataset import DataSet
    from nn import (
        RBM,
        BernoulliReconstructionDistribution,
        MultiLayerNetwork,
        NeuralNetConfiguration,
        VariationalAutoencoder,
    )
    from nn.networks.pretraining import learner_of
    from optimize import Adam, Sgd

    if what == "rbm":
        conf = NeuralNetConfiguration(seed=1, updater=Sgd(0.01)).list(RBM(n_in=VISIBLE, n_out=HIDDEN))
    else:
        layer = VariationalAutoencoder(
            n_in=VISIBLE, n_out=LATENT, activation="relu", encoder_layer_sizes=HIDDEN, decoder_layer_sizes=HIDDEN,
            reconstruction_distribution=BernoulliReconstructionDistribution(),
        )  # fmt: skip
        conf = NeuralNetConfiguration(seed=1, updater=Adam(0.001)).list(layer)
    learner, data = learner_of(MultiLayerNetwork(conf).init(), 0), DataSet(x, x)
    return lambda: learner.fit_batch(data)


def scikit_learn(x: np.ndarray) -> Step:
    from sklearn.neural_network import BernoulliRBM

    model = BernoulliRBM(HIDDEN, learning_rate=0.01, batch_size=len(x), random_state=1)
    return lambda: model.partial_fit(x)


def torch(x: np.ndarray, compiled: bool) -> Step:
    import torch
    from torch import nn as layers
    from torch.nn import functional

    class Autoencoder(layers.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder, self.decoder = layers.Linear(VISIBLE, HIDDEN), layers.Linear(LATENT, HIDDEN)
            self.mean, self.log_variance = layers.Linear(HIDDEN, LATENT), layers.Linear(HIDDEN, LATENT)
            self.output = layers.Linear(HIDDEN, VISIBLE)

        def forward(self, x: Any) -> Any:
            e = functional.relu(self.encoder(x))
            mean, log_variance = self.mean(e), self.log_variance(e)
            z = mean + torch.randn_like(mean) * torch.exp(0.5 * log_variance)
            logits = self.output(functional.relu(self.decoder(z)))
            surprise = functional.binary_cross_entropy_with_logits(logits, x, reduction="sum")
            return (surprise - 0.5 * (1.0 + log_variance - mean**2 - log_variance.exp()).sum()) / len(x)

    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    model, given = Autoencoder(), torch.from_numpy(x)
    optimizer = torch.optim.Adam(model.parameters(), 0.001)
    run: Any = torch.compile(model, dynamic=False) if compiled else model

    def step() -> None:
        optimizer.zero_grad()
        run(given).backward()
        optimizer.step()

    return step


def made(what: str, who: str, batch: int) -> Step:
    x = minibatch(batch)
    if who == "ndwright":
        return ours(what, x)
    return scikit_learn(x) if who == "scikit-learn" else torch(x, who == "torch-compile")


def contend(what: str, who: str, batch: int) -> None:
    """Answer every line with the milliseconds of a step, for as many seconds as the line says."""
    step = made(what, who, batch)
    run_for(step, WARM_S)
    print("ready", flush=True)
    for line in sys.stdin:
        run_for(step, min(WARM_S, float(line)))
        print(run_for(step, float(line)), flush=True)


def started(what: str, who: str, batch: int, python: str) -> subprocess.Popen[str] | None:
    """Return a contender that is ready, None where its package is absent or it cannot compile."""
    command = [python, __file__, "--inside", what, who, str(batch)]
    given = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "ND_BACKEND": "numpy"},
    )  # fmt: skip
    if given.stdout is not None and given.stdout.readline().strip() == "ready":
        return given
    said = given.communicate()[1].strip().splitlines()
    print(f"{who} is left out: {said[-1] if said else 'no answer'}", file=sys.stderr)
    return None


def compare(what: str, batch: int, rounds: int, seconds: float, pythons: dict[str, str]) -> list[dict[str, Any]]:
    """Return medians in milliseconds; the ratio is the median of how much longer neighbouring turns took than ours."""
    running = {who: started(what, who, batch, pythons.get(who, sys.executable)) for who in CONTENDERS[what]}
    ready = {who: process for who, process in running.items() if process is not None}
    times: dict[str, list[float]] = {who: [] for who in ready}
    for _ in range(rounds):
        for who, process in ready.items():
            time.sleep(PAUSE_S)
            process.stdin.write(f"{seconds}\n")  # type: ignore[union-attr]
            process.stdin.flush()  # type: ignore[union-attr]
            times[who].append(float(process.stdout.readline()))  # type: ignore[union-attr]
    for process in ready.values():
        process.communicate("")
    own = times["ndwright"]
    return [
        {
            "what": what, "batch": batch, "who": who, "median_ms": statistics.median(each), "best_ms": min(each),
            "ratio": statistics.median(theirs / mine for theirs, mine in zip(each, own, strict=True)),
        }
        for who, each in times.items()
    ]  # fmt: skip


def table(results: list[dict[str, Any]]) -> str:
    lines = ["| what | batch | who | median ms | best ms | ratio |", "|---|---|---|---|---|---|"]
    for each in results:
        numbers = f"{each['median_ms']:.3g} | {each['best_ms']:.3g} | {each['ratio']:.2f}"
        lines.append(f"| {each['what']} | {each['batch']} | {each['who']} | {numbers} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--what", nargs="+", choices=CONTENDERS, default=list(CONTENDERS), help="default: both")
    parser.add_argument("--batch", type=int, default=64, help="examples in a step, default: 64")
    parser.add_argument("--rounds", type=int, default=15, help="turns of each, default: 15")
    parser.add_argument("--seconds", type=float, default=TURN_S, help=f"of a turn that count, default: {TURN_S}")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="of every contender, default: all")
    parser.add_argument("--python", nargs="*", default=[], metavar="NAME=PATH", help="interpreters of contenders")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--inside", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.inside:
        what, who, batch = arguments.inside
        contend(what, who, int(batch))
        return
    os.environ.update(dict.fromkeys(THREADS, str(arguments.threads)))
    pythons = dict(each.split("=", 1) for each in arguments.python)
    results = []
    for what in arguments.what:
        results += compare(what, arguments.batch, arguments.rounds, arguments.seconds, pythons)
    print(json.dumps(results, indent=2) if arguments.json else f"{machine()}\n{table(results)}")


if __name__ == "__main__":
    main()
