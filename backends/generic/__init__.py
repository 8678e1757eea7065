"""Primitives of a backend, written once for every library of arrays."""
