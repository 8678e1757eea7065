"""DL4J's configuration JSON: Java's own documents, what is refused, and documents that are broken."""

import copy
import dataclasses
import json
import random
import zipfile

import numpy as np
import pytest

import nd
from nn import (
    AlphaDropout,
    ConvolutionLayer,
    DenseLayer,
    DropConnect,
    DropoutLayer,
    GaussianDropout,
    InputType,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    SubsamplingLayer,
    UniformDistribution,
    WeightInit,
    WeightNoise,
)
from nn.terms.distributions import DISTRIBUTIONS
from nn.terms.preprocessors import PREPROCESSORS, CnnToFeedForwardPreProcessor, FeedForwardToCnnPreProcessor
from optimize import (
    Adam,
    MapSchedule,
    MaxNormConstraint,
    MinMaxNormConstraint,
    Nesterovs,
    NonNegativeConstraint,
    Sgd,
    StepSchedule,
)
from tests.cases.java_documents import without_newer_fields
from tests.cells import every_row

MODELS = ("LenetMnist", "MLPMoon")
REPLACEMENTS = (None, "x", "", -1, 0, 1.5, True, False, [], [1], {}, {"@class": "a.b.C"}, [None], float("inf"), [[]])
MISSING = object()


def sample_conf():
    """A configuration with a value of every kind."""
    return NeuralNetConfiguration(seed=5, l2=1e-3, updater=Nesterovs(StepSchedule("iteration", 0.1, 0.5, 10.0))).list(
        ConvolutionLayer(
            n_out=2, kernel_size=3, activation="leakyrelu", l1=1e-4, constrain_all_parameters=MaxNormConstraint(2.0),
            weight_noise=WeightNoise(UniformDistribution(-0.1, 0.1)), drop_out=AlphaDropout(0.9),
        ),
        SubsamplingLayer("avg", kernel_size=(2, 2)),
        DenseLayer(n_out=3, weight_init=UniformDistribution(-1.0, 1.0), drop_out=0.5, updater=Adam(1e-3)),
        DropoutLayer(GaussianDropout(StepSchedule("epoch", 0.2, 0.5, 2.0))),
        OutputLayer(
            n_out=2, activation="softmax", weight_noise=DropConnect(0.9),
            constrain_weights=[MinMaxNormConstraint(0.1, 2.0), NonNegativeConstraint()],
            updater=Sgd(MapSchedule("epoch", {0: 0.1, 2: 0.05})),
        ),
        input_type=InputType.convolutional_flat(6, 6, 1),
    )  # fmt: skip


def sample_document():
    return json.loads(sample_conf().to_json())


def paths_in(document, path=()):
    """Return the path of every value in a document."""
    keys = document if isinstance(document, dict) else range(len(document)) if isinstance(document, list) else ()
    return [found for key in keys for found in ((*path, key), *paths_in(document[key], (*path, key)))]


def changed(document, path, value=MISSING):
    """Return a copy with one value replaced, or left out."""
    document = copy.deepcopy(document)
    parent = document
    for key in path[:-1]:
        parent = parent[key]
    if value is MISSING:
        del parent[path[-1]]
    else:
        parent[path[-1]] = value
    return document


def read(document):
    return MultiLayerConfiguration.from_json(json.dumps(document))


# ---- Java's own


@pytest.mark.parametrize("model", MODELS)
def test_javas_document_of_a_network_is_written_as_it_was_read(model, reference):
    with zipfile.ZipFile(reference / model / "Model_RANDOM_INIT_UNTRAINED.zip") as archive:
        text = archive.read("configuration.json").decode()
    ours, theirs = json.loads(MultiLayerConfiguration.from_json(text).to_json()), json.loads(text)
    assert without_newer_fields(ours) == without_newer_fields(theirs)


@pytest.mark.parametrize("model", MODELS)
def test_javas_document_of_a_configuration_is_written_as_it_was_read(model, reference):
    """Java fills "variables" in when a network is made of it; here they are known at once."""
    text = (reference / model / "config.mlc.json").read_text()
    expected, found = json.loads(text), json.loads(MultiLayerConfiguration.from_json(text).to_json())
    for theirs, ours in zip(expected["confs"], found["confs"], strict=True):
        assert theirs.pop("variables") == []
        assert ours.pop("variables") == (["W", "b"] if "nin" in ours["layer"] else [])
    assert without_newer_fields(found) == without_newer_fields(expected)


# ---- round trips


def test_a_document_says_everything():
    conf = sample_conf().with_counts(12, 3)
    again = MultiLayerConfiguration.from_json(conf.to_json())
    assert again.layers == conf.layers
    assert (again.iteration_count, again.epoch_count) == (12, 3)
    assert again.to_json() == conf.to_json()
    document = json.loads(conf.to_json())
    assert {(part["iterationCount"], part["epochCount"]) for part in (document, *document["confs"])} == {(12, 3)}


@every_row("init", sorted(set(WeightInit) - {"distribution"}))
def test_every_weight_init(init):
    conf = NeuralNetConfiguration(weight_init=init).list(DenseLayer(n_in=2, n_out=2))
    assert MultiLayerConfiguration.from_json(conf.to_json()).layers == conf.layers


@pytest.mark.parametrize("distribution", DISTRIBUTIONS.values())
def test_every_distribution(distribution):
    direct = NeuralNetConfiguration().list(DenseLayer(n_in=2, n_out=2, weight_init=distribution()))
    named = NeuralNetConfiguration(weight_init="distribution", dist=distribution()).list(DenseLayer(n_in=2, n_out=2))
    for conf in (direct, named):
        again = MultiLayerConfiguration.from_json(conf.to_json())
        assert again.layers[0].weight_init == distribution()
        assert again.layers == conf.layers


def test_a_schedule_where_there_is_none_is_refused():
    """Only learning rate and momentum follow a schedule, in DL4J's document and in the formulas."""
    with pytest.raises(nd.ConfigurationError, match="beta1"):
        NeuralNetConfiguration(updater=Adam(beta1=MapSchedule("epoch", {0: 0.9}))).list(
            DenseLayer(n_in=2, n_out=2)
        ).to_json()


def test_preprocessors_keep_their_places():
    conf = sample_conf()
    assert dict(read(json.loads(conf.to_json())).preprocessors) == {
        0: FeedForwardToCnnPreProcessor(6, 6, 1), 2: CnnToFeedForwardPreProcessor(2, 2, 2),
    }  # fmt: skip


@pytest.mark.parametrize("kind", PREPROCESSORS)
def test_every_preprocessor_is_written_and_read(kind):
    sizes = [field for field in dataclasses.fields(PREPROCESSORS[kind]) if field.name not in ("data_format", "ncdhw")]
    preprocessor = PREPROCESSORS[kind](*range(2, 2 + len(sizes)))
    conf = dataclasses.replace(sample_conf(), preprocessors={2: preprocessor})
    document = json.loads(conf.to_json())
    java = document["inputPreProcessors"]["2"]["@class"]
    assert java == f"org.deeplearning4j.nn.conf.preprocessor.{type(preprocessor).__name__}"
    assert dict(read(document).preprocessors) == {2: preprocessor}


def test_the_older_spelling_of_sizes_is_read():
    document = sample_document()
    layer = document["confs"][2]["layer"]
    layer["nIn"], layer["nOut"] = layer.pop("nin"), layer.pop("nout")
    assert read(document).layers == sample_conf().layers


def test_unknown_fields_change_nothing_and_those_of_layers_are_kept():
    document = sample_document()
    document["futureField"] = document["confs"][0]["layer"]["other"] = {"a": 1}
    conf = read(document)
    assert conf.layers[0].unused == {"other": {"a": 1}}
    assert (dataclasses.replace(conf.layers[0], unused={}), *conf.layers[1:]) == sample_conf().layers
    assert json.loads(conf.to_json())["confs"][0]["layer"]["other"] == {"a": 1}


def test_what_dl4j_cannot_say_is_not_written():
    conf = NeuralNetConfiguration(iterations=3).list(DenseLayer(n_in=1, n_out=1))
    with pytest.raises(nd.ConfigurationError, match=r"no place for iterations 3\. Leave it out"):
        conf.to_json()


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("confs", 0, "miniBatch"), "false", "miniBatch must be true or false, got 'false'"),
        (("confs", 2, "layer", "hasBias"), "x", "DenseLayer: has_bias must be True or False, got 'x'"),
        (("confs", 2, "layer", "layerName"), [1], r"DenseLayer: name must be text or None, got \[1\]"),
    ],
)
def test_switches_and_names_that_are_none(path, value, message):
    with pytest.raises(nd.FormatError, match=message):
        read(changed(sample_document(), path, value))


# ---- what this library does not have

LAYER = ("confs", 0, "layer")
OUTPUT = ("confs", 4, "layer")
DENSE = ("confs", 2, "layer")
UNSUPPORTED = {
    "layer": ((*LAYER, "@class"), "a.TFOpLayer", nd.ChoiceError, "TFOpLayer runs a graph of"),
    "activation": ((*LAYER, "activationFn"), {"@class": "a.ActivationPReLU"}, nd.ChoiceError, "ActivationPReLU"),
    "loss": ((*OUTPUT, "lossFn"), {"@class": "a.LossOther"}, nd.ChoiceError, "LossOther"),
    "updater": ((*LAYER, "iupdater"), {"@class": "a.AdaMod"}, nd.ChoiceError, "AdaMod"),
    "weight-init": ((*LAYER, "weightInitFn"), {"@class": "a.WeightInitOther"}, nd.ChoiceError, "WeightInitOther"),
    "distribution": ((*DENSE, "weightInitFn", "distribution"), {"@class": "a.Cauchy"}, nd.ChoiceError, "Cauchy"),
    "schedule": (
        (*LAYER, "iupdater", "learningRateSchedule"), {"@class": "a.LunarSchedule"}, nd.ChoiceError, "LunarSchedule",
    ),
    "normalization": (
        (*LAYER, "gradientNormalization"), "ClipL2PerLaier", nd.ChoiceError, "Norm.* 'ClipL2PerLaier'.*ClipL2PerLayer",
    ),
    "constraints": ((*LAYER, "constraints"), [{"@class": "a.MaxNorm"}], nd.ChoiceError, "constraint: .*'MaxNorm'"),
    "weight-noise": ((*LAYER, "weightNoise"), {"@class": "a.DropOther"}, nd.ChoiceError, "weightNoise: .*DropOther"),
    "scale": (
        (*LAYER, "weightInitFn"), {"@class": "a.WeightInitXavier", "scale": 2.0}, nd.ConfigurationError,
        "ScaledWeightInit: name must be one of identity, .* got 'xavier'",
    ),
    "another format behind rows": ((*LAYER, "cnn2dDataFormat"), "NHWC", nd.ConfigurationError, "must be NCHW, .* NHWC"),
    "another format between": (
        ("inputPreProcessors", "2", "format"), "NHWC", nd.ConfigurationError, "must be NHWC, .* got NCHW",
    ),
    "no format": ((*LAYER, "cnn2dDataFormat"), "NWHC", nd.ConfigurationError, "data_format must be NCHW or NHWC, got"),
    "kind of backprop": (("backpropType",), "Sideways", nd.ChoiceError, "backpropType 'Sideways'.*TruncatedBPTT"),
    "integers": (("dataType",), "INT", nd.ConfigurationError, "dataType 'INT' is not supported, only BFLOAT16"),
    "penalty": (
        (*LAYER, "regularization"), [{"@class": "a.Lasso", "coeff": {"@class": "a.FixedSchedule", "value": 1.0}}],
        nd.ConfigurationError, "'Lasso' is not supported",
    ),
    "dropout": ((*DENSE, "idropout"), {"@class": "a.OtherDropout", "p": 0.5}, nd.ChoiceError, "OtherDropout"),
    "alpha": (
        (*DENSE, "idropout"), {"@class": "a.AlphaDropout", "p": 0.5, "alpha": 1.0}, nd.ConfigurationError,
        "idropout: alpha 1.0 is not supported",
    ),
    "constraint's epsilon": (
        (*DENSE, "constraints"), [{"@class": "a.MaxNormConstraint", "maxNorm": 1.0, "epsilon": 0.1}],
        nd.ConfigurationError, "epsilon 0.1 is not supported",
    ),
    "optimizer": (("confs", 0, "optimizationAlgo"), "HESSIAN_FREE", nd.ChoiceError, "hessian_free"),
    "preprocessor": (
        ("inputPreProcessors", "0", "@class"), "a.KerasFlattenRnnPreprocessor", nd.ChoiceError, "'KerasFlattenRnn",
    ),
    "pooling": (("confs", 1, "layer", "poolingType"), "SUM", nd.ConfigurationError, "pooling_type must .* 'sum'"),
    "causal": ((*LAYER, "convolutionMode"), "Causal", nd.ConfigurationError, "got 'causal', which is for layers"),
    "step function": (("confs", 0, "stepFunction"), {"@class": "a.Step"}, nd.ChoiceError, "stepFunction 'Step'"),
}  # fmt: skip


@every_row("name", UNSUPPORTED)
def test_what_the_library_does_not_have_is_refused(name):
    path, value, error, message = UNSUPPORTED[name]
    with pytest.raises(error, match=message):
        read(changed(sample_document(), path, value))


@pytest.mark.parametrize("algorithm", ["lbfgs", "conjugate_gradient", "line_gradient_descent"])
def test_what_a_line_search_is_told_goes_there_and_back(algorithm):
    conf = NeuralNetConfiguration(
        minimize=False, optimization_algo=algorithm, max_num_line_search_iterations=7, updater=Sgd(0.1)
    ).list(DenseLayer(n_in=1, n_out=1))
    again = MultiLayerConfiguration.from_json(conf.to_json())
    assert (again.minimize, again.optimization_algo, again.max_num_line_search_iterations) == (False, algorithm, 7)


@pytest.mark.parametrize("name", ["Default", "Gradient", "NegativeDefault", "NegativeGradient"])
def test_a_step_function_of_java_is_taken_over(name):
    java = f"org.deeplearning4j.nn.conf.stepfunctions.{name}StepFunction"
    found = read(changed(sample_document(), ("confs", 0, "stepFunction"), {"@class": java}))
    assert found.step_function.replace("_", "") == name.lower()


def test_minimize_is_a_yes_or_no():
    with pytest.raises(nd.ConfigurationError, match="minimize must be True or False, got 'no'"):
        NeuralNetConfiguration(minimize="no")


# ---- broken documents


@every_row("text", [
    "", "{", "null", "3", '"confs"', "[]", "[[]]", "{}", '{"confs": null}', '{"confs": []}', '{"confs": {}}',
    '{"confs": "layers"}', '{"confs": [1]}', '{"confs": [null]}', '{"confs": ["a"]}', '{"confs": [[]]}',
    '{"confs": [{}]}', '{"confs": [{"layer": null}]}', '{"confs": [{"layer": {"dense": 2}}]}',
    '{"networkInputs": [], "vertices": {}}', "[" * 100_000, "\x00", "\ufeff{}", "<model/>",
])  # fmt: skip
def test_another_kind_of_text_is_a_format_error(text):
    with pytest.raises(nd.FormatError, match=r"configuration|layer: expected an object with '@class'"):
        MultiLayerConfiguration.from_json(text)


def broken_documents(per_key):
    """Every key left out, and replaced by so many values of other types; the same ones in every run."""
    document, rng = sample_document(), random.Random(20)
    for path in paths_in(document):
        yield path, MISSING, changed(document, path)
        for value in rng.sample(REPLACEMENTS, per_key):
            yield path, value, changed(document, path, value)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of numbers that are no longer sensible
@pytest.mark.slow
def test_a_broken_document_that_is_accepted_makes_a_network_or_a_typed_error():
    """Nothing that a document says may surface later as an error of Python's own."""
    x, y = np.ones((2, 36), np.float32), np.eye(2, dtype=np.float32)
    wrong = {}
    for path, value, document in broken_documents(6):
        try:
            net = MultiLayerNetwork(read(document)).init()
            net.fit(x, y)
            net.summary()
        except nd.NdError:
            pass
        except Exception as error:
            wrong[(*path, "missing" if value is MISSING else repr(value))] = repr(error)
    assert wrong == {}


@pytest.mark.parametrize(
    ("path", "value"),
    [(("iterationCount",), "x"), (("epochCount",), []), (("confs", 0), 3), (("inputPreProcessors",), [1]),
     ((*LAYER, "iupdater", "learningRateSchedule", "scheduleType"), 3), ((*DENSE, "idropout", "p"), None),
     ((*LAYER, "regularization"), 7), ((*OUTPUT, "iupdater", "learningRateSchedule", "values"), 1)],
)  # fmt: skip
def test_a_malformed_value_is_a_format_error(path, value):
    with pytest.raises(nd.FormatError, match=r"configuration|regularization"):
        read(changed(sample_document(), path, value))
