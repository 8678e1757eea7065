"""Size of the processor's second-level cache."""

from __future__ import annotations

import pathlib

USUAL_L2 = 1 << 19
_L2 = pathlib.Path("/sys/devices/system/cpu/cpu0/cache/index2/size")


def l2_cache_bytes(path: pathlib.Path = _L2) -> int:
    """Return the size of a core's second-level cache, as Linux tells it; elsewhere a usual one."""
    try:
        number, unit = path.read_text().strip()[:-1], path.read_text().strip()[-1]
        return int(number) << {"K": 10, "M": 20}[unit]
    except (OSError, ValueError, IndexError, KeyError):
        return USUAL_L2
