"""Layers with a loss."""
