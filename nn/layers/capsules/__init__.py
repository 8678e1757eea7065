"""Capsule networks."""
