"""Pooling over windows and over everything."""
