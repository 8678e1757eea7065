"""The bundled sonnets of Shakespeare: a small real text."""

from __future__ import annotations

import gzip


def shakespeare_sonnets() -> str:
    """Return the 154 sonnets of William Shakespeare, which come with the package: 95,728 characters in English.

    Every sonnet has its number in Roman digits before it. See data/SONNETS.md.

    Examples
    --------
    >>> shakespeare_sonnets().splitlines()[8]
    'From fairest creatures we desire increase,'
    """
    from importlib.resources import files  # which imports a dozen modules more

    return gzip.decompress(files("nd.dataset").joinpath("data", "sonnets.txt.gz").read_bytes()).decode("ascii")
