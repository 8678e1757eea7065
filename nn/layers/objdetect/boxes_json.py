"""Bounding boxes in Deeplearning4j's JSON, of every release."""

from __future__ import annotations

from array import array
from typing import Any

import nd
from nd.serde import array_from_json, array_to_json

from .boxes import Priors


def boxes_to_json(boxes: Priors) -> dict[str, Any]:
    """Return ``[B, 2]`` in ND4J's text form: FLOAT where that keeps all numbers, else DOUBLE."""
    flat = [size for box in boxes for size in box]
    dtype = "float32" if array("f", flat).tolist() == flat else "float64"
    return array_to_json(nd.create([list(box) for box in boxes], dtype))


def boxes_from_json(data: object) -> Priors:
    """Read bounding boxes; raise FormatError where they are no array ``[B, 2]``.

    Notes
    -----
    Releases before 1.0.0-beta3 wrote an object with "dataBuffer". Source: DL4J ``BoundingBoxesDeserializer``.
    """
    is_old = isinstance(data, dict) and "dataBuffer" in data
    rows = _of_old_form(data) if is_old else array_from_json(data).tolist()  # type: ignore[arg-type]
    if not isinstance(rows, list) or any(not isinstance(row, list) or len(row) != 2 for row in rows):
        raise nd.FormatError(f"configuration: boundingBoxes must be an array [B, 2], got {str(data)[:200]}.")
    return tuple((float(width), float(height)) for width, height in rows)


def _of_old_form(data: dict[str, Any]) -> list[list[float]]:
    """Return the elements of a buffer that strides and an offset lead to."""
    try:
        (rows, columns), (down, along) = data["shapeField"], data["strideField"]
        numbers, first = data["dataBuffer"], data.get("offsetField", 0)
        return [
            [float(numbers[first + row * down + column * along]) for column in range(columns)] for row in range(rows)
        ]
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise nd.FormatError(
            f"configuration: boundingBoxes must have a dataBuffer, shapeField and strideField of an array [B, 2], got "
            f"{str(data)[:200]}."
        ) from error
