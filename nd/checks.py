"""The checks that raise typed errors, for the floors above."""

from backends.errors import (
    UnknownKeyError,
    UnknownNameError,
    check_choice,
    check_finite,
    check_mask,
    check_rank,
    check_shape,
    describe_shape,
    refuse_masked,
)
from backends.memory import check_memory
from backends.suggestions import suggestion

__all__ = [
    "UnknownKeyError", "UnknownNameError", "check_choice", "check_finite", "check_mask", "check_memory", "check_rank",
    "check_shape", "describe_shape", "refuse_masked", "suggestion",
]  # fmt: skip
