"""NetworkClassifier and NetworkRegressor beside scikit-learn's MLPs: scores and seconds of fit, at equal sizes.

Both contenders have their own defaults and one hidden layer of 100. Features are standardised for both, targets too (by
TransformedTargetRegressor for MLPRegressor; NetworkRegressor does it itself). Scores are means over five-fold
cross-validations, one for every seed: accuracy and R2. Fits take turns, on the same data, and the ratio is the median
over pairs, of wall time; the environment says the threads (OMP_NUM_THREADS=1 ND_NUM_THREADS=1). With --others on data
sets by which no default was chosen. Prints a table. Needs scikit-learn.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn import datasets
from sklearn.compose import TransformedTargetRegressor
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.preprocessing import StandardScaler

from nn.sklearn import NetworkClassifier, NetworkRegressor

FOLDS = 5


class Row(NamedTuple):
    """A data set's result: scores and seconds of fit of both, and the median ratio of the seconds."""

    name: str
    ours: float
    theirs: float
    seconds: float
    their_seconds: float
    ratio: float


def classification() -> dict[str, Any]:
    loaders = (datasets.load_iris, datasets.load_wine, datasets.load_breast_cancer, datasets.load_digits)
    sets = {loader.__name__.removeprefix("load_"): loader(return_X_y=True) for loader in loaders}
    return {**sets, "moons": datasets.make_moons(1000, noise=0.25, random_state=0)}


def regression() -> dict[str, Any]:
    return {
        "diabetes": datasets.load_diabetes(return_X_y=True),
        "friedman1": datasets.make_friedman1(1000, noise=1.0, random_state=0),
        "friedman2": datasets.make_friedman2(1000, noise=50.0, random_state=0),
        "friedman3": datasets.make_friedman3(1000, noise=0.1, random_state=0),
        "linear": datasets.make_regression(500, 20, n_informative=10, noise=20.0, random_state=0),
    }


def other_classification() -> dict[str, Any]:
    """Return data sets by which no default of the estimators was chosen."""
    made, seed = datasets.make_classification, {"random_state": 7}
    return {
        "four classes": made(600, n_informative=10, n_classes=4, **seed),
        "200 features": made(300, 200, n_informative=20, n_redundant=20, **seed),
        "20 % of labels wrong": made(1000, n_informative=5, flip_y=0.2, **seed),
        "circles": datasets.make_circles(800, noise=0.15, factor=0.5, **seed),
        "gaussian quantiles": datasets.make_gaussian_quantiles(n_samples=1000, n_features=6, **seed),
        "hastie": datasets.make_hastie_10_2(1500, **seed),
        "blobs": datasets.make_blobs(500, 4, centers=6, cluster_std=4.0, **seed),
    }


def other_regression() -> dict[str, Any]:
    """Return data sets by which no default of the estimators was chosen."""
    random = np.random.RandomState(7)
    x = random.uniform(-2, 2, (800, 3))
    waves = np.sin(3 * x[:, 0]) + np.cos(2 * x[:, 1]) * x[:, 2] + 0.1 * random.randn(800)
    seed = {"random_state": 7}
    return {
        "swiss roll": datasets.make_swiss_roll(1000, noise=0.5, **seed),
        "s-curve": datasets.make_s_curve(800, noise=0.1, **seed),
        "sparse uncorrelated": datasets.make_sparse_uncorrelated(600, 10, **seed),
        "linear, 100 features": datasets.make_regression(200, 100, n_informative=20, noise=30.0, **seed),
        "linear, little noise": datasets.make_regression(800, 10, noise=1.0, **seed),
        "waves": (x, waves),
        "friedman1, 200 rows": datasets.make_friedman1(200, noise=1.0, **seed),
    }


def contenders(classifies: bool, seed: int) -> tuple[Any, Any]:
    """Return ours and theirs."""
    if classifies:
        return NetworkClassifier(random_state=seed), MLPClassifier(random_state=seed)
    regressor = TransformedTargetRegressor(MLPRegressor(random_state=seed), transformer=StandardScaler())
    return NetworkRegressor(random_state=seed), regressor


def compared(name: str, data: Any, classifies: bool, seeds: int, folds: int) -> Row:
    """Return what both reach, and how long they fit, in turns."""
    x, y = data
    scores: tuple[list[float], list[float]] = ([], [])
    seconds: tuple[list[float], list[float]] = ([], [])
    for seed in range(seeds):
        splitter = (StratifiedKFold if classifies else KFold)(FOLDS, shuffle=True, random_state=seed)
        for number, (train, test) in enumerate(splitter.split(x, y)):
            if number >= folds:
                break
            scaler = StandardScaler().fit(x[train])
            both = contenders(classifies, seed)
            for who in (0, 1) if (number + seed) % 2 else (1, 0):
                features = scaler.transform(x[train])
                started = time.perf_counter()
                both[who].fit(features, y[train])
                seconds[who].append(time.perf_counter() - started)
                scores[who].append(both[who].score(scaler.transform(x[test]), y[test]))
    ratio = statistics.median(a / b for a, b in zip(*seconds, strict=True))
    return Row(name, *(float(np.mean(of)) for of in scores), *(statistics.median(of) for of in seconds), ratio)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--folds", type=int, default=FOLDS, help="of the five, that are fitted")
    parser.add_argument("--data", nargs="*", help="names; all without")
    parser.add_argument("--others", action="store_true", help="sets by which no default was chosen")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")  # that theirs has not converged
    print("| data | score, ours | score, MLP | fit, ours, ms | fit, MLP, ms | ours / MLP |\n|---|---|---|---|---|---|")
    classes, numbers = (
        (other_classification(), other_regression()) if chosen.others else (classification(), regression())
    )
    for classifies, sets in ((True, classes), (False, numbers)):
        contenders(classifies, 0)[0].fit(*next(iter(sets.values())))  # the first fit of a process imports
        for name, data in sets.items():
            if chosen.data and name not in chosen.data:
                continue
            row = compared(name, data, classifies, chosen.seeds, chosen.folds)
            milliseconds = f"{1000 * row.seconds:.0f} | {1000 * row.their_seconds:.0f} | {row.ratio:.2f}"
            print(f"| {name} | {row.ours:.4f} | {row.theirs:.4f} | {milliseconds} |", flush=True)


if __name__ == "__main__":
    main()
