"""Rows for HDF5Output, whose file goes when the tests end."""

import atexit
import tempfile

from .base import CaffeCase

FOLDER = tempfile.TemporaryDirectory()
atexit.register(FOLDER.cleanup)

CASES = {
    "HDF5Output": [
        CaffeCase(
            "data and labels",
            f"hdf5_output_param {{ file_name: '{FOLDER.name}/rows.h5' }}",
            ((4, 3), (4,)),
            lambda xs, params: [],
            tops=0,
            splits=False,
        ),
    ],
}
