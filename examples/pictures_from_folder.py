"""Train a network on the pictures of a folder, FOLDER/CLASS/PICTURE, changed at random, and name pictures with it.

Without a folder the 1,797 digits that come with the library are written into one first. Needs Pillow.
"""

from __future__ import annotations

import argparse
import pathlib
import tempfile
import time

import nd
from nd.dataset import CompositeDataSetPreProcessor, DigitsDataSetIterator, ImageFolderIterator
from nd.dataset.augmentation import RandomCrop, RandomRotation
from nn import (
    BatchNormalization,
    ConvolutionLayer,
    DropoutLayer,
    InputType,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    SubsamplingLayer,
)
from optimize import Adam, PerformanceListener, ScoreIterationListener

SHOWN = 5


def write_digits(folder: pathlib.Path) -> None:
    """Write the digits as pictures, one folder for each."""
    from PIL import Image

    digits = DigitsDataSetIterator(2000, train=True).next(), DigitsDataSetIterator(2000, train=False).next()
    for part, data_set in zip(("train", "test"), digits, strict=True):
        pixels = (nd.to_host(data_set.features) * 255).astype("uint8").reshape(-1, 28, 28)
        for number, (picture, digit) in enumerate(zip(pixels, data_set.labels.argmax(axis=1), strict=True)):
            path = folder / str(digit) / f"{part}_{number:04d}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(picture).save(path)


def network(channels: int, size: int, classes: int, seed: int) -> MultiLayerNetwork:
    """Return a network of three convolutions for pictures of that many channels and pixels a side."""
    layers = []
    for n_out in (16, 32, 64):
        layers += [
            ConvolutionLayer(n_out=n_out, kernel_size=(3, 3), convolution_mode="same", activation="identity"),
            BatchNormalization(activation="relu"),
            SubsamplingLayer(kernel_size=(2, 2), stride=(2, 2)),
        ]
    conf = NeuralNetConfiguration(seed=seed, weight_init="relu", updater=Adam(2e-3)).list(
        *layers,
        DropoutLayer(drop_out=0.8),
        OutputLayer(n_out=classes, activation="softmax"),
        input_type=InputType.convolutional(size, size, channels),
    )
    return MultiLayerNetwork(conf).init()


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", help="of folders with pictures; default: digits, written into one")
    parser.add_argument("--backend", choices=["auto", "numpy", "cupy"], help="default: the environment's ND_BACKEND")
    parser.add_argument("--size", type=int, default=28, help="height and width of the pictures, default: 28")
    parser.add_argument("--channels", type=int, choices=[1, 3], default=1, help="grey or colours, default: 1")
    parser.add_argument("--epochs", type=int, default=8, help="default: 8")
    parser.add_argument("--batch", type=int, default=32, help="pictures per training step, default: 32")
    parser.add_argument("--damaged", choices=["raise", "skip"], default="raise", help="files, default: raise")
    parser.add_argument("--seed", type=int, default=123, help="of weights and order, default: 123")
    parser.add_argument("--save", metavar="FILE", help="write the trained network as a Deeplearning4j zip")
    return parser.parse_args()


def train(arguments: argparse.Namespace, folder: str) -> None:
    """Train on most of the pictures and evaluate on the rest."""
    common = {"channels": arguments.channels, "validation_fraction": 0.2, "damaged": arguments.damaged}
    size = arguments.size
    pictures = ImageFolderIterator(folder, arguments.batch, size, subset="train", seed=arguments.seed, **common)
    held_out = ImageFolderIterator(folder, 256, size, subset="validation", shuffle=False, **common)
    print(f"{len(pictures.paths)} pictures to train with, {len(held_out.paths)} to evaluate with")
    pictures.set_pre_processor(CompositeDataSetPreProcessor(RandomCrop(padding=2), RandomRotation(10)))
    net = network(arguments.channels, size, pictures.total_outcomes(), arguments.seed)
    net.set_listeners(ScoreIterationListener(50), PerformanceListener())
    started = time.perf_counter()
    net.fit(pictures, epochs=arguments.epochs)
    print(f"trained for {time.perf_counter() - started:.1f} s")
    evaluation = net.evaluate(held_out)
    print(evaluation.stats())
    print(f"accuracy on {evaluation.num_row_counter:,} held-out pictures: {evaluation.accuracy():.4f}")
    held_out.reset()
    some = held_out.next(SHOWN)
    for path, name in zip(held_out.batch_paths, net.predict(some), strict=True):
        print(f"{path}: {name}")
    if pictures.skipped:
        print(f"skipped {len(pictures.skipped)} damaged files")
    if arguments.save:
        net.save(arguments.save)
        print(f"saved {arguments.save}")


def main() -> None:
    arguments = parse_arguments()
    if arguments.backend:
        nd.set_backend(arguments.backend)
    if arguments.folder:
        train(arguments, arguments.folder)
        return
    with tempfile.TemporaryDirectory() as folder:
        write_digits(pathlib.Path(folder))
        train(arguments, folder)


if __name__ == "__main__":
    try:
        main()
    except (nd.NdError, OSError) as error:
        raise SystemExit(f"pictures_from_folder: {error}") from None
