"""Above the backends every array operation is a call of nd: the strict backend's arrays refuse the rest."""

import ast

import pytest

from tests.source_files import library, nodes
from tests.stand_ins import make_backend

ONLY_HERE = {"nd/arrays/standard.py", "nd/explaining.py"}
"""Files of nd that may ask a backend for its library: the one that has the standard's functions, and error messages."""


@pytest.mark.parametrize("package", ["nn", "optimize"])
@pytest.mark.parametrize(
    ("code", "is_refused"),
    [
        ("x.shape, x.ndim, x.dtype", False),
        ("x + 1.0, -x, x * x, x > 0.0", False),
        ("x[0, ...], x[:1, None, :], x[:, ::2]", False),
        ("x[..., ::-1]", True),
        ("x.size", True),
        ("x.T", True),
        ("x.device", True),
        ("x[x > 0.0]", True),
        ("x.transpose(1, 0)", True),
    ],
)
def test_what_an_array_may_be_asked(package, code, is_refused):
    names = {"__name__": f"{package}.probe", "x": make_backend("strict").full((2, 4), 1.0, "float32")}
    if is_refused:
        with pytest.raises((AssertionError, AttributeError), match=r"above the backends|no attribute 'transpose'"):
            eval(code, names)
    else:
        eval(code, names)
    eval(code if ".transpose" not in code else "x", {**names, "__name__": "backends.probe"})


def test_nobody_asks_a_backend_for_its_library():
    asked = [
        f"{path}:{node.lineno}"
        for path, text in library()
        if not path.startswith("backends/") and path not in ONLY_HERE and ".xp" in text
        for node in nodes(text)
        if isinstance(node, ast.Attribute) and node.attr == "xp"
    ]
    assert asked == []
