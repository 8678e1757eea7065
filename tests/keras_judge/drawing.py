"""Layers of Keras with settings drawn at random, each called on what the drawing has come to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, TypeVar

import numpy as np

Choice = TypeVar("Choice")
ACTIVATIONS = (
    "linear", "relu", "tanh", "sigmoid", "elu", "selu", "softplus", "softsign", "swish", "gelu", "leaky_relu", "relu6",
    "hard_sigmoid", "exponential", "softmax",
)  # fmt: skip
LIMITED = ("tanh", "sigmoid", "softsign", "relu", "elu", "hard_sigmoid")
"""Activations by which numbers do not grow from step to step."""
SMALL = 1e-3
"""Penalties, which no output knows."""


class Drawer:
    """Draws layers, and knows the axes of images.

    Parameters
    ----------
    keras : module
    seed : int
    data_format : str
        ``"channels_last"`` or ``"channels_first"``.
    """

    def __init__(self, keras: ModuleType, seed: int, data_format: str = "channels_last") -> None:
        self.layers, self.keras = keras.layers, keras
        self.rng = np.random.default_rng(seed)
        self.data_format = data_format

    def one_of(self, choices: Sequence[Choice]) -> Choice:
        return choices[int(self.rng.integers(len(choices)))]

    def between(self, low: int, high: int) -> int:
        """Return an integer; both ends are drawn too."""
        return int(self.rng.integers(low, high + 1))

    def happens(self, probability: float = 0.5) -> bool:
        return bool(self.rng.random() < probability)

    # ---- rows, and everything that knows no axes

    def penalty(self) -> dict[str, Any]:
        """Return a regulariser and a constraint now and then."""
        regularizers, constraints = self.keras.regularizers, self.keras.constraints
        settings: dict[str, Any] = {}
        if self.happens(0.2):
            drawn = (regularizers.L1(SMALL), regularizers.L2(SMALL), regularizers.L1L2(SMALL, SMALL))
            settings["kernel_regularizer"] = self.one_of(drawn)
        if self.happens(0.1):
            settings["kernel_constraint"] = self.one_of((constraints.MaxNorm(3.0), constraints.NonNeg()))
        return settings

    def dense(self, x: Any, units: int | None = None) -> Any:
        units = units or self.between(1, 6)
        settings = {"use_bias": self.happens(0.8), **self.penalty()}
        return self.layers.Dense(units, activation=self.function(units), **settings)(x)

    def function(self, width: int) -> str:
        """Return the name of an activation: a softmax of one number alone is an error of Keras'."""
        return self.one_of(ACTIVATIONS if width > 1 else ACTIVATIONS[:-1])

    def activation(self, x: Any) -> Any:
        layers, slope = self.layers, round(float(self.rng.uniform(0.05, 0.5)), 3)
        bounded = {"max_value": self.one_of((None, 1.5)), "negative_slope": self.one_of((0.0, slope))}
        drawn: tuple[Callable[[], Any], ...] = (
            lambda: layers.Activation(self.function(x.shape[-1])),
            lambda: layers.ReLU(**bounded, threshold=self.one_of((0.0, 0.3))),
            lambda: layers.LeakyReLU(negative_slope=slope),
            lambda: layers.ELU(alpha=self.one_of((1.0, slope))),
            lambda: layers.PReLU(shared_axes=list(range(1, len(x.shape) - 1)) or None),
            lambda: layers.Softmax(),
        )
        return self.one_of(drawn if x.shape[-1] > 1 else drawn[:-1])()(x)

    def noise(self, x: Any) -> Any:
        """Add what outputs do not know: dropouts and noises."""
        layers = self.layers
        drawn = [layers.Dropout(0.3), layers.GaussianNoise(0.2), layers.GaussianDropout(0.2), layers.AlphaDropout(0.1)]
        spatial = {3: "SpatialDropout1D", 4: "SpatialDropout2D"}
        if len(x.shape) in spatial and self.data_format == "channels_last":
            drawn.append(getattr(layers, spatial[len(x.shape)])(0.2))
        return self.one_of(drawn)(x)

    def normalization(self, x: Any) -> Any:
        axis = 1 if self.data_format == "channels_first" and len(x.shape) > 2 else -1
        settings = {"epsilon": self.one_of((1e-3, 1e-2)), "scale": self.happens(0.8), "center": self.happens(0.8)}
        return self.layers.BatchNormalization(axis=axis, **settings)(x)

    def between_layers(self, x: Any) -> Any:
        """Draw what may stand behind any layer, or nothing."""
        drawn = (self.activation, self.normalization, self.noise, lambda y: y, lambda y: y)
        return self.one_of(drawn)(x)

    # ---- images, series and volumes: `x` has 1, 2 or 3 axes of places

    def sizes(self, x: Any) -> list[int]:
        """Return the lengths of the axes of places."""
        return list(x.shape[2:] if self.data_format == "channels_first" else x.shape[1:-1])

    def axes(self) -> dict[str, str]:
        return {"data_format": self.data_format}

    def window(self, x: Any) -> dict[str, Any]:
        """Return kernel, strides or dilation, and padding that leave something."""
        sizes = self.sizes(x)
        kernel = [self.between(1, min(3, size)) for size in sizes]
        settings: dict[str, Any] = {"padding": self.one_of(("valid", "same")), "kernel_size": kernel}
        if self.happens(0.4):
            settings["strides"] = self.between(1, 2)
        elif self.happens(0.3) and all(2 * (length - 1) < size for length, size in zip(kernel, sizes, strict=True)):
            settings["dilation_rate"] = 2
        return settings

    def convolution(self, x: Any) -> Any:
        rank = len(self.sizes(x))
        settings = {**self.window(x), **self.axes(), **self.penalty(), "use_bias": self.happens(0.8)}
        if rank == 1 and self.data_format == "channels_last" and self.happens(0.2):
            settings["padding"] = "causal"
        activation = self.one_of(ACTIVATIONS[:-1])
        return getattr(self.layers, f"Conv{rank}D")(self.between(1, 4), activation=activation, **settings)(x)

    def other_convolution(self, x: Any) -> Any:
        """Draw a transposed, depthwise or separable convolution."""
        rank, settings = len(self.sizes(x)), {**self.window(x), **self.axes(), "use_bias": self.happens(0.8)}
        kind = self.one_of(("transposed", "depthwise", "separable")) if rank < 3 else "transposed"
        if kind == "transposed":
            settings.pop("dilation_rate", None)
            layer = getattr(self.layers, f"Conv{rank}DTranspose")(self.between(1, 3), **settings)
        elif kind == "depthwise":
            layer = getattr(self.layers, f"DepthwiseConv{rank}D")(depth_multiplier=self.between(1, 2), **settings)
        else:
            settings["depth_multiplier"] = self.between(1, 2)
            layer = getattr(self.layers, f"SeparableConv{rank}D")(self.between(1, 4), **settings)
        return layer(x)

    def pooling(self, x: Any) -> Any:
        sizes = self.sizes(x)
        kind, length = self.one_of(("Max", "Average")), self.between(1, min(2, *sizes, 2))
        settings = {"strides": self.one_of((None, 1)), "padding": self.one_of(("valid", "same")), **self.axes()}
        return getattr(self.layers, f"{kind}Pooling{len(sizes)}D")(length, **settings)(x)

    def resizing(self, x: Any) -> Any:
        """Draw padding, cropping or upsampling."""
        sizes = self.sizes(x)
        rank, kind = len(sizes), self.one_of(("ZeroPadding", "Cropping", "UpSampling"))
        if kind == "Cropping" and min(sizes) < 3:
            kind = "ZeroPadding"
        pairs = [(self.between(0, 1), self.between(0, 1)) for _ in sizes]
        axes = self.axes() if rank > 1 else {}
        amounts: Any = self.between(1, 2) if kind == "UpSampling" else (pairs[0] if rank == 1 else pairs)
        return getattr(self.layers, f"{kind}{rank}D")(amounts, **axes)(x)

    def flat(self, x: Any) -> Any:
        """Make rows of it: flattened, or one number a channel."""
        rank = len(self.sizes(x))
        if self.happens():
            return self.layers.Flatten(**self.axes())(x)
        kind = self.one_of(("Max", "Average"))
        return getattr(self.layers, f"Global{kind}Pooling{rank}D")(**self.axes())(x)

    # ---- series

    def recurrent(self, units: int, **settings: Any) -> Any:
        """Return a recurrent layer, not yet called."""
        settings |= {"use_bias": self.happens(0.9), "activation": self.one_of(LIMITED[:3])}
        if self.happens(0.8):
            settings["recurrent_initializer"] = "glorot_uniform"  # the orthogonal one takes JAX a second
        if self.happens(0.6):
            gates = self.one_of(("sigmoid", "sigmoid", "hard_sigmoid"))
            return self.layers.LSTM(units, recurrent_activation=gates, **settings)
        return self.layers.SimpleRNN(units, **settings)

    def over_series(self, x: Any, *, returns: bool) -> Any:
        """Draw a recurrent layer, or two directions of one."""
        layer = self.recurrent(self.between(1, 5), return_sequences=returns)
        if self.happens(0.3):
            layer = self.layers.Bidirectional(layer, merge_mode=self.one_of(("concat", "sum", "mul", "ave")))
        return layer(x)
