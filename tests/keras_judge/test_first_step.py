"""The first step of fine-tuning: loss, gradients and state beside Keras' on JAX, in both precisions."""

import numpy as np
import pytest

import nd
import nn
from nd.dataset import DataSet

CLOSE = {"float32": 1e-5, "float64": 1e-6}
"""Of the largest number of an array, and of 1 where that is smaller; some constants of Keras are always float32."""
NOT_TRAINED = ("mean", "var")
pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning"
)  # of Keras 3.15, by NumPy 2


@pytest.fixture(params=CLOSE)
def precision(request, keras):
    """The precision in which Keras and JAX compute; both have their own again afterwards."""
    import jax

    jax.config.update("jax_enable_x64", request.param == "float64")
    keras.config.set_floatx(request.param)
    keras.config.set_dtype_policy(request.param)
    keras.utils.set_random_seed(7)
    yield request.param
    keras.config.set_floatx("float32")
    keras.config.set_dtype_policy("float32")
    jax.config.update("jax_enable_x64", False)


def mlp(keras):
    layers, l2 = keras.layers, keras.regularizers.L2(0.01)
    model = keras.Sequential(
        [
            keras.Input((5,)),
            layers.Dense(7, activation="tanh", kernel_regularizer=l2),
            layers.Dense(6, activation="relu"),
            layers.Dense(3),
        ]
    )
    model.compile(optimizer=keras.optimizers.SGD(0.1), loss="mean_squared_error")
    return model, (8, 5), lambda rng: rng.normal(0.0, 1.0, (8, 3))


def cnn(keras):
    layers = keras.layers
    first = keras.Input((6, 6, 2))
    y = layers.BatchNormalization()(layers.Conv2D(4, 3, padding="same")(first))
    y = layers.Flatten()(layers.MaxPooling2D(2)(layers.Activation("relu")(y)))
    model = keras.Model(first, layers.Dense(4, activation="softmax")(y))
    model.compile(optimizer=keras.optimizers.SGD(0.1), loss="categorical_crossentropy")
    return model, (8, 6, 6, 2), lambda rng: np.eye(4)[rng.integers(0, 4, 8)]


def lstm(keras):
    layers = keras.layers
    steps = [keras.Input((5, 3)), layers.LSTM(6, return_sequences=True), layers.LSTM(4)]
    model = keras.Sequential([*steps, layers.Dense(1, activation="sigmoid")])
    model.compile(optimizer=keras.optimizers.SGD(0.1), loss="binary_crossentropy")
    return model, (8, 5, 3), lambda rng: rng.integers(0, 2, (8, 1)).astype("float64")


def keras_step(keras, model, x, y):
    """Return Keras' loss, with penalties, its gradients and what training leaves in the other variables."""
    import jax

    loss_of = keras.losses.get(model.loss)

    def loss(trained, others):
        predicted, others, penalties = model.stateless_call(trained, others, x, training=True, return_losses=True)
        return keras.ops.mean(loss_of(y, predicted)) + sum(penalties), others

    trained = [variable.value for variable in model.trainable_variables]
    others = [variable.value for variable in model.non_trainable_variables]
    (value, others), gradients = jax.jit(jax.value_and_grad(loss, has_aux=True))(trained, others)
    return float(value), gradients, others


def loaded_with(model, trained, others, path):
    """Return the parameters, by name, of the model with other numbers: what is Keras' comes in this library's order."""
    for variables, values in ((model.trainable_variables, trained), (model.non_trainable_variables, others)):
        for variable, value in zip(variables, values, strict=True):
            variable.assign(value)
    model.save(path)
    return {key: nd.to_host(array) for key, array in nn.load(path).param_table().items()}


@pytest.mark.parametrize("draw", [mlp, cnn, lstm])
def test_the_first_step_is_that_of_keras(draw, keras, precision, tmp_path):
    model, shape, labels = draw(keras)
    rng = np.random.default_rng(3)
    x, y = rng.normal(0.0, 1.0, shape).astype(precision), labels(rng).astype(precision)
    model.save(tmp_path / "model.keras")
    net = nn.load(tmp_path / "model.keras")
    assert net.params().dtype == precision
    loss, gradients, others = keras_step(keras, model, x, y)
    theirs = loaded_with(model, gradients, others, tmp_path / "gradients.keras")
    before = {key: nd.to_host(array).copy() for key, array in net.param_table().items()}
    net.fit(DataSet(x, y))
    assert net.score() == pytest.approx(loss, rel=CLOSE[precision])
    assert before.keys() == theirs.keys()
    for key, array in net.param_table().items():
        trained = key.rpartition("_")[2] not in NOT_TRAINED
        ours = (before[key] - nd.to_host(array)) / 0.1 if trained else nd.to_host(array)
        largest = max(1.0, float(np.abs(theirs[key]).max()))
        np.testing.assert_allclose(ours, theirs[key], rtol=0, atol=CLOSE[precision] * largest, err_msg=key)
