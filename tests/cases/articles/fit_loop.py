"""Article 0: the loop of fit() over the iterator."""

import logging.handlers
import threading

import numpy as np

import nd
import nn.dl4j as dl4j
from nd.dataset import AsyncDataSetIterator, DataSet, ListDataSetIterator
from nn import (
    LSTM,
    RBM,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    RnnOutputLayer,
)
from optimize import Listener, Sgd
from tests.cases.articles.fixtures import X1, Y1, Hears, heard_by, host, line, near, refused, small, two_layers


class Plain(ListDataSetIterator):
    """Reads in the caller's thread, and notes what is asked of it."""

    def __init__(self, data, size):
        super().__init__(data, size)
        self.asked, self.threads = [], set()

    def async_supported(self):
        return False

    def has_next(self):
        self.asked.append("has_next")
        return super().has_next()

    def next(self, num=None):
        self.asked.append("next")
        self.threads.add(threading.current_thread())
        return super().next(num)

    def reset(self):
        self.asked.append("reset")
        super().reset()


def series(**settings):
    """A network over series of 5 steps, and its data."""
    layers = LSTM(n_in=2, n_out=3), RnnOutputLayer(n_out=1, loss="mse", activation="identity")
    net = MultiLayerNetwork(NeuralNetConfiguration(seed=1, updater=Sgd(0.1)).list(*layers, **settings)).init()
    return net, np.ones((2, 2, 5)), np.ones((2, 1, 5))


TRUNCATED = {"backprop_type": "truncated_bptt", "tbptt_fwd_length": 2, "tbptt_back_length": 2}

# %% 20 | `net.fit(DataSetIterator)` | the same | [inside/fit.md](inside/fit.md#the-loop)
net = small()
net.fit(ListDataSetIterator(DataSet(X1, Y1), 2), epochs=3)
assert (net.iteration_count, net.epoch_count) == (6, 3)

# %% 21 | `iterator.asyncSupported()` | the same: False is obeyed |
# [inside/fit.md](inside/fit.md#the-thread-that-reads-ahead)
iterator = Plain(DataSet(X1, Y1), 2)
small().fit(iterator)
assert iterator.threads == {threading.current_thread()}

# %% 22 | `new AsyncDataSetIterator(iterator, 2)` | the same; `fit` itself reads 4 minibatches ahead |
# `tests/nd/dataset/test_async_iterator.py`
with AsyncDataSetIterator(ListDataSetIterator(DataSet(X1, Y1), 2), queue_size=2) as ahead:
    assert [data.features.shape for data in ahead] == [(2, 1), (2, 1)]
assert dl4j.AsyncDataSetIterator(ListDataSetIterator(DataSet(X1, Y1), 2), 2).next().num_examples() == 2

# %% 23 | `trainingListeners` | `net.listeners` | [training.md](training.md)
net, listener = small(), Hears()
net.set_listeners(listener)
assert list(net.listeners) == [listener]
assert list(net.getListeners()) == [listener]

# %% 24 | `TrainingListener`, `IterationListener` | the same in `nn.dl4j`; `optimize.Listener` |
# `tests/nn/dl4j/test_listeners.py`
assert dl4j.TrainingListener is Listener
assert dl4j.IterationListener is Listener

# %% 25 | `onEpochStart(net)` | `on_epoch_start`, before the first minibatch | [inside/fit.md](inside/fit.md#the-loop)
assert heard_by(small(), line()).names[0] == "on_epoch_start"

# %% 26 | `onEpochEnd(net)` | `on_epoch_end` | [inside/fit.md](inside/fit.md#the-loop)
names = heard_by(small(), line(), epochs=2).names
assert names[-1] == "on_epoch_end"
assert names.count("on_epoch_end") == 2

# %% 27 | `layerWiseConfigurations` | `net.conf` | `tests/nn/dl4j/test_constructors.py`
net = small()
assert isinstance(net.conf, MultiLayerConfiguration)
assert net.getLayerWiseConfigurations() == net.conf

# %% 28 | `isPretrain()`, then `pretrain(iter)` and `iter.reset()` | the same | [pretraining.md](pretraining.md)
layers = RBM(n_in=1, n_out=2), OutputLayer(n_out=1, loss="mse", activation="identity")
net = MultiLayerNetwork(NeuralNetConfiguration(seed=1, updater=Sgd(0.1), pretrain=True).list(*layers)).init()
before, iterator = host(net.get_param("0_W")).copy(), Plain(DataSet(X1, Y1), 2)
net.pretrain(iterator)
assert net.conf.is_pretrain()
assert (host(net.get_param("0_W")) != before).any()

# %% 29 | `isBackprop()` | `conf.is_backprop()` | `tests/nn/dl4j/test_article_names.py`
assert small().conf.isBackprop()

# %% 30 | the warning "finetune is not applied" | the same warning; the layers behind are not trained
layers = RBM(n_in=1, n_out=2), OutputLayer(n_out=1, loss="mse", activation="identity")
conf = NeuralNetConfiguration(seed=1, updater=Sgd(0.1), pretrain=True, backprop=False).list(*layers)
net = MultiLayerNetwork(conf).init()
last, said = host(net.get_param("1_W")).copy(), logging.handlers.BufferingHandler(10)
logging.getLogger("nn").addHandler(said)
net.fit(ListDataSetIterator(DataSet(X1, Y1), 2))
logging.getLogger("nn").removeHandler(said)
assert "finetune is not applied" in said.buffer[0].getMessage()
near(net.get_param("1_W"), last)

# %% 31 | `!iter.hasNext() && iter.resetSupported()`, then `reset` | the same |
# [inside/fit.md](inside/fit.md#the-loop)
iterator = Plain(DataSet(X1, Y1), 2)
for _ in iterator:
    pass
iterator.asked.clear()
small().fit(iterator)
assert iterator.asked[:2] == ["has_next", "reset"]

# %% 32 | `while (iter.hasNext()) iter.next()` | the same | [inside/loop.md](inside/loop.md)
iterator = Plain(DataSet(X1, Y1), 2)
small().fit(iterator)
assert iterator.asked.count("next") == 2

# %% 33 | features or labels that are null end the training without a word | an error: a data set needs labels |
# [inside/fit.md](inside/fit.md)
with refused(nd.DataError, "needs labels"):
    small().fit(DataSet(X1))

# %% 34 | `next.hasMaskArrays()` | `data.has_mask_arrays()` | `tests/nd/dataset/test_by_value.py`
assert DataSet(X1, Y1, labels_mask=np.ones((4, 1))).hasMaskArrays()
assert not DataSet(X1, Y1).has_mask_arrays()

# %% 35 | `BackpropType.TruncatedBPTT`, `doTruncatedBPTT(...)` | the same | [recurrent.md](recurrent.md)
net, x, y = series(**TRUNCATED)
net.doTruncatedBPTT(x, y, None, None)
assert net.iteration_count == 3  # five steps, two by two

# %% 36 | `BackpropType.Standard` | the same, the default | [recurrent.md](recurrent.md)
net, x, y = series()
net.fit(x, y)
assert net.iteration_count == 1
assert net.conf.backprop_type == dl4j.BackpropType.STANDARD

# %% 37 | `setLayerMaskArrays`, `clearLayerMaskArrays` | the same: `set_masks`, `clear_masks` |
# `tests/nn/networks/test_masks.py`
net = two_layers()
x, y = np.ones((2, 3)), np.array([[1.0], [50.0]])
net.setInput(x)
net.setLabels(y)
net.setLayerMaskArrays(None, np.array([[1.0], [0.0]]))
net.compute_gradient_and_score()
masked = net.score()
net.clearLayerMaskArrays()
net.compute_gradient_and_score()
assert net.score() > 10.0 * masked

# %% 38 | `setInput`, `setLabels` | the same | [inside/backprop.md](inside/backprop.md)
net = small()
net.set_input(X1)
net.set_labels(Y1)
net.compute_gradient_and_score()
near(net.score(), np.mean((host(net.output(X1)) - Y1) ** 2))

# %% 39 | `getInput`, `getLabels` | the same | `tests/nn/networks/test_fit_arguments.py`
net = small()
net.set_input(X1)
net.set_labels(Y1)
near(net.get_input(), X1)
near(net.get_labels(), Y1)

# %% 40 | `if (solver == null)`: built once and kept | the same | [inside/fit.md](inside/fit.md#from-fit-to-the-step)
net = small()
net.fit(X1, Y1)
first = net.get_optimizer()
net.fit(X1, Y1)
assert net.get_optimizer() is first
