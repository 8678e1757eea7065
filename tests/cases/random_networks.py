"""Networks drawn at random: a layer's row with other settings, and the network's own settings."""

import random

import nd
from nn import MultiLayerNetwork, NeuralNetConfiguration
from tests.cases.layers import LAYER_CASES
from tests.cases.random_values import varied

ROWS = [case for cases in LAYER_CASES.values() for case in cases]
SIZES = {
    "bounding_boxes", "bwd", "capsules", "hidden_size", "input_channels", "input_shape", "input_size", "layer", "n_in",
    "n_out",
}  # fmt: skip
"""Fields that stay as the case has them, or hardly anything would fit."""
KEPT = ("backprop", "l2_bias", "seed")
"""Of the network's own: without backprop nothing would be trained, see tests/cases/random_pretrained.py."""


def draw(number):
    """Return (case, network) of that number, None for what is refused where it is given."""
    rng = random.Random(number)
    case = ROWS[rng.randrange(len(ROWS))]
    try:
        base = varied(rng, NeuralNetConfiguration(seed=number + 1), rng.choice([0.0, 0.1, 0.3]), KEPT)
        layer = varied(rng, case.layer, rng.choice([0.1, 0.3, 0.5]), SIZES)
        tail = [varied(rng, each, rng.choice([0.0, 0.2]), {*SIZES, "loss"}) for each in case.tail]
        return case, MultiLayerNetwork(base.list(layer, *tail, input_type=case.input_type)).init()
    except nd.NdError:
        return None
