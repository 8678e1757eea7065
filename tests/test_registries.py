"""Tables of classes are literal, sorted and complete, and enumerations name what they list."""

import ast

import pytest

from tests.cases.architecture import REGISTRIES
from tests.cells import every_row
from tests.source_files import FUNCTIONS, ROOT, last_name, library, parse


def defined(texts, root):
    """Return what a registry may list and what it must: the root's descendants, and the public leaves among them."""
    nodes = [node for text in texts for node in parse(text).body]
    functions = {n.name for n in nodes if isinstance(n, FUNCTIONS) and n.name.endswith(root)}
    bases = {node.name: {last_name(base) for base in node.bases} for node in nodes if isinstance(node, ast.ClassDef)}
    for node in nodes:
        if isinstance(node, ast.ClassDef) and root in {f"def {getattr(member, 'name', '')}" for member in node.body}:
            bases[node.name].add(root)
    found = {root}
    while more := {name for name, of_class in bases.items() if of_class & found} - found:
        found |= more
    inner = {base for name in found - {root} for base in bases[name]}
    return found - {root} | functions, {name for name in found - inner if name[0] != "_" and name != root} | functions


def registry_faults(name, text, texts, root):
    """Yield what is wrong with the table `name` in `text`."""
    assigned = [node for node in parse(text).body if isinstance(node, (ast.Assign, ast.AnnAssign))]
    values = {last_name(getattr(node, "target", None) or node.targets[0]): node.value for node in assigned}
    table = values.get(name)
    if isinstance(table, ast.Call) and last_name(table.func) == "ClassTable":
        table = table.args[1]
        table = values[table.id] if isinstance(table, ast.Name) else table
    if not isinstance(table, ast.Dict) or not all(isinstance(key, ast.Constant) for key in table.keys):
        yield f"{name}: no literal dict"
        return
    keys = [key.value for key in table.keys]
    if keys != sorted(set(keys)):
        yield f"{name}: not sorted"
    may, must = defined(texts, root)
    listed = {
        value.value.split(":")[-1] if isinstance(value, ast.Constant) else last_name(value) for value in table.values
    }
    yield from (f"{name}: {missing} is missing" for missing in sorted(must - listed))
    yield from (f"{name}: {stranger} is not defined" for stranger in sorted(listed - may))


@pytest.mark.parametrize("name", sorted(REGISTRIES))
def test_registries_list_what_the_files_define(name):
    path, where, root = REGISTRIES[name]
    texts = [text for source, text in library() if source.startswith(where)]
    assert list(registry_faults(name, (ROOT / path).read_text(), texts, root)) == []


@every_row(
    ("table", "fault"),
    [
        ("T = {'a': A, 'b': B}", None),
        ("T: dict = {'a': A, 'b': m.B}", None),
        ("T: C = ClassTable(__name__, {'a': 'A', 'b': 'B'})", None),
        ("T: C = ClassTable(__name__, {'a': 'A'})", "B is missing"),
        ("N = {'a': 'A', 'b': 'B'}\nT: C = ClassTable(__name__, N)", None),
        ("N = {'a': 'A'}\nT: C = ClassTable(__name__, N)", "B is missing"),
        ("T = dict(a=A, b=B)", "no literal dict"),
        ("T = {**U, 'a': A, 'b': B}", "no literal dict"),
        ("T = {'b': B, 'a': A}", "not sorted"),
        ("T = {'a': A}", "B is missing"),
        ("T = {'a': A, 'b': B, 'c': C}", "C is not defined"),
    ],
)
def test_registry_faults_are_found(table, fault):
    texts = ["class Root: pass\nclass _Mid(Root): pass\nclass A(_Mid): pass\nclass B(Root): pass\nclass D: pass"]
    assert list(registry_faults("T", table, texts, "Root")) == ([f"T: {fault}"] if fault else [])


def test_enums_name_what_the_registries_list():
    from nd.activations import ACTIVATIONS
    from nd.arrays.convolution import CONVOLUTION_MODES
    from nd.losses import LOSSES
    from nn.terms import enums
    from nn.terms.weights import WEIGHT_INITS
    from optimize.solvers import OPTIMIZERS
    from optimize.updaters import UPDATERS

    assert set(enums.Activation) == set(ACTIVATIONS)
    assert set(enums.ConvolutionMode) == set(CONVOLUTION_MODES)
    assert set(enums.LossFunction) == set(LOSSES)
    assert set(enums.OptimizationAlgorithm) == set(OPTIMIZERS)
    assert set(enums.Updater) == set(UPDATERS)
    assert set(enums.WeightInit) == set(WEIGHT_INITS)
