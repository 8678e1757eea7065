"""CamelCase names that are derived from ours: methods, accessors, overrides, enums; and what they must not disturb."""

import copy
import pickle

import pytest

import nd
import nn.dl4j  # noqa: F401  whose names some tests use
from nd.dataset import DataSet, DataSetIterator
from nd.java_names import snake_case
from nn import (
    Activation,
    ConvolutionMode,
    DenseLayer,
    GradientNormalization,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
)
from optimize import Adam, Listener


@pytest.mark.parametrize(
    ("java", "ours"),
    [("nIn", "n_in"), ("NIn", "n_in"), ("evaluateEveryNEpochs", "evaluate_every_n_epochs"), ("l1Bias", "l1_bias"),
     ("toJSON", "to_json"), ("IUpdater", "i_updater"), ("plain", "plain")],
)  # fmt: skip
def test_names(java, ours):
    assert snake_case(java) == ours


def test_copies_and_pickles_are_not_asked_for_javas_names():
    for each in (NeuralNetConfiguration(seed=1), DenseLayer(n_out=2), Adam(0.1), Activation.RELU):
        assert pickle.loads(pickle.dumps(each)) == copy.deepcopy(each) == each


def test_a_listeners_hooks_may_have_javas_names():
    class Counts(Listener):
        def __init__(self):
            self.seen = []

        def iterationDone(self, model, iteration, epoch):
            self.seen.append(iteration)

        def onEpochEnd(self, model):
            self.seen.append("end")

    listener = Counts()
    listener.iteration_done(None, 4, 0)
    listener.on_epoch_end(None)
    assert listener.seen == [4, "end"]
    assert listener.wants("iteration_done", 0)
    assert not listener.wants("on_forward_pass", 0)


def test_an_iterators_methods_may_have_javas_names():
    class Once(DataSetIterator):
        done = False

        def hasNext(self):
            return not self.done

        def next(self, num=None):
            self.done = True
            return DataSet([[1.0]], [[1.0]])

        def reset(self):
            self.done = False

        def batch(self):
            return 1

    assert [each.num_examples() for each in Once()] == [1]
    assert Once().resetSupported()


def test_an_override_in_both_spellings_is_ours():
    class Both(Listener):
        def iterationDone(self, model, iteration, epoch):
            return 1

        def iteration_done(self, model, iteration, epoch):
            return 2

    assert Both().iteration_done(None, 0, 0) == 2


def test_enums_answer_to_javas_members():
    assert ConvolutionMode.Same is ConvolutionMode.SAME
    assert GradientNormalization.RenormalizeL2PerLayer is GradientNormalization.RENORMALIZE_L2_PER_LAYER
    assert GradientNormalization.None_ is GradientNormalization.NONE
    assert Activation.fromString("TANH") is Activation.valueOf("tanh") is Activation.TANH
    assert Activation.values() == list(Activation)
    assert Activation.RELU.getActivationFunction() == nd.activations.get_activation("relu")
    with pytest.raises(AttributeError, match="Sane"):
        _ = ConvolutionMode.Sane


def test_data_sets_and_networks_may_be_overridden_by_javas_names():
    class Counted(DataSet):
        def numExamples(self):
            return 7

    class Named(MultiLayerNetwork):
        def numParams(self):
            return 5

    layer = OutputLayer(n_in=1, n_out=2, activation="softmax")
    assert Counted([[1.0]]).num_examples() == 7
    assert Named(NeuralNetConfiguration(seed=1).list(layer)).init().num_params() == 5
