"""Java's names of settings in builders, where ours differ, and settings without a meaning in this library."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from nd import ConfigurationError
from optimize.builder import Builder, knows

if TYPE_CHECKING:
    from optimize.constraints import LayerConstraint


SETTING_NAMES = {
    "activation_fn": "activation", "all_param_constraints": "constrain_all_parameters",
    "bias_constraints": "constrain_bias", "cm": "convolution_mode", "data_type": "dtype",
    "gate_activation_fn": "gate_activation", "gate_activation_function": "gate_activation", "i_dropout": "drop_out",
    "i_updater": "updater", "idrop_out": "drop_out", "iupdater": "updater", "kernel": "kernel_size",
    "lambda": "lambda_", "layer_name": "name", "loss_fn": "loss", "loss_function": "loss",
    "pre_processor_for_input_type": "preprocessor_for", "repetition_factor": "n", "units": "n_out",
    "weight_constraints": "constrain_weights", "weight_init_fn": "weight_init",
    "weight_init_fn_recurrent": "weight_init_recurrent",
}  # fmt: skip
"""Java's name in snake_case -> ours."""
UNUSED_OF_LAYERS = {
    "cudnn_algo_mode": "cudnnAlgoMode", "cudnn_allow_fallback": "cudnnAllowFallback",
    "cudnn_bwd_data_algo": "cudnnBwdDataAlgo", "cudnn_bwd_data_mode": "cudnnBwdDataAlgo",
    "cudnn_bwd_filter_algo": "cudnnBwdFilterAlgo", "cudnn_bwd_filter_mode": "cudnnBwdFilterAlgo",
    "cudnn_fwd_algo": "cudnnFwdAlgo", "cudnn_fwd_mode": "cudnnFwdAlgo", "gain_init": "gainInit",
    "helper_allow_fallback": "cudnnAllowFallback",
}  # fmt: skip
"""Java's name in snake_case -> where its JSON has it: kept in `LayerConf.unused`."""
UNUSED_OF_NETWORKS = {
    "cache_mode": "cacheMode", "inference_workspace_mode": "inferenceWorkspaceMode",
    "training_workspace_mode": "trainingWorkspaceMode",
}  # fmt: skip
"""The same of networks: kept in `NeuralNetConfiguration.unused`."""
SAID_BY_BUILDERS = ("backprop", "dtype", "pretrain", "validate_output_layer_config")
"""Settings of networks that builders of layers and of graphs take, too."""
IGNORED_BY_NETWORKS = frozenset({"cudnn_algo_mode", "gain_init", "set_iwm", "set_twm"})
"""Java's defaults that no layer of this library uses."""
IGNORED_BY_LISTS = frozenset({"damping_factor", "override_nin_upon_build"})
"""Settings that Java's builder of a list of layers takes and this library has no use for."""
IGNORED_BY_LAYERS = frozenset({
    "activation", "bias_init", "bias_updater", "constrain_all_parameters", "constrain_bias", "constrain_weights",
    "convolution_dim", "dilation", "dist", "gradient_normalization", "gradient_normalization_threshold", "has_bias",
    "l1", "l1_bias", "l2", "l2_bias", "n_in", "n_out", "param_weight_init", "regularization", "regularization_bias",
    "updater", "weight_decay", "weight_decay_bias", "weight_init", "weight_noise",
})  # fmt: skip
"""Settings that Java's layers take without effect, where they have no parameters, say."""


_CHANNELS_FIRST = ("NCHW", "NCW", "NCDHW")


def set_format(builder: Builder, data_format: object) -> Builder:
    """Set a layer's data_format, which Java calls differently from layer to layer; others take channels first."""
    if knows(builder, "data_format"):
        builder.given["data_format"] = data_format
        return builder
    if str(getattr(data_format, "value", data_format)).upper() not in _CHANNELS_FIRST:
        raise ConfigurationError(
            f"{builder}: the data format must be {' or '.join(_CHANNELS_FIRST)}, got {data_format!r}."
        )
    return builder


FORMAT_VERBS: dict[str, Callable[..., Builder]] = dict.fromkeys(
    (
        "cnn2_d_format", "cnn2d_data_format", "data_format", "format", "output_data_format", "output_format",
        "rnn_data_format",
    ),
    set_format,
)  # fmt: skip


def of_parameter(name: str) -> Callable[..., Builder]:
    """Return the verb that constrains one parameter of a layer: ``constrainGamma``."""

    def constrain(builder: Builder, *constraints: LayerConstraint) -> Builder:
        given = constraints[0] if len(constraints) == 1 and isinstance(constraints[0], (list, tuple)) else constraints
        before = builder.given.get("constraints") or ()
        builder.given["constraints"] = (*before, *(replace(constraint, params=(name,)) for constraint in given))
        return builder

    return constrain
