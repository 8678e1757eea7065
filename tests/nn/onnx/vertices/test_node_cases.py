"""ONNX's own node cases, each as a graph of that node; and the page that counts them."""

import re
import warnings
from collections import Counter

import numpy as np
import pytest

import nd
from nn import ComputationGraph, NeuralNetConfiguration
from nn.onnx.vertices import OPERATORS, OnnxVertex
from tests.cases.onnx_node_cases import DECLINED_KINDS, ROUNDED_IN_BETWEEN, declined_operators
from tests.source_files import ROOT

onnx = pytest.importorskip("onnx")
from tests.onnx_several_nodes import Assembly, Unsaid, attributes_of  # noqa: E402

PAGE = ROOT / "docs" / "onnx_operators.md"
REASONS = {word: reason for reason, word in DECLINED_KINDS.items()}
FLOAT16, LAST_KIND = 10, 13  # TensorProto's numbers: float16, uint64


def node_cases():
    """Return all node cases."""
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return collect_testcases(None)


def as_array(given):
    """Return a tensor or a NumPy array as the latter; anything else as it is."""
    if isinstance(given, onnx.TensorProto):
        return onnx.numpy_helper.to_array(given)
    return np.asarray(given) if isinstance(given, (np.ndarray, np.generic)) else given


def is_of_numbers(given):
    return isinstance(given, np.ndarray) and given.dtype.kind in "fiub"


def fed(model, given):
    """Return the inputs of a node that are no constants in files; of several nodes those of real numbers."""
    (node, *others), arrays = model.graph.node, dict(zip([one.name for one in model.graph.input], given, strict=True))
    if others:
        return [one for one in given if one.dtype.kind == "f"]
    named = [(position, name) for position, name in enumerate(node.input) if name in arrays]
    return [arrays[name] for position, name in named if not is_constant(node, position, arrays[name])]


def reason_to_decline(case, given, expected):
    """Return why a case is declined, None where it has to pass."""
    nodes, name = case.model.graph.node, case.name
    op, arrays = nodes[0].op_type, [one for one in (*given, *expected) if one is not None]
    to = next((one.i for one in nodes[0].attribute if one.name == "to"), 0) if op == "Cast" else 0
    training = op in ("BatchNormalization", "Dropout") and "training" in name
    numbers = all(map(is_of_numbers, arrays)) and (len(nodes) > 1 or op in OPERATORS)
    found = {
        "domain": nodes[0].domain not in ("", "ai.onnx"),
        "operator": len(nodes) == 1 and op not in OPERATORS,
        "kinds": not all(map(is_of_numbers, arrays)) or to > LAST_KIND,
        "empty": numbers and any(one.size == 0 for one in fed(case.model, given)),
        "half": name in ROUNDED_IN_BETWEEN or to == FLOAT16,
        "training": training,
        "corners": name == "test_roialign_mode_max",
        "quotients": op == "Div" and all(one.dtype.kind in "iu" for one in given),
    }
    kind = next((kind for kind, true in found.items() if true), None)
    return declined_operators().get(op) if kind == "operator" else REASONS.get(kind)


def is_constant(node, position, array):
    """Tell whether an input is one that files have as a constant."""
    if position in OPERATORS[node.op_type].constants:
        return True
    reductions = [one.s for one in node.attribute if one.name == "reduction"]
    in_turns = node.op_type.startswith("Scatter") and position == 1 and reductions not in ([], [b"none"], [b"add"])
    return in_turns or (node.op_type == "Attention" and position == 3 and array.dtype == bool)


def graph_of(node, opset, constants, feeds, number):
    """Return a graph of that node; of its inputs two axes of length 1 are taken off before."""
    count = len([name for name in node.output if name])
    vertex = OnnxVertex(node.op_type, attributes_of(node), constants, opset, number, count)
    nodes = {f"bare{at}": (OnnxVertex("Squeeze", constants={1: [0, 1]}), f"x{at}") for at in range(feeds)}
    nodes["node"] = (vertex, *nodes)
    conf = NeuralNetConfiguration(dtype="float64").graph([f"x{at}" for at in range(feeds)], nodes, ["node"])
    return ComputationGraph(conf).init()


def check(case, given, expected):
    """Run a case; AssertionError where its results are others."""
    arrays = dict(zip([one.name for one in case.model.graph.input], given, strict=True))
    if len(case.model.graph.node) > 1:
        results = Assembly(case.model, arrays).results()
    else:
        results = results_of_node(case, arrays)
    for result, wanted in zip(results, expected, strict=True):
        assert result.shape == wanted.shape
        np.testing.assert_allclose(nd.to_host(result), wanted.astype("float64"), rtol=case.rtol, atol=case.atol)


def results_of_node(case, arrays):
    """Return the outputs of a case of one node."""
    (node,) = case.model.graph.node
    opset = next(one.version for one in case.model.opset_import if one.domain in ("", "ai.onnx"))
    constants, feeds = {}, []
    for position, name in enumerate(node.input):
        if not name or is_constant(node, position, arrays[name]):
            constants[position] = arrays[name] if name else None
        else:
            feeds.append(arrays[name].astype("float64")[None, None])
    numbers = [number for number, name in enumerate(node.output) if name]
    return [graph_of(node, opset, constants, len(feeds), number).output(*feeds)[0] for number in numbers]


def outcome_of(case):
    """Return "passed", "failed", or why a case is declined."""
    for given, expected in case.data_sets:
        inputs, outputs = [as_array(one) for one in given], [as_array(one) for one in expected]
        reason = reason_to_decline(case, inputs, outputs)
        if reason is not None:
            return reason
        try:
            check(case, inputs, outputs)
        except Unsaid as unsaid:
            return REASONS.get(str(unsaid)) or declined_operators()[str(unsaid)]
        except (AssertionError, nd.NdError):
            return f"failed: {case.name}"
    return "passed"


@pytest.mark.slow
def test_every_node_case_passes_or_is_declined_with_a_reason():
    with np.errstate(all="ignore"):  # some cases are about infinities and what is no number
        outcomes = Counter(map(outcome_of, node_cases()))
    assert not [outcome for outcome in outcomes if outcome.startswith("failed")]
    (version,) = re.findall(r"onnx ([\d.]+):", PAGE.read_text())
    if version == onnx.__version__:
        assert counts_of_page() == {**outcomes, "failed": 0}


def counts_of_page():
    """Return the page's table of outcomes."""
    rows = re.findall(r"^\| ([^|`]+) \| (\d+) \|$", PAGE.read_text(), re.MULTILINE)
    return {name: int(count) for name, count in rows}


def test_the_page_on_files_has_the_same_counts():
    counts = counts_of_page()
    passed, failed = counts.pop("passed"), counts.pop("failed")
    text = " ".join((PAGE.parent / "onnx.md").read_text().split())
    assert f"{passed} pass, {sum(counts.values())} are declined with a reason, and {failed} fail." in text


def test_the_page_lists_every_operator():
    text = PAGE.read_text()
    rows = re.findall(r"^\| `(\w+)` \| ([\d, ]*) \| (yes|zeros) \|$", text, re.MULTILINE)
    expected = [
        (op, ", ".join(map(str, operator.constants)), "yes" if operator.differentiable else "zeros")
        for op, operator in OPERATORS.items()
    ]
    assert rows == expected
    assert f"{len(OPERATORS)} operators" in text


def test_the_page_lists_every_operator_that_is_declined():
    rows = re.findall(r"^\| ([^|`]+) \| ((?:`\w+`,? ?)+) \|$", PAGE.read_text(), re.MULTILINE)
    declined = {op: reason for reason, ops in rows for op in re.findall(r"`(\w+)`", ops)}
    assert declined == declined_operators()


def test_every_operator_of_onnx_is_claimed_or_declined():
    known = {schema.name for schema in onnx.defs.get_all_schemas() if not schema.domain}
    assert known - {*OPERATORS, *declined_operators()} == set()
    assert not set(OPERATORS) & set(declined_operators())
