"""Rows for every type of Caffe's layers."""

from . import (
    activations,
    channels,
    classes,
    convolution,
    copies,
    detection,
    embed,
    examples,
    inner_product,
    labelled,
    losses,
    normalization,
    outputs,
    pooling,
    python,
    recurrent,
    reductions,
    regions,
    scale,
    shapes,
    softmax,
    spatial,
)
from .base import CaffeCase

CAFFE_CASES: dict[str, list[CaffeCase]] = dict(
    sorted(
        {
            **activations.CASES,
            **channels.CASES,
            **classes.CASES,
            **convolution.CASES,
            **copies.CASES,
            **detection.CASES,
            **embed.CASES,
            **examples.CASES,
            **inner_product.CASES,
            **labelled.CASES,
            **losses.CASES,
            **normalization.CASES,
            **outputs.CASES,
            **pooling.CASES,
            **python.CASES,
            **recurrent.CASES,
            **reductions.CASES,
            **regions.CASES,
            **scale.CASES,
            **shapes.CASES,
            **softmax.CASES,
            **spatial.CASES,
        }.items()
    )
)
"""Type -> rows."""
