"""Rows for every type of Caffe's layers."""

from . import inner_product
from .base import CaffeCase

CAFFE_CASES: dict[str, list[CaffeCase]] = {
    **inner_product.CASES,
}
"""Type -> rows."""
