"""Rows of the layers that look rows of a table up. Longer series than of one step are in test_embedding.py."""

from functools import partial

import numpy as np

from nn import EmbeddingLayer, EmbeddingSequenceLayer, InputType, NormalDistribution, WeightNoise

from .base import LayerCase, every

WORDS = 4
INDEX = InputType.feed_forward(1)


def _looked_up(x, params, activation=float, series=False):
    W, b = params["W"], params.get("b")
    out = np.zeros((len(x), W.shape[1]))
    for n, c in np.ndindex(*out.shape):
        out[n, c] = activation(W[int(x[n].ravel()[0]), c] + (0.0 if b is None else b[0, c]))
    return out[:, :, None] if series else out


def _case(variant, layer_class, activation, function, input_type=INDEX, draws=False, **settings):
    layer = layer_class(n_in=WORDS, n_out=3, activation=activation, **settings)
    oracle = partial(_looked_up, activation=function, series=layer_class is EmbeddingSequenceLayer)
    return LayerCase(variant, layer, input_type, oracle, draws=draws, vocabulary=WORDS)


NOISE = WeightNoise(NormalDistribution(0.0, 0.3))

EMBEDDING_CASES: dict[str, list[LayerCase]] = {
    "embedding": every(
        [
            _case("plain", EmbeddingLayer, "identity", float),
            _case("bias", EmbeddingLayer, "tanh", np.tanh, has_bias=True),
            _case("drops-nothing", EmbeddingLayer, "identity", float, drop_out=1.0),
            _case("noised", EmbeddingLayer, "tanh", np.tanh, has_bias=True, weight_noise=NOISE),
        ],
        silences=True,
    ),
    "embedding_sequence": every(
        [
            _case("columns", EmbeddingSequenceLayer, "identity", float),
            _case("series", EmbeddingSequenceLayer, "tanh", np.tanh, InputType.recurrent(1, 1), has_bias=True),
            _case("one-step", EmbeddingSequenceLayer, "identity", float, infer_input_length=False),
        ],
        silences=True,
    ),
}
"""Name in LAYERS -> rows."""
