"""Execution of computations: op by op, by several workers, recorded."""
