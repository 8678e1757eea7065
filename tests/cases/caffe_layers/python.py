"""Rows for Python, and the layers that they name."""

import nd
from nn.caffe import Layer

from .base import CaffeCase


class Affine(Layer):
    """x W + b of rows, with the weights and the factor of ``param_str``."""

    def setup(self, bottom, top):
        self.factor = float(self.param_str or 1.0)
        if bottom[0].num_axes != 2:
            raise nd.ShapeError(f"expected rows, got {bottom[0]!r}.")
        self.blobs.add_blob(bottom[0].shape[1], 2)
        self.blobs.add_blob(2)

    def reshape(self, bottom, top):
        top[0].reshape(bottom[0].shape[0], 2)

    def forward(self, bottom, top):
        W, b = (blob.data for blob in self.blobs)
        nd.assign(top[0].data, nd.gemm(bottom[0].data, W) * self.factor + b)

    def backward(self, top, propagate_down, bottom):
        W, b = self.blobs
        delta = top[0].diff
        W.diff += nd.gemm(bottom[0].data, delta, transpose_a=True) * self.factor
        b.diff += nd.sum(delta, 0)
        if propagate_down[0]:
            nd.assign(bottom[0].diff, nd.gemm(delta, W.data, transpose_b=True) * self.factor)


class Swapped(Layer):
    """Two tops, each of which is the other one's bottom."""

    def reshape(self, bottom, top):
        top[0].reshape(*bottom[1].shape)
        top[1].reshape(*bottom[0].shape)

    def forward(self, bottom, top):
        nd.assign(top[0].data, bottom[1].data)
        nd.assign(top[1].data, bottom[0].data)

    def backward(self, top, propagate_down, bottom):
        nd.assign(bottom[0].diff, top[1].diff)
        nd.assign(bottom[1].diff, top[0].diff)


TOLD = f"python_param {{ module: '{__name__}' layer: '%s' param_str: '%s' }}"

CASES = {
    "Python": [
        CaffeCase(
            "with parameters",
            TOLD % ("Affine", "3"),
            ((4, 3),),
            lambda xs, params: [xs[0] @ params["0"] * 3.0 + params["1"]],
            splits=False,
        ),
        CaffeCase(
            "two tops", TOLD % ("Swapped", ""), ((4, 3), (2, 2)), lambda xs, params: xs[::-1], tops=2, splits=False
        ),
    ],
}
