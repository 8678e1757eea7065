"""What Deeplearning4j made of series: tests/cases/java_series, whose README says what is there."""

import json
import pathlib

import numpy as np

from nd.dataset import CSVSequenceRecordReader

FOLDER = pathlib.Path(__file__).parent / "cases" / "java_series"


def cases(name):
    """Return name -> case of a file."""
    return json.loads((FOLDER / name).read_text())


def reader(folder, name, texts, skip_lines=0):
    """Return a reader of files with these texts, which are written for it."""
    for number, text in enumerate(texts):
        (folder / f"{name}_{number}.csv").write_text(text)
    return CSVSequenceRecordReader(skip_lines).initialize([folder / f"{name}_{n}.csv" for n in range(len(texts))])


def assert_same(arrays, of_java):
    """Compare arrays, or None, with shapes and numbers in C order."""
    assert len(arrays) == len(of_java)
    for number, (ours, javas) in enumerate(zip(arrays, of_java, strict=True)):
        assert (ours is None) == (javas is None), number
        if javas is not None:
            assert list(ours.shape) == javas[0], number
            np.testing.assert_array_equal(ours.ravel(), np.array(javas[1], np.float32), err_msg=str(number))
