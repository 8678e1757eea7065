"""The current backend and the default dtype."""

import os
import subprocess
import sys
import threading

import pytest

import nd
from nd.state import InForce, Restoring, state, within
from nn import NeuralNetConfiguration
from tests.stand_ins import make_backend


def in_a_process(setting, code):
    """Run code with that ND_BACKEND (None: unset) and without cupy; return what it printed, or its error."""
    environment = {key: value for key, value in os.environ.items() if key != "ND_BACKEND"}
    if setting is not None:
        environment["ND_BACKEND"] = setting
    code = f"import sys; sys.modules['cupy'] = None; {code}"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else done.stderr.strip().splitlines()[-1]


def in_a_thread(function):
    results = []
    thread = threading.Thread(target=lambda: results.append(function()))
    thread.start()
    thread.join(10.0)
    return results[0]


@pytest.fixture
def keep_backend():
    """Put the global backend back after the test."""
    before = nd.backend()
    yield
    nd.set_backend(before)


# ---- the first choice


@pytest.mark.parametrize("setting", ["numpy", "auto", "", None])
@pytest.mark.quick_rows(2)
def test_nd_backend_decides_at_first_use(setting):
    assert in_a_process(setting, "import nd; print(nd.backend().name, nd.zeros(2).tolist())") == "numpy [0.0, 0.0]"


def test_the_facade_alone_also_makes_the_choice():
    assert in_a_process("numpy", "import nd; x = nd.exp(nd.zeros(1)); print(x[0], nd.backend().name)") == "1.0 numpy"


def test_auto_says_what_it_took_and_why():
    code = "import logging; logging.basicConfig(level=20, stream=sys.stdout, format='%(levelname)s %(message)s'); "
    said = in_a_process("auto", code + "import nd; nd.backend(); nd.backend(); nd.zeros(2)")
    assert said.startswith("INFO backend: numpy, because cupy")
    assert said.count("\n") == 0


def test_importing_detects_nothing_and_the_first_use_reports_a_wrong_name():
    assert in_a_process("numpi", "import nd, nn, optimize; print('imported')") == "imported"
    said = in_a_process("numpi", "import nd; nd.zeros(2)")
    assert (
        "ND_BACKEND: unknown backend 'numpi', expected one of array_api:torch, auto, cupy, module:Class, numpy. Did"
        in said
    )


def test_a_backend_that_cannot_run_says_how_to_install_it():
    said = in_a_process("cupy", "import nd; nd.zeros(2)")
    assert said.startswith("backends.errors.BackendError: cupy")
    assert "pip install" in said


# ---- set_backend and use_backend


@pytest.mark.usefixtures("keep_backend")
def test_set_backend_holds_in_every_thread():
    strict = make_backend("strict")
    assert nd.set_backend(strict) is strict
    assert nd.backend() is strict
    assert in_a_thread(nd.backend) is strict
    assert nd.set_backend("numpy").name == "numpy"
    assert in_a_thread(nd.backend) is nd.backend() is nd.set_backend("numpy")


def test_use_backend_nests_and_comes_back():
    outside, strict, readonly = nd.backend(), make_backend("strict"), make_backend("numpy-readonly")
    with nd.use_backend(strict) as first:
        assert first is nd.backend() is strict
        with nd.use_backend(readonly) as second:
            assert second is nd.backend() is readonly
            with nd.use_backend(strict):
                assert nd.backend() is strict
            assert nd.backend() is readonly
        assert nd.backend() is strict
        assert nd.zeros(1).__array_namespace__().__name__ == "array_api_strict"
    assert nd.backend() is outside


def test_use_backend_comes_back_after_an_error():
    outside = nd.backend()
    with pytest.raises(RuntimeError, match="inside"), nd.use_backend(make_backend("strict")):
        raise RuntimeError("inside")
    assert nd.backend() is outside


def test_use_backend_is_of_its_own_thread():
    outside = nd.backend()
    with nd.use_backend(make_backend("strict")):
        assert in_a_thread(nd.backend) is outside

        def elsewhere():
            with nd.use_backend(make_backend("numpy-readonly")) as chosen:
                return chosen

        assert in_a_thread(elsewhere) is make_backend("numpy-readonly")
        assert nd.backend() is make_backend("strict")


@pytest.mark.usefixtures("keep_backend")
def test_set_backend_inside_a_block_counts_after_it():
    strict, readonly = make_backend("strict"), make_backend("numpy-readonly")
    with nd.use_backend(strict):
        nd.set_backend(readonly)
        assert nd.backend() is strict
        assert in_a_thread(nd.backend) is readonly
    assert nd.backend() is readonly


@pytest.mark.parametrize("select", [nd.set_backend, lambda name: nd.use_backend(name).__enter__()])
def test_unknown_backends(select):
    before = nd.backend()
    with pytest.raises(
        nd.ChoiceError,
        match=r"unknown backend 'torch', .*\. Did you mean 'array_api:torch'",
    ):
        select("torch")
    assert nd.backend() is before


# ---- the default dtype


def test_the_default_dtype_is_float32():
    assert nd.default_dtype() == "float32"
    assert in_a_process("numpy", "import nd; print(nd.default_dtype(), nd.zeros(1).dtype)") == "float32 float32"


def test_set_default_dtype(dtype, backend):
    nd.set_default_dtype(dtype)
    assert nd.default_dtype() == in_a_thread(nd.default_dtype) == dtype
    made = [nd.create([1.0]), nd.zeros(1), nd.eye(1), nd.arange(1), nd.rand(1), nd.randn(1)]
    assert [nd.dtype_name(array) for array in made] == [dtype] * len(made)
    assert NeuralNetConfiguration().dtype == dtype


@pytest.mark.parametrize("name", ["int32", "float16", "double", None])
def test_only_two_default_dtypes(name):
    with pytest.raises(
        nd.ChoiceError, match=rf"set_default_dtype: unknown dtype '{name}', expected one of float32, float64\."
    ):
        nd.set_default_dtype(name)
    assert nd.default_dtype() == "float32"


def test_a_block_selects_its_backend_wherever_it_was_made():
    numpy, strict = nd.backend(), make_backend("strict")
    with nd.use_backend(strict):
        made_inside = nd.use_backend(strict)
    with made_inside:
        assert nd.backend() is strict
    assert nd.backend() is numpy


def test_a_function_may_be_decorated_with_its_backend():
    numpy, strict = nd.backend(), make_backend("strict")

    @nd.use_backend(strict)
    def seen(depth):
        return [nd.backend(), *(seen(depth - 1) if depth else ())]

    assert seen(2) == [strict] * 3
    assert nd.backend() is numpy


def test_within_selects_like_use_backend():
    numpy, strict = nd.backend(), make_backend("strict")
    with within(strict):
        with within(strict):
            assert nd.backend() is strict
        with within(numpy):
            assert nd.backend() is numpy
        assert nd.backend() is strict
    assert nd.backend() is numpy


def test_one_object_may_be_entered_twice():
    outer, use = nd.backend(), nd.use_backend("numpy")
    with use as chosen:
        with use:
            with nd.use_backend(make_backend("strict")):
                assert nd.backend() is not chosen
            assert nd.backend() is chosen
        assert nd.backend() is chosen
    assert nd.backend() is outer


def test_one_object_in_two_threads_at_once():
    use, entered, leave, found = nd.use_backend(make_backend("strict")), threading.Event(), threading.Event(), []

    def work():
        before = nd.backend()
        with use:
            entered.set()
            assert leave.wait(30)
        found.append(nd.backend() is before)

    outer, thread = nd.backend(), threading.Thread(target=work)
    thread.start()
    assert entered.wait(30)
    with use:
        leave.set()
        thread.join()
    assert found == [True]
    assert nd.backend() is outer


def test_a_block_that_ends_late_puts_nothing_back():
    """As one does that Ctrl-C has left, whose values `Restoring` has put back before."""
    left, own = InForce(make_backend("numpy-readonly")), InForce(make_backend("strict"))

    def interrupted():
        with Restoring():
            left.__enter__()
            raise KeyboardInterrupt("within")

    with pytest.raises(KeyboardInterrupt, match="within"):
        interrupted()
    with own:
        chosen = state.backend
        left.__exit__(None)
        assert state.backend is chosen
    assert state.outer == []
