"""What holds for every layer of Caffe's: each row of tests/cases/caffe_layers is one test, a function here a check."""

import functools

import numpy as np
import pytest

import nd

pytest.importorskip("google.protobuf", reason="the extra caffe is not installed")

from nn.caffe import parse_text
from nn.caffe.layers import LAYERS, layer_class
from nn.caffe.layers.base import CaffeLayerConf, check_counts
from nn.vertices import VertexContext
from tests.cases.caffe_layers import CAFFE_CASES
from tests.cells import run_all, wide_rows
from tests.layers_at_work import memory_of_gradients
from tests.nn.layers.test_every_layer import check_derivative, host_or_none, orders_of
from tests.stand_ins import TOLERANCE, as_input

SAMPLES = 8  # elements of each array that are varied
CLOSE = {"rtol": 1e-10, "atol": 1e-12}  # of numbers that are added in another order
ROWS = [pytest.param(case, kind, id=f"{kind}-{case.variant}") for kind, rows in CAFFE_CASES.items() for case in rows]


def test_every_type_has_rows():
    assert sorted(CAFFE_CASES) == sorted(LAYERS) == list(LAYERS)
    for kind, rows in CAFFE_CASES.items():
        assert layer_class(kind).__module__.startswith("nn.caffe.layers.")
        assert len({case.variant for case in rows}) == len(rows) >= 1


class Row:
    """A row on a backend: its layer at work, blobs that are all different, and what comes in."""

    def __init__(self, case, kind, backend, dtype="float64"):
        self.case, self.kind, self.backend, self.dtype = case, kind, backend, dtype
        names = "".join(f'bottom: "b{number}" ' for number in range(len(case.inputs())))
        names += "".join(f'top: "t{number}" ' for number in range(case.tops))
        message = parse_text(f'name: "row" type: "{kind}" {names} {case.text}', "LayerParameter")
        shapes = tuple(x.shape for x in case.inputs())
        probe = CaffeLayerConf(message, case.phase, shapes)
        layer = layer_class(kind)(probe, "layer 'row'", dtype)
        check_counts(layer)
        self.tops = tuple(map(tuple, layer.top_shapes(shapes)))
        self.conf = CaffeLayerConf(message, case.phase, shapes, tuple(layer.blobs(shapes)), self.tops)
        self.layer = self.conf.runtime(self.conf, "layer 'row'", dtype)
        rng = np.random.default_rng(3)
        draw = case.params or (lambda rng, name, shape: rng.normal(0.0, 0.5, shape))
        self.host_params = {spec.name: np.asarray(draw(rng, spec.name, spec.shape)) for spec in self.conf.param_specs()}
        self.params, self.grads = memory_of_gradients(self.layer), memory_of_gradients(self.layer)
        self.reset()
        self.buffers = nd.Buffers(dtype)

    def reset(self):
        """Put the blobs back that a layer may have written in training."""
        for name, view in self.params.items():
            nd.assign(view, nd.create(self.host_params[name], self.dtype))

    @property
    def differentiable(self):
        given = self.case.differentiable
        return (True,) * len(self.conf.bottoms) if given is None else given

    def array(self, values, order="c"):
        return as_input(self.backend, values, order, self.dtype)

    def context(self, needs=None, share=1.0):
        needs = self.differentiable if needs is None else needs
        needs = needs or (False,) * len(self.conf.bottoms)
        training = self.case.phase == "TRAIN"
        return VertexContext(training, self.buffers, (None,) * len(needs), needs, {}, None, share)

    def forward(self, xs, ctx):
        """Return the tops, a list, and what the way back needs."""
        self.reset()
        with nd.random.drawing(nd.random.Random(5)):
            tops, kept, _ = self.layer.propagate(xs, (), self.params, ctx)
        return list(tops) if self.layer.outputs != 1 else [tops], kept

    def backward(self, kept, weights):
        epsilons = tuple(None if one is None else nd.create(one, self.dtype) for one in weights)
        return self.layer.backpropagate(epsilons if self.layer.outputs != 1 else epsilons[0], kept, self.grads)

    @functools.cached_property
    def weights(self):
        """dL/d(tops)."""
        rng = np.random.default_rng(4)
        coming = self.case.top_gradients or (True,) * self.layer.outputs
        return [rng.normal(0.0, 1.0, shape) if comes else None for shape, comes in zip(self.tops, coming, strict=True)]

    def expected(self, xs):
        return [np.asarray(top) for top in self.case.oracle(xs, self.host_params)]

    def derivatives(self, xs, weights, **context):
        """Return tops, epsilons and gradients, as numpy copies."""
        ctx = self.context(**context)
        tops, kept = self.forward([nd.create(x, self.dtype) for x in xs], ctx)
        below = self.backward(kept, weights) if self.case.differentiable != () else []
        grads = self.grads.values() if self.case.differentiable != () else ()
        return [host_or_none(array) for array in (*tops, *below, *grads)]


def tops_match_the_oracle(row):
    for dtype in ("float64", "float32"):
        there = row if dtype == "float64" else Row(row.case, row.kind, row.backend, dtype)
        for order in orders_of(row.backend):
            hosts = row.case.inputs()
            found, _ = there.forward([there.array(x, order) for x in hosts], there.context())
            for top, expected, shape in zip(found, row.expected(hosts), there.tops, strict=True):
                assert nd.dtype_name(top) == dtype
                assert tuple(top.shape) == tuple(expected.shape) == shape
                np.testing.assert_allclose(nd.to_host(top), expected, **TOLERANCE[dtype], err_msg=f"{dtype}, {order}")


def epsilons_and_gradients_match_central_differences(row):
    if row.backend.name == "strict" or row.case.differentiable == ():
        return
    xs, ctx = [nd.create(x) for x in row.case.inputs()], row.context()
    _, kept = row.forward(xs, ctx)
    below = [None if one is None else nd.copy(one) for one in row.backward(kept, row.weights)]
    assert [one is not None for one in below] == list(row.differentiable)

    def weighted_tops():
        with nd.random.drawing(nd.random.Random(5)):
            tops, _, _ = row.layer.propagate(xs, (), row.params, ctx)
        tops = list(tops) if row.layer.outputs != 1 else [tops]
        pairs = zip(tops, row.weights, strict=True)
        return sum(float((nd.to_host(top) * weights).sum()) for top, weights in pairs if weights is not None)

    learned = {spec.name: spec.learned for spec in row.conf.blobs}
    grads = {name: nd.copy(view) for name, view in row.grads.items()}
    for x, epsilon in zip(xs, below, strict=True):
        if epsilon is not None:
            assert tuple(epsilon.shape) == tuple(x.shape)
            check_derivative(weighted_tops, x, epsilon, SAMPLES)
    for name, view in row.params.items():
        if learned[name]:
            check_derivative(weighted_tops, view, grads[name], SAMPLES)


def the_strict_backend_gives_the_numbers_of_numpy(row):
    if row.backend.name != "strict":
        return
    xs = row.case.inputs()
    found = row.derivatives(xs, row.weights)
    with nd.use_backend("numpy") as numpy_backend:
        expected = Row(row.case, row.kind, numpy_backend).derivatives(xs, row.weights)
    for mine, numpys in zip(found, expected, strict=True):
        if mine is not None:
            np.testing.assert_allclose(mine, numpys, **CLOSE)


def inputs_stay_and_no_two_epsilons_share_memory(row):
    for order in orders_of(row.backend):
        hosts = row.case.inputs()
        xs = [row.array(x, order) for x in hosts]  # which the read-only NumPy refuses to write
        _, kept = row.forward(xs, row.context())
        below = row.backward(kept, row.weights) if row.case.differentiable != () else []
        there = [one for one in below if one is not None]
        values = [nd.to_host(nd.copy(epsilon)) for epsilon in there]
        for at, epsilon in enumerate(there):
            nd.fill(epsilon, 7.0)
            for later, other in list(enumerate(there))[at + 1 :]:
                np.testing.assert_array_equal(nd.to_host(other), values[later])
        for x, host in zip(xs, hosts, strict=True):
            np.testing.assert_array_equal(nd.to_host(x), host)


def epsilons_are_not_computed_where_nobody_needs_them(row):
    if row.case.differentiable == ():
        return
    xs, tops = row.case.inputs(), row.layer.outputs
    all_of_them = row.derivatives(xs, row.weights)
    for at, needed in enumerate(row.differentiable):
        if needed:
            needs = tuple(needs and number != at for number, needs in enumerate(row.differentiable))
            some = row.derivatives(xs, row.weights, needs=needs)
            assert some[tops + at] is None
            for number, (found, expected) in enumerate(zip(some, all_of_them, strict=True)):
                if number != tops + at and expected is not None:
                    np.testing.assert_allclose(found, expected, **CLOSE)


def the_memory_of_one_pass_serves_the_next(row):
    for seed in (1, 2):
        xs = row.case.inputs(seed)
        expected = Row(row.case, row.kind, row.backend).derivatives(xs, row.weights)
        for found, numbers in zip(row.derivatives(xs, row.weights), expected, strict=True):
            np.testing.assert_array_equal(found, numbers)


def a_recording_computes_the_same_on_other_data(row):
    if row.backend.recorder() is None or not row.layer.pure or row.layer.has_noise:
        return
    traced = Row(row.case, row.kind, row.backend)
    traced.params = {name: nd.traceable(view) for name, view in traced.params.items()}
    traced.grads = {name: nd.traceable(view) for name, view in traced.grads.items()}
    xs, weights = [nd.create(x) for x in row.case.inputs()], [None if w is None else nd.create(w) for w in row.weights]
    ctx, results = traced.context(), []
    outs = [nd.create_uninitialized(*shape, dtype="float64") for shape in traced.tops]

    def run():
        tops, kept, _ = traced.layer.propagate([nd.traceable(x) for x in xs], (), traced.params, ctx)
        tops = list(tops) if traced.layer.outputs != 1 else [tops]
        if row.case.differentiable != ():
            epsilons = tuple(
                None
                if w is None
                else nd.assign(traced.buffers(f"of the test {number}", tuple(w.shape)), nd.traceable(w))
                for number, w in enumerate(weights)
            )
            given = epsilons if traced.layer.outputs != 1 else epsilons[0]
            results[:] = traced.layer.backpropagate(given, kept, traced.grads)
        written = [nd.assign(nd.traceable(out), top) for out, top in zip(outs, tops, strict=True)]
        return (*written, *(one for one in results if one is not None))[0]

    recording = nd.record(run)
    others = row.case.inputs(3)
    for x, other in zip(xs, others, strict=True):
        nd.assign(x, nd.create(other))
    traced.reset()
    recording.replay()
    expected = Row(row.case, row.kind, row.backend).derivatives(others, row.weights)
    grads = traced.grads.values() if row.case.differentiable != () else ()
    for found, numbers in zip((*outs, *results, *grads), expected, strict=True):
        if found is not None:
            np.testing.assert_allclose(nd.to_host(found), numbers, **CLOSE)  # in another memory order


def parts_of_a_minibatch_give_the_whole(row):
    case, layer = row.case, row.layer
    assert layer.may_split(case.phase == "TRAIN") == case.splits
    if not case.splits:
        return
    xs, outputs = case.inputs(), layer.outputs
    whole, examples = row.derivatives(xs, row.weights), len(xs[0])
    places = (slice(0, 1), slice(1, examples))
    parts = []
    for rows in places:
        share = len(range(examples)[rows]) / examples
        weights = [w if w is None or case.parts_add_up else w[rows] for w in row.weights]
        parts.append(row.derivatives([x[rows] for x in xs], weights, share=share))
    below = len(xs) if case.differentiable != () else 0
    for number in range(outputs + below):
        first, second = (part[number] for part in parts)
        if whole[number] is None:
            assert first is second is None
            continue
        adds = number < outputs and case.parts_add_up
        joined = first + second if adds else np.concatenate([first, second])
        np.testing.assert_allclose(joined, whole[number], **CLOSE)


CHECKS = (
    tops_match_the_oracle,
    epsilons_and_gradients_match_central_differences,
    the_strict_backend_gives_the_numbers_of_numpy,
    inputs_stay_and_no_two_epsilons_share_memory,
    epsilons_are_not_computed_where_nobody_needs_them,
    the_memory_of_one_pass_serves_the_next,
    a_recording_computes_the_same_on_other_data,
    parts_of_a_minibatch_give_the_whole,
)


@pytest.mark.parametrize(("case", "kind"), wide_rows(ROWS, quick=1))
def test_a_row_keeps_every_contract(case, kind, backend):
    row = Row(case, kind, backend)
    run_all("checks", {check.__name__: functools.partial(check, row) for check in CHECKS})
