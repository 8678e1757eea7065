"""Rows for every type of Caffe's layers."""

from . import activations, classes, copies, inner_product, losses, normalization, scale
from .base import CaffeCase

CAFFE_CASES: dict[str, list[CaffeCase]] = {
    **activations.CASES,
    **classes.CASES,
    **copies.CASES,
    **inner_product.CASES,
    **losses.CASES,
    **normalization.CASES,
    **scale.CASES,
}
"""Type -> rows."""
