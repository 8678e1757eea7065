"""How to call what belongs to layers that are pretrained."""

from __future__ import annotations

from typing import Any

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


PRETRAINING: dict[str, Any] = {
    "nn.CompositeReconstructionDistribution": {
        "distribution_sizes": (3,),
        "reconstruction_distributions": (BernoulliReconstructionDistribution(),),
    },
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
