"""Rows for every type of Caffe's layers."""

from . import (
    activations,
    classes,
    convolution,
    copies,
    detection,
    embed,
    inner_product,
    losses,
    normalization,
    pooling,
    regions,
    scale,
    softmax,
    spatial,
)
from .base import CaffeCase

CAFFE_CASES: dict[str, list[CaffeCase]] = dict(
    sorted(
        {
            **activations.CASES,
            **classes.CASES,
            **convolution.CASES,
            **copies.CASES,
            **detection.CASES,
            **embed.CASES,
            **inner_product.CASES,
            **losses.CASES,
            **normalization.CASES,
            **pooling.CASES,
            **regions.CASES,
            **scale.CASES,
            **softmax.CASES,
            **spatial.CASES,
        }.items()
    )
)
"""Type -> rows."""
