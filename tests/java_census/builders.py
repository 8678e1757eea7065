"""Builders of ours that belong to no class by their name."""

from __future__ import annotations

from typing import Any

from nn.dl4j import Evaluation, NeuralNetConfiguration


def list_builder() -> Any:
    """Return a list of layers to be built."""
    return NeuralNetConfiguration.Builder().list()


def metric() -> Any:
    """Return the metrics of an evaluation."""
    return Evaluation.Metric
