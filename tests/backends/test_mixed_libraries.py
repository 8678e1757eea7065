"""Arrays of two libraries never mix silently: everything of nd that takes an array refuses one of another library."""

import importlib.util

import numpy as np
import pytest

import nd
from backends.errors import BackendError
from nd.state import TAKES_OTHERS
from tests.fuzz.api.probing import Probe, quiet
from tests.stand_ins import make_backend

ARRAYS = ("Array", "Array | None", "Array | float", "Sequence[Array]")
"""Annotations of what must be arrays of the current backend."""
TORCH = ["array_api:torch"] if importlib.util.find_spec("torch") else []
PAIRS = [
    (current, other)
    for current in ("numpy", "strict", *TORCH)
    for other in ("numpy", "strict", *TORCH)
    if current != other
]
RIGHT = {
    **{f"nd.{name}": "the way from one library to another" for name in TAKES_OTHERS},
    "nd.is_array": "says that it is none",
}
"""Functions that take arrays of other libraries, and what docs/backends.md says of them."""


@pytest.fixture
def libraries(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with nd.use_backend(make_backend(request.param)):
        yield Everything(tmp_path)


INNER = ("backprop", "slope", "terms", "apply", "draw")
"""Methods that layers call, with their own arrays."""


LOW = ("nd.add", "nd.cells")
"""Functions that the fuzzer leaves out, and that can be called with arrays alone."""


class Everything(Probe):
    """Leaves out nothing but what layers call."""

    @staticmethod
    def exempt(name):
        return (Probe.exempt(name) and name not in LOW) or name.rpartition(".")[2] in INNER

    def arguments(self, name, parameters):
        return {"vector": nd.ones(2)} if name == "nd.cells" else super().arguments(name, parameters)


def foreign(library, like):
    """Return an array of another library; of a list one in a list."""
    if isinstance(like, list | tuple) and any(nd.is_array(one) for one in like):
        return [like[0], foreign(library, like[-1])]
    numbers = nd.to_host(like) if nd.is_array(like) else np.ones((2, 2))
    return make_backend(library).from_host(np.asarray(numbers), "float32")


def mixed_calls(probe, library):
    """Yield name, parameter and what came of every call with one array of another library."""
    for target in probe.targets():
        if not target.name.startswith(("nd.", "nd.ops.", "nd.losses.", "nd.activations.", "nd.random.")):
            continue
        for parameter in target.parameters:
            if str(parameter.annotation) not in ARRAYS:
                continue
            arguments = probe.arguments(target.name, target.parameters)
            arguments[parameter.name] = foreign(library, arguments.get(parameter.name))
            with quiet():
                try:
                    result = probe.call(probe.function(target), target.parameters, arguments)
                except Exception as error:
                    result = error
            yield target.name, parameter.name, result


@pytest.mark.parametrize(("libraries", "library"), PAIRS, indirect=["libraries"])
@pytest.mark.quick_rows("numpy-strict")
def test_an_array_of_another_library_is_refused_with_both_named(libraries, library):
    calls, wrong = 0, []
    for name, parameter, result in mixed_calls(libraries, library):
        calls += 1
        said = str(result) if isinstance(result, BackendError) else ""
        if name not in RIGHT and not (repr(nd.backend().name) in said and "nd.create" in said):
            wrong.append((name, parameter, type(result).__name__, str(result)[:150]))
    assert wrong == []
    assert calls >= 200
