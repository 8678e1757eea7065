"""Fine-tune a network of the zoo: LeNet knows the digits 0 to 4, and learns 5 to 9 from a few examples.

The program trains and saves a LeNet on the digits that come with the library: the file stands for one of
Deeplearning4j's files of weights, which `init_pretrained` reads too. Then it takes the weights of the convolutions from
the file, freezes them, and trains two new dense layers.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from nd.dataset import DigitsDataSetIterator
from nn import DenseLayer, FineTuneConfiguration, OutputLayer, TransferLearning
from nn.zoo import LeNet
from optimize import Adam

HALF = 5
FROZEN = "maxpool2"


def digits(train: bool, first: int) -> tuple[Any, Any]:
    """Return rows [N, 784] of the five digits from `first` on, and one-hot which they are, [N, 5]."""
    batch = next(iter(DigitsDataSetIterator(2_000, train=train)))
    x, y = np.asarray(batch.features), np.asarray(batch.labels)
    kept = y[:, first : first + HALF].any(1)
    return x[kept], y[kept][:, first : first + HALF]


def write(path: Path, epochs: int) -> None:
    """Train LeNet on the digits 0 to 4, and save it."""
    network = LeNet(num_classes=HALF, updater=Adam(1e-3)).init()
    network.fit(*digits(True, 0), batch_size=32, epochs=epochs)
    network.save(path)


def fine_tune(path: Path, examples: int, epochs: int) -> float:
    """Return the accuracy on the digits 5 to 9 of a network that has seen so many of them."""
    trained = LeNet().init_pretrained(path, checksum=False)  # with its checksum, the file would have to be Java's
    network = TransferLearning(
        trained,
        fine_tune_configuration=FineTuneConfiguration(seed=5, updater=Adam(2e-3)),
        feature_extractor=trained.layer_names.index(FROZEN),
        remove_layers_from_output=2,
        add_layers=[
            DenseLayer(name="dense", n_out=64, activation="relu"),
            OutputLayer(name="digit", n_out=HALF, activation="softmax"),
        ],
    ).build()
    x, y = digits(True, HALF)
    network.fit(x[:examples], y[:examples], batch_size=16, epochs=epochs)
    x, y = digits(False, HALF)
    return float((network.predict(x) == y.argmax(1)).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=4, help="of either training, default: 4")
    parser.add_argument("--examples", type=int, default=100, help="of the digits 5 to 9, default: 100")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "lenet.zip"
        write(path, arguments.epochs)
        accuracy = fine_tune(path, arguments.examples, 3 * arguments.epochs)
    print(f"Accuracy on the digits 5 to 9, of which it has seen {arguments.examples}: {accuracy:.3f}")


if __name__ == "__main__":
    main()
