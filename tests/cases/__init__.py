"""Rows that the tests run: inputs, oracles written another way in NumPy, hand-computed values."""
