"""JSON forms of the layers with a loss that are no plain rows."""

from __future__ import annotations

from ..json_values import LOSS, NUMBER, PLAIN
from .base import BASE, FEED_FORWARD, FEED_FORWARD_CONSTANTS, LayerForm

_LOSS = {**BASE, "lossFn": ("loss", LOSS)}
_WITHOUT_SIZES = {**FEED_FORWARD_CONSTANTS, "nin": 0, "nout": 0}

OUTPUT_FORMS: dict[str, LayerForm] = {
    "center_loss_output": LayerForm(
        {
            **FEED_FORWARD,
            "lossFn": ("loss", LOSS),
            "alpha": ("alpha", NUMBER),
            "gradientCheck": ("gradient_check", PLAIN),
            "lambda": ("lambda_", NUMBER),
        },
        FEED_FORWARD_CONSTANTS,
    ),
    "cnn3d_loss": LayerForm(_LOSS, {**_WITHOUT_SIZES, "dataFormat": "NCDHW"}),
    "cnn_loss": LayerForm(_LOSS, {**_WITHOUT_SIZES, "format": "NCHW"}),
    "ocnn_output": LayerForm(
        {
            **{key: found for key, found in FEED_FORWARD.items() if key != "hasBias"},
            "configureR": ("configure_r", PLAIN),
            "hiddenSize": ("hidden_size", PLAIN),
            "initialRValue": ("initial_r_value", NUMBER),
            "nu": ("nu", NUMBER),
            "windowSize": ("window_size", PLAIN),
        },
        {**FEED_FORWARD_CONSTANTS, "hasBias": True, "lastEpochSinceRUpdated": 0},
        "org.deeplearning4j.nn.conf.ocnn.",
    ),
    "rnn_loss": LayerForm(_LOSS, {**_WITHOUT_SIZES, "rnnDataFormat": "NCW"}),
    "rnn_output": LayerForm(
        {**FEED_FORWARD, "lossFn": ("loss", LOSS)}, {**FEED_FORWARD_CONSTANTS, "rnnDataFormat": "NCW"}
    ),
}
"""Name in LAYERS -> form, sorted."""
