"""Every row of tests/cases/caffe_layers as a net of one layer: what passes by hand in any order may rely on."""

import functools

import numpy as np
import pytest

pytest.importorskip("google.protobuf", reason="the extra caffe is not installed")

import nd
from nn.caffe.layers import layer_class
from nn.caffe.net import Net
from tests.cases.caffe_layers import CAFFE_CASES
from tests.cells import run_all, wide_rows

ROWS = [
    pytest.param(case, kind, id=f"{kind}-{case.variant}")
    for kind, rows in CAFFE_CASES.items()
    for case in dict.fromkeys((rows[0], rows[-1]))
]


class OneLayer:
    """A net of inputs and a layer, which has parameters and diffs of its tops that are all different."""

    def __init__(self, case, kind):
        xs = case.inputs()
        flags = (True,) * len(xs) if case.differentiable is None else case.differentiable or (False,) * len(xs)
        words = [f'top: "b{at}"' for at in range(len(xs))]
        shapes = ["shape { %s }" % " ".join(f"dim: {size}" for size in x.shape) for x in xs]  # noqa: UP031
        text = f"name: 'one' force_backward: {str(any(flags)).lower()}\n"
        if xs:
            text += f"layer {{ name: 'in' type: 'Input' {' '.join(words)} input_param {{ {' '.join(shapes)} }} }}\n"
        bottoms = " ".join(f'bottom: "b{at}"' for at in range(len(xs)))
        tops = " ".join(f'top: "t{at}"' for at in range(case.tops))
        if layer_class(kind).is_loss and case.tops > 1:
            tops += " loss_weight: 1" * case.tops
        self.net = Net(f'{text}layer {{ name: "row" type: "{kind}" {bottoms} {tops} {case.text} }}', phase=case.phase,
                       seed=2, dtype="float64")  # fmt: skip
        rng = np.random.default_rng(3)
        draw = case.params or (lambda rng, name, shape: rng.normal(0.0, 0.5, shape))
        self.layer = self.net.layers[-1]
        for spec, blob in zip(self.layer.conf.blobs, self.net.params.get("row", ()), strict=True):
            blob.data = np.asarray(draw(rng, spec.name, spec.shape))
        for name, x in zip(self.net.inputs, xs, strict=True):
            self.net.blobs[name].data = x
        self.case, self.flags, self.last = case, flags, len(self.net.layers) - 1
        self.tops = [self.net.blobs[f"t{at}"] for at in range(case.tops)]
        self.weights = [np.random.default_rng(4 + at).normal(size=top.shape) for at, top in enumerate(self.tops)]

    @property
    def goes_back(self):
        """Whether its gradients are for every bottom: of others backward is refused."""
        refused = [at for at, flag in enumerate(self.flags) if not flag and at not in self.layer.not_forced]
        return bool(self.flags) and any(self.flags) and not refused

    def forward(self):
        self.net.forward()
        coming = self.case.top_gradients or (True,) * len(self.tops)
        for top, weights, comes in zip(self.tops, self.weights, coming, strict=True):
            top.diff = weights if comes else 0.0

    def gradients(self):
        return [nd.to_host(nd.copy(blob.diff)) for blob in (*self.net.input_blobs, *self.net.param_blobs)]


def backward_again_gives_the_same(make):
    one = make()
    one.forward()
    results = []
    for _ in range(3):
        one.net.clear_param_diffs()
        one.net.backward_from_to(one.last, 0)
        results.append(one.gradients())
    for later in results[1:]:
        for first, second in zip(results[0], later, strict=True):
            np.testing.assert_array_equal(first, second)


def a_later_forward_leaves_the_gradients(make):
    expected, one = make(), make()
    for each in (expected, one):
        each.forward()
        each.net.backward_from_to(one.last, 0)
    one.net.forward_from_to(0, one.last)
    for first, second in zip(expected.gradients(), one.gradients(), strict=True):
        np.testing.assert_array_equal(first, second)


def backward_leaves_the_tops(make):
    expected, one = make(), make()
    for each in (expected, one):
        each.forward()
    one.net.backward_from_to(one.last, 0)
    for first, second in zip(expected.tops, one.tops, strict=True):
        np.testing.assert_array_equal(nd.to_host(nd.copy(first.data)), nd.to_host(nd.copy(second.data)))
    for first, second in zip(expected.net.input_blobs, one.net.input_blobs, strict=True):
        np.testing.assert_array_equal(nd.to_host(nd.copy(first.data)), nd.to_host(nd.copy(second.data)))


CHECKS = (backward_again_gives_the_same, a_later_forward_leaves_the_gradients, backward_leaves_the_tops)


@pytest.mark.parametrize(("case", "kind"), wide_rows(ROWS, quick=1))
@pytest.mark.numpy_first
@pytest.mark.quick_rows(every=2)
def test_a_layer_in_a_net(case, kind, backend):
    make = functools.partial(OneLayer, case, kind)
    if make().goes_back:
        run_all("checks", {check.__name__: functools.partial(check, make) for check in CHECKS})
