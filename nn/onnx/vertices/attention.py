"""Attention and RotaryEmbedding."""

from __future__ import annotations

import math

import nd
from nd.typing import Array

from . import functions as f
from .call import Call
from .picking import indices, rows
from .values import Value


def attention(call: Call) -> list[Value]:
    """Values weighed by the softmax of queries times keys, by heads; with masks, and with keys and values of before.

    Outputs: the result, keys and values with those of before, and the weights or what became of the products earlier.
    """
    flat = call[0].ndim == 3
    q = _heads(call[0], call.whole("q_num_heads", 0))
    k, v = (_heads(call[position], call.whole("kv_num_heads", 0)) for position in (1, 2))
    if call.has(4):
        k, v = f.concat([call[4], k], 2), f.concat([call[5], v], 2)
    present = [k, v]
    times = q.shape[1] // k.shape[1]
    k, v = _repeated(k, times), _repeated(v, times)
    scale = call.number("scale", 1.0 / math.sqrt(q.shape[-1]))
    root = math.sqrt(scale)
    scores = f.matmul(q * root, f.permute(k * root, (0, 1, 3, 2)))
    seen = [scores]
    bias = _bias(call, scores)
    cap = call.number("softcap", 0.0)
    masked = scores if bias is None else scores + bias
    if cap:
        capped = f.tanh(scores * (1.0 / cap)) * cap
        seen.append(capped)
        masked = capped if bias is None else capped + bias
    weights = _softmax(masked)
    stages = {0: scores, 1: seen[-1], 2: masked, 3: weights}
    result = f.matmul(weights, v)
    if flat:
        n, heads, length, size = result.shape
        result = f.reshape(f.permute(result, (0, 2, 1, 3)), (n, length, heads * size))
    return [result, *present, stages[call.whole("qk_matmul_output_mode", 0)]]


def _softmax(x: Value) -> Value:
    """Return the softmax along the last axis; zeros where everything is masked."""
    hidden = nd.equal(f.largest(x, [-1], True).array, -math.inf)
    weights = f.softmax(f.where(hidden, 0.0, x), [x.ndim - 1])
    return f.where(hidden, 0.0, weights)


def _heads(x: Value, count: int) -> Value:
    """Return ``[N, heads, T, size]`` from that, or from ``[N, T, heads size]``."""
    if x.ndim == 4:
        return x
    n, length, size = x.shape
    return f.permute(f.reshape(x, (n, length, count, size // count)), (0, 2, 1, 3))


def _repeated(x: Value, times: int) -> Value:
    """Return every head so many times, one after the other."""
    if times == 1:
        return x
    n, heads, length, size = x.shape
    apart = f.expand(f.reshape(x, (n, heads, 1, length, size)), (n, heads, times, length, size))
    return f.reshape(apart, (n, heads * times, length, size))


def _bias(call: Call, scores: Value) -> Value | None:
    """Return what is added to the products: a mask, which for truths is 0 or minus infinity, and the causal one."""
    length, keys = scores.shape[-2:]
    bias: Value | None = None
    if call.has(3):
        bias = call[3]
        given = call.constants.get(3)
        if given is not None and given.dtype == "bool":
            bias = _hidden(nd.greater(bias.array, 0.5), scores, None)
        short = keys - bias.shape[-1]
        if short > 0:
            more = f.constant_like(-math.inf, bias, (*bias.shape[:-1], short))
            bias = f.concat([bias, more], bias.ndim - 1)
    counts = call.get(6)
    row, column = nd.reshape(nd.arange(0, length, scores.dtype), (length, 1)), nd.arange(0, keys, scores.dtype)
    offset: Array | float = float(call[4].shape[2]) if call.has(4) else 0.0
    if counts is not None:
        lengths = nd.reshape(counts.array, (-1, 1, 1, 1))
        bias = _hidden(nd.greater(lengths, column), scores, bias)
        offset = nd.subtract(lengths, float(length))
    ahead = nd.subtract(nd.add(row, offset), column)  # by how many places the query is behind the key
    if call.whole("is_causal", 0):
        bias = _hidden(nd.greater_equal(ahead, 0.0), scores, bias)
    left, right = call.whole("left_window_size", -1), call.whole("right_window_size", -1)
    if left >= 0:
        bias = _hidden(nd.greater_equal(float(left), ahead), scores, bias)
    if right >= 0:
        bias = _hidden(nd.greater_equal(ahead, -float(right)), scores, bias)
    return bias


def _hidden(seen: Array, scores: Value, bias: Value | None) -> Value:
    own = Value(nd.where(seen, 0.0, f.constant_like(-math.inf, scores, (1,)).array))
    return own if bias is None else own + bias


def rotary_embedding(call: Call) -> Value:
    """Pairs of features turned by angles whose cosines and sines are given, for every position."""
    x, flat = call[0], call[0].ndim == 3
    if flat:
        x = _heads(x, call.whole("num_heads", 0))
    n, heads, length, size = x.shape
    turned = call.whole("rotary_embedding_dim", 0) or size
    cos, sin = (_angles(call, position, length, turned // 2) for position in (1, 2))
    own, rest = f.stretch(x, 3, 0, turned), f.stretch(x, 3, turned, size)
    if call.whole("interleaved", 0):
        pairs = f.reshape(own, (n, heads, length, turned // 2, 2))
        first, second = (f.reshape(f.stretch(pairs, 4, at, at + 1), pairs.shape[:-1]) for at in (0, 1))
        news = [f.reshape(one, (*one.shape, 1)) for one in (first * cos - second * sin, first * sin + second * cos)]
        own = f.reshape(f.concat(news, 4), own.shape)
    else:
        first, second = f.stretch(own, 3, 0, turned // 2), f.stretch(own, 3, turned // 2, turned)
        own = f.concat([first * cos - second * sin, first * sin + second * cos], 3)
    result = f.concat([own, rest], 3) if turned < size else own
    return f.reshape(f.permute(result, (0, 2, 1, 3)), (n, length, heads * size)) if flat else result


def _angles(call: Call, position: int, length: int, pairs: int) -> Value:
    """Return ``[N, 1, T, pairs]`` from those, or from a table and the numbers of positions."""
    table = call[position]
    if call.has(3):
        numbers = indices(call, 3)
        picked = rows(table, nd.reshape(numbers, (math.prod(numbers.shape),)))
        table = f.reshape(picked, (*numbers.shape, table.shape[-1]))
    return f.reshape(f.stretch(table, 2, 0, pairs), (table.shape[0], 1, length, pairs))
