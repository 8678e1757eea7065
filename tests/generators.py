"""A module's random generators start each of its tests where the import left them.

Otherwise the numbers that a test draws depend on which tests ran before it in the same process, so on the number of
workers and on what was selected.
"""

import copy
import sys
import types

import numpy as np


class ModuleGenerators:
    """Generators at the top of test modules, and the state that each had before the first test."""

    def __init__(self):
        self._states, self._reached = {}, {}

    def remember(self, modules):
        """Note the states; no test may have run yet."""
        for module in modules:
            for generator in self._reach(module):
                self._states.setdefault(id(generator), (generator, copy.deepcopy(generator.bit_generator.state)))

    def restore(self, module):
        """Give the generators that the module's tests draw from, also through functions of other modules, the start."""
        for generator in self._reach(module):
            if id(generator) in self._states:
                generator.bit_generator.state = self._states[id(generator)][1]

    def _reach(self, module):
        if module.__name__ not in self._reached:
            self._reached[module.__name__] = _generators(module, set())
        return self._reached[module.__name__]


def _generators(module, visited):
    """Return the generators of a module and of the test modules that it takes something from."""
    visited.add(module.__name__)
    found = [value for value in vars(module).values() if isinstance(value, np.random.Generator)]
    for value in vars(module).values():
        name = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None)
        if isinstance(name, str) and name.startswith("tests.") and name in sys.modules and name not in visited:
            found += _generators(sys.modules[name], visited)
    return found
