"""What a recurrent layer computes at a step: settings and weights of SimpleRNN, LSTM and GRU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import nd
from nd.activations import ELU, Activation, HardSigmoid, Identity, LeakyReLU, ReLU, Sigmoid, SoftPlus, SoftSign, Tanh
from nd.typing import HostArray

from ...layers import LSTM, SimpleRnn
from ...onnx.vertices import OnnxVertex
from ...terms.data_formats import SERIES
from ...terms.dropout import SpatialDropout
from ..terms.activations import activation_of
from ..terms.functions import KerasActivation
from ..terms.initialisers import weight_init_of
from ..terms.regularisers import penalties_of
from .piece import Arrays, Piece

CFOI = (2, 1, 3, 0)
"""Blocks of Keras' gates i, f, c, o in the order of DL4J's columns: candidate, forget, output, input."""
GATES = {"GRU": 3, "LSTM": 4, "SimpleRNN": 1}
"""Class of Keras -> blocks of columns of its weights."""
Reader = Callable[[], HostArray]


class Cell(NamedTuple):
    """A recurrent layer in one direction.

    Attributes
    ----------
    conf : LSTM, SimpleRnn or OnnxVertex
        The last is a GRU, on series ``[N, T, C]``.
    arrays : Arrays
        Its parameters.
    units : int
    is_back : bool
        Whether it goes from the last step to the first.
    gives_steps : bool
        Whether it gives all steps, not the last one alone.
    blanks : bool
        Whether it gives zeros at steps that do not count.
    """

    conf: Any
    arrays: Arrays
    units: int
    is_back: bool
    gives_steps: bool
    blanks: bool


def cell_of(piece: Piece, channels: int) -> Cell:
    """Return what a layer SimpleRNN, LSTM or GRU computes on series of so many channels."""
    kind, units = piece.layer.class_name, int(piece.get("units"))
    piece.only("time_major", False, None)
    if piece.get("stateful"):
        piece.note("every minibatch begins anew")
    common: dict[str, Any] = {
        "units": units, "is_back": bool(piece.get("go_backwards")), "gives_steps": bool(piece.get("return_sequences")),
        "blanks": bool(piece.get("zero_output_for_mask")) and not piece.layer.config.get("unroll"),
    }  # fmt: skip
    if kind == "GRU":
        return Cell(_gru(piece, units), {}, **common)
    conf = _settings(piece) | {"n_in": channels, "n_out": units, "data_format": SERIES[1]}
    arrays = _arrays(piece, units, GATES[kind])
    if kind == "SimpleRNN":
        return Cell(SimpleRnn(**conf), arrays, **common)
    gate = _function(piece, "recurrent_activation", "hard_sigmoid" if piece.version < 3 else "sigmoid")
    starts_open = piece.get("unit_forget_bias", True) and piece.get("use_bias", True)
    return Cell(LSTM(**conf, gate_activation=gate, forget_gate_bias_init=float(bool(starts_open))), arrays, **common)


def _function(piece: Piece, name: str, usual: str) -> Activation:
    """Return an activation that works number by number."""
    given = name in piece.layer.config
    function = piece.activation(name) if given else activation_of(usual, piece.version)
    if function is None or function.over_rows:
        piece.refuse(f"{name}={piece.get(name)!r}")
    return function


def _settings(piece: Piece) -> dict[str, Any]:
    """Return how the parameters start and are held, the activation, and the dropout of what comes in."""
    has_bias = piece.get("use_bias", True)
    settings = piece.trained(bias="bias" if has_bias else None)
    for kind in ("initializer", "regularizer", "constraint"):
        piece.get(f"bias_{kind}")
    start = weight_init_of(piece.get("recurrent_initializer") or "orthogonal")
    limit = piece._limit("recurrent_constraint", "RW", (0, 1))
    if limit is not None:
        settings["constraints"] = (*settings.get("constraints", ()), limit)
    if penalties_of(piece.get("recurrent_regularizer")) != penalties_of(piece.get("kernel_regularizer")):
        piece.note("the penalties of kernel_regularizer hold for the recurrent weights too")
    rate = float(piece.get("dropout") or 0.0)
    if piece.get("recurrent_dropout"):
        piece.note("recurrent_dropout is left out")
    return {
        **settings,
        "activation": _function(piece, "activation", "tanh"),
        **({} if start is None else {"weight_init_recurrent": start}),
        **({"drop_out": SpatialDropout(rate=rate)} if rate else {}),
    }


def _arrays(piece: Piece, units: int, gates: int) -> Arrays:
    """Return what reads W ``[n_in, gates n_out]``, RW ``[n_out, gates n_out]`` and b, biases that are left out as 0."""
    kernel, recurrent = piece.weight("kernel"), piece.weight("recurrent_kernel")
    bias = piece.weight("bias") if piece.get("use_bias", True) else _zeros(gates * units)
    if kernel is None or recurrent is None or bias is None:
        return {}
    row: Reader = lambda: bias().reshape(1, -1)  # noqa: E731
    return piece.arrays(W=_in_order(kernel, gates), RW=_in_order(recurrent, gates), b=_in_order(row, gates))


def _zeros(count: int) -> Reader:
    def read() -> HostArray:
        with nd.use_backend("numpy"):
            return nd.to_host(nd.zeros(count, dtype="float32"))

    return read


def _in_order(read: Reader, gates: int) -> Reader:
    """Return what reads columns with the gates of an LSTM in DL4J's order."""
    if gates != GATES["LSTM"]:
        return read

    def turned() -> HostArray:
        array = read()
        blocks = array.reshape(array.shape[0], gates, -1)
        return blocks[:, list(CFOI)].reshape(array.shape)

    return turned


# ---- GRU, which Deeplearning4j has not

_OF_GRU: dict[type[Activation], tuple[str, float, float]] = {
    ELU: ("Elu", 1.0, 0.0),
    HardSigmoid: ("HardSigmoid", 0.2, 0.5),
    Identity: ("Affine", 1.0, 0.0),
    LeakyReLU: ("LeakyRelu", 0.0, 0.0),
    ReLU: ("Relu", 0.0, 0.0),
    Sigmoid: ("Sigmoid", 0.0, 0.0),
    SoftPlus: ("Softplus", 0.0, 0.0),
    SoftSign: ("Softsign", 0.0, 0.0),
    Tanh: ("Tanh", 0.0, 0.0),
}
"""Activation -> ONNX's name, alpha and beta."""
_WITH_ALPHA, _WITH_BETA = ("Affine", "Elu", "HardSigmoid", "LeakyRelu"), ("Affine", "HardSigmoid")


def _gru(piece: Piece, units: int) -> OnnxVertex:
    """Return ONNX's GRU of a layer, with its weights as parameters."""
    piece.need(piece.layer.weights is not None, "Deeplearning4j has no GRU, and there are no weights to begin with")
    _settings(piece)  # which notes what is left out
    piece.need(not piece.get("dropout"), "Deeplearning4j has no GRU, and ONNX's has no dropout")
    after, usual = bool(piece.get("reset_after", piece.version > 1)), "hard_sigmoid" if piece.version < 3 else "sigmoid"
    names = [_of_gru(piece, name, given) for name, given in (("recurrent_activation", usual), ("activation", "tanh"))]
    settings = {
        "hidden_size": units, "layout": 1, "linear_before_reset": int(after), "activations": [one[0] for one in names],
        "activation_alpha": [one[1] for one in names if one[0] in _WITH_ALPHA],
        "activation_beta": [one[2] for one in names if one[0] in _WITH_BETA],
    }  # fmt: skip
    kernel, recurrent = piece.weight("kernel"), piece.weight("recurrent_kernel")
    constants: dict[int, Any] = {1: kernel().T[None], 2: recurrent().T[None]}  # type: ignore[misc]
    bias = piece.weight("bias") if piece.get("use_bias", True) else None
    if bias is not None:
        constants[3] = _both_biases(bias(), 3 * units)
    return OnnxVertex(
        "GRU", {key: value for key, value in settings.items() if value != []}, constants, trained=[*constants]
    )


def _of_gru(piece: Piece, name: str, usual: str) -> tuple[str, float, float]:
    function = _function(piece, name, usual)
    if function == KerasActivation("hard_sigmoid"):
        return "HardSigmoid", 1.0 / 6.0, 0.5
    known = _OF_GRU.get(type(function))
    if known is None or (function not in (ELU(1.0), ReLU()) and type(function) in (ELU, ReLU)):
        piece.refuse(f"Deeplearning4j has no GRU, and ONNX's has no {name}={piece.get(name)!r}")
    return (known[0], function.alpha, 0.0) if isinstance(function, LeakyReLU) else known


def _both_biases(bias: HostArray, count: int) -> HostArray:
    """Return biases of input and state ``[1, 2 count]``, of which the second are 0 where there is one kind."""
    row = bias.reshape(-1)
    if row.shape[0] == 2 * count:
        return row[None]
    with nd.use_backend("numpy"):
        return nd.to_host(nd.concat([row, row * 0.0], 0))[None]


def check_arguments(piece: Piece, allowed: Sequence[str] = ("mask", "training")) -> None:
    """Raise NotSaid where a layer is called with an initial state, or the like."""
    others = [name for name, value in piece.call.arguments.items() if name not in allowed and value not in (None, [])]
    piece.need(not others, f"it is called with {', '.join(others)}")
