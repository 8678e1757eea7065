"""What a configuration must be like to be trained: refused where it is given, not by the first fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import nd
from nd.checks import describe_shape
from nd.losses import Loss
from optimize import NoOp

from ..terms.data_formats import SERIES
from ..terms.dropout import SpatialDropout
from ..terms.enums import BackpropType, OptimizationAlgorithm

if TYPE_CHECKING:
    from .nodes import NetworkConfiguration, NodeConf, NodeTypes


def check_training(conf: NetworkConfiguration) -> None:
    """Raise ConfigurationError or ShapeError where the first step of training would, whatever the data are.

    Notes
    -----
    What is read from a file is not looked at: such a network can still predict. `fit` says the same of it.
    """
    searching = conf.optimization_algo != OptimizationAlgorithm.STOCHASTIC_GRADIENT_DESCENT
    truncated = conf.backprop_type != BackpropType.STANDARD
    types = conf.network_input_types()
    if truncated and conf.needs_series and types[0] is not None and types[0].format not in SERIES:
        raise nd.ConfigurationError(
            f"backprop_type={str(conf.backprop_type)!r}: series must come in, got input_type={types[0]}. Set "
            "backprop_type='standard', or input_type=InputType.recurrent(n)."
        )
    for node in conf.nodes if searching or truncated else ():
        if searching:
            _check_line_search(conf.optimization_algo, node)
        if truncated and getattr(node.conf, "reads_ahead", False):
            from .truncated import refuse_reading_ahead  # which programs without series do not need

            refuse_reading_ahead("truncated backprop", node.label)
    if any(_needs_sizes(node.conf) for node in conf.nodes):
        of_nodes: Sequence[NodeTypes | None] = conf.node_types([None] * len(types)) or [None] * len(conf.nodes)
        for node, of_node in zip(conf.nodes, of_nodes, strict=True):
            _check_sizes(node, of_node)


def _check_line_search(algorithm: str, node: NodeConf) -> None:
    from optimize.solvers.base import check_line_search  # which programs without line searches do not need

    conf: Any = node.conf
    specs = conf.param_specs()
    updaters = [NoOp() if spec.running else conf.updater_of(spec.bias) for spec in specs]
    normalizes = bool(specs) and getattr(conf, "gradient_normalization", None) not in (None, "none")
    check_line_search(f"{node.label}, with optimization_algo={str(algorithm)!r}", updaters, normalizes)


def _needs_sizes(conf: object) -> bool:
    loss = getattr(conf, "loss", None)
    limits = isinstance(loss, Loss) and (loss.limits_outputs or getattr(loss, "weights", None) is not None)
    return limits or isinstance(getattr(conf, "drop_out", None), SpatialDropout)


def _check_sizes(node: NodeConf, types: NodeTypes | None) -> None:
    """Refuse a loss that is for another number of outputs, and dropout of channels where there are none."""
    conf = node.conf
    loss = getattr(conf, "loss", None)
    outputs = getattr(conf, "n_out", None) if types is None else types.output.shape[0]
    if isinstance(loss, Loss) and outputs is not None:
        loss.check_outputs(f"{node.label}: loss {type(loss).__name__}", outputs)
    if types is None or not isinstance(getattr(conf, "drop_out", None), SpatialDropout):
        return
    shape = types.inputs[0].shape
    if len(shape) < 2:
        raise nd.ShapeError(
            f"{node.label}: SpatialDropout: expected input [N, C, ...] of rank 3 or more, got "
            f"{describe_shape(('N', *shape))}. Use Dropout for rows."
        )
