"""The table that `MultiLayerNetwork.summary` shows."""

from nn import DenseLayer, InputType, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer


def test_the_summary_shows_layers_shapes_and_counts():
    conf = NeuralNetConfiguration().list(
        DenseLayer(n_out=1500, name="wide"), OutputLayer(n_out=2), input_type=InputType.convolutional(2, 3, 4)
    )
    text = MultiLayerNetwork(conf).summary()
    rows = [line.split() for line in text.splitlines()]
    assert rows[0] == ["layer", "type", "in", "->", "out", "parameters"]
    assert rows[2] == ["0", "wide", "DenseLayer", "feed_forward(24)", "->", "feed_forward(1500)", "37,500"]
    assert rows[3] == ["1", "layer1", "OutputLayer", "feed_forward(1500)", "->", "feed_forward(2)", "3,002"]
    assert rows[-1] == ["total", "parameters:", "40,502"]
    assert len({len(line) for line in text.splitlines()[:-1]}) == 1


def test_the_summary_without_an_input_type():
    conf = NeuralNetConfiguration().list(DenseLayer(n_in=3, n_out=4), OutputLayer(n_in=4, n_out=2))
    rows = [line.split() for line in MultiLayerNetwork(conf).summary().splitlines()]
    assert rows[2][2:] == ["DenseLayer", "3", "->", "4", "16"]
    assert rows[-1][-1] == "26"
