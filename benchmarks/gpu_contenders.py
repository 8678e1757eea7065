"""Who is timed on the GPU: LeNet of this library, eager and as CUDA graphs, and PyTorch's, eager and at its best."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

from contenders import LOSS_TOLERANCE, check_loss, loss_of
from networks import make

import nd
from nd.dataset import DataSet

CAPTURED, EAGER, FED = "ndwright", "ndwright, eager", "ndwright, fed from the host"
PEER_EAGER, PEER_BEST = "torch, eager", "torch"
WARM_STEPS = 3
TRAINED_STEPS, TRAINED_TOLERANCE, TF32_TOLERANCE = 5, 1e-4, 1e-2
"""After so many steps the losses may differ by so much, relatively; with TF32 from the beginning on."""


class Contender(NamedTuple):
    """Somebody who trains LeNet."""

    loss: Callable[[], float]
    step: Callable[[], object]
    output: Callable[[], object]
    events: str
    """Whose events and stream it uses: "cupy" or "torch"."""


class Peer(NamedTuple):
    """How PyTorch is run."""

    name: str
    channels_last: bool = False
    compiled: bool = False
    graph: bool = False


BEST = (
    Peer("fused, graph", graph=True),
    Peer("fused, channels_last, graph", channels_last=True, graph=True),
    Peer("fused, compile, graph", compiled=True, graph=True),
    Peer("fused, channels_last, compile, graph", channels_last=True, compiled=True, graph=True),
)
"""Candidates for PyTorch's best; the fastest is taken."""


def make_backend(graphs: bool, tf32: bool) -> Any:
    """Return a new backend on the device; raise BackendError where there is none."""
    from backends.cuda.cupy_backend import CupyBackend

    before = {name: os.environ.get(name) for name in ("ND_CUDA_GRAPH", "ND_TF32")}
    os.environ.update(ND_CUDA_GRAPH=str(int(graphs)), ND_TF32=str(int(tf32)))
    try:
        return CupyBackend()
    finally:
        for name, setting in before.items():
            os.environ.pop(name) if setting is None else os.environ.update({name: setting})


def ours(backend: Any, batch: int, from_host: bool = False) -> tuple[Contender, Any, DataSet]:
    """Return our LeNet on that backend, its network, and its minibatch on the host."""
    with nd.use_backend(backend):
        net, host = make("lenet", batch)
    data = host
    if not from_host:
        data = DataSet(*(backend.from_host(each, "float32") for each in (host.features, host.labels)))

    def loss() -> float:
        with nd.use_backend(backend):
            return loss_of(net, data)

    found = Contender(loss, lambda: net.fit_batch(data), lambda: net.output(data.features), "cupy")
    return found, net, host


def theirs(net: Any, backend: Any, data: DataSet, peer: Peer, inference: bool, device: str = "cuda") -> Contender:
    """Return PyTorch's LeNet with the weights of `net`."""
    import numpy as np
    import torch
    from torch_models import translate
    from torch_updaters import optimizer_of

    torch._dynamo.reset()
    with nd.use_backend(backend):
        model = translate(net).model.to(device)
    images = torch.tensor(np.ascontiguousarray(data.features)).reshape(-1, 1, 28, 28).to(device)
    if peer.channels_last:
        model, images = model.to(memory_format=torch.channels_last), images.to(memory_format=torch.channels_last)
    classes, cross_entropy = torch.tensor(data.labels.argmax(1)).to(device), torch.nn.CrossEntropyLoss()
    optimizer = optimizer_of(net, model, **({"fused": True} if peer.graph else {}))

    def loss_now(x: Any, y: Any) -> Any:
        return cross_entropy(model(x), y)

    def probabilities(x: Any) -> Any:
        return torch.softmax(model(x), 1)

    run_loss, run_output = ((torch.compile(each) if peer.compiled else each) for each in (loss_now, probabilities))

    def step() -> None:
        optimizer.zero_grad()
        run_loss(images, classes).backward()
        optimizer.step()

    def output() -> Any:
        with torch.inference_mode():
            return run_output(images)

    def loss() -> float:
        with torch.no_grad():
            return loss_now(images, classes).item()

    found = Contender(loss, step, output, "torch")
    return _as_graph(found, model, optimizer, inference) if peer.graph else found


def _as_graph(found: Contender, model: Any, optimizer: Any, inference: bool) -> Contender:
    """Capture a step, or a prediction; then give the weights and the momentum their first values back."""
    import torch

    first = [each.detach().clone() for each in model.parameters()]
    work, side = found.output if inference else found.step, torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(WARM_STEPS):
            work()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    optimizer.zero_grad(set_to_none=True)
    with torch.cuda.graph(graph):
        kept = work()
    with torch.no_grad():
        for parameter, value in zip(model.parameters(), first, strict=True):
            parameter.copy_(value)
        for state in optimizer.state.values():
            state["momentum_buffer"].zero_()

    def replay() -> Any:
        graph.replay()
        return kept  # whose memory belongs to the graph

    return found._replace(output=replay) if inference else found._replace(step=replay)


def allow_tf32(allowed: bool) -> None:
    """Let PyTorch use TF32, or see to it that it does not."""
    import torch

    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = allowed


def check_all(contenders: dict[str, Contender], training: bool, tf32: bool) -> None:
    """Raise SystemExit if anybody computes another loss than we do, on the same weights or after the same steps."""
    for steps, exact in ((0, LOSS_TOLERANCE), (TRAINED_STEPS, TRAINED_TOLERANCE))[: 1 + training]:
        for each in contenders.values():
            for _ in range(steps):
                each.step()
        losses = {name: each.loss() for name, each in contenders.items()}
        for name, found in losses.items():
            check_loss(losses[CAPTURED], found, name, TF32_TOLERANCE if tf32 else exact)
