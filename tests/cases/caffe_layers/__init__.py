"""Rows for every type of Caffe's layers."""

from . import (
    activations,
    classes,
    copies,
    detection,
    embed,
    inner_product,
    losses,
    normalization,
    regions,
    scale,
    softmax,
    spatial,
)
from .base import CaffeCase

CAFFE_CASES: dict[str, list[CaffeCase]] = {
    **activations.CASES,
    **classes.CASES,
    **copies.CASES,
    **detection.CASES,
    **embed.CASES,
    **inner_product.CASES,
    **losses.CASES,
    **normalization.CASES,
    **regions.CASES,
    **scale.CASES,
    **softmax.CASES,
    **spatial.CASES,
}
"""Type -> rows."""
