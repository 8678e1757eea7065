"""Models of Deeplearning4j's zoo as Java built them: settings, configurations, numbers of parameters, outputs."""

import json
import lzma
import pathlib

import numpy as np

from nd.java_names import snake_case
from nn import zoo
from optimize import Adam, Sgd

_FILE = pathlib.Path(__file__).parent.parent.parent / "cases" / "java_zoo.json.xz"
_UNUSED = ("cacheMode", "cudnnAlgoMode", "workspaceMode")


def results():
    """Return what `tests/java` wrote, a dict for every model and settings."""
    return json.loads(lzma.decompress(_FILE.read_bytes()))


RESULTS = results()
BUILT = [each for each in RESULTS if "conf" in each]
"""All but those that Java fails to build."""


def label(each):
    """Return the model and its settings, for the ids of tests."""
    said = [f"{name}={value}" for name, value in each["settings"].items() if not isinstance(value, (dict, list))]
    return "-".join((each["model"], *said))


def model_of(each):
    """Return our model with Java's settings, by Python's names."""
    settings = {
        snake_case(name): _value(name, value) for name, value in each["settings"].items() if name not in _UNUSED
    }
    unused = {name: value for name, value in each["settings"].items() if name in _UNUSED}
    return getattr(zoo, each["model"])(**settings, **({"unused": unused} if unused else {}))


def _value(name, value):
    if name == "updater":
        rates = {key: number for key, number in value.items() if key != "@class"}
        kind = Adam if value["@class"].endswith("Adam") else Sgd
        return kind(**{snake_case(key): number for key, number in rates.items()})
    return value.lower() if name in ("weightInit", "transferFunction") else value


def example(each):
    """Return the features that Java computed an output of: numbers from -1 to 1, again and again."""
    shape = each["input"]
    return ((np.arange(np.prod(shape)) % 17 - 8) / 8).astype(np.float32).reshape(shape)
