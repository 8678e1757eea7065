"""Models of Keras as networks: what is refused, layers of users' own, shared and frozen layers."""

import logging

import numpy as np
import pytest

import nd
from nd import ConfigurationError, FormatError, ShapeError
from nd.dataset import DataSet
from nn import ActivationLayer, ConvolutionLayer, ElementWiseVertex, FrozenLayer, MultiLayerNetwork, ScaleVertex
from nn.keras import register_layer
from nn.keras.into.recognition import CONVERTERS, converter, network_of
from tests.keras_models import call, check, functional, layer, outputs_of, sequential

RNG = np.random.default_rng(12)
KERNEL = RNG.normal(size=(4, 4))


def dense(kernel=KERNEL, name="dense", **settings):
    trainable = settings.pop("trainable", True)
    config = {"units": kernel.shape[1], "use_bias": False, "activation": "tanh", **settings}
    return layer("Dense", config, name, trainable, kernel=kernel)


@pytest.fixture
def own():
    """Registers classes, and forgets them."""
    names = []

    def known(name, function):
        names.append(name)
        register_layer(name, function)

    yield known
    for name in names:
        register_layer(name, None)


def test_the_table_names_functions_that_there_are():
    assert list(CONVERTERS) == sorted(CONVERTERS)
    for kind in CONVERTERS:
        assert callable(converter(layer(kind)))


# ---- what is refused


def test_all_that_nothing_says_is_named_at_once():
    model = sequential(
        (4,), layer("Lambda", {"function": ["...", None, None]}), dense(activation="glu"), layer("Own"), dense(depth=2)
    )
    with pytest.raises(ConfigurationError, match="every layer must be one") as caught:
        network_of(model)
    told = str(caught.value)
    assert "got 2 that it cannot" in told
    for part in ("'lambda_0' (Lambda): its code is not run", "'own_2' (Own): no layer", "register_layer"):
        assert part in told


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (dense(activation="glu"), r"'dense_0' \(Dense\): activation='glu'"),
        (dense(depth=2), r"'dense_0' \(Dense\): settings that nothing here is like: depth=2"),
        (layer("Dense", {"units": 4}), r"it must have one weight 'kernel', got \[\]"),
    ],
)
def test_a_refusal_names_the_layer_its_class_and_why(made, why):
    with pytest.raises(ConfigurationError, match=why):
        network_of(sequential((4,), made))


def test_weights_of_other_shapes_are_damage():
    with pytest.raises(ShapeError, match=r"load: 0_W must be \[5, 4\], got \[4, 4\]"):
        network_of(sequential((5,), dense()))


def test_what_only_training_has_is_said_on_the_log(caplog):
    with caplog.at_level(logging.WARNING):
        x = RNG.normal(size=(3, 4))
        regularizer = {"class_name": "OrthogonalRegularizer", "config": {"factor": 0.1}}
        check(sequential((4,), dense(kernel_regularizer=regularizer)), [x], np.tanh(x @ KERNEL))
    assert "'dense_0' (Dense): kernel_regularizer is left out" in caplog.text


def test_penalties_and_limits_are_the_layers():
    config = {
        "kernel_regularizer": {"class_name": "L2", "config": {"l2": 0.01}},
        "kernel_constraint": {"class_name": "MaxNorm", "config": {"max_value": 2.0, "axis": 0}},
    }
    conf = network_of(sequential((4,), dense(**config), dense())).conf.layers[0]
    assert conf.l2 == 0.02
    (limit,) = conf.constraints
    assert (limit.max_norm, limit.dimensions, limit.params) == (2.0, (0,), ("W",))


# ---- layers of one's own


def test_a_class_of_ones_own_with_parameters(own):
    def scaled(made):
        weight = made.weights[0].read()
        return ConvolutionLayer(n_out=2, kernel_size=1, activation="identity", data_format="NHWC", has_bias=False), {
            "W": weight.T.reshape(2, 3, 1, 1)
        }

    own("Mix", scaled)
    x, weight = RNG.normal(size=(2, 4, 5, 3)), RNG.normal(size=(3, 2))
    behind = layer("Flatten")
    check(sequential((4, 5, 3), layer("Mix", {"any": 1}, w=weight), behind), [x], (x @ weight).reshape(2, -1))


def test_a_lambda_layer_is_registered_by_its_name(own):
    own("lambda_0", lambda made: ScaleVertex(made.config["arguments"]["by"]))
    x = RNG.normal(size=(2, 4))
    check(sequential((4,), layer("Lambda", {"arguments": {"by": 3.0}}), dense()), [x], np.tanh(3 * x @ KERNEL))


def test_a_class_of_several_inputs(own):
    own("Longest", lambda made: ElementWiseVertex("max"))
    xs = RNG.normal(size=(2, 3, 4))
    model = functional({"a": (4,), "b": (4,)}, call(layer("Longest"), "a", "b"))
    check(model, list(xs), xs.max(0))


def test_what_is_registered_stands_before_what_is_known(own):
    own("Activation", lambda made: ActivationLayer("cube"))
    x = RNG.normal(size=(2, 4))
    check(sequential((4,), layer("Activation", {"activation": "relu"})), [x], x**3)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [(("", len), "class_name must be"), ((3, len), "class_name must be"), (("Own", "no"), "function must be callable")],
)
def test_registering_something_else_is_refused(arguments, why):
    with pytest.raises(ConfigurationError, match=why):
        register_layer(*arguments)


def test_a_function_that_returns_something_else_is_told_so(own):
    own("Own", lambda made: 3)
    with pytest.raises(ConfigurationError, match="the function of 'Own' must return a layer or vertex"):
        network_of(sequential((4,), layer("Own")))


# ---- shared layers


def twice(first, second=None):
    """A layer called with both inputs, and a difference."""
    return functional(
        {"a": (4,), "b": (4,)},
        call(first, "a", name="dense"),
        call(layer("Activation", {"activation": "relu"}), "dense", name="relu"),
        call(first, "b", name="dense#2"),
        call(layer("Subtract"), "relu", "dense#2", name="out"),
        training={"loss": "mse", "optimizer": {"class_name": "SGD", "config": {"learning_rate": 0.1}}},
    )


def test_a_layer_that_is_called_twice_has_its_parameters_once():
    a, b = RNG.normal(size=(2, 3, 4))
    model = twice(dense())
    check(model, [a, b], np.maximum(np.tanh(a @ KERNEL), 0) - np.tanh(b @ KERNEL))
    assert list(network_of(model).param_table()) == ["dense_W"]


def test_its_gradient_is_the_sum_of_those_of_both_calls():
    a, b, y = RNG.normal(size=(3, 3, 4))
    net = network_of(twice(dense()))

    def loss(kernel):
        out = np.maximum(np.tanh(a @ kernel), 0) - np.tanh(b @ kernel)
        return ((out - y) ** 2).mean()

    net.fit([a, b], [y])
    step = 1e-6
    slopes = np.empty_like(KERNEL)
    for at in np.ndindex(KERNEL.shape):
        there = np.zeros_like(KERNEL)
        there[at] = step
        slopes[at] = (loss(KERNEL + there) - loss(KERNEL - there)) / (2 * step)
    np.testing.assert_allclose(nd.to_host(net.get_param("dense_W")), KERNEL - 0.1 * slopes, rtol=1e-6)


def test_calls_that_depend_on_one_another_have_copies_and_the_log_says_so(caplog):
    one = dense()
    model = functional({"x": (4,)}, call(one, "x", name="dense"), call(one, "dense", name="dense#2"))
    x = RNG.normal(size=(3, 4))
    with caplog.at_level(logging.WARNING):
        check(model, [x], np.tanh(np.tanh(x @ KERNEL) @ KERNEL))
    assert "'dense#2' (Dense): it is called several times" in caplog.text


def test_a_nested_model_that_is_called_twice():
    first, second = dense(), dense(KERNEL.T.copy(), "top")
    model = functional(
        {"a": (4,), "b": (4,)},
        call(first, "a", name="m/dense"), call(second, "m/dense", name="m/top"),
        call(first, "b", name="m/dense#2"), call(second, "m/dense#2", name="m/top#2"),
        call(layer("Concatenate"), "m/top", "m/top#2", name="out"),
    )  # fmt: skip
    xs = RNG.normal(size=(2, 3, 4))
    check(model, list(xs), np.concatenate([np.tanh(np.tanh(x @ KERNEL) @ KERNEL.T) for x in xs], 1))
    assert len(network_of(model).param_table()) == 2


# ---- frozen layers, chains and graphs


def test_what_is_not_trainable_stays():
    model = sequential((4,), dense(), dense(trainable=False), dense(), training={"loss": "mse", "optimizer": "sgd"})
    net = network_of(model)
    assert isinstance(net, MultiLayerNetwork)
    assert isinstance(net.conf.layers[1], FrozenLayer)
    net.fit(DataSet(*RNG.normal(size=(2, 5, 4))))
    for number, stays in enumerate([False, True, False]):
        assert np.array_equal(nd.to_host(net.get_param(f"{number}_W")), KERNEL) is stays


def test_an_output_layer_that_is_not_trainable_has_its_loss_behind():
    x = RNG.normal(size=(3, 4))
    check(sequential((4,), dense(trainable=False)), [x], np.tanh(x @ KERNEL))


def test_an_output_that_others_read_an_input_that_is_one_and_one_twice():
    model = functional(
        {"x": (4,)}, call(dense(), "x", name="a"), call(dense(), "a", name="b"), outputs=("a", "b", "x", "b")
    )
    x = RNG.normal(size=(3, 4))
    a = np.tanh(x @ KERNEL)
    b = np.tanh(a @ KERNEL)
    check(model, [x], a, b, x, b)


def test_an_input_that_nothing_reads_stays():
    model = functional({"x": (4,), "unread": (2,)}, call(dense(), "x"))
    x = RNG.normal(size=(3, 4))
    check(model, [x, x[:, :2]], np.tanh(x @ KERNEL))


def test_float32_and_float64():
    x = RNG.normal(size=(3, 4))
    for dtype in ("float32", "float64"):
        (found,) = outputs_of(sequential((4,), dense(), dtype=dtype), x.astype(dtype))
        assert found.dtype == dtype


# ---- files that are damaged


@pytest.mark.parametrize(
    ("made", "error", "why"),
    [
        (dense(units="many"), FormatError, r"'dense_0' \(Dense\): ValueError"),
        (layer("Reshape", {"target_shape": 3}), FormatError, r"'reshape_0' \(Reshape\): TypeError"),
        (layer("Permute", {"dims": None}), FormatError, r"'permute_0' \(Permute\): TypeError"),
        (layer("Dropout", {"rate": 2.0}), ConfigurationError, r"'dropout_0' \(Dropout\): .*rate"),
        (dense(units=-1), ConfigurationError, r"'dense_0' \(Dense\): .*n_out"),
    ],
)
def test_settings_that_contradict_themselves_are_told_with_their_layer(made, error, why):
    with pytest.raises(error, match=why):
        network_of(sequential((4,), made))


def test_calls_that_read_one_another_are_damage():
    model = functional({"x": (4,)}, call(dense(), "b", name="a"), call(dense(), "a", name="b"))
    with pytest.raises(FormatError, match=r"every call must follow those that it reads, got 'a', which reads \['b'\]"):
        network_of(model)


def test_errors_of_a_users_function_are_its_own(own):
    own("Own", lambda made: made.config["missing"])
    with pytest.raises(KeyError, match="missing"):
        network_of(sequential((4,), layer("Own")))
