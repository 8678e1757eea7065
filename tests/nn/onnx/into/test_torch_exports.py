"""Random networks as PyTorch's older exporter writes them, against onnxruntime: outputs, and other batch sizes."""

import io
import logging
import random
import warnings

import numpy as np
import pytest

from nn.onnx.into import graph_of

onnxruntime = pytest.importorskip("onnxruntime")
torch = pytest.importorskip("torch")
layers = torch.nn

pytestmark = pytest.mark.slow
SEEDS = range(60)
FUNCTIONS = [
    layers.CELU, layers.ELU, layers.GELU, layers.Hardsigmoid, layers.Hardswish, layers.Hardtanh, layers.Identity,
    layers.LeakyReLU, layers.LogSigmoid, layers.Mish, layers.PReLU, layers.ReLU, layers.ReLU6, layers.SELU,
    layers.SiLU, layers.Sigmoid, layers.Softplus, layers.Softsign, layers.Tanh,
]  # fmt: skip

PADDINGS = [layers.ReflectionPad2d(1), layers.ReplicationPad2d((1, 0, 2, 1)), layers.ZeroPad2d((1, 2, 0, 1))]


class Joined(layers.Module):
    """Two paths and what becomes of them."""

    def __init__(self, draw, channels):
        super().__init__()
        self.first = layers.Conv2d(channels, 2 * channels, 3, 2, 1)
        self.second = layers.Conv2d(channels, 2 * channels, 1, 2)
        self.how = draw.choice(["add", "cat", "max", "mul", "sub"])
        self.channels = 2 * channels * (2 if self.how == "cat" else 1)

    def forward(self, x):
        y, z = torch.relu(self.first(x)), self.second(x)
        if self.how == "cat":
            return torch.cat([y, z], 1)
        return {"add": torch.add, "max": torch.maximum, "mul": torch.mul, "sub": torch.sub}[self.how](y, z)


class Recurrent(layers.Module):
    """A recurrent network, and a layer over all steps, the last one, or its last state."""

    def __init__(self, draw):
        super().__init__()
        kind, self.first = draw.choice([layers.LSTM, layers.RNN, layers.GRU]), draw.random() < 0.7
        both = draw.random() < 0.4
        self.series = kind(3, 4, draw.choice([1, 2]), batch_first=self.first, bidirectional=both)
        self.how = draw.choice(["all", "last", "mean", "state"])
        self.out = layers.Linear(4 * (1 + both) if self.how != "state" else 4, 2)

    def forward(self, x):
        y, state = self.series(x)
        if self.how == "last":
            y = y[:, -1] if self.first else y[-1]
        elif self.how == "mean":
            y = y.mean(1 if self.first else 0)
        elif self.how == "state":
            y = (state[0] if isinstance(state, tuple) else state)[-1]
        return torch.softmax(self.out(y), -1)


def image_part(draw, channels):
    """Return a layer over images and the channels behind it."""
    wide = draw.randint(1, 5)
    joined = Joined(draw, channels)
    return draw.choice([
        (layers.Conv2d(channels, wide, draw.choice([1, 2, 3]), draw.choice([1, 2]), draw.choice([0, 1])), wide),
        (layers.Conv2d(channels, wide, 3, 1, 2, dilation=2), wide),
        (layers.Conv2d(channels, 2 * channels, 3, padding=1, groups=channels), 2 * channels),
        (layers.ConvTranspose2d(channels, wide, 2, 2), wide),
        (layers.BatchNorm2d(channels), channels),
        (layers.LocalResponseNorm(draw.choice([2, 3])), channels),
        (draw.choice(PADDINGS), channels),
        (layers.Upsample(scale_factor=2), channels),
        (joined, joined.channels),
    ])  # fmt: skip


def images(draw):
    channels, size = draw.randint(1, 3), draw.randint(9, 13)
    first, parts = channels, []
    for _ in range(draw.randint(1, 3)):
        part, channels = image_part(draw, channels)
        parts += [part, draw.choice(FUNCTIONS)()]
        parts += [draw.choice([layers.MaxPool2d(2, 1), layers.AvgPool2d(3, 1, 1)])] * (draw.random() < 0.3)
    parts += [layers.AdaptiveAvgPool2d(1)] * (draw.random() < 0.5)
    body = layers.Sequential(*parts, layers.Flatten()).eval()
    width = body(torch.zeros(1, first, size, size)).shape[1]
    return layers.Sequential(body, layers.Linear(width, 3), layers.Softmax(-1)), (first, size, size), 0


def rows(draw):
    parts, width = [], 5
    for wide in (draw.randint(2, 8), draw.randint(2, 8)):
        parts += [layers.Linear(width, wide, bias=draw.random() < 0.8), draw.choice(FUNCTIONS)()]
        width = wide
    return layers.Sequential(*parts, layers.LayerNorm(width), layers.Linear(width, 3)), (5,), 0


def series(draw):
    network = Recurrent(draw)
    return network, (6, 3), 0 if network.first else 1


def drawn(seed):
    """Return the content of a model, features, and the axis of the examples."""
    draw = random.Random(seed)
    torch.manual_seed(seed)
    network, shape, axis = draw.choice([images, images, rows, series])(draw)
    x = torch.randn(4, *shape).transpose(0, axis).contiguous()
    content, open_sizes = io.BytesIO(), {"x": {axis: "n"}} if draw.random() < 0.5 else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            network.eval(), (x,), content, opset_version=draw.randint(14, 18), input_names=["x"],
            dynamic_axes=open_sizes, dynamo=False,
        )  # fmt: skip
    return content.getvalue(), x.numpy(), axis


@pytest.mark.parametrize("seed", SEEDS)
def test_outputs_are_onnxruntimes(seed, caplog):
    caplog.set_level(logging.CRITICAL)
    content, x, axis = drawn(seed)
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    (expected,) = session.run(None, {"x": x})
    net = graph_of(io.BytesIO(content))
    np.testing.assert_allclose(net.output(x)[0], expected, rtol=1e-5, atol=1e-5)
    if axis == 0:  # whatever batch size the file was made for
        np.testing.assert_allclose(net.output(x[:3])[0], expected[:3], rtol=1e-5, atol=1e-5)
