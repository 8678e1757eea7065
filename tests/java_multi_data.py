"""What Deeplearning4j made of MultiDataSets: tests/cases/java_multi_data, whose README says what is there."""

import pathlib

import numpy as np

from nd.dataset import MultiDataSet

FOLDER = pathlib.Path(__file__).parent / "cases" / "java_multi_data"


def of_java(case, prefix):
    """Return the MultiDataSet whose arrays have that prefix in a case's file."""
    with np.load(FOLDER / case / "arrays.npz") as stored:
        found = {name: stored[name] for name in stored.files}
    groups = []
    for group, of in (("x", "x"), ("y", "y"), ("xm", "x"), ("ym", "y")):
        count = len([name for name in found if name.removeprefix(f"{prefix}_{of}") in ("0", "1")])
        groups.append([found.get(f"{prefix}_{group}{i}") for i in range(count)])
    return MultiDataSet(*groups)


def arrays_of(data_set):
    """Return all arrays of a MultiDataSet, masks last, those that are not there as None."""
    return [*data_set.features, *data_set.labels, *data_set.features_masks, *data_set.labels_masks]
