"""Search for a network's size and penalty with scikit-learn, on the digits that come with it.

The network stands behind a scaler in a pipeline, as any classifier would. Needs scikit-learn.
"""

from __future__ import annotations

import argparse

from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from nn.sklearn import NetworkClassifier


def search(epochs: int, jobs: int) -> GridSearchCV:
    """Return a search over sizes of hidden layers and penalties; every choice is trained on three folds."""
    network = NetworkClassifier(max_iter=epochs, random_state=0)
    pipeline = Pipeline([("scaler", StandardScaler()), ("network", network)])
    grid = {"network__hidden_layer_sizes": [(20,), (100,)], "network__alpha": [0.1, 3.0]}
    return GridSearchCV(pipeline, grid, cv=3, n_jobs=jobs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=25, help="default: 25")
    parser.add_argument("--jobs", type=int, default=1, help="processes of the search, default: 1")
    arguments = parser.parse_args()
    x, y = load_digits(return_X_y=True)
    x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.25, random_state=0, stratify=y)
    found = search(arguments.epochs, arguments.jobs).fit(x_train, y_train)
    print("best:", found.best_params_)
    print(f"accuracy: {found.best_score_:.3f} in the folds, {found.score(x_test, y_test):.3f} on digits held out")
    probabilities = found.predict_proba(x_test)
    least = probabilities.max(axis=1).argmin()
    likely = probabilities[least].argsort()[::-1][:2]
    print("least certain:", ", ".join(f"{digit} with {probabilities[least, digit]:.2f}" for digit in likely))


if __name__ == "__main__":
    main()
