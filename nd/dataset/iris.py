"""The bundled iris flowers: small real data for classification."""

from __future__ import annotations

import numpy as np

from backends.errors import DataError
from nd.arguments import Count, checked
from nd.dataset.dataset import DataSet
from nd.dataset.list_iterator import ListDataSetIterator


class IrisDataSetIterator(ListDataSetIterator):
    """Iterate over Fisher's 150 irises, which come with the package.

    Parameters
    ----------
    batch : int
        Examples in a minibatch; the last one has the rest.
    num_examples : int
        The first so many. They are sorted by species, 50 of each species.

    Raises
    ------
    ArgumentError
        `batch` is less than 1.
    DataError
        `num_examples` is not in 1..150.

    Notes
    -----
    Features [N, 4]: length and width of sepals and of petals in cm, unscaled; one-hot labels [N, 3]; float32. Source:
    org.deeplearning4j.datasets.iterator.impl.IrisDataSetIterator; data/IRIS.md.

    Examples
    --------
    >>> IrisDataSetIterator(150).next()
    DataSet(features=[150, 4] float32, labels=[150, 3] float32)
    """

    @checked
    def __init__(self, batch: Count = 150, num_examples: int = 150) -> None:
        features, species = load_iris()
        if not 1 <= num_examples <= len(species):
            raise DataError(f"IrisDataSetIterator: num_examples must be 1..{len(species)}, got {num_examples}.")
        labels = np.eye(3, dtype=np.float32)[species]
        super().__init__(DataSet(features.astype(np.float32)[:num_examples], labels[:num_examples]), batch)


def load_iris() -> tuple[np.ndarray, np.ndarray]:
    """Return the flowers: features [150, 4] in cm, float64, and species [150]: 0 setosa, 1 versicolor, 2 virginica."""
    from importlib.resources import files  # which imports a dozen modules more

    text = files("nd.dataset").joinpath("data", "iris.csv").read_text("ascii")
    table = np.array([line.split(",") for line in text.splitlines()[1:]], np.float64)
    return table[:, :4], table[:, 4].astype(np.int64)
