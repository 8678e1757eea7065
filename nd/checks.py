"""The checks that raise typed errors, for the floors above."""

from backends.errors import check_choice, check_rank, check_shape, describe_shape, refuse_masked

__all__ = ["check_choice", "check_rank", "check_shape", "describe_shape", "refuse_masked"]
