"""The names that Deeplearning4j has for methods and fields of the library's classes: module -> class -> words.

A word is Java's name of a method that has the same name in snake_case here: ``numParams``. After "=" another meaning:

- a method: ``scoreForMetric=get_value``;
- a field, to be read or set: ``getLabels=labels``, ``setLabels=labels``;
- a field that Java has as one, behind another "=": ``initDone==init_done``;
- the argument whose default a constant is: ``DEFAULT_ADAM_EPSILON=epsilon``;
- a function of nn.dl4j, which exists for Java's sake only: ``module:function``.

Subclasses have the names of their bases. ``toString``, ``equals`` and ``hashCode`` are given to all.
"""

from __future__ import annotations

from .data import DATA
from .evaluation import EVALUATION
from .layers import LAYERS
from .networks import NETWORKS
from .parts import PARTS
from .training import TRAINING

NAMES = {**DATA, **EVALUATION, **LAYERS, **NETWORKS, **PARTS, **TRAINING}
