"""Caffe's LeNet and CaffeNet forward beside OpenCV's dnn, and a solver's step of LeNet beside a MultiLayerNetwork's.

Weights are random. Contenders take turns in one process, with a pause between them; each figure is the best turn of
many, of the wall clock and of the process's processor time. Prints milliseconds, and how fast nn.caffe is as a multiple
of its contender. OpenCV: ``pip install "opencv-python-headless<5"``; without it the solver's steps alone are timed.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import pathlib
import tempfile
import time
from collections.abc import Callable
from typing import Any

PAUSE_S = 0.15
"""Between turns: threads of the contender before still spin for a while."""
LENET = (("conv1", 20, "kernel_size: 5", 2), ("conv2", 50, "kernel_size: 5", 2))
NAMES = ("lenet", "caffenet")
Step = Callable[[], object]


def layer(name: str, kind: str, bottom: str, top: str, settings: str = "") -> str:
    return f'layer {{ name: "{name}" type: "{kind}" bottom: "{bottom}" top: "{top}" {settings} }}'


def input_layer(*shape: int) -> str:
    dims = " ".join(f"dim: {length}" for length in shape)
    return f'layer {{ name: "data" type: "Input" top: "data" input_param {{ shape {{ {dims} }} }} }}'


def weighted(name: str, kind: str, bottom: str, settings: str) -> str:
    filler = 'weight_filler { type: "xavier" }'
    word = {"Convolution": "convolution_param", "InnerProduct": "inner_product_param"}[kind]
    return layer(name, kind, bottom, name, f"{word} {{ {settings} {filler} }}")


def lenet_body() -> list[str]:
    """Return the layers of LeNet between its images and its scores "ip2"."""
    layers, below = [], "data"
    for number, (name, outputs, kernel, side) in enumerate(LENET, 1):
        pool = f"pooling_param {{ pool: MAX kernel_size: {side} stride: {side} }}"
        layers += [weighted(name, "Convolution", below, f"num_output: {outputs} {kernel}")]
        layers += [layer(f"pool{number}", "Pooling", name, f"pool{number}", pool)]
        below = f"pool{number}"
    layers += [weighted("ip1", "InnerProduct", below, "num_output: 500"), layer("relu1", "ReLU", "ip1", "ip1")]
    return [*layers, weighted("ip2", "InnerProduct", "ip1", "num_output: 10")]


def lenet(batch: int) -> str:
    return "\n".join([input_layer(batch, 1, 28, 28), *lenet_body(), layer("prob", "Softmax", "ip2", "prob")])


def caffenet(batch: int) -> str:
    """Return bvlc_reference_caffenet as it is deployed."""
    layers = [input_layer(batch, 3, 227, 227)]
    below = "data"
    convolutions = (
        (96, "kernel_size: 11 stride: 4", True, True),
        (256, "kernel_size: 5 pad: 2 group: 2", True, True),
        (384, "kernel_size: 3 pad: 1", False, False),
        (384, "kernel_size: 3 pad: 1 group: 2", False, False),
        (256, "kernel_size: 3 pad: 1 group: 2", True, False),
    )
    for at, (outputs, settings, pools, normalizes) in enumerate(convolutions, 1):
        layers += [weighted(f"conv{at}", "Convolution", below, f"num_output: {outputs} {settings}")]
        layers += [layer(f"relu{at}", "ReLU", f"conv{at}", f"conv{at}")]
        below = f"conv{at}"
        if pools:
            pool = "pooling_param { pool: MAX kernel_size: 3 stride: 2 }"
            layers += [layer(f"pool{at}", "Pooling", below, f"pool{at}", pool)]
            below = f"pool{at}"
        if normalizes:
            lrn = "lrn_param { local_size: 5 alpha: 0.0001 beta: 0.75 }"
            layers += [layer(f"norm{at}", "LRN", below, f"norm{at}", lrn)]
            below = f"norm{at}"
    for at in (6, 7):
        layers += [weighted(f"fc{at}", "InnerProduct", below, "num_output: 4096")]
        below = f"fc{at}"
        layers += [layer(f"relu{at}", "ReLU", below, below), layer(f"drop{at}", "Dropout", below, below)]
    layers += [weighted("fc8", "InnerProduct", below, "num_output: 1000"), layer("prob", "Softmax", "fc8", "prob")]
    return "\n".join(layers)


def text_of(name: str, batch: int, folder: pathlib.Path | None) -> str:
    """Return the text of a net; of a file "<name>.prototxt" in `folder` where there is one, with its own batch."""
    path = None if folder is None else folder / f"{name}.prototxt"
    if path is not None and path.exists():
        return path.read_text(encoding="utf-8")
    return {"lenet": lenet, "caffenet": caffenet}[name](batch)


# ---- forward


def forward_contenders(name: str, batch: int, threads: int, folder: pathlib.Path | None) -> dict[str, Step]:
    """Return forward passes of both on the same images, after comparing what they return."""
    import cv2
    import numpy as np

    from nn.caffe import print_text
    from nn.caffe.net import Net

    net = Net(text_of(name, batch, folder), seed=1)
    (top,) = net.inputs
    x = np.random.default_rng(1).uniform(-1.0, 1.0, net.blobs[top].shape).astype("float32")
    cv2.setNumThreads(threads)
    with tempfile.TemporaryDirectory() as place:
        text, model = pathlib.Path(place, "net.prototxt"), pathlib.Path(place, "net.caffemodel")
        text.write_text(print_text(net.message), encoding="utf-8")
        net.save(model)
        theirs = cv2.dnn.readNetFromCaffe(str(text), str(model))

    def ours() -> Any:
        return net.forward(**{top: x})

    def opencv() -> Any:
        theirs.setInput(x, top)
        return theirs.forward()

    (found,) = ours().values()
    np.testing.assert_allclose(np.asarray(found), opencv(), rtol=0, atol=1e-5)
    return {"nn.caffe": ours, "opencv": opencv}


# ---- steps


def steps(batch: int = 64) -> dict[str, Step]:
    """Return steps of LeNet: of a MultiLayerNetwork, of a solver, and of one that keeps all blobs."""
    import numpy as np

    from nd.dataset import DataSet

    rng = np.random.default_rng(1)
    images = rng.uniform(0.0, 1.0, (batch, 1, 28, 28)).astype("float32")
    labels = rng.integers(0, 10, batch)
    net, data = multi_layer_network(), DataSet(images, np.eye(10, dtype="float32")[labels])
    solver, keeping = caffes_solver(images, labels), caffes_solver(images, labels)
    keeping.net.keep(*keeping.net.blobs)
    return {
        "MultiLayerNetwork": lambda: net.fit_batch(data),
        "solver": lambda: solver.step(1),
        "solver, all blobs kept": lambda: keeping.step(1),
    }


def multi_layer_network() -> Any:
    from nn import (
        ConvolutionLayer,
        DenseLayer,
        InputType,
        MultiLayerNetwork,
        NeuralNetConfiguration,
        OutputLayer,
        SubsamplingLayer,
    )
    from optimize import Nesterovs

    base = NeuralNetConfiguration(seed=1, l2=5e-4, updater=Nesterovs(0.01, 0.9), weight_init="xavier")
    layers = []
    for _, outputs, _, side in LENET:
        layers += [ConvolutionLayer(n_out=outputs, kernel_size=(5, 5), activation="identity")]
        layers += [SubsamplingLayer(kernel_size=(side, side), stride=(side, side))]
    layers += [DenseLayer(n_out=500, activation="relu"), OutputLayer(n_out=10, activation="softmax", loss="mcxent")]
    return MultiLayerNetwork(base.list(*layers, input_type=InputType.convolutional(28, 28, 1))).init()


def caffes_solver(images: Any, labels: Any) -> Any:
    from nn.caffe.solver import get_solver

    batch = len(images)
    memory = f"memory_data_param {{ batch_size: {batch} channels: 1 height: 28 width: 28 }}"
    data = f'layer {{ name: "data" type: "MemoryData" top: "data" top: "label" {memory} }}'
    loss = 'layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip2" bottom: "label" top: "loss" }'
    net = "\n".join([data, *lenet_body(), loss])
    rule = 'type: "Nesterov"\nbase_lr: 0.01\nmomentum: 0.9\nweight_decay: 0.0005\nlr_policy: "fixed"\nrandom_seed: 1'
    solver = get_solver(f"{rule}\nmax_iter: 1000000000\nsnapshot_after_train: false\nnet_param {{ {net} }}\n")
    solver.net.set_input_arrays(images, labels.astype("float32"))
    return solver


# ---- timing


def best_of(contenders: dict[str, Step], rounds: int, seconds: float) -> dict[str, tuple[float, float]]:
    """Return for each the best milliseconds per step: of the wall clock, and of the process's processor time."""
    best = {name: (float("inf"), float("inf")) for name in contenders}
    for _ in range(rounds):
        for name, step in contenders.items():
            time.sleep(PAUSE_S)
            step()
            wall, cpu = turn(step, seconds)
            best[name] = min(best[name][0], wall), min(best[name][1], cpu)
    return best


def turn(step: Step, seconds: float) -> tuple[float, float]:
    """Step until the time is over; return the best milliseconds of a step, and the mean of the processor time."""
    began, used, steps_taken, best = time.perf_counter(), time.process_time(), 0, float("inf")
    while True:
        before = time.perf_counter()
        step()
        now = time.perf_counter()
        best, steps_taken = min(best, now - before), steps_taken + 1
        if now - began >= seconds:
            return 1000.0 * best, 1000.0 * (time.process_time() - used) / steps_taken


def show(title: str, best: dict[str, tuple[float, float]], reference: str) -> None:
    wall, cpu = best[reference]
    print(title)
    for name, (its_wall, its_cpu) in best.items():
        ratios = (
            "" if name == reference else f"   speed x {wall / its_wall:.2f}, by processor time x {cpu / its_cpu:.2f}"
        )
        print(f"  {name:<24} {its_wall:9.3f} ms {its_cpu:9.3f} ms of processors{ratios}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nets", nargs="*", choices=(*NAMES, "steps"), default=[*NAMES, "steps"])
    parser.add_argument("--batches", nargs="*", type=int, default=[1, 10])
    parser.add_argument("--threads", type=int, default=2, help="of both; run again with 1")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=0.3, help="of a turn")
    parser.add_argument("--folder", type=pathlib.Path, help="with lenet.prototxt and caffenet.prototxt to take instead")
    given = parser.parse_args()
    os.environ["ND_NUM_THREADS"] = str(given.threads)  # before a backend is made
    for name in given.nets:
        if name == "steps":
            best = best_of(steps(), given.rounds, given.seconds)
            show(f"LeNet, a step on 64 images, {given.threads} threads", best, "MultiLayerNetwork")
        elif importlib.util.find_spec("cv2") is None:
            print(f'{name}: OpenCV is not installed. pip install "opencv-python-headless<5"')
        else:
            for batch in given.batches:
                contenders = forward_contenders(name, batch, given.threads, given.folder)
                best = best_of(contenders, given.rounds, given.seconds)
                show(f"{name}, forward, batch {batch}, {given.threads} threads", best, "opencv")


if __name__ == "__main__":
    main()
