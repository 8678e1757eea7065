"""RandomFlip: pictures turned over."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from nd.arguments import Fraction, checked
from nd.dataset.augmentation.base import Augmentation

if TYPE_CHECKING:
    from nd.typing import HostArray


class RandomFlip(Augmentation):
    """Turn pictures over, left and right, or up and down.

    Parameters
    ----------
    horizontal : float
        Probability that left and right of a picture are exchanged.
    vertical : float
        Probability that up and down are.

    Raises
    ------
    ArgumentError
        A probability is not in 0 to 1.

    Notes
    -----
    Source: torchvision.transforms.RandomHorizontalFlip, RandomVerticalFlip.

    Examples
    --------
    >>> import numpy as np
    >>> RandomFlip(1.0).transform(np.array([[[1.0, 2.0, 3.0]]])).tolist()
    [[[3.0, 2.0, 1.0]]]
    """

    moves_pixels: ClassVar[bool] = True
    numbers: int = 2

    @checked
    def __init__(self, horizontal: Fraction = 0.5, vertical: Fraction = 0.0) -> None:
        super().__init__()
        self.horizontal, self.vertical = horizontal, vertical

    def changed(self, x: HostArray, drawn: HostArray) -> HostArray:
        out = self.empty(x.shape, x.dtype)
        turned = zip((drawn[0] < self.horizontal).tolist(), (drawn[1] < self.vertical).tolist(), strict=True)
        for picture, source, (left, up) in zip(out, x, turned, strict=True):
            picture[...] = source[:, :: -1 if up else 1, :: -1 if left else 1]
        return out
