"""docs/keras_layers.md lists every layer of Keras: those that a converter reads, and those that are refused."""

import re

import nn
from nn.keras.into.recognition import CONVERTERS
from tests.source_files import ROOT

PAGE = ROOT / "docs" / "keras_layers.md"
ROW = re.compile(r"^\| (`\w+`[^|]*)\|(.*)$", re.MULTILINE)
NAME = re.compile(r"`(\w+)`")
ALIASES = (
    "Convolution",
    "MaxPool1D",
    "MaxPool2D",
    "MaxPool3D",
    "AvgPool",
    "GlobalAvgPool",
    "GlobalMaxPool1D",
    "GlobalMaxPool2D",
    "GlobalMaxPool3D",
    "SeparableConvolution",
)


def section(title):
    """Return the text of a section, without its heading."""
    return PAGE.read_text().partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def classes(text):
    """Return the classes that the first cells of tables name."""
    return [name for cell, _ in ROW.findall(text) for name in NAME.findall(cell)]


def said():
    return classes(PAGE.read_text().partition("\n## Refused\n")[0])


def test_the_page_has_every_class_that_is_read():
    assert sorted(said()) == sorted(name for name in CONVERTERS if not name.startswith("keras.ops."))


def test_no_class_stands_twice():
    names = [*said(), *classes(section("Refused"))]
    assert len(names) == len(set(names)) > 100


def test_layers_that_it_names_are_there():
    layers = [
        name
        for _, cells in ROW.findall(PAGE.read_text().partition("\n## Refused\n")[0])
        for name in NAME.findall(cells.partition("|")[0])
    ]
    ours = {name for name in layers if name[:1].isupper()} - {*classes(PAGE.read_text()), "OnnxVertex"}
    assert [name for name in sorted(ours) if not hasattr(nn, name)] == []


def test_the_page_has_every_class_of_keras(keras):
    found = {name for name, of in vars(keras.layers).items() if isinstance(of, type) and issubclass(of, keras.Layer)}
    theirs = {name for name in found if not name.startswith(ALIASES)}
    assert theirs - {*said(), *classes(section("Refused"))} == set()
