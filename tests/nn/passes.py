"""Public passes of networks and of what surrounds them, to be interrupted, and what must hold behind them."""

import functools
import signal
import sys
import threading

import numpy as np

import nd
from backends.cpu.numpy_backend import NumpyBackend
from backends.cpu.recording import active_recording
from backends.errors import NotRecorded
from nd.dataset import AsyncDataSetIterator, DataSet, ListDataSetIterator, NormalizerMinMaxScaler, NormalizerStandardize
from nn import (
    LSTM,
    BatchNormalization,
    ConvolutionLayer,
    DenseLayer,
    InputType,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    RnnOutputLayer,
    TransferLearning,
)
from optimize.earlystopping import (
    DataSetLossCalculator,
    EarlyStoppingConfiguration,
    EarlyStoppingTrainer,
    MaxEpochsTerminationCondition,
)

RNG = np.random.default_rng(7)
IMAGES = DataSet(RNG.normal(size=(6, 2, 6, 6)).astype(np.float32), np.eye(2, dtype=np.float32)[[0, 1, 0, 1, 1, 0]])
SERIES = DataSet(
    RNG.normal(size=(4, 16, 5)).astype(np.float32),
    np.eye(2, dtype=np.float32)[RNG.integers(0, 2, (4, 5))].transpose(0, 2, 1).copy(),
)
LIBRARIES = ("oneDNN", "NumPy")


@functools.cache
def backend(library):
    chosen = NumpyBackend(threads=2)
    if library == "NumPy":
        chosen.onednn = None
    return chosen


def images(library):
    conf = NeuralNetConfiguration(seed=5, updater="adam", l2=1e-3).list(
        ConvolutionLayer(n_out=16, kernel_size=(3, 3), activation="relu"),
        BatchNormalization(),
        DenseLayer(n_out=6, activation="tanh", drop_out=0.8),
        OutputLayer(n_out=2, activation="softmax"),
        input_type=InputType.convolutional(6, 6, 2),
    )
    with nd.use_backend(backend(library)):
        return MultiLayerNetwork(conf).init()


def series(library):
    conf = NeuralNetConfiguration(seed=5, updater="adam").list(
        LSTM(n_in=16, n_out=16, activation="tanh"), RnnOutputLayer(n_out=2, activation="softmax")
    )
    with nd.use_backend(backend(library)):
        return MultiLayerNetwork(conf).init()


class InThisThread(ListDataSetIterator):
    """Is not read ahead."""

    def async_supported(self):
        return False


def read_ahead():
    return ListDataSetIterator(IMAGES, batch=3)


def _eager(net):
    with nd.eager():
        net.fit(IMAGES)


eager_block = _eager.__code__


def _stop_early(net):
    conf = EarlyStoppingConfiguration(
        epoch_termination_conditions=MaxEpochsTerminationCondition(2),
        score_calculator=DataSetLossCalculator(InThisThread(IMAGES, batch=3)),
    )
    return EarlyStoppingTrainer(conf, net, InThisThread(IMAGES, batch=3)).fit()


def _transferred(net):
    return TransferLearning.Builder(net).n_out_replace(2, 3, "xavier").build().output(IMAGES.features)


def _saved(net, path):
    net.save(path / "net.zip")
    return MultiLayerNetwork.load(path / "net.zip").output(IMAGES.features)


def _checkpointed(net, path):
    net.save_checkpoint(path / "checkpoint.zip")
    return MultiLayerNetwork.load_checkpoint(path / "checkpoint.zip").output(IMAGES.features)


def _stepped(net):
    net.rnn_clear_previous_state()
    return [net.rnn_time_step(SERIES.features[:, :, t]) for t in range(2)]


def _normalised(kind):
    normalizer = kind()
    normalizer.fit(read_ahead())
    features = IMAGES.features.copy()
    return normalizer.transform(DataSet(features, IMAGES.labels)) or features


def _large():
    x = nd.create(np.arange(90000.0).reshape(300, 300) % 7)
    return nd.gemm(x, x), nd.exec(nd.ops.Tanh(x)), nd.exp(x)


READS = {
    "clone": lambda net, path: net.clone().output(IMAGES.features),
    "compute_gradient_and_score": lambda net, path: _gradient(net),
    "evaluate": lambda net, path: net.evaluate(read_ahead()).accuracy(),
    "feed_forward": lambda net, path: net.feed_forward(IMAGES.features),
    "feed_forward in training": lambda net, path: net.feed_forward(IMAGES.features, True),
    "init": lambda net, path: images("NumPy").output(IMAGES.features),
    "large arrays": lambda net, path: _large(),
    "min max": lambda net, path: _normalised(NormalizerMinMaxScaler),
    "output": lambda net, path: net.output(IMAGES.features),
    "output in training": lambda net, path: net.output(IMAGES.features, True),
    "predict": lambda net, path: net.predict(IMAGES.features),
    "read ahead": lambda net, path: _read(),
    "save": _saved,
    "save_checkpoint": _checkpointed,
    "score": lambda net, path: net.score(IMAGES),
    "score_examples": lambda net, path: net.score_examples(IMAGES),
    "standardize": lambda net, path: _normalised(NormalizerStandardize),
    "transfer learning": lambda net, path: _transferred(net),
}
"""Leave the network as it is."""
STEPS = {"rnn_time_step": lambda net, path: _stepped(net)}
"""Of a network of series."""
TRAINS = {
    "early stopping": lambda net, path: _stop_early(net),
    "fit": lambda net, path: net.fit(IMAGES, epochs=2),
    "fit in eager mode": lambda net, path: _eager(net),
    "fit in shards": lambda net, path: net.fit(IMAGES, epochs=2, shards=4),
    "fit on arrays": lambda net, path: net.fit(IMAGES.features, IMAGES.labels, batch_size=3, epochs=2),
    "fit on an iterator": lambda net, path: net.fit(InThisThread(IMAGES, batch=3), epochs=2),
    "fit read ahead": lambda net, path: net.fit(read_ahead(), epochs=2),
    "fit with validation": lambda net, path: net.fit(read_ahead(), epochs=2, validation_data=IMAGES),
    "fit_batch": lambda net, path: net.fit_batch(IMAGES),
}
PASSES = READS | STEPS | TRAINS


def _gradient(net):
    net.set_input(IMAGES.features)
    net.set_labels(IMAGES.labels)
    net.compute_gradient_and_score()
    return nd.to_host(net.flattened_gradients()).copy()


def _read():
    with AsyncDataSetIterator(read_ahead()) as iterator:
        return [data.features for data in iterator]


def made(name, library):
    """Return the network that a pass is of."""
    return series(library) if name in STEPS else images(library)


def shown(result):
    """Return what a pass has returned, in bytes that can be compared."""
    if isinstance(result, (list, tuple)):
        return tuple(map(shown, result))
    return result.tobytes() if hasattr(result, "tobytes") else result


def vectors(net):
    return nd.to_host(net.params()).tobytes(), nd.to_host(net.updater_state()).tobytes(), net.iteration_count


@functools.cache
def whole(name, library, path):
    """Return what a pass gives that is not interrupted, and the generator behind it."""
    net = made(name, library)
    result = shown(PASSES[name](net, path)) if name not in TRAINS else PASSES[name](net, path) and None
    return result, vectors(net), net.random.get_state()


def in_force():
    """Return what this thread computes with, and is interrupted by."""
    of_thread = vars(nd.state.state)
    return (
        of_thread["generator"], of_thread.get("backend"), np.geterr(), np.getbufsize(), nd.is_eager(),
        signal.getsignal(signal.SIGINT), records(),
    )  # fmt: skip


def records():
    """Tell whether what this thread computes is recorded."""
    try:
        return active_recording() is not None
    except NotRecorded:
        return False


def is_free(net):
    """Tell whether another thread may compute with the network."""
    free = []

    def take():
        free.append(net.lock.acquire(timeout=5))
        net.lock.release()

    thread = threading.Thread(target=take)
    thread.start()
    thread.join()
    return free == [True]


def faults(name, library, net, before, path):
    """Yield what is wrong behind a pass that was interrupted; `before` is what was in force."""
    if in_force() != before:
        yield f"in force are {in_force()}, not {before}"
    if not is_free(net):
        yield "the lock is held"
    result, trained, drawn = whole(name, library, path)
    fresh = made(name, library)
    if name not in TRAINS:
        if vectors(net) != vectors(fresh):
            yield "the network was changed"
        if net.random.get_state() not in (fresh.random.get_state(), drawn):
            yield "drawn in part"
        net.random.set_state(fresh.random.get_state())
        if shown(PASSES[name](net, path)) != result:
            yield "another result"
        return
    if not np.isfinite(nd.to_host(net.params())).all():
        yield "not finite"
    if nd.to_host(net.output(IMAGES.features)).shape != (6, 2):
        yield "no output"
    count = net.iteration_count
    net.fit(IMAGES)
    if net.iteration_count <= count and net.iteration_count < trained[2]:
        yield "no further fit"


class Unraisable:
    """Hears what Python swallows; a file that is dropped, as Ctrl-C came when it was open, is closed."""

    def __init__(self):
        self.heard = []

    def __enter__(self):
        self._before, sys.unraisablehook = sys.unraisablehook, self._hear
        return self.heard

    def __exit__(self, *error):
        sys.unraisablehook = self._before

    def _hear(self, told):
        if not issubclass(told.exc_type, ResourceWarning):
            self.heard.append(f"{told.exc_type.__name__} in {told.object}")
