"""Primitives of a backend, each once, for every library of arrays."""
