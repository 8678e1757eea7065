"""docs/architecture.md: its links lead to what they name, and a step goes through those functions in that order."""

import ast
import functools
import pathlib
import re
import sys

import numpy as np

import nd
from nd.dataset import DataSet
from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from optimize import MaxNormConstraint, Nesterovs
from tests.cells import every_row

ROOT = pathlib.Path(nd.__file__).parent.parent
PAGE = ROOT / "docs" / "architecture.md"
LINK = re.compile(r"\[`([\w.]+)`\]\(\.\./([\w/]+\.py)\)")
NOT_OF_EVERY_STEP = {"Training.run", "plan_work"}  # of fit alone; of the first step of a shape


def named_in(text):
    return LINK.findall(text)


@functools.cache
def defined_in(path):
    """Return the classes, functions and methods of a module, as ``Class.method``."""
    names = set()
    for node in ast.parse((ROOT / path).read_text()).body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            names |= {f"{node.name}.{each.name}" for each in node.body if isinstance(each, ast.FunctionDef)}
            names |= {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
    return names


def test_the_page_names_functions():
    assert len(named_in(PAGE.read_text())) >= 25


@every_row(("name", "path"), sorted(set(named_in(PAGE.read_text()))))
def test_links_lead_to_what_they_name(name, path):
    assert (ROOT / path).is_file()
    assert name in defined_in(path)


def calls_of(run):
    """Return the qualified names of the functions that a call goes through, in the order of their first calls."""
    names = {}

    def hear(frame, event, argument):
        if event == "call":
            path = pathlib.Path(frame.f_code.co_filename)
            if path.is_absolute() and path.is_relative_to(ROOT):
                names.setdefault((frame.f_code.co_qualname, path.relative_to(ROOT).as_posix()))

    sys.setprofile(hear)
    try:
        run()
    finally:
        sys.setprofile(None)
    return list(names)


def test_a_step_goes_through_them_in_that_order():
    section = PAGE.read_text().partition("## One step")[2].partition("\n## ")[0]
    conf = NeuralNetConfiguration(seed=1, updater=Nesterovs(0.1, momentum=0.9)).list(
        DenseLayer(n_in=6, n_out=5, activation="tanh", constrain_weights=MaxNormConstraint(2.0)),
        OutputLayer(n_out=3, activation="softmax"),
    )
    with nd.use_backend("numpy"):
        net = MultiLayerNetwork(conf).init()
    rng = np.random.default_rng(0)
    data = DataSet(rng.normal(size=(8, 6)).astype(np.float32), np.eye(3, dtype=np.float32)[rng.integers(0, 3, 8)])
    with nd.eager():
        net.fit_batch(data)  # what is made once is made
        calls = calls_of(lambda: net.fit_batch(data))
    steps = [
        (name, path)
        for name, path in named_in(section)
        if "." in name and name[0].isupper() and name not in NOT_OF_EVERY_STEP
    ]
    assert len(steps) >= 12
    assert [step for step in steps if step not in calls] == []
    order = [calls.index(step) for step in steps if step[0] != "Engine.carrying"]
    assert order == sorted(order), [step for _, step in sorted(zip(order, steps, strict=False))]
