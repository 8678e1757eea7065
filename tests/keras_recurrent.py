"""Recurrent layers of Keras in NumPy, as its documentation says them: one step after the other, with masks."""

import numpy as np


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


FUNCTIONS = {
    "hard_sigmoid": lambda x: np.clip(x / 6 + 0.5, 0, 1),
    "linear": lambda x: x,
    "relu": lambda x: np.maximum(x, 0),
    "sigmoid": sigmoid,
    "softsign": lambda x: x / (1 + abs(x)),
    "tanh": np.tanh,
}
BLOCKS = {"GRU": 3, "LSTM": 4, "SimpleRNN": 1}


def weights_of(rng, kind, n_in, units, use_bias=True, reset_after=True):
    blocks = BLOCKS[kind] * units
    made = {"kernel": rng.normal(size=(n_in, blocks)), "recurrent_kernel": rng.normal(size=(units, blocks))}
    both = (2, blocks) if kind == "GRU" and reset_after else (blocks,)
    return made | ({"bias": rng.normal(size=both)} if use_bias else {})


def step(kind, x, states, weights, act, gate, reset_after):
    h, W, R = states[0], weights["kernel"], weights["recurrent_kernel"]
    b = weights.get("bias", np.zeros(W.shape[1]))
    if kind == "SimpleRNN":
        return (act(x @ W + h @ R + b),)
    if kind == "LSTM":
        i, f, g, o = np.split(x @ W + h @ R + b, 4, -1)
        c = gate(f) * states[1] + gate(i) * act(g)
        return gate(o) * act(c), c
    own, state = b if b.ndim == 2 else (b, np.zeros_like(b))
    z, r, n = np.split(x @ W + own, 3, -1)
    of_z, of_r, of_n = np.split(R, 3, 1)
    sz, sr, sn = np.split(state, 3)
    z, r = gate(z + h @ of_z + sz), gate(r + h @ of_r + sr)
    n = act(n + (r * (h @ of_n + sn) if reset_after else (r * h) @ of_n))
    return (z * h + (1 - z) * n,)


def run(kind, x, weights, config, mask=None):
    """What a layer gives for ``x [N, T, C]``: all steps in the order in which it goes through them, or the last."""
    act, gate = (FUNCTIONS[config.get(key, usual)] for key, usual in (("activation", "tanh"), ("recurrent_activation", "sigmoid")))  # fmt: skip  # noqa: E501
    units, steps = weights["recurrent_kernel"].shape[0], x.shape[1]
    states = tuple(np.zeros((len(x), units)) for _ in range(1 + (kind == "LSTM")))
    outputs = []
    for t in reversed(range(steps)) if config.get("go_backwards") else range(steps):
        new = step(kind, x[:, t], states, weights, act, gate, config.get("reset_after", True))
        counts = np.ones((len(x), 1), bool) if mask is None else mask[:, t : t + 1] > 0
        states = tuple(np.where(counts, after, before) for after, before in zip(new, states, strict=True))
        outputs.append(np.where(counts, states[0], 0) if config.get("zero_output_for_mask") else states[0])
    return np.stack(outputs, 1) if config.get("return_sequences") else outputs[-1]
