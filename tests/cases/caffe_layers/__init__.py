"""Rows for every type of Caffe's layers."""

from . import 
from .base import CaffeCase

CAFFE_CASES: dict[str, list[CaffeCase]] = dict(
    sorted({
    }.items())
)
"""Type -> rows."""
