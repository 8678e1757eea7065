"""What a layer receives: the kind of activations and their size per example."""

from __future__ import annotations

import math
from dataclasses import dataclass

from nd import ConfigurationError


@dataclass(frozen=True)
class InputType:
    """Kind and size of activations; make one with the functions below.

    Examples
    --------
    >>> InputType.convolutional(28, 28, 1)
    convolutional(28x28x1)
    >>> InputType.convolutional_flat(28, 28, 1).shape
    (784,)
    """

    def __post_init__(self) -> None:
        if any(not isinstance(axis, int) or axis < 1 for axis in self.shape):
            raise ConfigurationError(f"InputType: every size must be an integer >= 1, got {self!r}.")

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one example."""
        raise NotImplementedError

    @property
    def size(self) -> int:
        """Numbers in one example."""
        return math.prod(self.shape)

    @staticmethod
    def feed_forward(size: int) -> FeedForwardType:
        """``[N, size]``."""
        return FeedForwardType(size)

    @staticmethod
    def convolutional(height: int, width: int, channels: int) -> ConvolutionalType:
        """``[N, channels, height, width]``."""
        return ConvolutionalType(height, width, channels)

    @staticmethod
    def convolutional_flat(height: int, width: int, channels: int) -> ConvolutionalFlatType:
        """``[N, channels * height * width]``: images as rows."""
        return ConvolutionalFlatType(height, width, channels)


@dataclass(frozen=True, repr=False)
class FeedForwardType(InputType):
    """``[N, n]``."""

    n: int

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.n,)

    def __repr__(self) -> str:
        return f"feed_forward({self.n})"


@dataclass(frozen=True, repr=False)
class ConvolutionalType(InputType):
    """``[N, C, H, W]``."""

    height: int
    width: int
    channels: int

    @property
    def shape(self) -> tuple[int, ...]:
        return self.channels, self.height, self.width

    def __repr__(self) -> str:
        return f"convolutional({self.height}x{self.width}x{self.channels})"


@dataclass(frozen=True, repr=False)
class ConvolutionalFlatType(InputType):
    """``[N, C * H * W]``, images as rows in c order."""

    height: int
    width: int
    channels: int

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.channels * self.height * self.width,)

    def __repr__(self) -> str:
        return f"convolutional_flat({self.height}x{self.width}x{self.channels})"
