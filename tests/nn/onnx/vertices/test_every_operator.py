"""Every operator of OnnxVertex: its derivatives against differences, and what else holds for all."""

import numpy as np
import onnx
import pytest

import nd
from nn import ComputationGraph, NeuralNetConfiguration
from nn.onnx.vertices import OPERATORS, OnnxVertex
from nn.onnx.vertices.signatures import SIGNATURES
from nn.vertices.runtime import VertexContext
from tests.cases.onnx_operators import OPERATOR_CASES
from tests.stand_ins import make_backend

ROWS = [
    pytest.param(op, case, id=f"{op}-{number}")
    for op, cases in OPERATOR_CASES.items()
    for number, case in enumerate(cases)
]
DIFFERENTIABLE = [row for row in ROWS if OPERATORS[row.values[0]].differentiable]

ANY = 2**31 - 1
"""How many a schema of ONNX has of what there may be any number of."""


def runtime_of(op, case, **settings):
    conf = OnnxVertex(op, case.attributes, case.constants, case.opset, case.output, case.outputs, **settings)
    return conf.runtime(conf, "vertex 'v' (OnnxVertex)", "float64")


def context(count, training=True):
    return VertexContext(training, nd.Buffers("float64"), (None,) * count, (True,) * count, {})


def value_and_gradients(op, case, xs, weights=None, training=True):
    """Return the operator's result, and the gradients of its sum with weights."""
    runtime, ctx = runtime_of(op, case), context(len(xs), training)
    a, cache = runtime.forward([nd.create(x.tolist(), "float64") for x in xs], {}, ctx)
    result = np.array(nd.to_host(a))
    epsilon = np.random.default_rng(3).normal(size=result.shape) if weights is None else weights
    below = runtime.backward(nd.create(epsilon.tolist(), "float64"), cache, {}, {}, ctx)
    return result, epsilon, [np.array(nd.to_host(one)) for one in below]


def test_the_table_is_sorted_and_has_rows():
    assert list(OPERATORS) == sorted(OPERATORS)
    assert list(OPERATOR_CASES) == list(OPERATORS)


@pytest.mark.parametrize(("op", "case"), DIFFERENTIABLE)
@pytest.mark.quick_rows(every=2)
def test_gradients_are_differences(op, case):
    xs, step = case.inputs(), 1e-6
    _, epsilon, gradients = value_and_gradients(op, case, xs)
    rng = np.random.default_rng(5)
    for number, x in enumerate(xs):
        direction = rng.normal(size=x.shape)
        ends = []
        for sign in (1.0, -1.0):
            moved = [*xs[:number], x + sign * step * direction, *xs[number + 1 :]]
            result, _, _ = value_and_gradients(op, case, moved, epsilon)
            ends.append((result * epsilon).sum())
        expected = (ends[0] - ends[1]) / (2 * step)
        assert (gradients[number] * direction).sum() == pytest.approx(expected, rel=2e-6, abs=2e-8), number


@pytest.mark.parametrize(("op", "case"), [row for row in ROWS if not OPERATORS[row.values[0]].differentiable])
def test_operators_without_a_derivative_hand_zeros_back(op, case):
    xs = case.inputs()
    for x, gradient in zip(xs, value_and_gradients(op, case, xs)[2], strict=True):
        assert gradient.shape == x.shape
        assert not gradient.any()


@pytest.mark.parametrize(("op", "case"), [rows[0].values for rows in zip(ROWS[::5], strict=True)])
def test_gradients_after_a_pass_without_training(op, case):
    xs = case.inputs()
    trained, asked = (value_and_gradients(op, case, xs, training=training) for training in (True, False))
    for one, other in zip(trained[2], asked[2], strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("op", "case"), ROWS)
@pytest.mark.quick_rows(every=4)
def test_another_backend_computes_the_same(op, case):
    xs = case.inputs()
    result, epsilon, gradients = value_and_gradients(op, case, xs)
    with nd.use_backend(make_backend("strict")):
        again, _, others = value_and_gradients(op, case, xs, epsilon)
    np.testing.assert_allclose(again, result, rtol=1e-12, atol=1e-12)
    for one, other in zip(gradients, others, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize(("op", "case"), ROWS)
@pytest.mark.quick_rows(every=4)
def test_single_precision_stays_so(op, case):
    conf = OnnxVertex(op, case.attributes, case.constants, case.opset, case.output, case.outputs)
    runtime, xs = conf.runtime(conf, "v", "float32"), [nd.create(x.tolist(), "float32") for x in case.inputs()]
    a, cache = runtime.forward(xs, {}, context(len(xs)))
    below = runtime.backward(nd.create(np.ones(a.shape).tolist(), "float32"), cache, {}, {}, context(len(xs)))
    assert {nd.dtype_name(one) for one in (a, *below)} == {"float32"}


def test_signatures_are_those_of_all_opsets():
    schemas = [one for one in onnx.defs.get_all_schemas_with_history() if not one.domain]
    assert list(SIGNATURES) == list(OPERATORS)
    for op, (inputs, outputs, names) in SIGNATURES.items():
        own = [one for one in schemas if one.name == op]
        assert set(names.split()) == {name for one in own for name in one.attributes}, op
        assert (inputs or ANY) == max(one.max_input for one in own), op
        assert (outputs or ANY) == max(one.max_output for one in own), op


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"attributes": {"alfa": 0.1}}, "an attribute must be one of alpha.*got 'alfa'.* Did you mean 'alpha'"),
        ({"constants": {1: 0.1}}, "constants must be at positions 0 to 0, got one at 1"),
        ({"constants": {-1: 0.1}}, "constants must be at positions 0 to 0, got one at -1"),
        ({"output": 1}, "output must be 0 to 0, got 1"),
        ({"output": -1}, "output must be 0 to 0, got -1"),
    ],
)
def test_what_an_operator_does_not_have(settings, message):
    with pytest.raises(nd.ConfigurationError, match=message):
        OnnxVertex("LeakyRelu", **settings)


def test_more_inputs_than_an_operator_has():
    conf = NeuralNetConfiguration().graph(["x"], {"y": (OnnxVertex("Gelu"), "x", "x")}, ["y"])
    with pytest.raises(nd.ConfigurationError, match=r"Gelu must have 1 input\(s\) at most, got 2\. Take some away"):
        ComputationGraph(conf).init().output(np.ones((2, 3)))
