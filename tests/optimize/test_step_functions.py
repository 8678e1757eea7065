import numpy as np
import pytest

import nd
from optimize.step import STEP_FUNCTIONS, get_step_function
from tests.stand_ins import TOLERANCE, as_input

PARAMS, DIRECTION = [1.0, -2.0, 0.0], [0.5, 4.0, -1.0]
AFTER_STEP_OF_A_QUARTER = {
    "default": [1.125, -1.0, -0.25],
    "gradient": [1.5, 2.0, -1.0],  # the length of the step is not looked at
    "negative_default": [0.875, -3.0, 0.25],
    "negative_gradient": [0.5, -6.0, 1.0],
}


def test_every_step_function_has_a_case():
    assert AFTER_STEP_OF_A_QUARTER.keys() == STEP_FUNCTIONS.keys()


@pytest.mark.parametrize("name", sorted(AFTER_STEP_OF_A_QUARTER))
def test_step_by_hand(backend, dtype, order, name):
    params, direction = nd.create(PARAMS, dtype), as_input(backend, DIRECTION, order, dtype)
    get_step_function(name)(params, direction, 0.25)
    np.testing.assert_allclose(nd.to_host(params), AFTER_STEP_OF_A_QUARTER[name], **TOLERANCE[dtype])
    np.testing.assert_array_equal(nd.to_host(direction), DIRECTION)
    assert nd.dtype_name(params) == dtype


@pytest.mark.parametrize("name", ["negative_gradient", "NEGATIVE_GRADIENT", "Negative_Gradient"])
def test_names_in_any_case(name):
    assert get_step_function(name) is STEP_FUNCTIONS["negative_gradient"]


def test_unknown_name():
    with pytest.raises(
        nd.ChoiceError,
        match=r"unknown step function 'negative_gradien', expected one of default, gradient, negative_default, "
        r"negative_gradient\. Did you mean 'negative_gradient'\?",
    ):
        get_step_function("negative_gradien")
