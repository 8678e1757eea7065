"""Time recurrent networks on the CPU against PyTorch: training steps, and predictions one step of a series at a time.

"products alone" are the matrix products of a training step without anything else, in NumPy on as many workers.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
from interleaved import OURS, TRAINING, Result, Step, interleave, options, print_results, result
from networks import Network, make, make_peer
from series_networks import SERIES, products_alone

import nd

FLOOR = "products alone"
STREAMED = "one step of a series"
TOLERANCE, CHECKED = 1e-5, 5
Stepping = Callable[[], np.ndarray]


def main() -> None:
    arguments = options(__doc__, None)
    peers = [peer for peer in arguments.peer if peer != "torch-channels-last"]
    results = []
    for name, case in SERIES.items():
        results += [_training(name, batch, peers, arguments) for batch in arguments.batch or [case.batch]]
        results.append(_streamed(name, peers, arguments))
    print_results(results, arguments)


def _training(name: str, batch: int, peers: list[str], arguments: argparse.Namespace) -> Result:
    net, data = make(name, batch)
    contenders: dict[str, Step] = {OURS: lambda: net.fit_batch(data)}
    contenders.update({peer: make_peer(net, data, peer).step for peer in peers})
    contenders[FLOOR] = products_alone(net, data)
    return result(f"{name} {TRAINING}", batch, interleave(contenders, arguments.rounds, arguments.seconds))


def _streamed(name: str, peers: list[str], arguments: argparse.Namespace) -> Result:
    """Time networks that go on from the state that the step before has left, of one series."""
    net, data = make(name, 1)
    x = np.ascontiguousarray(data.features[:, :, 0])
    contenders: dict[str, Step] = {OURS: lambda: net.rnn_time_step(x)}
    for peer in peers:
        contenders[peer] = stream(net, x, peer)
        _check(net, x, stream(net, x, peer), peer)
    return result(f"{name} {STREAMED}", 1, interleave(contenders, arguments.rounds, arguments.seconds))


def stream(net: Network, x: np.ndarray, peer: str) -> Stepping:
    """Return PyTorch's predictions for ``x [N, C]``, each call going on from the state of the one before."""
    import torch
    from torch_models import Series, model_of

    torch.set_num_threads(nd.backend().workers)
    model, step = model_of(net).eval(), torch.tensor(x)[None]
    for each in model.modules():
        if isinstance(each, Series):
            each.goes_on = True
    run: Any = torch.compile(model) if peer == "torch-compile" else model

    def output() -> np.ndarray:
        with torch.inference_mode():
            return torch.softmax(run(step), 1).numpy()

    return output


def _check(net: Any, x: np.ndarray, theirs: Stepping, peer: str) -> None:
    """Raise SystemExit if the first steps differ."""
    net.rnn_clear_previous_state()
    far = max(float(abs(nd.to_host(net.rnn_time_step(x)) - theirs()).max()) for _ in range(CHECKED))
    net.rnn_clear_previous_state()
    if not far <= TOLERANCE:
        raise SystemExit(f"{peer} predicts otherwise by up to {far} on the same weights: nothing to compare")


if __name__ == "__main__":
    main()
