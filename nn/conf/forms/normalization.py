"""JSON forms of the normalisations, and of the layers that treat every number for itself."""

from __future__ import annotations

from ..json_values import NUMBER, PLAIN, Codec, number
from .base import BASE, BASE_CONSTANTS, FEED_FORWARD_CONSTANTS, LAYER, PARAMETERLESS, LayerForm

_SIZES = {"nin": ("n_in", PLAIN), "nout": ("n_out", PLAIN)}


_AXES = Codec(
    lambda value: None if value is None else list(value), lambda value: None if value is None else tuple(value)
)

NORMALIZATION_FORMS: dict[str, LayerForm] = {
    "batch_normalization": LayerForm(
        {
            **BASE,
            **_SIZES,
            "decay": ("decay", NUMBER),
            "eps": ("eps", NUMBER),
            "gamma": ("gamma", NUMBER),
            "beta": ("beta", NUMBER),
            "lockGammaBeta": ("lock_gamma_beta", PLAIN),
            "minibatch": ("minibatch", PLAIN),
            "useLogStd": ("use_log_std", PLAIN),
        },
        {**FEED_FORWARD_CONSTANTS, "cudnnAllowFallback": True, "cnn2DFormat": "NCHW"},
        absent={"useLogStd": False},
    ),
    "element_wise_multiplication": LayerForm({**BASE, **_SIZES}, FEED_FORWARD_CONSTANTS, "misc."),
    "local_response_normalization": LayerForm(
        {
            **LAYER,
            "n": ("n", Codec(float, number)),
            "k": ("k", NUMBER),
            "alpha": ("alpha", NUMBER),
            "beta": ("beta", NUMBER),
        },
        {**PARAMETERLESS, "cudnnAllowFallback": True, "dataFormat": "NCHW"},
    ),
    "prelu": LayerForm(
        {**BASE, "inputShape": ("input_shape", _AXES), "sharedAxes": ("shared_axes", _AXES)},
        {**BASE_CONSTANTS, "nin": 0, "nout": 0},
    ),
}
"""Name in LAYERS -> form, sorted."""
