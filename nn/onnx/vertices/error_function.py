"""The error function, to the last digits of float64."""

from __future__ import annotations

import math

import nd
from nd.typing import Array

from .functions import of_elements

# Source: S. Moshier, Cephes, ndtr.c: erf to 1 and erfc to 8 as quotients of polynomials, highest power first.
_NEAR = (
    9.60497373987051638749,
    90.0260197203842689217,
    2232.00534594684319226,
    7003.32514112805075473,
    55592.3013010394962768,
)
_NEAR_BELOW = (
    1.0,
    33.5617141647503099647,
    521.357949780152679795,
    4594.32382970980127987,
    22629.0000613890934246,
    49267.3942608635921086,
)
_FAR = (
    2.46196981473530512524e-10, 0.564189564831068821977, 7.46321056442269912687, 48.6371970985681366614,
    196.520832956077098242, 526.445194995477358631, 934.528527171957607540, 1027.55188689515710272,
    557.535335369399327526,
)  # fmt: skip
_FAR_BELOW = (
    1.0, 13.2281951154744992508, 86.7072140885989742329, 354.937778887819891062, 975.708501743205489753,
    1823.90916687909736289, 2246.33760818710981792, 1656.66309194161350182, 557.535340817727675546,
)  # fmt: skip


def _polynomial(x: Array, factors: tuple[float, ...]) -> Array:
    result = nd.add(nd.multiply(x, factors[0]), factors[1])
    for factor in factors[2:]:
        result = nd.add(nd.multiply(result, x), factor)
    return result


def error_function(x: Array) -> Array:
    """Return 2/sqrt(pi) times the integral of e^(-t^2) from 0 to x."""
    size = nd.absolute(x)
    near, far = nd.minimum(size, 1.0), nd.maximum(nd.minimum(size, 6.0), 1.0)  # erfc(6) is below the last digit of 1
    squared = nd.square(near)
    inside = nd.multiply(near, nd.divide(_polynomial(squared, _NEAR), _polynomial(squared, _NEAR_BELOW)))
    tail = nd.divide(_polynomial(far, _FAR), _polynomial(far, _FAR_BELOW))
    outside = nd.subtract(1.0, nd.multiply(nd.exp(nd.multiply(nd.square(far), -1.0)), tail))
    return nd.multiply(nd.sign(x), nd.where(nd.greater(size, 1.0), outside, inside))


erf = of_elements(
    error_function, lambda x, y: nd.multiply(nd.exp(nd.multiply(nd.square(x), -1.0)), 2.0 / math.sqrt(math.pi))
)
