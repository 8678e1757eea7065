"""Batch normalisation."""

from __future__ import annotations

import nd

from ...layers.normalization.batch_normalization import LOG10_SQUARED
from .draft import Value
from .node import Node


def batch_normalization(node: Node) -> Value:
    """BatchNormalization with its running statistics, a log10 of the standard deviation as the variance that it is."""
    conf, params = node.conf, node.params
    mean = params["mean"].reshape(-1)
    if conf.lock_gamma_beta:
        gamma, beta = (conf.gamma, conf.beta) if conf.gamma != 1.0 and conf.beta != 0.0 else (1.0, 0.0)  # as in Java
        scale = [] if gamma == 1.0 and beta == 0.0 else [mean * 0 + gamma, mean * 0 + beta]
        if scale:
            node.lose("that its gamma and beta are not trained")
    else:
        scale = [params["gamma"].reshape(-1), params["beta"].reshape(-1)]
    if conf.use_log_std:
        node.lose("that it keeps the logarithm of the variance")
        with nd.use_backend("numpy"):
            kept = nd.exp(nd.multiply(nd.as_array(params["log10stdev"]), LOG10_SQUARED))
            variance = nd.to_host(nd.reshape(kept, (mean.size,)))
    else:
        variance = params["var"].reshape(-1)
    return node.add(
        "BatchNormalization", axis=-1, momentum=float(conf.decay), epsilon=float(conf.eps), center=bool(scale),
        scale=bool(scale), weights=[*scale, mean, variance],
    )  # fmt: skip
