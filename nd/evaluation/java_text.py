"""Numbers as Java's String.format and Double.toString print them."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Context, Decimal

from nd.java_names import non_finite

_EXACT = Context(prec=500, rounding=ROUND_HALF_UP)  # more than the digits of a double and those asked for behind it


def fixed(value: float, digits: int) -> str:
    """Return the text that ``%.{digits}f`` prints in Java: the shortest decimal of the number, rounded half up.

    Examples
    --------
    >>> fixed(0.88125, 4)  # C rounds the binary number, which is a little less: 0.8812
    '0.8813'
    """
    if not math.isfinite(value):
        return non_finite(value)
    return f"{Decimal(repr(float(value))).quantize(Decimal(1).scaleb(-digits), context=_EXACT):f}"


def scientific(value: float, digits: int) -> str:
    """Return the text that ``%.{digits}e`` prints in Java.

    Examples
    --------
    >>> scientific(1234.5, 3), scientific(0.0, 2)
    ('1.235e+03', '0.00e+00')
    """
    if not math.isfinite(value):
        return non_finite(value)
    shortest = Decimal(repr(float(value)))
    exponent = shortest.adjusted() if shortest else 0
    mantissa = shortest.scaleb(-exponent).quantize(Decimal(1).scaleb(-digits), context=_EXACT)
    if abs(mantissa) >= 10:
        mantissa, exponent = (mantissa / 10).quantize(Decimal(1).scaleb(-digits), context=_EXACT), exponent + 1
    return f"{mantissa:f}e{exponent:+03d}"


def shortest(value: float) -> str:
    """Return the text that Double.toString prints.

    Examples
    --------
    >>> shortest(0.125), shortest(1e-4), shortest(12345678.0), shortest(100.0)
    ('0.125', '1.0E-4', '1.2345678E7', '100.0')
    """
    if not math.isfinite(value):
        return non_finite(value)
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return f"{Decimal(repr(float(value))):f}"
    sign, digits, _ = Decimal(repr(float(value))).as_tuple()
    places = "".join(map(str, digits)).rstrip("0") or "0"
    exponent = Decimal(repr(float(value))).adjusted()
    return f"{'-' if sign else ''}{places[0]}.{places[1:] or '0'}E{exponent}"
