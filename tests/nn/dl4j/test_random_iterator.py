"""RandomDataSetIterator: the numbers are Deeplearning4j 1.0.0-M2.1's after ``Nd4j.getRandom().setSeed(12345)``."""

import numpy as np
import pytest

import nd
from nn.dl4j import MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from nn.dl4j.iterators import MultipleEpochsIterator
from nn.dl4j.random_iterator import RandomDataSetIterator
from tests.cells import every_row

Values = RandomDataSetIterator.Values


def test_fits_after_the_same_seed_are_the_same():
    conf = NeuralNetConfiguration(seed=3).list(OutputLayer(n_in=3, n_out=2, loss="mse", activation="identity"))
    fitted = []
    for _ in range(2):
        nd.random.set_seed(12345)
        net = MultiLayerNetwork(conf).init()
        net.fit(RandomDataSetIterator(4, [5, 3], [5, 2], Values.RANDOM_NORMAL, Values.ONE_HOT), epochs=2)
        fitted.append(np.array(net.params()))
    assert np.array_equal(*fitted)
    iterator = RandomDataSetIterator(4, [5, 3], [5, 2], Values.ONES, Values.ONES)
    assert not iterator.asyncSupported()
    assert not MultipleEpochsIterator(2, iterator).asyncSupported()


def test_longs_are_drawn_on_every_backend(backend):
    nd.random.set_seed(12345)
    places = RandomDataSetIterator(1, [2, 3], [2, 2], Values.ONE_HOT, Values.ONE_HOT).next()
    assert nd.to_host(places.features).ravel().tolist() == [0, 0, 1, 0, 1, 0]


@every_row(
    ("values", "first", "labels_of_second", "after_reset"),
    [
        (
            Values.RANDOM_UNIFORM, [0.67935026, 0.35508692, 0.8427893, 0.20031321, 0.70149863, 0.31069326],
            [0.94624245, 0.04406166, 0.03494895, 0.52123106],
            [0.14165616, 0.74486911, 0.57536876, 0.08359849, 0.44224393, 0.73032689],
        ),
        (
            Values.RANDOM_NORMAL, [0.27004069, -0.43174624, -0.21769531, 0.83684254, -1.37271404, 0.54284596],
            [0.3244459, -2.47656894, 0.07243363, -0.33242032],
            [1.71043789, -0.71754396, -0.12961678, 0.99145657, 0.2724286, -1.04339492],
        ),
        (Values.ONE_HOT, [0, 0, 1, 0, 1, 0], [1, 0, 0, 1], [1, 0, 0, 0, 1, 0]),
        (Values.ZEROS, [0] * 6, [0] * 4, [0] * 6),
        (Values.ONES, [1] * 6, [1] * 4, [1] * 6),
        (Values.BINARY, [0, 1, 0, 1, 0, 1], [0, 1, 1, 0], [1, 0, 0, 1, 1, 0]),
        (Values.INTEGER_0_10, [6, 3, 8, 2, 7, 3], [9, 0, 0, 5], [1, 7, 5, 0, 4, 7]),
        (Values.INTEGER_0_100, [67, 35, 84, 20, 70, 31], [94, 4, 3, 52], [14, 74, 57, 8, 44, 73]),
        (Values.INTEGER_0_1000, [679, 355, 842, 200, 701, 310], [946, 44, 34, 521], [141, 744, 575, 83, 442, 730]),
        (
            Values.INTEGER_0_100000, [67935, 35508, 84278, 20031, 70149, 31069], [94624, 4406, 3494, 52123],
            [14165, 74486, 57536, 8359, 44224, 73032],
        ),
    ],
)  # fmt: skip
def test_random_numbers_are_javas(values, first, labels_of_second, after_reset):
    nd.random.set_seed(12345)
    iterator = RandomDataSetIterator(2, [2, 3], [2, 2], values, values)
    found = list(iterator)
    iterator.reset()
    # Java's logarithm is of single precision, and 32 bits of a whole number become another float in the last place
    atol = 2e-6 if values in (Values.RANDOM_UNIFORM, Values.RANDOM_NORMAL) else 0
    for array, expected in (
        (found[0].features, first), (found[1].labels, labels_of_second), (iterator.next().features, after_reset),
    ):  # fmt: skip
        assert np.allclose(array.ravel(), expected, rtol=0, atol=atol)


def test_random_shapes_and_orders():
    nd.random.set_seed(12345)
    found = list(RandomDataSetIterator(2, (2, 3), (2, 4, 3), Values.RANDOM_NORMAL, Values.ONE_HOT))
    assert [np.argmax(each.labels, 1).tolist() for each in found] == [[[0, 3, 1], [3, 3, 3]], [[1, 0, 1], [2, 2, 2]]]
    assert np.allclose(found[1].features[0], [0.577721, 0.296731, 0.599327], atol=2e-6)
    nd.random.set_seed(12345)
    last = list(RandomDataSetIterator(2, [2, 3], [2, 4], Values.RANDOM_NORMAL, Values.RANDOM_UNIFORM, "f", "f"))[1]
    assert np.allclose(
        last.features.ravel(), [0.319839, -0.442441, -1.116236, -0.913548, 1.096931, -0.357283], atol=2e-6
    )
    assert np.allclose(last.labels[1], [0.31046987, 0.9116422, 0.11965573, 0.73067272], atol=2e-6)
    nd.random.set_seed(12345)
    wide = RandomDataSetIterator(1, [2, 3, 2, 2], [2, 4, 1, 1, 2], Values.INTEGER_0_100, Values.ONE_HOT).next()
    assert wide.features.ravel()[-6:].tolist() == [75, 27, 36, 9, 83, 26]
    assert wide.labels.ravel().tolist() == [0, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1]
    nd.random.set_seed(12345)
    flat = RandomDataSetIterator(1, [4], [4], Values.BINARY, Values.ONE_HOT).next()
    assert (flat.features.tolist(), flat.labels.tolist()) == ([0, 1, 0, 1], [0, 0, 0, 1])


def test_random_sizes_and_errors():
    iterator = RandomDataSetIterator(3, [2, 5], [2, 4], "ones", "zeros")
    assert (iterator.batch(), iterator.inputColumns(), iterator.totalOutcomes(), len(iterator)) == (2, 5, 4, 3)
    assert len(list(iterator)) == 3
    with pytest.raises(nd.DataError, match="end of the data"):
        iterator.next()
    with pytest.raises(nd.ChoiceError, match="values"):
        RandomDataSetIterator(3, [2, 5], [2, 4], "twos", "zeros")
    with pytest.raises(nd.ShapeError, match="at most 5 axes"):
        RandomDataSetIterator(3, [2, 5], [1] * 6, "ones", "one_hot")
    with pytest.raises(nd.ConfigurationError, match="num_minibatches"):
        RandomDataSetIterator(0, [2, 5], [2, 4], "ones", "ones")
