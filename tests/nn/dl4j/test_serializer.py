"""Objects in model zips: what Java's ModelSerializer put in, and what it reads. The bytes are Java 17's."""

import base64
import contextlib
import zipfile

import numpy as np
import pytest

import nd
from nn.dl4j import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from nn.dl4j.java_input import from_java
from nn.dl4j.java_output import to_java
from nn.dl4j.serializer import ModelSerializer

JAVA = {
    "text": ("rO0ABXQAEGjDpGxsbyDAgCDtoL3tuIA=", "hällo \0 \U0001f600"),
    "int": (
        "rO0ABXNyABFqYXZhLmxhbmcuSW50ZWdlchLioKT3gYc4AgABSQAFdmFsdWV4cgAQamF2YS5sYW5nLk51bWJlcoaslR0LlOCLAgAAeHAAAAAF",
        5,
    ),
    "long": (
        "rO0ABXNyAA5qYXZhLmxhbmcuTG9uZzuL5JDMjyPfAgABSgAFdmFsdWV4cgAQamF2YS5sYW5nLk51bWJlcoaslR0LlOCLAgAAeHAAAAABKgXy"
        "AA==",
        5_000_000_000,
    ),
    "double": (
        "rO0ABXNyABBqYXZhLmxhbmcuRG91YmxlgLPCSilr+wQCAAFEAAV2YWx1ZXhyABBqYXZhLmxhbmcuTnVtYmVyhqyVHQuU4IsCAAB4cD/QAAAA"
        "AAAA",
        0.25,
    ),
    "true": ("rO0ABXNyABFqYXZhLmxhbmcuQm9vbGVhbs0gcoDVnPruAgABWgAFdmFsdWV4cAE=", True),
    "bytes": ("rO0ABXVyAAJbQqzzF/gGCFTgAgAAeHAAAAADAf4D", b"\x01\xfe\x03"),
}
JAVA_ALONE = {
    "float": (
        "rO0ABXNyAA9qYXZhLmxhbmcuRmxvYXTa7cmi2zzw7AIAAUYABXZhbHVleHIAEGphdmEubGFuZy5OdW1iZXKGrJUdC5TgiwIAAHhwPoAAAA==",
        0.25,
    ),
    "char": ("rO0ABXNyABNqYXZhLmxhbmcuQ2hhcmFjdGVyNItH2WsaJngCAAFDAAV2YWx1ZXhwAGM=", "c"),
    "list": (
        "rO0ABXNyABNqYXZhLnV0aWwuQXJyYXlMaXN0eIHSHZnHYZ0DAAFJAARzaXpleHAAAAADdwQAAAADdAABYXQAAWJxAH4AAng=",
        list("aba"),
    ),
    "aslist": (
        "rO0ABXNyABpqYXZhLnV0aWwuQXJyYXlzJEFycmF5TGlzdNmkPL7NiAbSAgABWwABYXQAE1tMamF2YS9sYW5nL09iamVjdDt4cHVyABNbTGph"
        "dmEubGFuZy5TdHJpbmc7rdJW5+kde0cCAAB4cAAAAAJ0AAFhdAABYg==",
        ["a", "b"],
    ),
    "list of": (
        "rO0ABXNyABFqYXZhLnV0aWwuQ29sbFNlcleOq7Y6G6gRAwABSQADdGFneHAAAAABdwQAAAACdAABYXNyABFqYXZhLmxhbmcuSW50ZWdlchLi"
        "oKT3gYc4AgABSQAFdmFsdWV4cgAQamF2YS5sYW5nLk51bWJlcoaslR0LlOCLAgAAeHAAAAACeA==",
        ["a", 2],
    ),
    "linkedmap": (
        "rO0ABXNyABdqYXZhLnV0aWwuTGlua2VkSGFzaE1hcDTATlwQbMD7AgABWgALYWNjZXNzT3JkZXJ4cgARamF2YS51dGlsLkhhc2hNYXAFB9rB"
        "wxZg0QMAAkYACmxvYWRGYWN0b3JJAAl0aHJlc2hvbGR4cD9AAAAAAAABdwgAAAACAAAAAXQAAWtzcgAQamF2YS5sYW5nLkRvdWJsZYCzwkop"
        "a/sEAgABRAAFdmFsdWV4cgAQamF2YS5sYW5nLk51bWJlcoaslR0LlOCLAgAAeHA/+AAAAAAAAHgA",
        {"k": 1.5},
    ),
    "nested": (
        "rO0ABXNyABFqYXZhLnV0aWwuSGFzaE1hcAUH2sHDFmDRAwACRgAKbG9hZEZhY3RvckkACXRocmVzaG9sZHhwP0AAAAAAAAx3CAAAABAAAAAD"
        "dAAFYWdhaW50AAFudAAEbmFtZXEAfgADdAAEbGlzdHNyABNqYXZhLnV0aWwuQXJyYXlMaXN0eIHSHZnHYZ0DAAFJAARzaXpleHAAAAAFdwQA"
        "AAAFc3IAEGphdmEubGFuZy5Eb3VibGWAs8JKKWv7BAIAAUQABXZhbHVleHIAEGphdmEubGFuZy5OdW1iZXKGrJUdC5TgiwIAAHhwP/gAAAAA"
        "AABwc3IAEWphdmEubGFuZy5Cb29sZWFuzSBygNWc+u4CAAFaAAV2YWx1ZXhwAXNyABFqYXZhLmxhbmcuSW50ZWdlchLioKT3gYc4AgABSQAF"
        "dmFsdWV4cQB+AAkAAAAHc3EAfgANAAAACHh4",
        {"again": "n", "name": "n", "list": [1.5, None, True, 7, 8]},
    ),
    "doubles": ("rO0ABXVyAAJbRD6mjBSrY1oeAgAAeHAAAAACP/AAAAAAAABAAAAAAAAAAA==", [1.0, 2.0]),
    "strings": ("rO0ABXVyABNbTGphdmEubGFuZy5TdHJpbmc7rdJW5+kde0cCAAB4cAAAAAJ0AAFhcA==", ["a", None]),
    "two axes": (
        "rO0ABXVyAANbW0THrQv/ZGf/RQIAAHhwAAAAAnVyAAJbRD6mjBSrY1oeAgAAeHAAAAABP/AAAAAAAAB1cQB+AAIAAAACQAAAAAAAAABACAAA"
        "AAAAAA==",
        [[1.0], [2.0, 3.0]],
    ),
    "treemap": (
        "rO0ABXNyABFqYXZhLnV0aWwuVHJlZU1hcAzB9j4tJWrmAwABTAAKY29tcGFyYXRvcnQAFkxqYXZhL3V0aWwvQ29tcGFyYXRvcjt4cHB3BAAA"
        "AAF0AAFrc3IAEWphdmEubGFuZy5JbnRlZ2VyEuKgpPeBhzgCAAFJAAV2YWx1ZXhyABBqYXZhLmxhbmcuTnVtYmVyhqyVHQuU4IsCAAB4cAAA"
        "AAF4",
        {"k": 1},
    ),
}
DATE = "rO0ABXNyAA5qYXZhLnV0aWwuRGF0ZWhqgQFLWXQZAwAAeHB3CAAAAAAAAAAAeA=="


@pytest.fixture
def model(tmp_path):
    conf = (
        NeuralNetConfiguration.Builder().seed(6).list().layer(DenseLayer.Builder().nIn(2).nOut(2).build())
        .layer(OutputLayer.Builder().nIn(2).nOut(3).build()).build()
    )  # fmt: skip
    net = MultiLayerNetwork(conf)
    net.init()
    ModelSerializer.writeModel(net, tmp_path / "net.zip", True)
    return tmp_path / "net.zip"


def with_java(path, key):
    """Put an object into a zip as Java does."""
    content, value = {**JAVA, **JAVA_ALONE}[key]
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(f"objects/{key}", base64.b64decode(content))
    return value


@pytest.mark.parametrize("key", [*JAVA, *JAVA_ALONE])
def test_what_java_put_in_is_read(model, key):
    value = with_java(model, key)
    assert ModelSerializer.listObjectsInFile(model) == [key]
    found = ModelSerializer.getObjectFromFile(model, key)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize("key", JAVA)
def test_what_is_written_are_javas_bytes(key):
    content, value = JAVA[key]
    assert to_java(value) == base64.b64decode(content)


@pytest.mark.parametrize(
    "value",
    [
        None, "", "ä" * 70_000, -(2**31), 2**31, -(2**63), 2**63 - 1, float("inf"), False, b"", [], {}, ["a", None, 7],
        {"k": [{}, {3: True}], "m": 1.5}, "\ud83d alone",
    ],
)  # fmt: skip
def test_objects_there_and_back(model, value):
    before = MultiLayerNetwork.load(model).params()
    ModelSerializer.addObjectToFile(model, "sub/key", value)
    assert ModelSerializer.listObjectsInFile(model) == ["sub/key"]
    assert ModelSerializer.getObjectFromFile(model, "sub/key") == value
    assert np.array_equal(MultiLayerNetwork.load(model).params(), before)


def test_several_objects_in_their_order_beside_a_normalizer(model):
    normalizer = nd.dataset.NormalizerMinMaxScaler().fit(nd.dataset.DataSet([[1.0, 2.0], [3.0, 5.0]]))
    ModelSerializer.addObjectToFile(model, "labels", ("cat", "dog"))
    ModelSerializer.addNormalizerToModel(model, normalizer)
    ModelSerializer.addObjectToFile(model, "count", 3)
    assert ModelSerializer.listObjectsInFile(model) == ["labels", "count"]
    assert ModelSerializer.getObjectFromFile(model, "labels") == ["cat", "dog"]
    with model.open("rb") as stream:
        for source, restore in ((model, "restoreNormalizerFromFile"), (stream, "restoreNormalizerFromInputStream")):
            assert getattr(ModelSerializer, restore)(source).getMax().tolist() == [3.0, 5.0]


@pytest.mark.parametrize("value", [object(), {1, 2}, 2**63, 1j, [np.ones(2)], {"a": print}, np.float32(1)])
def test_what_java_has_no_class_for_is_refused(model, value):
    before = model.read_bytes()
    with pytest.raises(nd.DTypeError, match="expected a str, bool, int of 64 bits"):
        ModelSerializer.addObjectToFile(model, "key", value)
    assert model.read_bytes() == before


@pytest.mark.parametrize(
    "key",
    [
        "Normalizer.bin", "coefficients.bin", "noParams.marker", "", "folder/", "../up", "a/..", 3, "k" * 70_000,
        "ä" * 33_000, "\ud800",
    ],
)  # fmt: skip
def test_keys_that_cannot_be(model, key):
    for call in (
        lambda: ModelSerializer.addObjectToFile(model, key, 1),
        lambda: ModelSerializer.getObjectFromFile(model, key),
    ):
        with pytest.raises(nd.ConfigurationError, match="key must"):
            call()


def test_a_key_twice_and_one_that_is_not_there(model):
    ModelSerializer.addObjectToFile(model, "updater.bin", "x")
    with pytest.raises(nd.DataError, match=r"must be new, got 'updater.bin'"):
        ModelSerializer.addObjectToFile(model, "updater.bin", "y")
    with pytest.raises(nd.DataError, match=r"one of \['updater.bin'\], got 'nothing'"):
        ModelSerializer.getObjectFromFile(model, "nothing")
    with pytest.raises(FileNotFoundError, match="none"):
        ModelSerializer.listObjectsInFile(model.parent / "none.zip")


def test_objects_of_other_classes_name_them(model):
    with zipfile.ZipFile(model, "a") as archive:
        archive.writestr("objects/date", base64.b64decode(DATE))
    with pytest.raises(nd.FormatError, match=r"'date' of .*class java.util.Date"):
        ModelSerializer.getObjectFromFile(model, "date")


@pytest.mark.parametrize("key", [*JAVA, *JAVA_ALONE])
def test_damaged_objects_are_refused(key):
    content = base64.b64decode({**JAVA, **JAVA_ALONE}[key][0])
    for end in range(len(content)):
        with pytest.raises(nd.FormatError, match="expected"):
            from_java(content[:end])
    for place in range(len(content)):
        for value in (0x00, 0x70, 0x71, 0x73, 0xFF):
            changed = content[:place] + bytes([value]) + content[place + 1 :]
            with contextlib.suppress(nd.FormatError):
                from_java(changed)


def test_lists_within_lists_have_an_end():
    deep = []
    for _ in range(1000):
        deep = [deep]
    with pytest.raises(nd.DTypeError, match="within each other"):
        to_java(deep)
    one = to_java([[]])[4:]
    level = one[: one.index(b"sr", 1)]
    with pytest.raises(nd.FormatError, match="within each other"):
        from_java(b"\xac\xed\x00\x05" + level * 1000)


def test_lists_that_hold_themselves_are_refused():
    itself = b"\xac\xed\x00\x05" + to_java([None])[4:].replace(b"\x70\x78", b"\x71\x00\x7e\x00\x01\x78")
    with pytest.raises(nd.FormatError, match="holds itself"):
        from_java(itself)
