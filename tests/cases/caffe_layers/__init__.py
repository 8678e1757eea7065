"""Rows for every type of Caffe's layers."""

from . import convolution, inner_product, pooling
from .base import CaffeCase

CAFFE_CASES: dict[str, list[CaffeCase]] = {
    **convolution.CASES,
    **inner_product.CASES,
    **pooling.CASES,
}
"""Type -> rows."""
