"""Cutout: squares of pictures covered."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nd.arguments import Count, Fraction, checked
from nd.dataset.augmentation.base import Augmentation

if TYPE_CHECKING:
    from nd.typing import HostArray


class Cutout(Augmentation):
    """Cover a square of each picture, or several; labels and masks stay as they are.

    Parameters
    ----------
    size : int or (height, width)
        Of the square, in pixels. Its center is any pixel, so a part of it may be outside.
    count : int
        Squares in each picture.
    fill : float
        What covers them: 0 is the mean of pictures that are normalized.
    probability : float
        That a picture is changed.

    Raises
    ------
    ArgumentError
        A size or `count` is less than 1, or the probability is not in 0 to 1.

    Notes
    -----
    Source: DeVries, Taylor 2017, Improved Regularization of Convolutional Neural Networks with Cutout.

    Examples
    --------
    >>> import numpy as np
    >>> covered = Cutout(3).transform(np.ones((2, 1, 9, 9)))
    >>> bool((covered == 0).any(axis=(1, 2, 3)).all())
    True
    """

    @checked
    def __init__(
        self, size: Count | tuple[Count, Count], count: Count = 1, fill: float = 0.0, probability: Fraction = 1.0
    ) -> None:
        super().__init__()
        self.size = (size, size) if isinstance(size, int) else size
        self.count, self.fill, self.probability = count, fill, probability
        self.numbers = 1 + 2 * count

    def changed(self, x: HostArray, drawn: HostArray) -> HostArray:
        out = self.empty(x.shape, x.dtype)
        np.copyto(out, x)
        lengths = np.array(x.shape[2:], np.float32)[:, None]
        chosen = np.flatnonzero(drawn[0] < self.probability)
        for at in range(self.count):
            centers = (drawn[1 + 2 * at : 3 + 2 * at] * lengths).astype(np.int64)
            for i in chosen.tolist():
                rows, columns = (
                    slice(max(0, center - length // 2), center - length // 2 + length)
                    for center, length in zip(centers[:, i].tolist(), self.size, strict=True)
                )
                out[i, :, rows, columns] = self.fill
        return out
