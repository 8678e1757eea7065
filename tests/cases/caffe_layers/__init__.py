"""Rows for every type of Caffe's layers."""

from . import activations, classes, convolution, copies, inner_product, losses, pooling
from .base import CaffeCase

CAFFE_CASES: dict[str, list[CaffeCase]] = dict(
    sorted(
        {
            **activations.CASES,
            **classes.CASES,
            **convolution.CASES,
            **copies.CASES,
            **inner_product.CASES,
            **losses.CASES,
            **pooling.CASES,
        }.items()
    )
)
"""Type -> rows."""
