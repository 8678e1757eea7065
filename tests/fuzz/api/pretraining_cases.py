"""How to call what belongs to layers that are pretrained."""

from __future__ import annotations

from typing import Any

import numpy as np

from nn import (
    AutoEncoder,
    BernoulliReconstructionDistribution,
    InputType,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    VariationalAutoencoder,
)

from .prepared import iterator
from .values import data_set


def pretrained(layer: Any) -> Any:
    """Return a network that begins with that layer."""
    conf = NeuralNetConfiguration(seed=1, updater="adam").list(
        layer, OutputLayer(n_out=3, activation="softmax"), input_type=InputType.feed_forward(4)
    )
    return MultiLayerNetwork(conf).init()


def _distributions() -> dict[str, Any]:
    """Return arguments of the methods of distributions of the reconstruction: of three numbers."""
    found: dict[str, Any] = {
        "nn.CompositeReconstructionDistribution": {
            "distribution_sizes": (3,), "reconstruction_distributions": (BernoulliReconstructionDistribution(),),
        },
    }  # fmt: skip
    kinds = {"Bernoulli": 3, "Composite": 3, "Exponential": 3, "Gaussian": 6, "": 3}
    names = {f"{kind}ReconstructionDistribution": size for kind, size in kinds.items()} | {"LossFunctionWrapper": 3}
    for name, size in names.items():
        given = {"x": np.ones((2, 3), np.float32), "pre_output": np.ones((2, size), np.float32)}
        for method in ("example_neg_log_probability", "neg_log_probability", "gradient"):
            found[f"nn.{name}.{method}"] = given
        for method in ("generate_at_mean", "generate_random"):
            found[f"nn.{name}.{method}"] = {"pre_output": given["pre_output"]}
        found[f"nn.{name}.distribution_input_size"] = {"data_size": 3}
    return found


PRETRAINING: dict[str, Any] = {
    **_distributions(),
    "optimize.earlystopping.AutoencoderScoreCalculator": lambda folder: {"metric": "mse", "iterator": iterator()},
    "optimize.earlystopping.VAEReconErrorScoreCalculator": lambda folder: {"metric": "mse", "iterator": iterator()},
    "optimize.earlystopping.VAEReconProbScoreCalculator": lambda folder: {
        "iterator": iterator(),
        "reconstruction_prob_num_samples": 2,
        "log_prob": True,
    },
    "nn.AutoEncoder.get_regularization_by_param": {"name": "W"},
    "nn.AutoEncoder.get_updater_by_param": {"name": "W"},
    "nn.MultiLayerNetwork.pretrain_layer": lambda folder: {"layer": 0, "data": data_set().features},
    "nn.ComputationGraph.pretrain_layer": lambda folder: {"layer": "dense", "data": data_set().features},
    "optimize.earlystopping.AutoencoderScoreCalculator.calculate_score": lambda folder: {
        "model": pretrained(AutoEncoder(n_out=2)),
    },
    **{
        f"optimize.earlystopping.{name}ScoreCalculator.calculate_score": lambda folder: {
            "model": pretrained(VariationalAutoencoder(n_out=2)),
        }
        for name in ("VAEReconError", "VAEReconProb")
    },
}
