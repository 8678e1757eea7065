"""Augmentation: pre-processors of minibatches of pictures, drawn from the network's own generator.

The imports for type checkers are written from the table of names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nd.on_demand import names_on_demand

if TYPE_CHECKING:
    from .base import Augmentation as Augmentation
    from .color import ColorJitter as ColorJitter
    from .color import RandomGrayscale as RandomGrayscale
    from .crop import RandomCrop as RandomCrop
    from .crop import RandomShift as RandomShift
    from .cutout import Cutout as Cutout
    from .flip import RandomFlip as RandomFlip
    from .mix import CutMix as CutMix
    from .mix import Mixup as Mixup
    from .turn import RandomRotation as RandomRotation
    from .turn import RandomZoom as RandomZoom

if not TYPE_CHECKING:
    _NAMES = {
        "base": "Augmentation",
        "color": "ColorJitter RandomGrayscale",
        "crop": "RandomCrop RandomShift",
        "cutout": "Cutout",
        "flip": "RandomFlip",
        "mix": "CutMix Mixup",
        "turn": "RandomRotation RandomZoom",
    }
    __getattr__, __dir__ = names_on_demand(__name__, _NAMES)
    __all__ = sorted(" ".join(_NAMES.values()).split())
