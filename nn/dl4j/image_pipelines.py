"""DataVec's transforms of pictures that apply several others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import nd
from nd import DTypeError
from nd.arguments import Fraction, checked, shown
from nd.classes import ExplainedType
from nd.dataset.java_random import JavaRandom

from .image_transforms import ImageTransform


class PipelineImageTransform(ImageTransform):
    """Applies transforms one after the other: ``(first, second)`` or ``(seed, shuffle, first, second)``, or by pairs of
    a transform and its probability: ``([[random,] seed,] pairs[, shuffle])``.

    Differs: Java seeds the generator of the whole thread, with 1234 where no seed is given, and shuffles by the time.
    Here a seed makes a generator of the pipeline's own, and without one it draws from `nd.random.get_random()`, which
    in ``fit`` is the network's. Source: DataVec ``PipelineImageTransform``.
    """

    def __init__(self, *arguments: Any) -> None:
        rest = list(arguments)
        super().__init__(rest.pop(0) if rest and isinstance(rest[0], (JavaRandom, type(None))) else None)
        seeded = bool(rest) and isinstance(rest[0], int) and not isinstance(rest[0], bool)
        self.rng = nd.random.Random(rest.pop(0)) if seeded else None
        switches = [each for each in rest if isinstance(each, bool)]
        self.shuffle = bool(switches) and switches[0]
        parts = [each for each in rest if not isinstance(each, bool)]
        listed = len(parts) == 1 and isinstance(parts[0], Sequence)
        self.image_transforms = [
            (_checked(type(self).__name__, each[0]), float(each[1])) if isinstance(each, tuple) and len(each) == 2
            else (_checked(type(self).__name__, each), 1.0)
            for each in (parts[0] if listed else parts)
        ]  # fmt: skip

    @property
    def draws(self) -> bool:
        """Whether it, or one of its transforms, draws random numbers."""
        chosen = self.shuffle or any(probability < 1 for _, probability in self.image_transforms)
        return chosen or super().draws or any(transform.draws for transform, _ in self.image_transforms)

    def changed(self, picture: Any, random: JavaRandom | None) -> Any:
        order = list(self.image_transforms)
        if self.shuffle:
            keys = self._drawn(len(order))
            order = [order[at] for at in sorted(range(len(order)), key=keys.__getitem__)]
        for transform, probability in order:
            if probability >= 1 or self._drawn(1)[0] < probability:
                picture = transform.transform(picture, random)
        return picture

    def _drawn(self, n: int) -> list[float]:
        return nd.to_host((self.rng or nd.random.get_random()).uniform(n)).tolist()

    class Builder(metaclass=ExplainedType):
        """Gathers transforms and their probabilities."""

        def __init__(self) -> None:
            self._pairs: list[tuple[ImageTransform, float]] = []
            self._seed: int | None = None

        @checked
        def set_seed(self, seed: int) -> Self:
            """Set the seed of a generator of the pipeline's own."""
            self._seed = seed
            return self

        @checked
        def add_image_transform(self, transform: ImageTransform, probability: Fraction = 1.0) -> Self:
            """Add a transform at the end, with the probability that it is applied to a picture."""
            self._pairs.append((transform, probability))
            return self

        def build(self) -> PipelineImageTransform:
            """Return the pipeline."""
            return PipelineImageTransform(*([] if self._seed is None else [self._seed]), self._pairs)


class MultiImageTransform(ImageTransform):
    """Applies transforms one after the other: ``([random,] first, second, ...)``; they draw from `random`, if given.

    Source: DataVec ``MultiImageTransform``.
    """

    def __init__(self, *arguments: Any) -> None:
        has_random = bool(arguments) and isinstance(arguments[0], (JavaRandom, type(None)))
        super().__init__(arguments[0] if has_random else None)
        self.transforms = [_checked(type(self).__name__, each) for each in arguments[has_random:]]

    @property
    def draws(self) -> bool:
        """Whether it, or one of its transforms, draws random numbers."""
        return super().draws or any(transform.draws for transform in self.transforms)

    def changed(self, picture: Any, random: JavaRandom | None) -> Any:
        for transform in self.transforms:
            picture = transform.transform(picture, random)
        return picture


def _checked(who: str, transform: object) -> Any:
    if not isinstance(transform, ImageTransform):
        raise DTypeError(f"{who}: expected ImageTransforms, got {shown(transform)}. Leave it out.")
    return transform
