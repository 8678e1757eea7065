"""What Deeplearning4j's examples import, too: File, NDArrayIndex, StatsListener, pre-processors of images."""

import numpy as np
import pytest

import nd
from nn import dl4j
from nn.dl4j import DataSet, File, NDArrayIndex, PermuteDataSetPreProcessor

IMAGES = np.arange(24.0).reshape(2, 3, 2, 2)


def changed(pre_processor, features=IMAGES):
    data = DataSet(features, np.ones((2, 1)))
    pre_processor.preProcess(data)
    return data.features


def test_images():
    """The numbers that 1.0.0-M2.1 printed."""
    grey = [[[3.239999771, 4.239999771], [5.239999771, 6.239999771]],
            [[15.239999771, 16.239999771], [17.239999771, 18.239999771]]]  # fmt: skip
    np.testing.assert_allclose(changed(dl4j.RGBtoGrayscaleDataSetPreProcessor()), grey, rtol=1e-7)
    np.testing.assert_array_equal(changed(dl4j.ImageFlatteningDataSetPreProcessor()), np.arange(24.0).reshape(2, 12))
    rows = np.ones((2, 3))
    np.testing.assert_array_equal(changed(dl4j.ImageFlatteningDataSetPreProcessor(), rows), rows)
    last = changed(PermuteDataSetPreProcessor(PermuteDataSetPreProcessor.PermutationTypes.NCHWtoNHWC))
    np.testing.assert_array_equal(last[0, 0], [[0, 4, 8], [1, 5, 9]])
    np.testing.assert_array_equal(changed(PermuteDataSetPreProcessor("NHWCtoNCHW"), last), IMAGES)
    with pytest.raises(nd.ShapeError, match="expected images of four axes, got"):
        changed(dl4j.RGBtoGrayscaleDataSetPreProcessor(), rows)
    with pytest.raises(nd.ShapeError, match="expected images of 3 channels, got 2"):
        changed(dl4j.RGBtoGrayscaleDataSetPreProcessor(), np.ones((2, 2, 2, 2)))
    with pytest.raises(nd.ChoiceError, match="PermuteDataSetPreProcessor: unknown permutation"):
        PermuteDataSetPreProcessor("NCWtoNWC")


def test_parts_of_arrays():
    a = np.arange(12).reshape(3, 4)
    np.testing.assert_array_equal(a[NDArrayIndex.point(0), NDArrayIndex.all()], a[0])
    np.testing.assert_array_equal(a[NDArrayIndex.interval(0, 2), NDArrayIndex.interval(0, 2, 4)], a[0:2, 0:4:2])
    np.testing.assert_array_equal(a[NDArrayIndex.interval(0, 1, True)], a[0:2])
    np.testing.assert_array_equal(a[NDArrayIndex.indices(2, 0)], a[[2, 0]])
    assert a[NDArrayIndex.newAxis()].shape == (1, 3, 4)
    with pytest.raises(nd.DataError, match=r"interval: expected \(first, end\) or \(first, step, end\), got \[0\]"):
        NDArrayIndex.interval(0)


def test_files(tmp_path):
    folder = File(File(tmp_path), "a/b")
    assert (folder.exists(), folder.mkdirs(), folder.mkdirs(), folder.isDirectory()) == (False, True, False, True)
    file = File(folder, "x.bin")
    assert (file.length(), file.delete(), file.list()) == (0, False, None)
    with open(file, "wb") as stream:
        stream.write(b"123")
    assert (file.length(), file.isFile(), file.getName(), file.getParentFile()) == (3, True, "x.bin", folder)
    assert (folder.list(), folder.listFiles(), {file: 1}[file]) == (["x.bin"], [file], 1)
    assert (file.getPath(), file.getAbsolutePath(), repr(file)) == (str(file), str(file), f"File({str(file)!r})")
    assert (file.delete(), folder.delete(), File(tmp_path, "c").mkdir(), folder.mkdir()) == (True, True, True, True)


def test_statistics():
    storage = dl4j.InMemoryStatsStorage()
    conf = dl4j.NeuralNetConfiguration.Builder().list().layer(
        dl4j.OutputLayer.Builder("mcxent").nIn(2).nOut(2).activation("softmax").build()
    ).build()  # fmt: skip
    net = dl4j.MultiLayerNetwork(conf)
    net.init()
    net.setListeners(dl4j.StatsListener(storage, 1))
    net.fit(np.ones((3, 2), "float32"), np.eye(2, dtype="float32")[[0, 1, 0]], 2)
    assert [record.iteration for record in storage.records] == [0, 1]
    assert dl4j.StatsListener().frequency == 1
