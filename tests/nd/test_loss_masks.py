"""Masks of losses: what is refused, and Java's numbers."""

import numpy as np
import pytest

import nd
from nd import losses
from nd.activations import Identity, Sigmoid, Softmax
from tests.cases.losses import CASES
from tests.nd.test_losses import CLASSES, make_data, make_loss


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("weighted", [False, True])
def test_softmax_with_cross_entropy_masks_whole_examples(backend, name, weighted):
    """Java: UnsupportedOperationException, "Per output masking for MCXENT + softmax: not supported"."""
    case = CASES[name][0]
    y, z, _, mask = make_data(case, "float64")
    labels, pre, given = (backend.asarray(v.tolist(), "float64") for v in (y, z, mask))
    p = Softmax().value(pre)
    with pytest.raises(
        nd.ShapeError, match=r"Loss\w+: with softmax the mask must be .*, \[6, 1\], got \[6, 3\]\. .*xent"
    ):
        make_loss(name, case, weighted).gradient(labels, pre, p, Softmax(), given)


def test_masked_numbers_of_java(backend):
    """Written by ND4J 1.0.0-M1.1 in double precision."""
    z = backend.asarray([[0.3, -0.2, 0.5], [1.0, 0.1, -0.7]], "float64")
    y = backend.asarray([[0, 1, 0], [1, 0, 0]], "float64")
    column = backend.asarray([[0.5], [0.25]], "float64")
    parts = backend.asarray([[0.5, 0.25, 1.0], [1.0, 0.75, 0.0]], "float64")
    mse, classes = losses.LossMSE(), losses.LossMCXENT()
    assert mse.compute_score(y, z, Softmax(), parts, average=False) == pytest.approx(0.19662791156249323, rel=1e-12)
    assert mse.compute_score(y, z, Sigmoid(), parts, average=False) == pytest.approx(0.3023529754346402, rel=1e-12)
    assert classes.compute_score(y, z, Softmax(), parts, average=False) == pytest.approx(0.8481507611293225, rel=1e-9)
    expected = [
        [0.17680755736325096, -0.3927607955902881, 0.2159532382270372],
        [-0.09269340936396075, 0.06395608702984819, 0.02873732233411256],
    ]
    found = classes.gradient(y, z, Softmax().value(z), Softmax(), column)
    np.testing.assert_allclose(backend.to_host(found), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("name", "n_out"), [("cosine_proximity", 3), ("fmeasure", 2), ("mixturedensity", 8), ("multilabel", 3)]
)
def test_losses_that_only_mask_examples(backend, name, n_out):
    """As in Java, whose score of these refuses other masks."""
    case = next(case for case in CASES[name] if case.n_out == n_out)
    y, z, *_ = make_data(case, "float32")
    labels, p = (backend.asarray(v.tolist(), "float32") for v in (y, z))
    with pytest.raises(nd.ShapeError, match=rf"mask must be \[6, 1\], got \[6, {n_out}\]"):
        make_loss(name, case).gradient(labels, p, p, Identity(), p)


def test_a_mask_of_the_only_output_counts_once(backend):
    """Differs: ND4J 1.0.0-M1.1 has the same score and half of its derivative, -0.375."""
    y, z, mask = (backend.asarray([[number]], "float64") for number in (1.0, 0.25, 0.5))
    loss, act = losses.LossMSE(), Identity()
    assert loss.compute_score(y, z, act, mask, average=False) == 0.28125
    assert backend.to_host(loss.gradient(y, z, z, act, mask)).tolist() == [[-0.75]]
