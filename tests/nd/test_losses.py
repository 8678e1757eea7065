"""Losses against the rows in tests/cases/losses.py."""

import functools
import math
from dataclasses import replace

import numpy as np
import pytest

import nd
from nd import losses
from nd.activations import Identity, Sigmoid, Softmax, Tanh, get_activation
from nd.losses import LOSSES, Loss, WeightedLoss, get_loss
from tests.cases import activations
from tests.cases.activations import numeric_gradient
from tests.cases.losses import CASES, IDS, ROWS, binary_cross_entropy
from tests.cells import every_row
from tests.stand_ins import TOLERANCE, as_input

WEIGHTS = np.array([0.5, 2.0, 1.25])
GRADIENT_TOLERANCE = {"float32": {"rtol": 5e-5, "atol": 1e-5}, "float64": {"rtol": 1e-5, "atol": 1e-8}}

every_case = every_row(("name", "case"), ROWS, ids=IDS)
no_fmeasure = every_row(
    ("name", "case"), [row for row in ROWS if row[0] != "fmeasure"], ids=[i for i in IDS if "fmeasure" not in i]
)


def make_loss(name, case, weighted=False):
    return LOSSES[name](**case.parameters, **({"weights": tuple(WEIGHTS)} if weighted else {}))


def make_data(case, dtype):
    """Labels, z and the masks, in float64 but exact in `dtype`."""
    rng = np.random.default_rng(3)
    y = case.labels(rng).astype(dtype).astype("float64")
    z = rng.normal(size=(len(y), case.n_out)).astype(dtype).astype("float64")
    column = np.array([[1.0], [0.0], [1.0], [1.0], [0.0], [1.0]])
    return y, z, column, rng.integers(0, 2, z.shape).astype("float64")


def mask_of(kind, z):
    """A mask, exact in float32; None for kind "none"."""
    rng = np.random.default_rng(4)
    full = {"full": rng.integers(0, 2, z.shape), "parts": rng.integers(0, 5, z.shape) / 4.0}
    column = {"column": [1, 0, 1, 1, 0, 1], "column of parts": [1.0, 0.0, 0.25, 1.5, 0.5, 0.75]}
    if kind in full:
        return full[kind].astype("float64")
    return np.array(column[kind], "float64")[:, None] if kind in column else None


def oracle_of(activation):
    return activations.CASES[activation][0].oracle


def variants(case, order="c", dtype="float64"):
    """Yield (activation, weighted, kind of mask); in other orders than c, and in float32, of one activation alone."""
    for activation in case.activations if (order, dtype) == ("c", "float64") else case.activations[:1]:
        for weighted in (False, True)[: 1 + case.weighted]:
            for mask in ("none", "column", "column of parts", "full", "parts"):
                if not (case.coupled and mask in ("full", "parts")):
                    yield activation, weighted, mask


def refused_with(name, activation, kind):
    return activation == "softmax" and kind in ("full", "parts") and name in CLASSES


CLASSES = ("mcxent", "negativeloglikelihood", "sparse_mcxent")


def test_every_loss_has_a_name_and_a_case():
    assert list(LOSSES) == sorted(LOSSES)
    assert set(LOSSES) == set(CASES)
    found = {
        cls
        for cls in (getattr(losses, name) for name in dir(losses))
        if isinstance(cls, type) and issubclass(cls, Loss)
    }
    assert set(LOSSES.values()) == found - {Loss, WeightedLoss}


def test_classes_keep_their_names_in_java():
    names = "BinaryXENT CosineProximity FMeasure Hinge KLD L1 L2 MAE MAPE MCXENT MSE MSLE MixtureDensity MultiLabel "
    names += "NegativeLogLikelihood Poisson SparseMCXENT SquaredHinge Wasserstein"
    assert {cls.__name__ for cls in LOSSES.values()} >= {f"Loss{name}" for name in names.split()}


@no_fmeasure
def test_scores(backend, dtype, order, name, case):
    y, z, *_ = make_data(case, dtype)
    labels, pre = as_input(backend, y, order, dtype), as_input(backend, z, order, dtype)
    for activation, weighted, kind in variants(case, order, dtype):
        loss, act, mask = make_loss(name, case, weighted), get_activation(activation), mask_of(kind, z)
        expected = case.oracle(y, oracle_of(activation)(z))
        expected = expected * (WEIGHTS if weighted else 1.0) * (1.0 if mask is None else mask)
        args = (labels, pre, act.value(pre), act, None if mask is None else as_input(backend, mask, order, dtype))
        score, rows = loss.score(*args), loss.score_array(*args)
        assert backend.dtype_name(score) == backend.dtype_name(rows) == dtype
        tolerance = TOLERANCE[dtype]
        assert backend.item(score) == pytest.approx(expected.sum(), rel=tolerance["rtol"], abs=tolerance["atol"])
        per_row = 3.0 if name == "mean_absolute_error" else 1.0  # as Java
        np.testing.assert_allclose(backend.to_host(rows), per_row * expected.sum(1), **tolerance)
    np.testing.assert_array_equal(backend.to_host(labels), y)
    np.testing.assert_array_equal(backend.to_host(pre), z)


@functools.cache
def expected_gradient(case, dtype, activation, weighted, kind):
    """Differences of the oracle's score."""
    y, z, *_ = make_data(case, dtype)
    mask = mask_of(kind, z)
    factor, oracle = (WEIGHTS if weighted else 1.0) * (1.0 if mask is None else mask), oracle_of(activation)
    return numeric_gradient(lambda v: np.sum(factor * case.oracle(y, oracle(v))), z)


@no_fmeasure
def test_gradient_is_the_derivative_of_the_oracle(backend, dtype, order, name, case):
    y, z, *_ = make_data(case, dtype)
    labels, pre = as_input(backend, y, order, dtype), as_input(backend, z, order, dtype)
    for activation, weighted, kind in variants(case, order, dtype):
        if refused_with(name, activation, kind):
            continue
        loss, act, mask = make_loss(name, case, weighted), get_activation(activation), mask_of(kind, z)
        p = act.value(pre)
        kept = np.array(backend.to_host(p))
        delta = loss.gradient(labels, pre, p, act, None if mask is None else as_input(backend, mask, order, dtype))
        assert backend.dtype_name(delta) == dtype
        expected = expected_gradient(case, dtype, activation, weighted, kind)
        np.testing.assert_allclose(backend.to_host(delta), expected, **GRADIENT_TOLERANCE[dtype], err_msg=kind)
        for array, before in ((labels, y), (pre, z), (p, kept)):
            np.testing.assert_array_equal(backend.to_host(array), before)


@every_case
def test_gradient_into_another_array(backend, name, case):
    y, z, column, _ = make_data(case, "float64")
    loss, act = make_loss(name, case), get_activation(case.activations[0])
    labels, pre, mask = (as_input(backend, v, "c", "float64") for v in (y, z, column))
    p, out = act.value(pre), backend.full(z.shape, 7.0, "float64", "f")
    expected = backend.to_host(loss.gradient(labels, pre, p, act, mask))
    assert loss.gradient(labels, pre, p, act, mask, out) is out
    np.testing.assert_allclose(backend.to_host(out), expected, rtol=1e-15)


@every_case
def test_scores_by_hand(backend, dtype, name, case):
    y, p, expected = case.hand
    labels, output = backend.asarray(y, dtype), backend.asarray(p, dtype)
    score = make_loss(name, case).score(labels, output, output, Identity())
    assert backend.dtype_name(score) == dtype
    assert backend.item(score) == pytest.approx(expected, rel=1e-5)


def test_compute_score_divides_by_the_examples(backend):
    labels, z = backend.asarray([[1.0, 2.0], [0.0, 0.0]], "float32"), backend.asarray([[3.0, 1.0]] * 2, "float32")
    assert losses.LossL2().compute_score(labels, z, Identity()) == 7.5
    assert losses.LossL2().compute_score(labels, z, Identity(), average=False) == 15.0


def test_labels_and_masks_of_another_dtype_are_cast_as_in_java(backend):
    p, labels = backend.full((2, 3), 0.5, "float32"), backend.asarray([[1, 0, 0], [0, 1, 0]], "int64")
    mask = backend.asarray([[1], [0]], "int64")
    loss = losses.LossMSE()
    assert loss.compute_score(labels, p, Identity(), mask, average=False) == pytest.approx(0.25)
    assert backend.dtype_name(loss.gradient(labels, p, p, Identity(), mask)) == "float32"
    assert backend.dtype_name(loss.score(labels, p, p, Identity(), mask)) == "float32"


# ---- what single losses do differently


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["none", "column", "full"])
def test_binary_cross_entropy_with_softmax_scores_one_term_and_descends_two(backend, dtype, weighted, kind):
    name, case = "xent", CASES["xent"][0]
    y, z, *masks = make_data(case, dtype)
    mask = {"none": np.ones_like(z), "column": masks[0] * np.ones_like(z), "full": masks[1]}[kind]
    w = WEIGHTS if weighted else 1.0
    p = activations.softmax(z)
    loss, act = make_loss(name, case, weighted), Softmax()
    labels, pre = backend.asarray(y.tolist(), dtype), backend.asarray(z.tolist(), dtype)
    given = None if kind == "none" else backend.asarray((masks[0] if kind == "column" else mask).tolist(), dtype)
    score = backend.item(loss.score(labels, pre, act.value(pre), act, given))
    assert score == pytest.approx(np.sum(-w * mask * y * np.log(p)), rel=1e-5)
    both = numeric_gradient(lambda v: np.sum(mask * binary_cross_entropy(y, activations.softmax(v))), z)
    delta = backend.to_host(loss.gradient(labels, pre, act.value(pre), act, given))
    np.testing.assert_allclose(delta, w * both, **GRADIENT_TOLERANCE[dtype])


@pytest.mark.parametrize("case", CASES["fmeasure"], ids=["beta1", "beta2"])
@pytest.mark.parametrize("masked", ["none", "column", "column of parts"])
def test_f_measure(backend, dtype, order, case, masked):
    y, z, column, _ = make_data(case, dtype)
    mask = np.ones_like(column) if masked == "none" else mask_of(masked, z)
    activation = case.activations[0]
    loss, act = make_loss("fmeasure", case), get_activation(activation)
    labels, pre = as_input(backend, y, order, dtype), as_input(backend, z, order, dtype)
    given = None if masked == "none" else as_input(backend, mask, order, dtype)
    score = loss.score(labels, pre, act.value(pre), act, given)
    expected = case.oracle(y, oracle_of(activation)(z), mask)
    assert backend.dtype_name(score) == dtype
    assert backend.item(score) == pytest.approx(expected, rel=1e-5)
    assert loss.compute_score(labels, pre, act, given) == pytest.approx(expected, rel=1e-5)
    slope = numeric_gradient(lambda v: case.oracle(y, oracle_of(activation)(v), mask), z)
    delta = loss.gradient(labels, pre, act.value(pre), act, given)
    np.testing.assert_allclose(backend.to_host(delta), slope, **GRADIENT_TOLERANCE[dtype])


def test_f_measure_without_anything_to_find_is_zero(backend):
    labels, p = backend.full((3, 1), 0.0, "float32"), backend.full((3, 1), 0.0, "float32")
    loss = losses.LossFMeasure()
    assert loss.compute_score(labels, p, Identity()) == 0.0
    assert backend.to_host(loss.gradient(labels, p, p, Identity())).tolist() == [[0.0]] * 3


def test_f_measure_has_no_score_for_one_example(backend):
    p = backend.full((3, 1), 0.5, "float32")
    with pytest.raises(nd.ConfigurationError, match="only a whole batch has a score, got a request for each of 3"):
        losses.LossFMeasure().score_array(p, p, p, Sigmoid())


def test_softmax_probabilities_are_clipped_in_the_score(backend):
    labels, p = backend.asarray([[1.0, 0.0]], "float64"), backend.asarray([[1e-30, 1.0]], "float64")
    score = losses.LossMCXENT().score(labels, p, p, Softmax())
    assert backend.item(score) == pytest.approx(-math.log(1e-10))
    score = losses.LossMCXENT().score(labels, p, p, Sigmoid())
    assert backend.item(score) == pytest.approx(-math.log(1e-30))
    score = losses.LossMCXENT(softmax_clip_eps=0.5).score(labels, p, p, Softmax())
    assert backend.item(score) == pytest.approx(math.log(2.0))


def test_binary_probabilities_are_clipped(backend):
    labels, p = backend.asarray([[1.0, 0.0]], "float64"), backend.asarray([[0.0, 1.0]], "float64")
    score = losses.LossBinaryXENT().score(labels, p, p, Sigmoid())
    assert backend.item(score) == pytest.approx(-2.0 * math.log(1e-5))
    score = losses.LossBinaryXENT(clip_eps=0.25).score(labels, p, p, Sigmoid())
    assert backend.item(score) == pytest.approx(4.0 * math.log(2.0))


@pytest.mark.parametrize("name", ["mcxent", "kl_divergence", "poisson", "xent"])
@pytest.mark.parametrize("activation", [Softmax(), Sigmoid()])
def test_zero_times_the_logarithm_of_zero_is_zero(backend, dtype, name, activation):
    """No warning, no NaN: exact zeros in the output, and in the labels at the same place."""
    labels, p = backend.asarray([[0.0, 1.0]], dtype), backend.asarray([[0.0, 1.0]], dtype)
    loss = LOSSES[name]()
    expected = 1.0 if name == "poisson" else 0.0
    assert backend.item(loss.score(labels, p, p, activation)) == pytest.approx(expected, abs=1e-3)
    assert backend.all_finite(loss.gradient(labels, p, p, activation))


def test_a_negative_output_has_no_logarithm(backend):
    labels, p = backend.asarray([[1.0]], "float32"), backend.asarray([[-0.5]], "float32")
    assert math.isnan(backend.item(losses.LossMCXENT().score(labels, p, p, Tanh())))


@pytest.mark.parametrize("mask", [None, [[1.0], [0.0]]])
def test_the_hot_path_subtracts_and_nothing_else(backend, mask):
    """Softmax and cross entropy: p - y, written over p when asked, without the Jacobian."""

    class Unwanted(Softmax):
        def backprop(self, z, a, epsilon, out=None):
            raise AssertionError("the Jacobian was computed")

    labels, p = backend.asarray([[1.0, 0.0], [0.0, 1.0]], "float64"), backend.asarray([[0.75, 0.25]] * 2, "float64")
    given = None if mask is None else backend.asarray(mask, "float64")
    delta = losses.LossMCXENT().gradient(labels, p, p, Unwanted(), given, out=p)
    assert delta is p
    second = [0.75, -0.75] if mask is None else [0.0, 0.0]
    assert backend.to_host(delta).tolist() == [[-0.25, 0.25], second]


def test_unweighted_cross_entropy_subtracts_even_where_labels_do_not_sum_to_one(backend):
    labels, p = backend.asarray([[1.0, 1.0]], "float64"), backend.asarray([[0.75, 0.25]], "float64")
    assert backend.to_host(losses.LossMCXENT().gradient(labels, p, p, Softmax())).tolist() == [[-0.25, -0.75]]
    weighted = losses.LossMCXENT(weights=(1.0, 1.0)).gradient(labels, p, p, Softmax())
    assert backend.to_host(weighted).tolist() == [[0.5, -0.5]]


def test_multilabel_of_far_outputs_does_not_overflow(backend):
    labels, p = backend.asarray([[1.0, 0.0]], "float32"), backend.asarray([[300.0, 200.0]], "float32")
    score = losses.LossMultiLabel().score(labels, p, p, Identity())
    assert backend.item(score) == pytest.approx(np.exp(-100.0), rel=1e-3, abs=1e-42)


# ---- wrong inputs


@every_case
def test_labels_of_another_shape(backend, name, case):
    loss, p = make_loss(name, case), backend.full((4, case.n_out), 0.5, "float32")
    columns = {"sparse_mcxent": 1, "mixturedensity": 2}.get(name, case.n_out)
    with pytest.raises(nd.ShapeError, match=rf"loss Loss\w+: labels must be \[N, {columns}\], got \[4, 9\]"):
        loss.gradient(backend.full((4, 9), 1.0, "float32"), p, p, Identity())
    with pytest.raises(nd.ShapeError, match=rf"labels must be \[4, {columns}\], got \[5, {columns}\]"):
        loss.score(backend.full((5, columns), 1.0, "float32"), p, p, Identity())


def test_outputs_of_another_rank(backend):
    p = backend.full((2, 3, 4), 0.5, "float32")
    with pytest.raises(
        nd.ShapeError, match=r"loss LossMSE: output: expected an array of rank 2, got shape \[2, 3, 4\]"
    ):
        losses.LossMSE().score(p, p, p, Identity())


@every_case
def test_masks_of_another_shape(backend, name, case):
    y, z, *_ = make_data(case, "float32")
    labels, p = (backend.asarray(v.tolist(), "float32") for v in (y, z))
    with pytest.raises(nd.ShapeError, match=r"mask must be \[6, 1\].*got \[6\]"):
        make_loss(name, case).score(labels, p, p, Identity(), backend.full((6,), 1.0, "float32"))


@every_row("name", [name for name, cases in CASES.items() if cases[0].weighted])
def test_weights_of_another_length(backend, name):
    case = replace(CASES[name][0], parameters={"weights": [1.0, 2.0]})
    y, z, *_ = make_data(case, "float32")
    labels, p = (backend.asarray(v.tolist(), "float32") for v in (y, z))
    for method in ("score", "gradient"):
        with pytest.raises(nd.ShapeError, match=r"expected 3 weights, got 2\. Give one weight"):
            getattr(make_loss(name, case), method)(labels, p, activations_value(p), Softmax())


def activations_value(p):
    return Softmax().value(p)


def test_weights_become_a_tuple_of_numbers():
    assert losses.LossMSE(weights=[1, 2]).weights == (1.0, 2.0)
    assert losses.LossMSE(weights=[1, 2]) == losses.LossMSE(weights=(1.0, 2.0))


def test_one_hot_labels_where_numbers_of_classes_are_meant(backend):
    p = backend.full((2, 3), 0.25, "float32")
    remedy = (
        r"labels must be \[N, 1\], got \[2, 3\].* a number of a class in each row; for one-hot rows take the loss 'mc"
    )
    with pytest.raises(nd.ShapeError, match=remedy):
        losses.LossSparseMCXENT().gradient(p, p, p, Softmax())


@pytest.mark.parametrize("wrong", [3.0, -1.0, 0.5])
def test_sparse_labels_outside_of_the_classes(backend, wrong):
    labels, p = backend.asarray([[1.0], [wrong]], "float32"), backend.full((2, 3), 0.25, "float32")
    low, high = sorted((1.0, wrong))
    with pytest.raises(nd.DataError, match=rf"labels must be integers in 0 \.\. 2, got values in {low} \.\. {high}"):
        losses.LossSparseMCXENT().gradient(labels, p, p, Softmax())


def test_f_measure_needs_one_or_two_outputs(backend):
    p = backend.full((2, 3), 0.5, "float32")
    with pytest.raises(nd.ShapeError, match="the output must have 1 or 2 columns, got 3"):
        losses.LossFMeasure().score(p, p, p, Sigmoid())


def test_mixture_density_knows_its_width(backend):
    p = backend.full((2, 7), 0.5, "float32")
    with pytest.raises(
        nd.ShapeError, match=r"the output must be \[N, 8\] for 2 mixtures of labels \[N, 2\], got \[N, 7\]"
    ):
        losses.LossMixtureDensity(mixtures=2, labels_width=2).score(p, p, p, Identity())
    with pytest.raises(nd.ConfigurationError, match=r"^LossMixtureDensity: mixtures must be an integer >= 1, got 0"):
        losses.LossMixtureDensity(mixtures=0, labels_width=2)


def test_get_loss_takes_names_and_instances():
    mine = losses.LossMCXENT(softmax_clip_eps=1e-6)
    assert get_loss("NegativeLogLikelihood") == losses.LossNegativeLogLikelihood()
    assert get_loss(mine) is mine


def test_get_loss_names_the_nearest():
    with pytest.raises(
        nd.ChoiceError, match=r"get_loss: unknown loss 'mcxnt', expected one of .*Did you mean 'mcxent'\?"
    ):
        get_loss("MCXNT")
    with pytest.raises(nd.ConfigurationError, match=r"Pass LossMixtureDensity\(mixtures=\.\.\., labels_width=\.\.\.\)"):
        get_loss("mixturedensity")
