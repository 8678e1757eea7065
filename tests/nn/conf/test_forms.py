"""What layers say of their form in files: names that there are, and nothing left out."""

from dataclasses import dataclass, fields
from typing import ClassVar

from nn import DenseLayer
from nn.files.forms import CODECS, LayerForm, with_codecs
from nn.files.json_values import NUMBER, PLAIN
from nn.layers import LAYERS, BaseLayerConf, LayerConf
from nn.terms.java_form import Codec, JavaForm
from tests.cells import every_row

ELSEWHERE = {field.name for field in fields(BaseLayerConf)} | {"input_format", "unused"}


@every_row("layer_class", LAYERS.values(), ids=list(LAYERS))
def test_a_form_names_fields_and_codecs_that_there_are(layer_class):
    known = {field.name for field in fields(layer_class) if field.init}
    named = {field for field, _ in layer_class.form.fields.values()}
    assert named <= known
    assert known - named <= ELSEWHERE
    assert all(isinstance(how, Codec) or how in CODECS for _, how in layer_class.form.fields.values())
    assert set(layer_class.shape_fields) <= known
    assert not set(layer_class.form.constants) & set(layer_class.form.fields)


def test_codecs_are_sorted():
    assert list(CODECS) == sorted(CODECS)


def test_names_become_codecs_once():
    form = JavaForm({"a": ("x", "number"), "b": ("y", PLAIN)}, {"c": 1}, "misc.")
    assert with_codecs(form) == LayerForm({"a": ("x", NUMBER), "b": ("y", PLAIN)}, {"c": 1}, "misc.")
    assert with_codecs(with_codecs(form)) == with_codecs(form)


def test_more_keeps_what_is_not_said_again():
    form = JavaForm({"a": ("x", "plain")}, {"c": 1}, "misc.", absent={"a": 2})
    more = form.more({"b": ("y", "plain")}, {"c": 3}, package="org.a.")
    assert more == JavaForm({"a": ("x", "plain"), "b": ("y", "plain")}, {"c": 3}, "org.a.", absent={"a": 2})
    assert form.java_class("L") == "org.deeplearning4j.nn.conf.layers.misc.L"
    assert more.java_class("L") == "org.a.L"
    assert LayerConf.form.java_class("L") == "org.deeplearning4j.nn.conf.layers.L"


def test_a_configuration_of_sizes_alone_says_its_parameters():
    @dataclass(frozen=True, kw_only=True)
    class Mine(DenseLayer):
        size: int
        runtime: ClassVar = DenseLayer.runtime

    found = Mine.of_sizes({"n_in": 2, "n_out": 3})
    assert found.param_shapes() == {"W": (2, 3), "b": (1, 3)}
