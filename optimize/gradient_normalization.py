"""Gradient normalisation: what bounds a layer's gradient before regularisation and updater."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import nd
from nd.checks import check_choice
from nd.typing import Array

SMALLEST_NORM = 1e-5  # stands for a norm of 0


def _renormalize(gradient: Array, square: Array, threshold: float) -> None:
    norm = nd.sqrt(square)
    nd.divi(gradient, nd.where(nd.greater(norm, 0.0), norm, SMALLEST_NORM))


def _clip_norm(gradient: Array, square: Array, threshold: float) -> None:
    norm = nd.sqrt(square)
    nd.muli(gradient, nd.divide(threshold, nd.maximum(norm, threshold)))


def _clip_elements(gradient: Array, threshold: float) -> None:
    nd.maximum(gradient, -threshold, gradient)
    nd.minimum(gradient, threshold, gradient)


class Normalization(NamedTuple):
    """One way to normalise: a formula, and what it is applied to."""

    formula: Callable[..., None]
    """Of the gradient ``[n]``, the sum of its squares ``[]`` if `needs_square`, and the threshold; in place."""
    needs_square: bool = True
    per_layer: bool = False
    """On all parameters of a layer together, or on each for itself."""
    needs_threshold: bool = False


GRADIENT_NORMALIZATIONS: dict[str, Normalization | None] = {
    "clip_element_wise_absolute_value": Normalization(_clip_elements, False, True, needs_threshold=True),
    "clip_l2_per_layer": Normalization(_clip_norm, per_layer=True, needs_threshold=True),
    "clip_l2_per_param_type": Normalization(_clip_norm, needs_threshold=True),
    "none": None,
    "renormalize_l2_per_layer": Normalization(_renormalize, per_layer=True),
    "renormalize_l2_per_param_type": Normalization(_renormalize),
}
"""Name -> what it is, sorted."""
_FORMULAS = {formula: nd.Elementwise(formula) for formula in (_clip_elements, _clip_norm, _renormalize)}


def check_gradient_normalization(who: str, name: str | None, threshold: float | None) -> str | None:
    """Return the name as the table has it.

    Raises
    ------
    ChoiceError
        The name is unknown.
    ConfigurationError
        The threshold is no number, or not above 0 where the gradient is clipped.
    """
    if threshold is not None and (isinstance(threshold, bool) or not isinstance(threshold, (int, float))):
        raise nd.ConfigurationError(f"{who}: gradient_normalization_threshold must be a number, got {threshold!r}.")
    if name is None:
        return None
    name = check_choice(who, "gradient normalisation", str(name).lower(), GRADIENT_NORMALIZATIONS)
    chosen = GRADIENT_NORMALIZATIONS[name]
    if chosen is not None and chosen.needs_threshold and threshold is not None and not threshold > 0:
        raise nd.ConfigurationError(
            f"{who}: gradient_normalization {name!r} needs gradient_normalization_threshold > 0, got {threshold}."
        )
    return name


@dataclass(frozen=True)
class NormalizedLayer:
    """The gradient of one layer's parameters, and how it is normalised.

    Parameters
    ----------
    normalization : str
        A name in `GRADIENT_NORMALIZATIONS`.
    threshold : float
        Largest norm, or largest absolute value.
    borders : tuple of int
        Where in the flat vector each of the layer's parameters starts, and where the last one ends.

    Notes
    -----
    With n the Euclidean norm of the gradient of a layer, or of one parameter, and t the threshold:
    renormalize_l2_*: g / n, with 1e-5 for a norm of 0. clip_l2_*: g * t / n where n > t.
    clip_element_wise_absolute_value: every element to -t..t. The norm is computed in the network's dtype, squares that
    exceed it make it infinite. Source: DL4J ``BaseMultiLayerUpdater.preApply``. Differs: there a parameter whose
    gradient is 0 becomes NaN with RenormalizeL2PerParamType.
    """

    normalization: str
    threshold: float
    borders: tuple[int, ...]

    def apply(self, gradient: Array) -> None:
        """Normalise the layer's part of ``gradient [n]``, a mean over examples, in place; no value goes to the host."""
        chosen = GRADIENT_NORMALIZATIONS[self.normalization]
        if chosen is None:
            return
        borders = (self.borders[0], self.borders[-1]) if chosen.per_layer else self.borders
        formula = _FORMULAS[chosen.formula]
        for start, stop in pairwise(borders):
            part = gradient[start:stop]
            formula(part, *((nd.dot(part, part),) if chosen.needs_square else ()), float(self.threshold))
