"""Layers run here as a net runs them: without NumPy's warnings of products whose unused lanes are not finite."""

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield
