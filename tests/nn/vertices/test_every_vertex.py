"""What holds for every vertex: each row of tests/cases/vertices.py is one test, and a function here a check of it."""

import functools
import json

import numpy as np
import pytest

import nd
from nn import InputType, NeuralNetConfiguration
from nn.files.vertices_json import vertex_from_json, vertex_to_json
from nn.vertices import VERTICES, NetworkInput, VertexContext
from tests.cases.vertices import VERTEX_CASES
from tests.cells import run_all, wide_rows
from tests.layers_at_work import memory_of_gradients
from tests.nn.layers.test_every_layer import check_derivative, host_or_none, orders_of
from tests.stand_ins import TOLERANCE, as_input

DEFAULTS = NeuralNetConfiguration(seed=1, updater="adam", l2=0.01)
SAMPLES = 8  # elements of each array that are varied
CLOSE = {"rtol": 1e-10, "atol": 1e-12}  # of numbers that are added in another order
LABEL = "vertex 'v'"

ROWS = [pytest.param(case, id=f"{kind}-{case.variant}") for kind, rows in VERTEX_CASES.items() for case in rows]
every_vertex = pytest.mark.parametrize("case", wide_rows(ROWS, quick=1))
"""One row of every kind of vertex, and all others among the slow tests."""


def test_every_vertex_has_rows():
    assert sorted([*VERTEX_CASES, "layer"]) == sorted(VERTICES) == list(VERTICES)
    for kind, rows in VERTEX_CASES.items():
        assert len({case.variant for case in rows}) == len(rows)
        assert all(type(case.vertex) is VERTICES[kind] for case in rows)
        assert len(rows) >= 2


class Row:
    """A row on a backend: its vertex at work, parameters that are all different, and what comes in."""

    def __init__(self, case, backend, dtype="float64"):
        self.case, self.backend, self.dtype = case, backend, dtype
        self.types = [InputType.infer_input_type(nd.create(x)) for x in case.inputs()]
        self.conf = case.vertex.resolved(DEFAULTS, 0).with_inputs(LABEL, self.types)
        self.vertex = self.conf.runtime(self.conf, LABEL, dtype)
        rng = np.random.default_rng(3)
        self.host_params = {spec.name: rng.normal(0.0, 0.5, spec.shape) for spec in self.conf.param_specs()}
        self.params = memory_of_gradients(self.vertex)
        for name, view in self.params.items():
            nd.assign(view, nd.create(self.host_params[name], dtype))
        self.grads = memory_of_gradients(self.vertex)
        self.buffers = nd.Buffers(dtype)

    def array(self, values, order="c"):
        return None if values is None else as_input(self.backend, values, order, self.dtype)

    def context(self, rows=slice(None), needs=None):
        case = self.case
        masks = tuple(self.array(mask if mask is None else mask[rows]) for mask in case.masks)
        network = {
            name: NetworkInput(self.array(np.ones(shape)[rows]), self.array(mask if mask is None else mask[rows]))
            for name, (shape, mask) in case.network.items()
        }
        count = len(case.shapes)
        needs = (True,) * count if needs is None else needs
        examples = len(range(case.examples)[rows])
        return VertexContext(True, self.buffers, masks or (None,) * count, needs, network, examples)

    def forward(self, xs, ctx):
        return self.vertex.propagate(xs, (), self.params, ctx)[:2]

    def step(self, xs, weights, ctx):
        """Return activations and epsilons."""
        a, kept = self.forward(xs, ctx)
        return a, self.vertex.backpropagate(nd.create(weights, self.dtype), kept, self.grads)

    @functools.cached_property
    def weights(self):
        """dL/d(activations)."""
        return np.random.default_rng(4).normal(0.0, 1.0, self.expected(self.case.inputs()).shape)

    def expected(self, xs):
        return self.case.oracle(xs, self.host_params)

    def derivatives(self, xs, weights, **context):
        """Return activations, epsilons and gradients, as numpy copies."""
        a, below = self.step([nd.create(x, self.dtype) for x in xs], weights, self.context(**context))
        return [host_or_none(array) for array in (a, *below, *self.grads.values())]


def activations_match_the_oracle(row):
    for dtype in ("float64", "float32"):
        there = row if dtype == "float64" else Row(row.case, row.backend, dtype)
        for order in orders_of(row.backend):
            hosts = row.case.inputs()
            xs = [there.array(x, order) for x in hosts]
            found = there.forward(xs, there.context())[0]
            assert nd.dtype_name(found) == dtype
            np.testing.assert_allclose(
                nd.to_host(found), row.expected(hosts), **TOLERANCE[dtype], err_msg=f"{dtype}, {order}"
            )


def the_output_type_is_that_of_the_activations(row):
    row.conf.check(LABEL)
    row.conf.check_inputs(LABEL, len(row.types))
    shape = row.conf.output_type(LABEL, row.types).shape
    real = row.expected(row.case.inputs()).shape[1:]
    assert len(shape) == len(real)
    assert all(size in (None, length) for size, length in zip(shape, real, strict=True))


def epsilons_and_gradients_match_central_differences(row):
    if row.backend.name == "strict" or row.case.equals:
        return
    xs = [nd.create(x) for x in row.case.inputs()]
    ctx = row.context()
    below = [nd.copy(epsilon) for epsilon in row.step(xs, row.weights, ctx)[1]]

    def weighted_activations():
        return float((nd.to_host(row.forward(xs, ctx)[0]) * row.weights).sum())

    trainable = {spec.name: spec.trainable for spec in row.conf.param_specs()}
    grads = {name: nd.copy(view) for name, view in row.grads.items()}
    for x, epsilon in zip(xs, below, strict=True):
        assert tuple(epsilon.shape) == tuple(x.shape)
        check_derivative(weighted_activations, x, epsilon, SAMPLES)
    for name, view in row.params.items():
        if trainable[name]:
            check_derivative(weighted_activations, view, grads[name], SAMPLES)
        else:
            assert not nd.to_host(grads[name]).any()


def the_strict_backend_gives_the_numbers_of_numpy(row):
    if row.backend.name != "strict":
        return
    xs = row.case.inputs()
    found = row.derivatives(xs, row.weights)
    with nd.use_backend("numpy") as numpy_backend:
        expected = Row(row.case, numpy_backend).derivatives(xs, row.weights)
    for mine, numpys in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, numpys, **CLOSE)


def inputs_stay_and_no_two_epsilons_share_memory(row):
    for order in orders_of(row.backend):
        hosts = row.case.inputs()
        expected = row.derivatives(hosts, row.weights)
        xs = [row.array(x, order) for x in hosts]  # which the read-only NumPy refuses to write
        a, below = row.step(xs, row.weights, row.context())
        np.testing.assert_allclose(nd.to_host(a), expected[0], **TOLERANCE["float64"])
        values = [nd.to_host(nd.copy(epsilon)) for epsilon in below]
        for at, epsilon in enumerate(below):
            np.testing.assert_allclose(values[at], expected[1 + at], **TOLERANCE["float64"])
            nd.fill(epsilon, 7.0)
            for later, other in list(enumerate(below))[at + 1 :]:
                np.testing.assert_array_equal(nd.to_host(other), values[later])
        for x, host in zip(xs, hosts, strict=True):
            np.testing.assert_array_equal(nd.to_host(x), host)


def epsilons_are_not_computed_where_nobody_needs_them(row):
    xs, count = row.case.inputs(), len(row.case.shapes)
    all_of_them = row.derivatives(xs, row.weights)
    for at in range(count):
        needs = tuple(number != at for number in range(count))
        some = row.derivatives(xs, row.weights, needs=needs)
        assert some[1 + at] is None
        for number, (found, expected) in enumerate(zip(some, all_of_them, strict=True)):
            if number != 1 + at:
                np.testing.assert_array_equal(found, expected)


def the_memory_of_one_step_serves_the_next(row):
    for seed in (1, 2):
        xs = row.case.inputs(seed)
        expected = Row(row.case, row.backend).derivatives(xs, row.weights)
        for found, numbers in zip(row.derivatives(xs, row.weights), expected, strict=True):
            np.testing.assert_array_equal(found, numbers)


def a_recording_computes_the_same_on_other_data(row):
    if row.backend.recorder() is None:
        return
    assert row.vertex.pure
    traced = TracedRow(row.case, row.backend)
    xs, weights = [nd.create(x) for x in row.case.inputs()], nd.create(row.weights)
    ctx, out, results = traced.context(), nd.create_uninitialized(*weights.shape, dtype="float64"), []

    def run():
        a, kept = traced.forward([nd.traceable(x) for x in xs], ctx)
        epsilon = nd.assign(traced.buffers("of the test", tuple(weights.shape)), nd.traceable(weights))
        results[:] = traced.vertex.backpropagate(epsilon, kept, traced.grads)  # a device runs it more than once
        return nd.assign(nd.traceable(out), a)

    recording = nd.record(run)
    others = row.case.inputs(3)
    for x, other in zip(xs, others, strict=True):
        nd.assign(x, nd.create(other))
    recording.replay()
    expected = Row(row.case, row.backend).derivatives(others, row.weights)
    for found, numbers in zip((out, *results, *traced.grads.values()), expected, strict=True):
        np.testing.assert_allclose(nd.to_host(found), numbers, **CLOSE)  # in another memory order


class TracedRow(Row):
    """A row whose arrays a recording can follow."""

    def __init__(self, case, backend):
        super().__init__(case, backend)
        self.params = {name: nd.traceable(view) for name, view in self.params.items()}
        self.grads = {name: nd.traceable(view) for name, view in self.grads.items()}

    def array(self, values, order="c"):
        array = super().array(values, order)
        return None if array is None else nd.traceable(array)


def masks_become_what_the_row_says(row):
    ctx = row.context()
    found = row.vertex.feed_forward_mask(ctx.masks, ctx)
    if row.case.mask is None:
        assert found is None
    else:
        np.testing.assert_array_equal(nd.to_host(found), row.case.mask)
    without = [None] * len(row.case.shapes)
    if not any(mask is not None for _, mask in row.case.network.values()):
        assert row.vertex.feed_forward_mask(without, ctx) is None


def parts_of_a_minibatch_give_the_whole(row):
    case = row.case
    if type(case.vertex).__name__ != "PreprocessorVertex":  # whose rows may be time steps
        assert row.vertex.examples([len(x) for x in case.inputs()]) == len(row.weights)
    if not case.splits:
        return
    assert row.vertex.may_split(True)
    xs = case.inputs()
    whole = row.derivatives(xs, row.weights)
    count = 1 + len(xs)
    for rows in (slice(0, 1), slice(1, 4)):
        part = row.derivatives([x[rows] for x in xs], row.weights[rows], rows=rows)
        for found, expected in zip(part[:count], whole[:count], strict=True):
            np.testing.assert_allclose(found, expected[rows], **CLOSE)


def json_keeps_the_vertex(row):
    assert vertex_from_json(json.loads(json.dumps(vertex_to_json(row.conf)))) == row.conf


CHECKS = (
    activations_match_the_oracle,
    the_output_type_is_that_of_the_activations,
    epsilons_and_gradients_match_central_differences,
    the_strict_backend_gives_the_numbers_of_numpy,
    inputs_stay_and_no_two_epsilons_share_memory,
    epsilons_are_not_computed_where_nobody_needs_them,
    the_memory_of_one_step_serves_the_next,
    a_recording_computes_the_same_on_other_data,
    masks_become_what_the_row_says,
    parts_of_a_minibatch_give_the_whole,
    json_keeps_the_vertex,
)


@every_vertex
def test_a_row_keeps_every_contract(case, backend):
    row = Row(case, backend)
    run_all("checks", {check.__name__: functools.partial(check, row) for check in CHECKS})
