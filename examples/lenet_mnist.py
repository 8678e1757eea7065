"""Train and evaluate LeNet on handwritten digits.

MNIST when it is found or can be downloaded, else the 1,797 digits that come with the library.
"""

from __future__ import annotations

import argparse
import pathlib
import time

import nd
from nd.dataset import DataSetIterator, DigitsDataSetIterator, MnistDataSetIterator
from nd.dataset.fetch import mnist_available
from nn import (
    ConvolutionLayer,
    DenseLayer,
    InputType,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    SubsamplingLayer,
)
from optimize import Nesterovs, PerformanceListener, ScoreIterationListener

DEFAULT_EPOCHS = {"mnist": 3, "digits": 30}
TEST_BATCH = 256


def lenet(seed: int) -> MultiLayerConfiguration:
    """Return Deeplearning4j's LeNet for 28x28 images in one channel."""
    return NeuralNetConfiguration(seed=seed, l2=5e-4, weight_init="xavier", updater=Nesterovs(0.01, momentum=0.9)).list(
        ConvolutionLayer(n_out=20, kernel_size=(5, 5), activation="identity"),
        SubsamplingLayer("max", kernel_size=(2, 2), stride=(2, 2)),
        ConvolutionLayer(n_out=50, kernel_size=(5, 5), activation="identity"),
        SubsamplingLayer("max", kernel_size=(2, 2), stride=(2, 2)),
        DenseLayer(n_out=500, activation="relu"),
        OutputLayer(n_out=10, loss="negativeloglikelihood", activation="softmax"),
        input_type=InputType.convolutional_flat(28, 28, 1),
    )


def choose_dataset(wanted: str) -> str:
    """Resolve ``auto``, in one clear line."""
    if wanted != "auto":
        return wanted
    if mnist_available():
        print("dataset: MNIST")
        return "mnist"
    print("dataset: MNIST is neither in ND_DATA_DIR nor downloadable, training on the bundled digits instead")
    return "digits"


def iterators(dataset: str, batch: int, seed: int) -> tuple[DataSetIterator, DataSetIterator]:
    """Return the training and the test minibatches."""
    if dataset == "mnist":
        return MnistDataSetIterator(batch, train=True, seed=seed), MnistDataSetIterator(TEST_BATCH, train=False)
    return DigitsDataSetIterator(batch, train=True, seed=seed), DigitsDataSetIterator(TEST_BATCH, train=False)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", choices=["auto", "mnist", "digits"], default="auto", help="default: auto")
    parser.add_argument("--backend", choices=["auto", "numpy", "cupy"], help="default: the environment's ND_BACKEND")
    parser.add_argument("--epochs", type=int, help="default: 3 on MNIST, 30 on the bundled digits")
    parser.add_argument("--batch", type=int, default=64, help="images per training step, default: 64")
    parser.add_argument("--seed", type=int, default=123, help="of weights and order, default: 123")
    parser.add_argument("--save", metavar="FILE", help="write the trained network as a Deeplearning4j zip")
    return parser.parse_args()


def main() -> None:
    arguments = parse_arguments()
    if arguments.save and not pathlib.Path(arguments.save).absolute().parent.is_dir():
        raise SystemExit(f"--save: the folder of {arguments.save} must exist, got none")
    if arguments.backend:
        nd.set_backend(arguments.backend)
    dataset = choose_dataset(arguments.dataset)
    train, test = iterators(dataset, arguments.batch, arguments.seed)
    net = MultiLayerNetwork(lenet(arguments.seed)).init()
    print(f"backend: {nd.backend().name}")
    print(net.summary())
    net.set_listeners(ScoreIterationListener(100), PerformanceListener())
    started = time.perf_counter()
    try:
        net.fit(train, epochs=DEFAULT_EPOCHS[dataset] if arguments.epochs is None else arguments.epochs)
    except KeyboardInterrupt:
        print(f"interrupted at iteration {net.iteration_count}: going on with what is learnt so far")
    print(f"trained for {time.perf_counter() - started:.1f} s")
    evaluation = net.evaluate(test)
    print(evaluation.stats())
    print(f"accuracy on {evaluation.num_row_counter:,} held-out images: {evaluation.accuracy():.4f}")
    if arguments.save:
        net.save(arguments.save)
        print(f"saved {arguments.save}")


if __name__ == "__main__":
    try:
        main()
    except nd.NdError as error:
        raise SystemExit(f"lenet_mnist: {error}") from None
