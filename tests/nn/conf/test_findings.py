"""What is not supported: all of it in one error, with paths; and what may be left out where only training needs it."""

import copy
import json
import re
import warnings
import zipfile

import numpy as np
import pytest

import nd
from nn import (
    DenseLayer,
    FrozenLayer,
    ModelFile,
    ModelFileWarning,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
)
from optimize import Sgd

UNKNOWN = {"@class": "com.example.Mine"}
X = np.array([[0.5, -1.0]], np.float32)


def conf():
    return NeuralNetConfiguration(seed=1, updater="adam", drop_out=0.5).list(
        DenseLayer(n_in=2, n_out=3), FrozenLayer(DenseLayer(n_in=3, n_out=3)), OutputLayer(n_in=3, n_out=2)
    )


def document():
    return json.loads(conf().to_json())


def changed(*changes):
    found = document()
    for path, value in changes:
        inner = found
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = copy.deepcopy(value)
    return found


def read(found, strict=True):
    return MultiLayerConfiguration.from_json(json.dumps(found), strict)


FOUR = (
    (("backpropType",), "Sideways"),
    (("confs", 0, "layer", "weightInitFn"), {"@class": "a.WeightInitOther"}),
    (("confs", 1, "layer", "layer", "activationFn"), UNKNOWN),
    (("confs", 2, "layer", "@class"), "a.TFOpLayer"),
)


def test_everything_is_listed_with_its_path():
    with pytest.raises(nd.ConfigurationError, match=r"configuration: 4 things are not supported:\n") as caught:
        read(changed(*FOUR))
    lines = str(caught.value).splitlines()[1:]
    assert [line.strip().partition(": ")[0] for line in lines] == [
        "backpropType", "confs[0].layer.weightInitFn", "confs[1].layer.layer.activationFn", "confs[2].layer",
    ]  # fmt: skip
    assert "weightInitFn: unknown class 'WeightInitOther'" in lines[1]
    assert "unknown class 'Mine'" in lines[2]
    assert "TFOpLayer runs a graph of TensorFlow's" in lines[3]


@pytest.mark.parametrize("change", FOUR)
def test_one_thing_has_its_own_error(change):
    path = re.escape("".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in change[0])[1:])
    with pytest.raises((nd.ConfigurationError, nd.ChoiceError), match=rf"^{path.removesuffix('.@class')}: "):
        read(changed(change))


def test_a_model_file_lists_the_same(tmp_path):
    net = MultiLayerNetwork(conf()).init()
    net.save(tmp_path / "net.zip")
    rewrite(tmp_path / "net.zip", changed(FOUR[0], FOUR[2]))
    model = ModelFile.read(tmp_path / "net.zip")
    assert [path for path, _ in model.unsupported] == ["backpropType", "confs[1].layer.layer.activationFn"]


def rewrite(path, found):
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in {**entries, "configuration.json": json.dumps(found)}.items():
            archive.writestr(name, content)


def test_what_is_malformed_is_no_finding():
    with pytest.raises(nd.FormatError, match="expected a number, got 'x'"):
        read(changed(*FOUR, (("confs", 0, "layer", "biasInit"), "x")))


# ---- strict=False

ONLY_TRAINING = {
    "a kind of backprop": (("backpropType",), "Sideways"),
    "a bias updater": (("confs", 0, "layer", "biasUpdater"), UNKNOWN),
    "a constraint": (("confs", 0, "layer", "constraints"), [UNKNOWN]),
    "a dropout": (("confs", 0, "layer", "idropout"), UNKNOWN),
    "a dropout inside": (("confs", 1, "layer", "layer", "idropout"), UNKNOWN),
    "an initialisation": (("confs", 0, "layer", "weightInitFn"), UNKNOWN),
    "a normalisation": (("confs", 0, "layer", "gradientNormalization"), "Fancy"),
    "an optimizer": (("confs", 0, "optimizationAlgo"), "HESSIAN_FREE"),
    "a penalty": (("confs", 0, "layer", "regularization"), [UNKNOWN]),
    "a schedule": (("confs", 0, "layer", "iupdater", "learningRateSchedule"), UNKNOWN),
    "a step function": (("confs", 2, "stepFunction"), UNKNOWN),
    "an updater": (("confs", 0, "layer", "iupdater"), UNKNOWN),
    "a weight noise": (("confs", 0, "layer", "weightNoise"), UNKNOWN),
}


@pytest.mark.parametrize("name", ONLY_TRAINING)
def test_what_only_training_needs_can_be_left_out(name, tmp_path):
    found = changed(ONLY_TRAINING[name])
    with pytest.raises((nd.ConfigurationError, nd.ChoiceError), match=r"Mine|Fancy|hessian|Sideways"):
        read(found)
    path = ONLY_TRAINING[name][0]
    text = re.escape(
        "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path)[1:].removesuffix(
            ".learningRateSchedule"
        )
    )
    net = MultiLayerNetwork(conf()).init()
    net.save(tmp_path / "net.zip")
    expected = nd.to_host(net.output(X))
    rewrite(tmp_path / "net.zip", found)
    with pytest.warns(ModelFileWarning, match=rf"left out, which training would need: {text}"):
        again = MultiLayerNetwork.load(tmp_path / "net.zip", load_updater=False, strict=False)
    np.testing.assert_array_equal(nd.to_host(again.output(X)), expected)


def test_several_are_left_out_in_one_warning():
    found = changed(*ONLY_TRAINING.values())
    with pytest.warns(ModelFileWarning, match="Mine") as warned:
        left = read(found, strict=False)
    assert len(warned) == 1
    assert (left.layers[0].drop_out, left.layers[0].constraints, left.layers[0].updater) == (None, None, Sgd())
    assert left.layers[2].drop_out == conf().layers[2].drop_out


CHANGES_PREDICTIONS = {
    "an activation": (("confs", 0, "layer", "activationFn"), UNKNOWN),
    "a layer": (("confs", 0, "layer", "@class"), "a.Mine"),
    "a loss": (("confs", 2, "layer", "lossFn"), UNKNOWN),
    "a preprocessor": (("inputPreProcessors",), {"1": UNKNOWN}),
    "a type of numbers": (("dataType",), "UTF8"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES_PREDICTIONS)
def test_what_predictions_depend_on_is_always_refused(name):
    with pytest.raises((nd.ConfigurationError, nd.ChoiceError), match=r"Mine|UTF8"):
        read(changed(CHANGES_PREDICTIONS[name]), strict=False)
    both = changed(ONLY_TRAINING["a step function"], CHANGES_PREDICTIONS[name])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(nd.ConfigurationError, match="2 things are not supported"):
            read(both, strict=False)


def test_strictness_is_no_matter_where_all_is_supported():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read(document(), strict=False).layers == read(document()).layers


def test_a_state_that_no_longer_fits_is_left_out(tmp_path):
    net = MultiLayerNetwork(conf()).init()
    net.fit(X, [[0.0, 1.0]])
    net.save(tmp_path / "net.zip")
    rewrite(tmp_path / "net.zip", changed(ONLY_TRAINING["an updater"]))
    with pytest.warns(ModelFileWarning, match=r"iupdater|the updater's state is left out") as warned:
        again = MultiLayerNetwork.load(tmp_path / "net.zip", strict=False)
    assert len(warned) == 2
    assert not nd.to_host(again.updater_state()).any()
