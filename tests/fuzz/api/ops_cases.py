"""How to call ops of several arrays, and of arrays of more than two axes."""

from __future__ import annotations

from typing import Any

import nd

from .prepared import rows

_SHAPES = {
    **{f"Broadcast{name}": ((6, 4), (4,)) for name in ("Add", "Copy", "Div", "Mul", "RDiv", "RSub", "Sub")},
    **dict.fromkeys(("Gemm", "Mmul"), ((2, 3), (3, 4))),
    **dict.fromkeys(("Axpby", "Axpy", "Dot"), ((3,), (3,))),
    **{f"{name}Pooling2DDerivative": ((1, 2, 4, 4), (1, 2, 2, 2)) for name in ("Avg", "Max", "Pnorm")},
    "BatchMmul": ((2, 2, 3), (2, 3, 4)),
}
"""Op -> shapes of x and y."""

OPS: dict[str, Any] = {
    **{
        f"nd.ops.{name}": lambda folder, x=x, y=y: {"x": nd.ones(*x), "y": nd.ones(*y)}
        for name, (x, y) in _SHAPES.items()
    },
    **{
        f"nd.ops.{name}": lambda folder: {"x": nd.ones(1, 2, 4, 4)}
        for name in ("AvgPooling2D", "Im2col", "MaxPooling2D", "PnormPooling2D")
    },
    "nd.ops.Cast": lambda folder: {"x": rows(), "dtype": "float64"},
    "nd.ops.Col2Im": lambda folder: {"x": nd.ones(1, 2, 2, 2, 3, 3), "size": 4},
    "nd.ops.Concat": lambda folder: {"arrays": [rows(), rows()]},
    "nd.ops.Select": lambda folder: {"x": rows(), "y": rows(), "condition": rows()},
}
