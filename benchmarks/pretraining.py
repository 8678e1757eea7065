"""Print what layers that are pretrained learn: beside exact numbers, scikit-learn's machine and published results.

The tables: `gradient` of an RBM by contrastive divergence beside enumeration, `rbm` beside scikit-learn's BernoulliRBM
on the bundled digits, `anomalies` on MNIST by a VariationalAutoencoder. Only `rbm` needs scikit-learn, and `anomalies`
the files of MNIST.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import nd
from nd.dataset import DigitsDataSetIterator, MnistDataSetIterator, NumpyDataSetIterator
from nn import (
    RBM,
    BernoulliReconstructionDistribution,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    VariationalAutoencoder,
)
from nn.networks.pretraining import learner_of
from optimize import Adam, Sgd

HIDDEN, BATCH, EPOCHS, RATES = 64, 10, 10, (0.05, 0.1, 0.2)
"""Of the machines on digits."""
PUBLISHED = (0.917, 0.136, 0.921, 0.781, 0.808, 0.862, 0.848, 0.596, 0.895, 0.545)
"""Areas under the ROC curve, An and Cho 2015: the digit that was left out of training, told by its probability."""
ALL, TURNS = 100_000, 20


class Machine(NamedTuple):
    """Parameters of a binary restricted Boltzmann machine, float64."""

    W: np.ndarray
    """``[n_in, n_out]``."""
    b: np.ndarray
    vb: np.ndarray

    def hidden(self, v: np.ndarray) -> np.ndarray:
        return sigmoid(v @ self.W + self.b)

    def visible(self, h: np.ndarray) -> np.ndarray:
        return sigmoid(h @ self.W.T + self.vb)

    def free_energy(self, v: np.ndarray) -> np.ndarray:
        return -v @ self.vb - np.logaddexp(0.0, v @ self.W + self.b).sum(1)


def sigmoid(z: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-z))


def table(head: tuple[str, ...], rows: list[tuple[Any, ...]]) -> str:
    cells = [head, ("---",) * len(head), *rows]
    shown = [[f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in row] for row in cells]
    return "\n".join(f"| {' | '.join(row)} |" for row in shown).replace("| --- ", "|---").replace("---|", "---|")


# ---- contrastive divergence beside enumeration


def flat(vh: np.ndarray, h: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.concatenate([vh.ravel("F"), h, v])


def exact_gradient(machine: Machine, data: np.ndarray) -> np.ndarray:
    """Return the gradient of the mean of -log p(v), over all visible states."""
    states = np.array(list(itertools.product([0.0, 1.0], repeat=data.shape[1])))
    chances = np.exp(-machine.free_energy(states))
    chances /= chances.sum()
    h, h0 = machine.hidden(states), machine.hidden(data)
    model = flat((states.T * chances) @ h, chances @ h, chances @ states)
    return model - flat(data.T @ h0 / len(data), h0.mean(0), data.mean(0))


def drawn_gradient(machine: Machine, data: np.ndarray, k: int, copies: int) -> np.ndarray:
    """Return the mean of the layer's gradient over as many chains for every example."""
    conf = NeuralNetConfiguration(seed=5, dtype="float64").list(RBM(n_in=data.shape[1], n_out=len(machine.b), k=k))
    net = MultiLayerNetwork(conf).init(nd.create(flat(*machine)[None], dtype="float64"))
    learner, many = learner_of(net, 0), np.tile(data, (copies, 1))
    result = learner.compute_gradient_and_score(learner.step_input((many, many)))
    return nd.to_host(result.gradient()).ravel() / len(many)


def gradients(copies: int = 5000) -> str:
    """Compare machines that mix slowly with some that mix at once."""
    data, rows = np.array([[0, 0, 1], [0, 0, 1], [0, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 0.0]]), []
    for scale, seed in ((3.0, 80), (3.0, 151), (3.0, 148), (2.0, 3), (1.0, 0), (0.3, 0)):
        rng = np.random.default_rng(seed)
        drawn = rng.normal(0.0, scale, (3, 4)), scale * rng.normal(size=4), scale * rng.normal(size=3)
        machine = Machine(*drawn)
        exact = exact_gradient(machine, data)
        far = [float(np.linalg.norm(drawn_gradient(machine, data, k, copies) - exact)) for k in (1, 5, 50)]
        rows.append((scale, seed, float(np.linalg.norm(exact)), *far))
    return table(("weights' deviation", "seed", "length of the gradient", "CD-1 from it", "CD-5", "CD-50"), rows)


# ---- beside scikit-learn


def binary_digits(train: bool) -> np.ndarray:
    features = next(iter(DigitsDataSetIterator(ALL, train=train, seed=1))).features
    return np.ascontiguousarray(nd.to_host(features) > 0.5, dtype=np.float32)


def ours(x: np.ndarray, rate: float, seed: int) -> Machine:
    conf = NeuralNetConfiguration(seed=seed + 1, updater=Sgd(rate)).list(RBM(n_in=x.shape[1], n_out=HIDDEN))
    net = MultiLayerNetwork(conf).init()
    net.pretrain(NumpyDataSetIterator(x, x, BATCH), epochs=EPOCHS)
    W, b, vb = (nd.to_host(net.get_param(f"0_{name}")).astype(float) for name in ("W", "b", "vb"))
    return Machine(W, b.ravel(), vb.ravel())


def theirs(x: np.ndarray, rate: float, seed: int) -> Machine:
    from sklearn.neural_network import BernoulliRBM

    model = BernoulliRBM(HIDDEN, learning_rate=rate, batch_size=BATCH, n_iter=EPOCHS, random_state=seed).fit(x)
    found = model.components_.T, model.intercept_hidden_, model.intercept_visible_
    return Machine(*(array.astype(float) for array in found))


def judged(machine: Machine, v: np.ndarray) -> tuple[float, float, float]:
    """Return squared error a pixel, cross-entropy and pseudo-likelihood an example, some pixels of it turned over."""
    v = v.astype(float)
    again = machine.visible(machine.hidden(v))
    entropy = -(v * np.log(again) + (1.0 - v) * np.log(1.0 - again)).sum(1).mean()
    energy, likelihoods, places = machine.free_energy(v), [], np.random.default_rng(0)
    for _ in range(TURNS):
        turned, at = v.copy(), (np.arange(len(v)), places.integers(0, v.shape[1], len(v)))
        turned[at] = 1.0 - turned[at]
        likelihoods.append(-v.shape[1] * np.logaddexp(0.0, energy - machine.free_energy(turned)).mean())
    return float(((again - v) ** 2).mean()), float(entropy), float(np.mean(likelihoods))


def machines(seeds: int = 5) -> str:
    """Train both at every learning rate; the errors are of digits held out."""
    x, held_out, rows = binary_digits(True), binary_digits(False), []
    contenders: dict[str, Callable[[np.ndarray, float, int], Machine]] = {"ndwright": ours, "scikit-learn": theirs}
    for who, train in contenders.items():
        for rate in RATES:
            found = [judged(train(x, rate, seed), held_out) for seed in range(seeds)]
            errors, entropies, likelihoods = zip(*found, strict=True)
            spread = f"{min(errors):.4f} to {max(errors):.4f}"
            means = (statistics.mean(errors), spread, statistics.mean(entropies), statistics.mean(likelihoods))
            rows.append((who, rate, *means))
    head = ("who", "learning rate", "squared error", "of the seeds", "cross-entropy", "pseudo-likelihood")
    return table(head, rows)


# ---- anomalies


def mnist(train: bool) -> tuple[np.ndarray, np.ndarray]:
    data = next(iter(MnistDataSetIterator(ALL, train=train)))
    return np.ascontiguousarray(nd.to_host(data.features)), nd.to_host(data.labels).argmax(1)


def area(positive: np.ndarray, negative: np.ndarray) -> float:
    """Return the area under the ROC curve, by ranks."""
    scores = np.concatenate([positive, negative])
    ranks = np.empty(len(scores))
    ranks[np.argsort(scores)] = np.arange(1.0, len(scores) + 1.0)
    wins = ranks[: len(positive)].sum() - len(positive) * (len(positive) + 1) / 2
    return float(wins / (len(positive) * len(negative)))


def autoencoder(seed: int) -> MultiLayerNetwork:
    layer = VariationalAutoencoder(
        n_in=784, n_out=8, activation="relu", encoder_layer_sizes=256, decoder_layer_sizes=256,
        reconstruction_distribution=BernoulliReconstructionDistribution(),
    )  # fmt: skip
    conf = NeuralNetConfiguration(seed=seed, updater=Adam(0.001), weight_init="xavier").list(layer)
    return MultiLayerNetwork(conf).init()


def anomalies(epochs: int = 8, examples: int = ALL, samples: int = 16) -> str:
    """Leave out every digit once; the less probable the reconstruction, the more an example is one."""
    (x, kinds), (unseen, kinds_of_unseen), rows = mnist(True), mnist(False), []
    for digit in range(10):
        others, net = x[kinds != digit][:examples], autoencoder(1)
        net.pretrain(NumpyDataSetIterator(others, others, 100), epochs=epochs)
        chances = net.get_layer(0).reconstruction_log_probability(unseen, samples)
        oddness = -nd.to_host(chances).ravel()
        left_out = kinds_of_unseen == digit
        rows.append((digit, area(oddness[left_out], oddness[~left_out]), PUBLISHED[digit]))
    return table(("digit left out", "ndwright", "An and Cho 2015"), rows)


TABLES: dict[str, Callable[[], str]] = {"anomalies": anomalies, "gradient": gradients, "rbm": machines}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", choices=TABLES, default=list(TABLES), help="default: all")
    for name in parser.parse_args().tables:
        print(f"{name}\n\n{TABLES[name]()}\n", flush=True)


if __name__ == "__main__":
    main()
