"""What type checkers read of nn.dl4j is what there is."""

import ast

import nn.dl4j
from nn.dl4j.names import NAMES
from optimize.builder import Builder
from tests.dl4j_stubs import PATH, stub
from tests.dl4j_stubs.builders import settings_of


def test_the_stub_is_that_of_the_table():
    assert PATH.read_text() == stub(), "`make format`, or `python -m tests.dl4j_stubs`, writes it"


def test_it_has_every_name_of_the_package_and_of_the_table():
    tree = ast.parse(PATH.read_text())
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    bound = {
        *classes,
        *(ast.unparse(one) for node in tree.body if isinstance(node, ast.Assign) for one in node.targets),
    }
    bound |= {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    bound |= {ast.unparse(node.target) for node in tree.body if isinstance(node, ast.AnnAssign)}
    bound |= {alias.asname for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert set(nn.dl4j.__all__) <= bound
    network = {node.name for node in ast.walk(classes["MultiLayerNetwork"]) if isinstance(node, ast.FunctionDef)}
    given = {word.partition("=")[0] for word in NAMES["nn.networks.multilayer"]["MultiLayerNetwork"].split()}
    assert given <= network


def test_a_builder_takes_the_settings_that_the_stub_names():
    for kind in (nn.DenseLayer, nn.ConvolutionLayer, nn.LSTM, nn.NeuralNetConfiguration, nn.GlobalPoolingLayer):
        builder, settings = Builder(kind), settings_of(kind)
        assert len(settings) > 20
        assert all(callable(getattr(builder, setting)) for setting in settings)
