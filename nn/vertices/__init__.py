"""Vertices of a ComputationGraph: one file per family, configuration and runtime together."""
