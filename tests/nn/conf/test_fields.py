"""Every field of every dataclass that users make refuses what its annotation does not say, with one kind of message."""

import dataclasses
import importlib
import pkgutil
import re
import types
import typing
from collections.abc import Mapping, Sequence

import pytest

import nd
import nn
import optimize
from nd.arguments import Checked
from nn import (
    BernoulliReconstructionDistribution,
    DenseLayer,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    NormalDistribution,
)
from nn.terms.noise import Retaining
from optimize import FixedSchedule
from optimize.earlystopping import DataSetLossCalculator, MaxEpochsTerminationCondition
from tests.cases.layers import LAYER_CASES
from tests.cases.vertices import VERTEX_CASES
from tests.cells import every_row


def network_of_one_layer():
    return MultiLayerNetwork(NeuralNetConfiguration(seed=1).list(DenseLayer(n_in=1, n_out=1))).init()


SOUND = {
    "OnnxConstant": {"dtype": "float32", "shape": (1,), "content": bytes(4)},
    "OnnxVertex": {"op": "Relu"},
    "CompositeReconstructionDistribution": {
        "distribution_sizes": (2,),
        "reconstruction_distributions": (BernoulliReconstructionDistribution(),),
    },
    "BinomialDistribution": {"number_of_trials": 1, "probability_of_success": 0.5},
    "ComputationGraphConfiguration": {
        "base": NeuralNetConfiguration(seed=1),
        "inputs": ("in",),
        "outputs": ("out",),
        "vertices": {"out": DenseLayer()},
        "vertex_inputs": {"out": ("in",)},
    },
    "Convolution1DLayer": {"kernel_size": 1},
    "DetectedObject": {"class_predictions": (1.0,)},
    "EarlyStoppingConfiguration": {
        "score_calculator": DataSetLossCalculator([]),
        "epoch_termination_conditions": MaxEpochsTerminationCondition(1),
    },
    "LayerVertex": {"layer": DenseLayer()},
    "LostSchedule": {"updater": "AdaGrad", "name": "learning_rate"},
    "MultiLayerConfiguration": {"base": NeuralNetConfiguration(seed=1), "layers": (DenseLayer(),)},
    "KerasLoss": {"name": "huber"},
    "NetworkConfiguration": {"base": NeuralNetConfiguration(seed=1)},
    "ParamSpec": {"name": "W", "shape": (1, 1)},
    "PolicyRate": {"lr_policy": "fixed", "base_lr": 0.1},
    "RampSchedule": {"base_schedule": FixedSchedule(1.0), "num_iter": 3},
    "ScaledWeightInit": {"name": "identity", "scale": 0.5},
    "TransferLearning": {"network": network_of_one_layer()},
    "_Times": {"schedule": FixedSchedule(1.0), "times": 2},
    "WeightNoise": {"distribution": NormalDistribution()},
}
"""Class -> what it needs to be made, where that is not one number for each field without a default.

Layers and vertices need what their rows in tests/cases have.
"""
PARTS = {type(row.layer): row.layer for rows in LAYER_CASES.values() for row in rows}
PARTS |= {type(row.vertex): row.vertex for rows in VERTEX_CASES.values() for row in rows}
NUMBERS = {"schedule_type": "epoch", "values": {0: 0.5}, "p": 0.5, "rate": 0.5, "n": 1, "cycle_length": 9}
NAN = float("nan")


def import_everything():
    for package in (nd, nn, optimize):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)


def below(part):
    for each in part.__subclasses__():
        yield each
        yield from below(each)


import_everything()
OF_CAFFE = {"CaffeConfiguration", "CaffeLayerConf"}
"""Configurations that a Caffe net makes of its file, and nobody else."""
CLASSES = sorted(
    {
        each
        for each in below(Checked)
        if each.__name__ not in OF_CAFFE
        and each.__module__.partition(".")[0] in ("nd", "nn", "optimize")
        and "__dataclass_params__" in vars(each)  # is one itself
    },
    key=lambda part: (part.__module__, part.__name__),
)


def sound(part):
    """Return arguments that are accepted."""
    needed = [
        field.name
        for field in dataclasses.fields(part)
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING and field.init
    ]
    of_row = {name: getattr(PARTS[part], name) for name in needed} if part in PARTS else {}
    return {name: NUMBERS.get(name, 1) for name in needed} | of_row | SOUND.get(part.__name__, {})


def kinds_of(annotation):
    """Return the types that an annotation allows, without their ranges."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return kinds_of(arguments[0])
    if origin in (typing.Union, types.UnionType):
        return set().union(*(kinds_of(each) for each in arguments))
    if origin in (Sequence, tuple, list):
        return {Sequence}
    return {types.NoneType if annotation is None else origin or annotation}


def wrong_values(kinds):
    """Return values that are of no type among these."""
    texts = {kind for kind in kinds if isinstance(kind, type) and issubclass(kind, str)}
    candidates = [
        (object(), set()), (1j, set()), (b"x", set()), (int, set()), (NAN, set()), ([object()], set()),
        (True, {bool}), (1, {int, float}), (1.5, {float}), ("x", texts), (None, {types.NoneType}),
        ([], {Sequence}), ({"x": 1}, {Mapping}),
    ]  # fmt: skip
    return [value for value, allowed in candidates if not kinds & allowed]


@every_row("part", CLASSES, ids=lambda part: part.__name__)
def test_every_field_refuses_what_its_annotation_does_not_say(part):
    hints = typing.get_type_hints(part, include_extras=True)  # every name in them is known at run time
    if issubclass(part, Retaining):  # whose constructor takes rate in the place of p
        hints["p"] = typing.get_type_hints(part.__init__, include_extras=True)["p"]
    for field in dataclasses.fields(part):
        kinds = kinds_of(hints[field.name])
        assert not kinds & {typing.Any, object}, f"{field.name} says nothing"
        takes_texts = field.name in ("attributes", "unused")  # as keys
        more = [{"x": 1}] if Mapping in kinds and not takes_texts else []
        for value in wrong_values(kinds) + more:
            with pytest.raises(nd.NdError, match=rf"^{re.escape(part.__name__)}: {field.name} must be "):
                part(**{**sound(part), field.name: value})


def test_the_classes_are_those_that_there_are():
    assert len(CLASSES) > 130
    assert {Mapping, Sequence} <= {
        kind
        for part in CLASSES
        for hint in typing.get_type_hints(part, include_extras=True).values()
        for kind in kinds_of(hint)
        if kind in (Mapping, Sequence)
    }


UNCHECKED = {
    "Checkpoint", "Chunk", "EarlyStoppingResult", "Fans", "IdxFile", "JavaLimit", "LayerDescription", "ModelFile",
    "NormalizedLayer", "ArrayStatistics", "ParamView", "Progress", "Segment", "StatisticsRecord", "Trial",
    "BinaryFile", "Source", "_Check", "Plans", "GraphSettings", "ListSettings", "Row", "Difference", "BlobPlan",
    "LayerPlan", "WaysBack", "Compared", "DraftLayer", "Node", "NodeDraft", "Op", "OpenCVDecoder", "PillowDecoder",
    "Proof", "ReadModel", "Sliding", "StepInput", "Tensor", "TrainedNode",
}  # fmt: skip
"""Dataclasses that the library fills, and nobody else."""


def test_what_users_make_is_checked():
    found = set()
    for package in (nd, nn, optimize):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if module.name.endswith("__main__"):
                continue
            for each in vars(importlib.import_module(module.name)).values():
                if isinstance(each, type) and dataclasses.is_dataclass(each) and not issubclass(each, Checked):
                    found |= {each.__name__} if each.__module__ == module.name else set()
    assert found == UNCHECKED
