"""Solvers of small nets, and Caffe's update rules once more, in float64 and array by array."""

import re

import h5py
import numpy as np

from nn.caffe import array_to_datum, write_database
from nn.caffe.solver import get_solver

DUMMY = """layer { name: "data" type: "DummyData" top: "data" top: "targets" dummy_data_param {
  shape { dim: %d dim: 3 dim: 4 dim: 5 } shape { dim: %d dim: 2 }
  data_filler { type: "gaussian" std: 0.5 } data_filler { type: "gaussian" } } }"""
HDF5 = """layer { name: "data" type: "HDF5Data" top: "data" top: "targets"
  hdf5_data_param { source: "list.txt" batch_size: %d } }"""
LINEAR = """
layer { name: "ip" type: "InnerProduct" bottom: "data" top: "ip" PARAM
  inner_product_param { num_output: OUTPUTS weight_filler { type: "gaussian" std: 0.3 }
    bias_filler { type: "gaussian" } } }
layer { name: "loss" type: "EuclideanLoss" bottom: "ip" bottom: "targets" top: "loss" }
"""
SHARED = """
layer { name: "halves" type: "Slice" bottom: "data" top: "a" top: "b" slice_param { axis: 0 } }
layer { name: "ip" type: "InnerProduct" bottom: "a" top: "ip_a" param { name: "w" } param { name: "b" }
  inner_product_param { num_output: OUTPUTS weight_filler { type: "gaussian" std: 0.3 }
    bias_filler { type: "gaussian" } } }
layer { name: "again" type: "InnerProduct" bottom: "b" top: "ip_b" param { name: "w" } param { name: "b" }
  inner_product_param { num_output: OUTPUTS weight_filler { type: "gaussian" std: 0.7 } } }
layer { name: "all" type: "Concat" bottom: "ip_a" bottom: "ip_b" top: "ip" concat_param { axis: 0 } }
layer { name: "loss" type: "EuclideanLoss" bottom: "ip" bottom: "targets" top: "loss" }
"""
SETTINGS = {
    "AdaDelta": 'type: "AdaDelta" base_lr: 1 momentum: 0.95 delta: 1e-4',
    "AdaGrad": 'type: "AdaGrad" base_lr: 0.05',
    "Adam": 'type: "Adam" base_lr: 0.02 momentum: 0.9 momentum2: 0.99',
    "Nesterov": 'type: "Nesterov" base_lr: 0.02 momentum: 0.9',
    "RMSProp": 'type: "RMSProp" base_lr: 0.02 rms_decay: 0.95',
    "SGD": 'type: "SGD" base_lr: 0.02 momentum: 0.9',
}
"""Type -> what such a solver sets."""


def solver_text(net, settings, **more):
    """Return a solver as text; `more` are its further fields."""
    fields = {"max_iter": 100, "random_seed": 7, "snapshot_after_train": "false", "solver_mode": "CPU"} | more
    said = " ".join(f"{name}: {value}" for name, value in fields.items())
    policy = "" if "lr_policy" in settings + said else 'lr_policy: "fixed"'
    return f'{settings} {policy} {said}\nnet_param {{ name: "small" {net} }}'


def least_squares(kind="SGD", batch=4, data=DUMMY, layers=LINEAR, param="", outputs=2, settings="", **more):
    """Return the text of a solver of a linear net, of DummyData or of HDF5Data."""
    head = data % ((batch,) * data.count("%d"))
    body = layers.replace("PARAM", param).replace("OUTPUTS", str(outputs))
    return solver_text(head + body, settings or SETTINGS[kind], **more)


def values(net):
    """Return the learnable parameters of a net as NumPy arrays of float64."""
    return [np.array(blob.data, dtype=np.float64) for blob in net.learnable_params]


def minibatches(text, count, dtype="float64", folder=""):
    """Return the minibatches that the training net of a solver reads, in their order, from a solver of the same."""
    (layer,) = get_solver(text, dtype=dtype, folder=folder).net.data_layers
    return [[np.array(array, dtype=np.float64) for array in layer.next()] for _ in range(count)]


def linear_gradient(params, data, targets):
    """Return dL/dW and dL/db of L = sum((x W^T + b - t)^2) / 2N."""
    x = data.reshape(len(data), -1)
    weights, bias = params
    e = (np.einsum("ni,oi->no", x, weights) + bias - targets) / len(x)
    return [np.einsum("no,ni->oi", e, x), e.sum(0)]


class Oracle:
    """Caffe's solver, from its formulas: clip, divide, decay, update.

    Parameters
    ----------
    param : SolverParameter
        With policy "fixed".
    params : list of array
    lr_mults, decay_mults : sequence of float
    """

    def __init__(self, param, params, lr_mults=None, decay_mults=None):
        self.param, self.params = param, [array.copy() for array in params]
        ones = [1.0] * len(params)
        self.lr_mults, self.decay_mults = lr_mults or ones, decay_mults or ones
        self.history = [[np.zeros_like(array) for array in params] for _ in range(2)]
        self.iter = 0

    def step(self, gradients):
        """Update by the gradients of the minibatches of one iteration: lists of arrays."""
        param = self.param
        summed = [sum(of_param) for of_param in zip(*gradients, strict=True)]
        norm = np.sqrt(sum((g**2).sum() for g in summed))
        if param.clip_gradients >= 0 and norm > param.clip_gradients:
            summed = [g * (param.clip_gradients / norm) for g in summed]
        for number, g in enumerate(summed):
            w = self.params[number]
            decay = param.weight_decay * self.decay_mults[number]
            g = g / param.iter_size + decay * (np.sign(w) if param.regularization_type == "L1" else w)
            w -= self._update(number, g, float(np.float32(param.base_lr) * np.float32(self.lr_mults[number])))
        self.iter += 1

    def _update(self, at, g, rate):
        param, (h, d) = self.param, self.history
        mu, e, t = param.momentum, param.delta, self.iter + 1
        if param.type == "SGD":
            h[at] = mu * h[at] + rate * g
            return h[at]
        if param.type == "Nesterov":
            before, h[at] = h[at], mu * h[at] + rate * g
            return (1 + mu) * h[at] - mu * before
        if param.type == "AdaGrad":
            h[at] = h[at] + g * g
            return rate * g / (np.sqrt(h[at]) + e)
        if param.type == "RMSProp":
            h[at] = param.rms_decay * h[at] + (1 - param.rms_decay) * g * g
            return rate * g / (np.sqrt(h[at]) + e)
        if param.type == "AdaDelta":
            h[at] = mu * h[at] + (1 - mu) * g * g
            v = g * np.sqrt((d[at] + e) / (h[at] + e))
            d[at] = mu * d[at] + (1 - mu) * v * v
            return rate * v
        h[at] = mu * h[at] + (1 - mu) * g
        d[at] = param.momentum2 * d[at] + (1 - param.momentum2) * g * g
        correction = np.sqrt(1 - param.momentum2**t) / (1 - mu**t)
        return rate * correction * h[at] / (np.sqrt(d[at]) + e)


def logged(lines, pattern):
    """Return what a pattern finds in lines of a log, one tuple for each line that has it."""
    return [found.groups() for line in lines if (found := re.search(pattern, line))]


EVERYTHING = """
layer { name: "pictures" type: "Data" top: "data" top: "label"
  transform_param { mirror: true crop_size: 6 scale: 0.01 mean_value: 100 }
  data_param { source: "pictures" batch_size: 5 } }
layer { name: "rows" type: "HDF5Data" top: "row" hdf5_data_param { source: "list.txt" batch_size: 5 shuffle: true } }
layer { name: "noise" type: "DummyData" top: "noise" dummy_data_param { shape { dim: 5 dim: 4 dim: 6 dim: 6 }
  data_filler { type: "gaussian" std: 0.1 } } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv" convolution_param {
  num_output: 4 kernel_size: 3 pad: 1 weight_filler { type: "msra" } } }
layer { name: "noisy" type: "Eltwise" bottom: "conv" bottom: "noise" top: "noisy" }
layer { name: "norm" type: "BatchNorm" bottom: "noisy" top: "norm" }
layer { name: "scale" type: "Scale" bottom: "norm" top: "norm" scale_param { bias_term: true } }
layer { name: "relu" type: "ReLU" bottom: "norm" top: "norm" }
layer { name: "drop" type: "Dropout" bottom: "norm" top: "norm" dropout_param { dropout_ratio: 0.3 } }
layer { name: "ip" type: "InnerProduct" bottom: "norm" top: "ip" inner_product_param {
  num_output: 3 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss" }
layer { name: "side" type: "InnerProduct" bottom: "norm" top: "side" inner_product_param {
  num_output: 2 weight_filler { type: "xavier" } } }
layer { name: "squares" type: "EuclideanLoss" bottom: "side" bottom: "row" top: "squares" loss_weight: 0.5 }
layer { name: "accuracy" type: "Accuracy" bottom: "ip" bottom: "label" top: "accuracy" }
"""
"""Everything that draws or has a place: shuffles, mirrors, crops, fillers, dropout, statistics of batches."""


def write_everything(folder, pictures=13):
    """Write the data that `EVERYTHING` reads."""
    rng = np.random.default_rng(9)
    values = rng.integers(0, 256, (pictures, 1, 8, 8), dtype=np.uint8)
    records = [(b"%03d" % number, array_to_datum(picture, int(number % 3))) for number, picture in enumerate(values)]
    write_database(folder / "pictures", records)
    for name, count in (("a", 7), ("b", 4)):
        with h5py.File(folder / f"{name}.h5", "w") as file:
            file["row"] = rng.normal(size=(count, 2)).astype("float32")
    (folder / "list.txt").write_text("a.h5\nb.h5\n")
    return str(folder)
