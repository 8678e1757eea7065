"""NASNet: cells that a search has found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import nd
from nd.arguments import Count
from optimize import AdaDelta, Updater

from ..conf.graph import ComputationGraphConfiguration
from ..layers import (
    BatchNormalization,
    Cropping2D,
    GlobalPoolingLayer,
    OutputLayer,
    SeparableConvolution2D,
    ZeroPaddingLayer,
)
from ..terms.distributions import Distribution
from ..vertices import ElementWiseVertex, MergeVertex
from .nodes import Nodes
from .zoo_model import Pretrained, ZooModel

_NORMALIZATION = BatchNormalization(decay=0.9997, eps=1e-3)
_ADD = ElementWiseVertex("add")
_UPDATER = AdaDelta()


@dataclass(frozen=True, kw_only=True)
class NASNet(ZooModel):
    """NASNet-A.

    Parameters
    ----------
    weight_init : str or Distribution
    num_blocks : int
        Normal cells at each of the three sizes of images.
    penultimate_filters : int
        Channels of the last cell, a multiple of 24.
    stem_filters : int
        Channels of the first convolution.
    filter_multiplier : int
        By which channels grow from one size of images to the next.
    skip_reduction : bool
        True: leave out the two reducing cells, and the stride, at the beginning, as for small images.

    Notes
    -----
    The other parameters are those of `ZooModel`. Defaults are Java's. Its file "imagenet" has NASNet-A (4 @ 1056),
    ``NASNet(num_blocks=4, stem_filters=32, skip_reduction=False)``; "imagenetlarge" has NASNet-A (6 @ 4032),
    ``NASNet(penultimate_filters=4032, skip_reduction=False, input_shape=(3, 331, 331))``. Zoph et al. 2017.
    Source: ``org.deeplearning4j.zoo.model.NASNet`` and what it is written after, ``keras.applications.nasnet``.
    Differs: Java's class cannot build a network: it asks for activations before it has inputs, reads vertices that it
    does not add, adds images of different sizes, and forgets the number of classes. The names are Java's, the network
    is Keras'. The first cell takes its input twice, a normal one the second time in its own channels.
    """

    weight_init: str | Distribution = "relu"
    updater: str | Updater = _UPDATER
    num_blocks: Count = 6
    penultimate_filters: Count = 1056
    stem_filters: Count = 96
    filter_multiplier: Count = 2
    skip_reduction: bool = True
    unused: Mapping[str, Any] = field(default_factory=lambda: {"cacheMode": "DEVICE"}, repr=False)
    pretrained: ClassVar[Mapping[str, Pretrained]] = {
        "imagenet": Pretrained("nasnetmobile_dl4j_inference.v1.zip", 3082463801),
        "imagenetlarge": Pretrained("nasnetlarge_dl4j_inference.v1.zip", 321395591),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.penultimate_filters % 24:
            raise nd.ConfigurationError(
                f"NASNet: penultimate_filters must be a multiple of 24, got {self.penultimate_filters}. "
                f"Take {self.penultimate_filters // 24 * 24 + 24}."
            )

    def conf(self) -> ComputationGraphConfiguration:
        filters, growth, cells = self.penultimate_filters // 24, self.filter_multiplier, _Cells(self)
        nodes = cells.nodes
        stride = 1 if self.skip_reduction else 2
        nodes.add("stem_conv1", self._convolution(3, self.stem_filters, stride=stride, has_bias=False), "input")
        cells.start(nodes.add("stem_bn1", _NORMALIZATION, "stem_conv1"), self.stem_filters)
        if not self.skip_reduction:
            cells.reduce(filters // growth**2, "stem1")
            cells.reduce(filters // growth, "stem2")
        for size in range(3):
            wide = filters * growth**size
            if size:
                cells.reduce(wide, f"reduce{size * self.num_blocks}", keeps_before=self.skip_reduction)
            for block in range(self.num_blocks):
                cells.normal(wide, str(block + size * self.num_blocks + (1 if size else 0)))
        nodes.activation("act", "relu", cells.last)
        nodes.add("avg_pool", GlobalPoolingLayer("avg"), "act")
        nodes.add("output", OutputLayer(loss="mcxent", n_out=self._classes(), activation="softmax"), "avg_pool")
        settings = self._settings(weight_init=self.weight_init, l2=5e-5)
        return settings.graph({"input": self._images()}, nodes, ["output"])

    def cell_convolution(self, n_out: int, kernel_size: int = 1) -> Any:
        """Return a convolution of a cell."""
        return self._convolution(kernel_size, n_out, has_bias=False, convolution_mode="same")

    def separable(self, n_out: int, kernel_size: int, stride: int) -> SeparableConvolution2D:
        """Return a separable convolution of a cell."""
        return SeparableConvolution2D(
            kernel_size=kernel_size,
            stride=stride,
            n_out=n_out,
            has_bias=False,
            convolution_mode="same",
            unused=self._algorithm(),
        )


class _Cells:
    """Cells, one after the other: each reads the last one and the one before that.

    Parameters
    ----------
    model : NASNet
    """

    def __init__(self, model: NASNet) -> None:
        self.model, self.nodes = model, Nodes()
        self.last = self.before = ""
        self._places: dict[str, tuple[int, int]] = {}  # name of a vertex -> halvings of its images, channels

    def start(self, name: str, channels: int) -> None:
        """Begin behind a vertex; there is none before it."""
        self.last = name
        self._places[name] = (0, channels)

    def normal(self, filters: int, block: str) -> None:
        """Add a cell that keeps the size of images."""
        name = f"normalA{block}"
        before = self._adjusted(filters, name)
        here = self._projected(filters, name)
        pairs = (
            (self._separable(filters, 5, f"{name}_left1", here), self._separable(filters, 3, f"{name}_right1", before)),
            (
                self._separable(filters, 5, f"{name}_left2", before),
                self._separable(filters, 3, f"{name}_right2", before),
            ),
            (self._average(f"{name}_left3", here), before),
            (self._average(f"{name}_left4", before), self._average(f"{name}_right4", before)),
            (self._separable(filters, 3, f"{name}_left5", here), here),
        )
        sums = [self.nodes.add(f"{name}_add{i}", _ADD, *pair) for i, pair in enumerate(pairs, 1)]
        halvings, _ = self._places[self.last]
        self._ends(self.nodes.add(name, MergeVertex(), before, *sums), halvings, 6 * filters)

    def reduce(self, filters: int, block: str, keeps_before: bool = False) -> None:
        """Add a cell that halves height and width; the cell before it can stay the one that the next reads."""
        name, nodes = f"reductionA{block}", self.nodes
        before, kept = self._adjusted(filters, name) if self.before else self.last, self.before
        here = self._projected(filters, name)

        def halved(part: str, kind: str) -> str:
            return nodes.pool(f"{name}_{part}", kind, 3, here, convolution_mode="same")

        def summed(number: int, *pair: str) -> str:
            return nodes.add(f"{name}_add{number}", _ADD, *pair)

        def right(number: int, kernel: int) -> str:
            return self._separable(filters, kernel, f"{name}_right{number}", before, 2)

        first = summed(1, self._separable(filters, 5, f"{name}_left1", here, 2), right(1, 7))
        second = summed(2, halved("left2", "max"), right(2, 7))
        third = summed(3, halved("left3", "avg"), right(3, 5))
        fourth = summed(4, second, self._average(f"{name}_left4", first))
        fifth = summed(5, self._separable(filters, 3, f"{name}_left5", first), halved("right5", "max"))
        halvings, _ = self._places[self.last]
        self._ends(nodes.add(name, MergeVertex(), second, third, fourth, fifth), halvings + 1, 4 * filters)
        if keeps_before:
            self.before = kept

    def _ends(self, name: str, halvings: int, channels: int) -> None:
        self.before, self.last = self.last, name
        self._places[name] = (halvings, channels)

    def _projected(self, filters: int, name: str) -> str:
        """Add a convolution of 1 by 1 behind the last cell."""
        last = self.nodes.activation(f"{name}_relu1", "relu", self.last)
        last = self.nodes.add(f"{name}_conv1", self.model.cell_convolution(filters), last)
        return self.nodes.add(f"{name}_bn1", _NORMALIZATION, last)

    def _adjusted(self, filters: int, block: str) -> str:
        """Bring the cell before the last one to the size of the last one's images, and to this cell's channels."""
        before, name, nodes = self.before or self.last, f"adjustBlock{block}", self.nodes
        halvings, channels = self._places[before]
        if halvings != self._places[self.last][0]:
            return self._shrunk(filters, name)
        if channels == filters:
            return before
        last = nodes.activation(f"{name}_projection_relu", "relu", before)
        last = nodes.add(f"{name}_projection_conv", self.model.cell_convolution(filters), last)
        return nodes.add(f"{name}_projection_bn", _NORMALIZATION, last)

    def _shrunk(self, filters: int, name: str) -> str:
        """Halve height and width by two poolings, one of which is a pixel further down and to the right."""
        nodes, half = self.nodes, filters // 2
        last = nodes.activation(f"{name}_relu1", "relu", self.before)
        nodes.pool(f"{name}_avgpool1", "avg", 1, last)
        nodes.add(f"{name}_conv1", self.model.cell_convolution(half), f"{name}_avgpool1")
        nodes.add(f"{name}_zeropad1", ZeroPaddingLayer((0, 1, 0, 1)), last)
        nodes.add(f"{name}_crop1", Cropping2D((1, 0, 1, 0)), f"{name}_zeropad1")
        nodes.pool(f"{name}_avgpool2", "avg", 1, f"{name}_crop1")
        nodes.add(f"{name}_conv2", self.model.cell_convolution(half), f"{name}_avgpool2")
        nodes.add(f"{name}_concat1", MergeVertex(), f"{name}_conv1", f"{name}_conv2")
        return nodes.add(f"{name}_bn1", _NORMALIZATION, f"{name}_concat1")

    def _separable(self, filters: int, kernel: int, block: str, below: str, stride: int = 1) -> str:
        """Add two separable convolutions; the first one has the stride."""
        name, nodes = f"sepConvBlock{block}", self.nodes
        last = nodes.activation(f"{name}_act", "relu", below)
        last = nodes.add(f"{name}_sepconv1", self.model.separable(filters, kernel, stride), last)
        last = nodes.add(f"{name}_conv1_bn", _NORMALIZATION, last)
        last = nodes.activation(f"{name}_act2", "relu", last)
        last = nodes.add(f"{name}_sepconv2", self.model.separable(filters, kernel, 1), last)
        return nodes.add(f"{name}_conv2_bn", _NORMALIZATION, last)

    def _average(self, name: str, below: str) -> str:
        return self.nodes.pool(name, "avg", 3, below, stride=1, convolution_mode="same")
