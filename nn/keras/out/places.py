"""Layers that move numbers between places: borders, repetition, blocks."""

from __future__ import annotations

from .draft import Config, Value
from .node import Node
from .windows import bordered, cropped, dimensions


def cropping(node: Node) -> Value:
    """Cropping1D, Cropping2D and Cropping3D."""
    borders = node.conf.cropping
    return cropped(node, node.x, borders[::2], borders[1::2], "")


def zero_padding(node: Node) -> Value:
    """ZeroPadding1DLayer, ZeroPaddingLayer and ZeroPadding3DLayer."""
    borders = node.conf.padding
    return bordered(node, node.x, borders[::2], borders[1::2], "")


def upsampling(node: Node) -> Value:
    """Upsampling1D, Upsampling2D and Upsampling3D: UpSampling."""
    factors = node.conf.size
    size = int(factors[0]) if len(factors) == 1 else dimensions(factors)
    settings: Config = {} if len(factors) == 1 else {"data_format": "channels_last"}
    settings |= {"interpolation": "nearest"} if len(factors) == 2 else {}
    return node.add(f"UpSampling{len(factors)}D", size=size, **settings)


def space_to_depth(node: Node) -> Value:
    """SpaceToDepthLayer: Reshape into blocks, Permute, Reshape; channels of a block lie block by block."""
    channels, height, width = node.sizes()
    block = int(node.conf.blocks)
    if channels is None or height is None or width is None:
        node.refuse("the sizes of its input must be known")
    rows, columns = height // block, width // block
    x = node.add(
        "Reshape", part="blocks", axes=2, target_shape=[rows, block, columns, block, channels]
    )  # [N, H / b, b, W / b, b, C]
    x = node.permuted(x, [1, 3, 2, 4, 5])
    return node.add("Reshape", x, axes=-2, target_shape=[rows, columns, block * block * channels])
