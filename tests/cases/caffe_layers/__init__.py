"""Rows for every type of Caffe's layers."""

from . import activations, classes, copies, examples, inner_product, labelled, losses, recurrent, reductions, shapes
from .base import CaffeCase

CAFFE_CASES: dict[str, list[CaffeCase]] = {
    **activations.CASES,
    **classes.CASES,
    **copies.CASES,
    **examples.CASES,
    **inner_product.CASES,
    **labelled.CASES,
    **losses.CASES,
    **recurrent.CASES,
    **reductions.CASES,
    **shapes.CASES,
}
"""Type -> rows."""
