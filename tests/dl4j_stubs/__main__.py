"""Write nn/dl4j/__init__.pyi, as ``make format`` does: python -m tests.dl4j_stubs."""

from . import write

write()
