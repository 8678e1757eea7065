"""Formulas on the device: their arguments, and whether they run as a kernel."""

import numpy as np

from tests.stand_ins import twin


def on(device, arguments):
    """Return the arguments with twins of the arrays."""
    return [twin(device.cupy, each) if isinstance(each, np.ndarray) else each for each in arguments]


def kernels_of(formula):
    """Return the kernels that were made; None stands for arguments that run as the formula is written."""
    (compiled,) = formula.compiled.values()
    return list(compiled._kernels.values())


def is_kernel(formula):
    return kernels_of(formula) != [] and all(kernels_of(formula))
