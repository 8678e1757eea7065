"""Rows of attention layers: every query of every head and example by itself."""

from functools import partial

import numpy as np

from nn import (
    GlobalPoolingLayer,
    InputType,
    LearnedSelfAttentionLayer,
    OutputLayer,
    RecurrentAttentionLayer,
    RnnOutputLayer,
    SelfAttentionLayer,
)

from ..vertex_oracles import attended
from .base import LayerCase, every

SERIES, ONE_STEP = InputType.recurrent(4, 5), InputType.recurrent(4, 1)
POOLED = (GlobalPoolingLayer("avg"), OutputLayer(n_out=3, activation="softmax"))
TAIL = (RnnOutputLayer(n_out=3, activation="softmax"),)


def self_attended(x, params, mask=None):
    """What every time step takes of the others."""
    return attended((x, x, x), params, (None, mask, None))


def learned(x, params, mask=None):
    """What the queries that are parameters take."""
    queries = np.repeat(params["Q"], len(x), 0)
    return attended((queries, x, x), {name: W for name, W in params.items() if name != "Q"}, (None, mask, None))


def looking_back(x, params, activation=np.tanh, mask=None):
    """Every step by itself, of what the step before makes the query."""
    heads = {name: W for name, W in params.items() if name in ("Wq", "Wk", "Wv", "Wo")}
    out = np.zeros((len(x), params["W"].shape[1], x.shape[2]))
    for t in range(x.shape[2]):
        z = x[:, :, t] @ params["W"] + params.get("b", 0.0)
        if t:
            query = out[:, :, t - 1 : t]
            z = z + attended((query, x, x), heads, (None, mask, None))[:, :, 0] @ params["RW"]
        out[:, :, t] = activation(z)
    return out


def _softmax(z):
    raised = np.exp(z)
    return raised / raised.sum(1, keepdims=True)


def _recurrent(variant, activation="tanh", function=np.tanh, **settings):
    layer = RecurrentAttentionLayer(activation=activation, **settings)
    return LayerCase(variant, layer, SERIES, partial(looking_back, activation=function), TAIL)


ATTENTION_CASES: dict[str, list[LayerCase]] = {
    "learned_self_attention": every(
        [
            LayerCase("plain", LearnedSelfAttentionLayer(n_queries=2), SERIES, learned, POOLED),
            LayerCase(
                "projected",
                LearnedSelfAttentionLayer(n_out=6, n_heads=2, n_queries=3, project_input=True),
                SERIES,
                learned,
                POOLED,
            ),
            LayerCase(
                "one-query",
                LearnedSelfAttentionLayer(n_out=3, n_heads=2, head_size=5, n_queries=1, project_input=True),
                ONE_STEP,
                learned,
                POOLED,
            ),
        ],
        ends_masks=True,
    ),
    "recurrent_attention": every(
        [
            _recurrent("plain", n_out=4, project_input=False),
            _recurrent("projected", n_out=6, n_heads=2),
            _recurrent("head-size", n_out=3, n_heads=2, head_size=5, has_bias=False),
            _recurrent("softmax", "softmax", _softmax, n_out=3),
            _recurrent(
                "softplus", "softplus", lambda z: np.log1p(np.exp(z)), n_out=4, project_input=False, has_bias=False
            ),
        ],
        mixes_places=True,
    ),
    "self_attention": [
        LayerCase("plain", SelfAttentionLayer(), SERIES, self_attended, TAIL),
        LayerCase("projected", SelfAttentionLayer(n_out=6, n_heads=2, project_input=True), SERIES, self_attended, TAIL),
        LayerCase(
            "head-size",
            SelfAttentionLayer(n_out=3, n_heads=2, head_size=5, project_input=True),
            SERIES,
            self_attended,
            TAIL,
        ),
    ],
}
