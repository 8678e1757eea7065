"""How to call what reads files of Keras."""

from __future__ import annotations

from typing import Any

from nn import ActivationLayer
from tests.cases.keras_files import write_model


def _model(folder: Any) -> Any:
    path = folder / "model.h5"
    write_model(path)
    return path


KERAS: dict[str, Any] = {
    "nn.keras.graph_of": lambda folder: {"source": _model(folder)},
    "nn.keras.register_layer": {"class_name": "Gate", "function": lambda layer: ActivationLayer("tanh")},
}
