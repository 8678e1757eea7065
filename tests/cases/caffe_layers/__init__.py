"""Rows for every type of Caffe's layers."""

from . import inner_product, normalization, scale
from .base import CaffeCase

CAFFE_CASES: dict[str, list[CaffeCase]] = {
    **inner_product.CASES,
    **normalization.CASES,
    **scale.CASES,
}
"""Type -> rows."""
