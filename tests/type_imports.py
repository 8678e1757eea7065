"""What type checkers read of the tables of classes: imports that are written from the tables' lines.

Type checkers follow imports and no tables. `python -m tests.type_imports` writes them below ``if TYPE_CHECKING:`` of
every package with a table, and the stub of nn.dl4j, as ``make format`` does, so that a new part takes one line.
"""

import ast
import importlib
import re

from tests.source_files import ROOT, parse

PACKAGES = (
    "nd.activations", "nd.dataset", "nd.dataset.normalizers", "nd.losses", "nd.ops", "nn", "nn.layers", "nn.vertices",
    "optimize", "optimize.updaters",
)  # fmt: skip
"""Packages with a table of names or of classes, and those that have all its names too."""
LONGEST = 120
BLOCK = re.compile(r"(?<=^if TYPE_CHECKING:\n)(?: {4}.*\n)+", re.MULTILINE)


def path_of(package):
    return ROOT / package.replace(".", "/") / "__init__.py"


def names_on_demand_of(package):
    """Return module -> names with spaces between them, as a package gives them to `names_on_demand`, and its modules.

    A table with a name may be computed: it is what it is when the package is imported.
    """
    calls = (node for node in ast.walk(parse(path_of(package).read_text())) if isinstance(node, ast.Call))
    call = next(node for node in calls if getattr(node.func, "id", "") == "names_on_demand")
    names = call.args[1]
    table = vars(importlib.import_module(package))[names.id] if isinstance(names, ast.Name) else ast.literal_eval(names)
    return table, "".join(ast.literal_eval(keyword.value) for keyword in call.keywords)


def in_order(name):
    """Constants come first, then classes, as ruff sorts them."""
    return not name.isupper(), name[0].islower(), name.lower()


def imports_of(package):
    """Return the imports of all names of a package, a line for each."""
    return "".join(
        line(f"    from .{module} import ", names)
        for module, of_module in names_on_demand_of(package)[0].items()
        for names in imported(f"{package}.{module}", of_module.split())
    )


def line(start, names):
    """Return an import as ruff formats it: over several lines where it is long."""
    return f"{start}{names}\n" if len(start + names) <= LONGEST else f"{start}(\n        {names},\n    )\n"


def imported(module, names):
    """Yield the names as an import has them, and a star for all of a package with a table."""
    if module in PACKAGES and names == importlib.import_module(module).__all__:
        yield "*  # noqa: F403"
    else:
        yield from (f"{name} as {name}" for name in sorted(names, key=in_order))


def write(package):
    path = path_of(package)
    path.write_text(BLOCK.sub(lambda _: imports_of(package), path.read_text(), count=1))


if __name__ == "__main__":
    for each in PACKAGES:
        write(each)
    from tests import dl4j_stubs  # which reads what there is now

    dl4j_stubs.write()
