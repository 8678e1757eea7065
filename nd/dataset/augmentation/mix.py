"""Mixup and CutMix: pictures, and their labels, mixed with those of other examples."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from backends.errors import DataError, DTypeError
from nd.arguments import Positive, checked
from nd.dataset.augmentation.base import Augmentation
from nd.random import get_random
from nd.serde import as_host

if TYPE_CHECKING:
    from nd.typing import HostArray


class _Mixing(Augmentation):
    """Shared by what mixes each example with another one of its minibatch."""

    takes_integers: ClassVar[bool] = False

    def __init__(self, alpha: float) -> None:
        super().__init__()
        self.alpha = alpha

    def drawn(self, n: int, shape: tuple[int, ...]) -> HostArray:
        """Return the shares of the examples, their partners, and further numbers, ``[2 + numbers, N]``."""
        partners = np.argsort(as_host(get_random().uniform(n)), kind="stable")
        further = super().drawn(n, shape)
        return np.concatenate([symmetric_beta(n, self.alpha)[None], partners[None], further])

    def change_set(self, multi: Any, pictures: list[int], drawn: HostArray) -> None:
        who = type(self).__name__
        if any(mask is not None for mask in (*multi.features_masks, *multi.labels_masks)):
            raise DataError(f"{who}: examples to be mixed must have no masks, got some. Leave this augmentation out.")
        if len(pictures) < len(multi.features):
            others = len(multi.features) - len(pictures)
            raise DataError(
                f"{who}: all inputs must be pictures [N, C, H, W], got {others} of another rank, which belong to one "
                "example. Leave this augmentation out."
            )
        for array in multi.labels:
            if getattr(array.dtype, "kind", "f") != "f":
                raise DTypeError(f"{who}: expected labels of floats, got {array.dtype}. Make them one-hot: one_hot.")
        features = multi.features
        own = {id(array): self.changed(as_host(array), drawn) for array in features}
        shares = self.shares(drawn, tuple(features[0].shape[2:]))
        for array in multi.labels:
            if id(array) not in own:
                own[id(array)] = self.mixed_labels(as_host(array), drawn, shares)
        multi.features = [own[id(array)] for array in features]
        multi.labels = [own[id(array)] for array in multi.labels]

    def mixed_labels(self, y: HostArray, drawn: HostArray, shares: HostArray) -> HostArray:
        """Return labels with those of the partners, by shares [N] of the examples' own."""
        own = shares.astype(y.dtype).reshape(-1, *(1 for _ in y.shape[1:]))
        return y * own + y[drawn[1].astype(np.int64)] * (1 - own)

    @abstractmethod
    def shares(self, drawn: HostArray, size: tuple[int, int]) -> HostArray:
        """Return how much of each example is its own, [N]."""


class Mixup(_Mixing):
    """Mix each picture with another one of the minibatch, and their labels alike.

    Parameters
    ----------
    alpha : float
        The share of a picture's own pixels has the distribution Beta(alpha, alpha): with a small one most pictures stay
        nearly what they are, with 1 all shares are equally likely.

    Raises
    ------
    ArgumentError
        `alpha` is not positive.
    DTypeError, DataError
        From `pre_process`: pictures or labels are integers, there are masks, or inputs that are no pictures.

    Notes
    -----
    ``x = s x + (1 - s) x'``, and so labels, with a share s for every example. How many numbers are drawn depends on
    those before, as the distribution needs. `transform` mixes pictures alone, and nobody knows how: use
    `pre_process`. Source: Zhang, Cisse, Dauphin, Lopez-Paz 2018, mixup: Beyond Empirical Risk Minimization. Differs:
    there s is one number for a minibatch.
    """

    numbers: int = 0

    @checked
    def __init__(self, alpha: Positive = 0.2) -> None:
        super().__init__(alpha)

    def changed(self, x: HostArray, drawn: HostArray) -> HostArray:
        own = drawn[0].astype(x.dtype)[:, None, None, None]
        out = self.empty(x.shape, x.dtype)
        np.multiply(x[drawn[1].astype(np.int64)], 1 - own, out=out)
        out += x * own
        return out

    def shares(self, drawn: HostArray, size: tuple[int, int]) -> HostArray:
        return drawn[0]


class CutMix(_Mixing):
    """Replace a rectangle of each picture by that of another one of the minibatch; labels are mixed by the areas.

    Parameters
    ----------
    alpha : float
        The share that stays has the distribution Beta(alpha, alpha), before the rectangle is cut at the edges.

    Raises
    ------
    ArgumentError
        `alpha` is not positive.
    DTypeError, DataError
        As `Mixup`.

    Notes
    -----
    The rectangle has the proportions of the picture, and its center is any pixel. Labels with a number for each pixel
    are mixed by the area too. Source: Yun et al. 2019, CutMix. Differs: there all pictures of a minibatch have one
    rectangle.
    """

    numbers: int = 2

    @checked
    def __init__(self, alpha: Positive = 1.0) -> None:
        super().__init__(alpha)

    def changed(self, x: HostArray, drawn: HostArray) -> HostArray:
        out = self.empty(x.shape, x.dtype)
        np.copyto(out, x)
        boxes = self._boxes(drawn, (x.shape[2], x.shape[3])).tolist()
        for picture, partner, (top, bottom, left, right) in zip(out, drawn[1].astype(int).tolist(), boxes, strict=True):
            picture[:, top:bottom, left:right] = x[partner, :, top:bottom, left:right]
        return out

    def shares(self, drawn: HostArray, size: tuple[int, int]) -> HostArray:
        top, bottom, left, right = self._boxes(drawn, size).T
        return 1 - (bottom - top) * (right - left) / (size[0] * size[1])

    @staticmethod
    def _boxes(drawn: HostArray, size: tuple[int, int]) -> HostArray:
        """Return top, bottom, left and right of the rectangles ``[N, 4]``."""
        bounds: list[HostArray] = []
        for length, u in zip(size, drawn[2:], strict=True):
            cut = (length * np.sqrt(1 - drawn[0])).astype(np.int64)
            start = (u * length).astype(np.int64) - cut // 2
            bounds += [np.clip(start, 0, length), np.clip(start + cut, 0, length)]
        return np.stack(bounds, axis=1)


def symmetric_beta(n: int, alpha: float) -> HostArray:
    """Draw [n] numbers of the distribution Beta(alpha, alpha), float64, from the generator in force.

    X / (X + Y) of two numbers of Gamma(alpha), by their logarithms, as small alphas give numbers that no float holds.
    """
    x, y = _log_gamma(2 * n, alpha).reshape(2, n)
    return 1 / (1 + np.exp(np.clip(y - x, -700, 700)))


def _log_gamma(n: int, alpha: float) -> HostArray:
    """Draw logarithms of [n] numbers of Gamma(alpha): Marsaglia, Tsang 2000, A Simple Method for Generating Gamma
    Variables, which needs alpha + 1, and a power of a uniform number."""
    d = alpha + 1 - 1 / 3
    result, left = np.empty(n), np.arange(n)
    while left.size:
        random = get_random()
        z = as_host(random.gaussian(left.size)).astype(np.float64)
        u = as_host(random.uniform(left.size)).astype(np.float64)
        v = (1 + z / np.sqrt(9 * d)) ** 3
        with np.errstate(invalid="ignore", divide="ignore"):
            taken = (v > 0) & (np.log(u) < 0.5 * z * z + d - d * v + d * np.log(v))
            result[left[taken]] = np.log(d * v[taken])
        left = left[~taken]
    power = as_host(get_random().uniform(n)).astype(np.float64)
    return result + np.log(np.maximum(power, 2.0**-33)) / alpha
