"""CamelCase names that are derived from ours: methods, accessors, overrides, enums; and what they must not disturb."""

import copy
import pickle

import pytest

import nd
from nd.dataset import DataSet, DataSetIterator
from nd.evaluation import Evaluation
from nd.java_names import JavaNames, snake_case
from nn import Activation, ConvolutionMode, DenseLayer, GradientNormalization, InputType, NeuralNetConfiguration
from optimize import Adam, Listener


class Box(JavaNames):
    java_names = {"i_updater": "updater"}

    def __init__(self):
        self.epoch_count, self.updater, self.width = 3, "sgd", 2

    def num_params(self, backwards=False):
        return 7

    def get_layer(self, index):
        return index

    @staticmethod
    def from_json(text):
        return text


@pytest.mark.parametrize(
    ("java", "ours"),
    [("nIn", "n_in"), ("NIn", "n_in"), ("evaluateEveryNEpochs", "evaluate_every_n_epochs"), ("l1Bias", "l1_bias"),
     ("toJSON", "to_json"), ("IUpdater", "i_updater"), ("plain", "plain")],
)  # fmt: skip
def test_names(java, ours):
    assert snake_case(java) == ours


def test_methods_accessors_and_static_methods_answer():
    box = Box()
    assert (box.numParams(), box.numParams(True), box.getEpochCount(), box.getLayer(4)) == (7, 7, 3, 4)
    assert (box.getIUpdater(), Box.fromJson("x"), box.fromJson("y")) == ("sgd", "x", "y")
    box.setWidth(5)
    assert (box.width, box.getWidth()) == (5, 5)


@pytest.mark.parametrize("name", ["getNothing", "setNothing", "W", "_hidden", "numparams", "Nothing"])
def test_what_is_not_there_is_an_attribute_error_of_the_class_asked(name):
    with pytest.raises(AttributeError, match=f"'Box' object has no attribute '{name}'"):
        getattr(Box(), name)


def test_nothing_of_it_is_listed():
    assert [name for name in dir(Box()) if name != name.lower()] == []
    assert not hasattr(Box(), "__array__")
    for each in (NeuralNetConfiguration(seed=1), DataSet([[1.0]]), Evaluation(), DenseLayer(n_out=2)):
        public = [name for name in dir(each) if not name.startswith("_") and name != name.lower()]
        assert set(public) <= {"Builder", "METRICS", "MINIMIZED", "Metric"}


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
    class Both(Box):
        def numParams(self):
            return 1

        def num_params(self):
            return 2

    assert (Both().num_params(), Both().numParams()) == (2, 1)


def test_enums_answer_to_javas_members():
    assert ConvolutionMode.Same is ConvolutionMode.SAME
    assert GradientNormalization.RenormalizeL2PerLayer is GradientNormalization.RENORMALIZE_L2_PER_LAYER
    assert GradientNormalization.None_ is GradientNormalization.NONE
    assert Activation.fromString("TANH") is Activation.valueOf("tanh") is Activation.TANH
    assert Activation.values() == list(Activation)
    assert Activation.RELU.getActivationFunction() == nd.activations.get_activation("relu")
    with pytest.raises(AttributeError, match="Sane"):
        _ = ConvolutionMode.Sane


def test_input_types_by_javas_names():
    assert InputType.convolutionalFlat(28, 28, 1) == InputType.convolutional_flat(28, 28, 1)
    assert InputType.feedForward(3) == InputType.feed_forward(3)
    with pytest.raises(AttributeError, match="'InputType' object has no attribute 'feedBackward'"):
        _ = InputType.feedBackward
