"""One training step, op by op: `net.trace`, and traces from files."""

from .comparing import Difference
from .files import load
from .rows import Row
from .trace import NodeArrays, Trace

__all__ = ["Difference", "NodeArrays", "Row", "Trace", "load"]
