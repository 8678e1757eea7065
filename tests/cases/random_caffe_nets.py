"""Nets of Caffe drawn at random, of the layers that Deeplearning4j has a counterpart of."""

from __future__ import annotations

import random
from typing import NamedTuple

import numpy as np

from nn.caffe.net import Net

EXAMPLES, CLASSES, LARGEST = 3, 4, 12
FUNCTIONS = (
    ("AbsVal", ""), ("BNLL", ""), ("Clip", "clip_param { min: -0.5 max: 0.75 }"), ("ELU", "elu_param { alpha: 0.7 }"),
    ("Power", "power_param { scale: 0.5 shift: 0.25 }"), ("Power", "power_param { power: 2 scale: 0.7 }"),
    ("Power", "power_param { power: 3 }"), ("PReLU", ""), ("PReLU", "prelu_param { channel_shared: true }"),
    ("ReLU", ""), ("ReLU", "relu_param { negative_slope: 0.1 }"), ("ReLU6", ""), ("Scale", ""), ("Sigmoid", ""),
    ("Scale", "scale_param { bias_term: true }"), ("Bias", ""), ("Swish", "swish_param { beta: 1.5 }"), ("Swish", ""),
    ("TanH", ""),
)  # fmt: skip


class DrawnNet(NamedTuple):
    """The text of a net, with blobs "data" and "label" from Input layers, and the blob of its scores."""

    text: str
    scores: str
    random: random.Random


class _Drawing:
    """A net that grows layer by layer."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(f"net of Caffe {seed}")
        sizes = [EXAMPLES, self.random.choice((2, 4, 6)), self.random.randint(4, 9), self.random.randint(4, 9)]
        dims = " ".join(f"dim: {size}" for size in sizes)
        self.text = f'layer {{ name: "data" type: "Input" top: "data" input_param {{ shape {{ {dims} }} }} }}\n'
        self.count, self.top, self.shape = 0, "data", tuple(sizes)

    def add(self, kind: str, settings: str = "", bottoms: tuple[str, ...] = (), tops: int = 1) -> list[str]:
        """Add a layer, in place where a coin says so; the last top is the blob to go on with."""
        bottoms, self.count = bottoms or (self.top,), self.count + 1
        in_place = tops == 1 and kind in ("ReLU", "Sigmoid", "TanH", "Scale", "BatchNorm") and self.top != "data"
        name = f"{kind.lower()}{self.count}"
        names = [bottoms[0]] if in_place and self.random.random() < 0.5 else [f"{name}_{i}" for i in range(tops)]
        ends = " ".join([*(f'bottom: "{each}"' for each in bottoms), *(f'top: "{each}"' for each in names)])
        self.text += f'layer {{ name: "{name}" type: "{kind}" {ends} {settings} }}\n'
        self.top = names[-1]
        self.shape = tuple(Net(self.text, seed=1).blobs[self.top].shape)
        return names

    # ---- images

    def convolution(self) -> None:
        choose, (channels, *size) = self.random.choice, self.shape[1:]
        group = choose([each for each in (1, 1, 2, channels) if channels % each == 0])
        kernel = min(choose((1, 2, 3)), *size)
        dilation = 2 if kernel == 2 and min(size) > 2 and choose((True, False)) else 1
        self.add(
            "Convolution",
            f"convolution_param {{ num_output: {group * choose((1, 2))} group: {group} kernel_size: {kernel} "
            f"pad: {choose((0, 1))} stride: {choose((1, 1, 2))} dilation: {dilation} "
            f"bias_term: {choose(('true', 'false'))} }}",
        )

    def deconvolution(self) -> None:
        choose, channels = self.random.choice, self.shape[1]
        group = choose([each for each in (1, 2, channels) if channels % each == 0])
        pad = choose((0, 1)) if min(self.shape[2:]) > 1 else 0
        self.add(
            "Deconvolution",
            f"convolution_param {{ num_output: {group * choose((1, 2))} group: {group} kernel_size: {choose((2, 3))} "
            f"stride: {choose((1, 2))} pad: {pad} }}",
        )

    def pooling(self) -> None:
        choose, kernel = self.random.choice, self.random.randint(1, min(4, *self.shape[2:]))
        pad = self.random.randint(0, kernel - 1)
        self.add(
            "Pooling",
            f"pooling_param {{ pool: {choose(('MAX', 'AVE'))} kernel_size: {kernel} stride: {choose((1, 2, 3))} "
            f"pad: {pad} round_mode: {choose(('CEIL', 'CEIL', 'FLOOR'))} }}",
        )

    def normalization(self) -> None:
        kind = self.random.choice(("LRN", "BatchNorm"))
        size = self.random.choice((1, 3, 5))
        self.add(kind, f"lrn_param {{ local_size: {size} alpha: 0.5 beta: 0.75 k: 1.5 }}" if kind == "LRN" else "")
        if kind == "BatchNorm" and self.random.random() < 0.5:
            self.add("Scale", "scale_param { bias_term: true }")

    def function(self) -> None:
        self.add(*self.random.choice(FUNCTIONS))

    def branches(self) -> None:
        """Two ways from a blob, that meet again."""
        start, channels, (_, *rest) = self.top, self.shape[1], self.shape
        first = self.add(*self.random.choice(FUNCTIONS))[0]
        if first == start:
            return
        self.add("Convolution", f"convolution_param {{ num_output: {channels} kernel_size: 1 }}", (start,))
        both = (first, self.top)
        kind, settings = self.random.choice((
            ("Eltwise", ""), ("Eltwise", "eltwise_param { coeff: 1 coeff: -0.5 }"),
            ("Eltwise", "eltwise_param { operation: PROD }"), ("Eltwise", "eltwise_param { operation: MAX }"),
            ("Concat", ""),
        ))  # fmt: skip
        self.add(kind, settings, both)
        if kind == "Concat" and len(rest) > 1:
            names = self.add("Slice", f"slice_param {{ slice_point: {channels // 2 + 1} }}", tops=2)
            self.text += f'layer {{ name: "silence{self.count}" type: "Silence" bottom: "{names[0]}" }}\n'

    def smaller(self) -> None:
        """Keep images small."""
        if max(self.shape[2:]) > LARGEST:
            self.add("Pooling", "pooling_param { kernel_size: 3 stride: 3 }")

    def finish(self) -> DrawnNet:
        """Add layers that lead to the scores of classes."""
        way = self.random.choice(("rows", "flatten", "reshape", "global", "mean"))
        if way == "global":
            self.add("Pooling", f"pooling_param {{ pool: {self.random.choice(('MAX', 'AVE'))} global_pooling: true }}")
        elif way == "mean":
            self.add("Reduction", "reduction_param { operation: MEAN axis: 2 coeff: 2 }")
        elif way != "rows":
            self.add(
                *{"flatten": ("Flatten",), "reshape": ("Reshape", "reshape_param { shape { dim: 0 dim: -1 } }")}[way]
            )
        if self.random.random() < 0.7:
            self.add("InnerProduct", "inner_product_param { num_output: 5 transpose: true bias_term: false }")
            self.add(*self.random.choice(FUNCTIONS))
        self.add("TanH")  # for DL4J holds probabilities above 1e-10
        self.add("InnerProduct", f"inner_product_param {{ num_output: {CLASSES} }}")
        return DrawnNet(self.text, self.top, self.random)


def draw_net(seed: int) -> DrawnNet:
    """Return a net of 3 to 12 layers that computes scores of classes from images."""
    drawing = _Drawing(seed)
    kinds = (
        drawing.convolution, drawing.convolution, drawing.deconvolution, drawing.pooling, drawing.pooling,
        drawing.normalization, drawing.function, drawing.function, drawing.branches,
    )  # fmt: skip
    for _ in range(drawing.random.randint(1, 5)):
        drawing.random.choice(kinds)()
        drawing.smaller()
    return drawing.finish()


def fill(net: Net, seed: int) -> None:
    """Give every parameter numbers of a size that keeps activations moderate; statistics positive ones."""
    rng = np.random.default_rng(seed)
    for name, blobs in net.params.items():
        for spec, blob in zip(net.layer_dict[name].conf.blobs, blobs, strict=True):
            spread = 1.0 / np.sqrt(max(np.prod(blob.shape[1:]), 1.0))
            values = rng.normal(0.0, spread, blob.shape) if spec.learned else rng.uniform(0.5, 2.0, blob.shape)
            blob.data = values + (1.0 if spec.name == "scale" else 0.0)


def trained(drawn: DrawnNet) -> str:
    """Return the text of a net with labels and a loss."""
    return drawn.text + (
        f'layer {{ name: "label" type: "Input" top: "label" input_param {{ shape {{ dim: {EXAMPLES} }} }} }}\n'
        f'layer {{ name: "loss" type: "SoftmaxWithLoss" bottom: "{drawn.scores}" bottom: "label" top: "loss" }}\n'
    )


def deployed(drawn: DrawnNet) -> str:
    """Return the text of a net whose output is probabilities."""
    return f'{drawn.text}layer {{ name: "prob" type: "Softmax" bottom: "{drawn.scores}" top: "prob" }}\n'
