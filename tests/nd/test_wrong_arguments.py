"""Arguments that NumPy would take, whatever they are, or refuse in words of its own; ``make fuzz-api`` tries all."""

import numpy as np
import pytest

import nd
from nd.activations import ReLU, RReLU, Softmax
from nd.losses import LossFMeasure, LossMAE, LossMSE
from tests.cells import every_row


def rows():
    return nd.ones(2, 3)


def image():
    return nd.ones(1, 1, 4, 4)


def square():
    return nd.ones(2, 2)


FACADE = {
    "gemm-transpose_a": (lambda: nd.gemm(square(), square(), None, 0), "gemm: transpose_a must be True .* got 0"),
    "gemm-transpose_b": (
        lambda: nd.gemm(square(), square(), transpose_b=None), "gemm: transpose_b must be True or False, got None",
    ),
    "gemm-alpha": (lambda: nd.gemm(square(), square(), alpha=True), "gemm: alpha must be a number, got True"),
    "gemm-beta": (lambda: nd.gemm(square(), square(), beta="0"), "gemm: beta must be a number, got '0'"),
    "sum-keepdims": (lambda: nd.sum(rows(), 0, None), "sum: keepdims must be True or False, got None"),
    "mean-keepdims": (lambda: nd.mean(rows(), 0, 1), "mean: keepdims must be True or False, got 1"),
    "max-keepdims": (lambda: nd.max(rows(), 0, "no"), "max: keepdims must be True or False, got 'no'"),
    "sum-None": (lambda: nd.sum(None), "create: the data must be numbers"),
    "max-object": (lambda: nd.max(object()), "create: the data must be numbers"),
    "argmax": (lambda: nd.argmax(rows(), None), "argmax: axis must be an integer, got None"),
    "concat-axis": (lambda: nd.concat([rows(), rows()], None), "concat: axis must be an integer, got None"),
    "concat-text": (lambda: nd.concat([rows(), "a"]), "concat: arrays must be one or more arrays, got 'a'"),
    "concat-nothing": (lambda: nd.concat([]), r"concat: arrays must be one or more arrays, got \[\]"),
    "permute": (lambda: nd.permute(rows(), None), "permute: axes must be a sequence of an integer, got None"),
    "reshape": (lambda: nd.reshape(rows(), None), "reshape: shape must be an integer or a sequence .* got None"),
    "reshape_view": (lambda: nd.reshape_view(rows(), (6,), "F"), "reshape_view: unknown order 'F', expected one of"),
    "fill-text": (lambda: nd.fill(rows(), "1"), "fill: value must be an integer or a number, got '1'"),
    "fill-None": (lambda: nd.fill(rows(), None), "fill: value must be an integer or a number, got None"),
    "copy": (lambda: nd.copy("abc"), "create: the data must be numbers"),
    "to_host": (lambda: nd.to_host(None), "create: the data must be numbers"),
    "where-condition": (lambda: nd.where("yes", rows(), rows()), "create: the data must be numbers"),
    "where-y": (lambda: nd.where(nd.greater(rows(), 0.5), rows(), "a"), "create: the data must be numbers"),
    "sum_into": (lambda: nd.sum_into(rows(), 0, None), "sum_into: out must be an array, got None"),
    "as_array": (lambda: nd.as_array([1.0], dtype=0), "dtype: expected one of float32, float64, .*, got 0"),
    "pull_rows": (lambda: nd.pull_rows(rows(), nd.create([0], "int32"), 3), "pull_rows: who must be text, got 3"),
    "im2col": (lambda: nd.im2col(image(), 2, same_mode="no"), "im2col: same_mode must be True or False, got 'no'"),
    "col2im": (
        lambda: nd.col2im(nd.im2col(image(), 2), (4, 4), same_mode=0), "col2im: same_mode must be True or False, got 0",
    ),
    "assign-none": (lambda: nd.assign(rows(), None), "assign: source must be an array or a number, got None. Make it"),
    "assign-text": (lambda: nd.assign(rows(), "a"), "assign: source must be an array or a number, got 'a'. Make it"),
    "channel_sums": (lambda: nd.channel_sums("a"), "channel_sums: x must be an array, got 'a'"),
    "activation_like": (lambda: nd.activation_like(3), "activation_like: x must be an array, got 3"),
    "affine_gradients": (
        lambda: nd.affine_gradients(rows(), rows(), None, None), "W_gradient must be an array, got None",
    ),
    "Elementwise": (lambda: nd.Elementwise("x + y"), "Elementwise: formula must be a function, got 'x \\+ y'"),
    "zeros": (lambda: nd.zeros(10**30), "zeros: arguments must be such that it can be computed, got shape="),
    "exec": (lambda: nd.exec("abs"), "exec: arguments of Abs must be x, z, got others"),
    "execRandom": (
        lambda: nd.execRandom(nd.ops.DropOut(rows(), p=0.5), 3), "execRandom: rng must be a Random, got 3",
    ),
    "remove_hook": (lambda: nd.remove_hook("print"), "remove_hook: hook must be a function, got 'print'"),
    "set_backend": (lambda: nd.set_backend(None), "set_backend: name must be text or a Backend, got None"),
    "set_backend-empty": (lambda: nd.set_backend(""), "set_backend: unknown backend '', expected one of"),
    "use_backend": (lambda: nd.use_backend(0), "use_backend: name must be text or a Backend, got 0"),
    "from_bytes": (lambda: nd.serde.from_bytes("abc"), "from_bytes: data must be a bytes .* got 'abc'"),
}  # fmt: skip
DRAWS = {
    "gaussian-mean": (lambda rng: rng.gaussian(3, mean="0"), "mean must be a number, got '0'"),
    "gaussian-std": (lambda rng: rng.gaussian(3, std=np.True_), "std must be a number, got "),
    "truncated_normal-std": (lambda rng: rng.truncated_normal(3, std=1j), "std must be a number, got 1j"),
    "uniform-low": (lambda rng: rng.uniform(3, low=True), "low must be a number, got True"),
    "uniform-high": (lambda rng: rng.uniform(3, high=[1.0]), r"high must be a number, got \[1\.0\]"),
    "bernoulli-p": (lambda rng: rng.bernoulli(3, p=nd.ones(3)), r"p must be a number, got an array of shape \[3\]"),
    "binomial-p": (lambda rng: rng.binomial(3, p=np.float32("nan")), "p must be a probability, .* got nan"),
    "n": (lambda rng: rng.uniform(True), "n must be an integer, got True"),
    "dtype": (lambda rng: rng.uniform(3, dtype=np.zeros(2)), "unknown dtype array"),
    "seed": (lambda rng: rng.set_seed(True), "seed must be an integer, got True"),
    "rand": (lambda rng: nd.rand(True), "an axis must be an integer, got True"),
    "randn": (lambda rng: nd.randn(2, dtype=""), "unknown dtype ''"),
    "set_random": (lambda rng: nd.random.set_random(None), "set_random: generator must be a Random, got None"),
    "use_random": (lambda rng: nd.random.use_random(3), "use_random: generator must be a Random, got 3"),
}
PARTS = {
    "value-z": (lambda x: Softmax().value("abc"), "Softmax.value: z must be an array, got 'abc'"),
    "value-out": (lambda x: ReLU().value(x, nd.ones(5, 5)), r"ReLU\.value: arguments must fit .* \[2, 3\], \[5, 5\]"),
    "value-training": (lambda x: ReLU().value(x, training="no"), "value: training must be True or False, got 'no'"),
    "RReLU-training": (lambda x: RReLU().value(x, None, 1), r"RReLU\.value: training must be True or False, got 1"),
    "score": (lambda x: LossMSE().score(x, x, x, "softmax"), "loss LossMSE: activation must be an Activation"),
    "score-z": (lambda x: LossMSE().score(x, None, x, Softmax()), "loss LossMSE: z must be an array, got None"),
    "score-labels": (lambda x: LossMSE().score([1], x, x, Softmax()), r"LossMSE\.score: labels must be an array"),
    "score_array": (lambda x: LossMAE().score_array(x, x, "p", Softmax()), r"LossMAE\.score_array: p must be an array"),
    "F-measure": (lambda x: LossFMeasure().score(x, x, x, None), "loss LossFMeasure: activation must be an Activation"),
    "compute_score": (
        lambda x: LossMSE().compute_score(x, x, Softmax(), average="no"), "average must be True or False, got 'no'",
    ),
    "gradient-mask": (
        lambda x: LossMSE().gradient(x, x, x, Softmax(), 3), r"LossMSE\.gradient: mask must be an array, got 3",
    ),
    "gradient-out": (
        lambda x: LossMSE().gradient(x, x, x, Softmax(), out=nd.ones(5, 5)), r"LossMSE\.gradient: arguments must fit",
    ),
}  # fmt: skip


@every_row(("call", "message"), FACADE.values(), ids=FACADE)
def test_facade(call, message):
    with pytest.raises(nd.NdError, match=message):
        call()


@every_row(("call", "message"), DRAWS.values(), ids=DRAWS)
def test_draws(call, message):
    rng = nd.random.Random(1)
    before = rng.get_state()
    with pytest.raises(nd.NdError, match=message):
        call(rng)
    assert rng.get_state() == before


@every_row(("call", "message"), PARTS.values(), ids=PARTS)
def test_activations_and_losses(call, message):
    with pytest.raises(nd.NdError, match=message):
        call(rows())


def test_what_stays_allowed():
    """Lists for arrays, NumPy's numbers for Python's, arrays of one number for those drawn with."""
    assert float(nd.sum([1.0, 2.0])) == 3.0
    assert nd.where([True, False], [1.0, 2.0], 0).tolist() == [1.0, 0.0]
    assert nd.reshape(rows(), -1).shape == (6,)
    assert nd.gemm(square(), square(), alpha=2, transpose_a=np.True_).tolist() == [[4.0, 4.0], [4.0, 4.0]]
    assert np.isnan(nd.fill(nd.ones(1), float("nan"))[0])
    assert nd.random.Random(1).gaussian(3, std=nd.create(0.0)).tolist() == [0.0] * 3
    assert nd.random.Random(1).uniform(3, low=0, high=np.float32(0.0)).tolist() == [0.0] * 3


class Broken(nd.losses.Loss):
    def terms(self, y, p, activation):
        return self.what_is_not_there

    def slope(self, y, p):
        return p


def test_errors_of_a_users_own_code_stay_what_they_are():
    x = nd.ones(2, 3)
    with pytest.raises(AttributeError, match="what_is_not_there"):
        Broken().score(x, x, x, nd.activations.Identity())
