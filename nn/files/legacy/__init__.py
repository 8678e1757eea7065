"""Configurations of Deeplearning4j 0.5 to 1.0.0-beta3, rewritten to the 1.0 form before anything reads them."""

from __future__ import annotations

from .document import Modern, modernise
from .layers import Dropped
from .versions import NEWEST, VERSIONS, confs_of, detect_version

__all__ = ["NEWEST", "VERSIONS", "Dropped", "Modern", "confs_of", "detect_version", "modernise"]
