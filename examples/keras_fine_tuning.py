"""Fine-tune a model from a file of Keras: what it learned of some digits helps with the others.

The program has two halves. `write` trains a small network on the digits 0 to 4 that come with the library, and saves it
as a file of Keras 3. `fine_tune` needs that file alone, as if another program had written it: it keeps the convolutions
as they are, gives the network a new output, and trains that on a few examples of the digits 5 to 9. Images have their
channels last, as in Keras. Needs: pip install h5py
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import nn
from nd.dataset import DigitsDataSetIterator
from nn import (
    ConvolutionLayer,
    DenseLayer,
    FineTuneConfiguration,
    InputType,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    SubsamplingLayer,
    TransferLearning,
)
from optimize import Adam

HALF = 5
FROZEN = "pool2"


def digits(train: bool, first: int) -> tuple[Any, Any]:
    """Return images [N, 28, 28, 1] of the five digits from `first` on, and one-hot which they are, [N, 5]."""
    batch = next(iter(DigitsDataSetIterator(2_000, train=train)))
    x, y = np.asarray(batch.features), np.asarray(batch.labels)
    kept = y[:, first : first + HALF].any(1)
    return x[kept].reshape(-1, 28, 28, 1), y[kept][:, first : first + HALF]


def write(path: str, epochs: int, seed: int) -> None:
    """Train a network on the digits 0 to 4, and save it as a model of Keras."""
    conf = NeuralNetConfiguration(seed=seed, updater=Adam(2e-3)).list(
        ConvolutionLayer(n_out=8, kernel_size=(3, 3), activation="relu", name="conv1"),
        SubsamplingLayer(name="pool1"),
        ConvolutionLayer(n_out=16, kernel_size=(3, 3), activation="relu", name="conv2"),
        SubsamplingLayer(name=FROZEN),
        DenseLayer(n_out=32, activation="relu", name="dense"),
        OutputLayer(n_out=HALF, activation="softmax", name="digit"),
        input_type=InputType.convolutional(28, 28, 1, "NHWC"),
    )
    network = MultiLayerNetwork(conf).init()
    network.fit(*digits(True, 0), batch_size=32, epochs=epochs)
    network.save(path)


def fine_tune(path: str, examples: int, epochs: int, seed: int) -> tuple[float, float]:
    """Return the accuracies on digits 5 to 9: of the network before it has learned them, and behind that."""
    loaded = nn.load(path)
    assert isinstance(loaded, MultiLayerNetwork)
    names = [layer.name for layer in loaded.conf.layers]
    network = TransferLearning(
        loaded,
        fine_tune_configuration=FineTuneConfiguration(seed=seed, updater=Adam(2e-3)),
        feature_extractor=names.index(FROZEN),
        remove_layers_from_output=1,
        add_layers=[OutputLayer(n_in=32, n_out=HALF, activation="softmax", name="digit")],
    ).build()
    x, y = digits(True, HALF)
    held_out = digits(False, HALF)
    before = network.evaluate(*held_out).accuracy()
    network.fit(x[:examples], y[:examples], batch_size=16, epochs=epochs)
    return before, network.evaluate(*held_out).accuracy()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", default="digits.keras", help="default: digits.keras")
    parser.add_argument("--examples", type=int, default=100, help="of the digits 5 to 9 (default 100)")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=42)
    arguments = parser.parse_args()
    write(arguments.file, max(arguments.epochs // 4, 1), arguments.seed)
    before, behind = fine_tune(arguments.file, arguments.examples, arguments.epochs, arguments.seed)
    print(f"{arguments.file}: a model of Keras 3, trained on the digits 0 to 4")
    print(f"accuracy on the digits 5 to 9: {before:.2f} before, {behind:.2f} after {arguments.examples} examples")


if __name__ == "__main__":
    main()
