"""How weights start, against the formulas of DL4J and fans worked out by hand."""

import math

import numpy as np
import pytest

import nd
from nn import (
    BinomialDistribution,
    ConstantDistribution,
    ConvolutionLayer,
    DenseLayer,
    GaussianDistribution,
    LogNormalDistribution,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    NormalDistribution,
    OrthogonalDistribution,
    PReLULayer,
    TruncatedNormalDistribution,
    UniformDistribution,
    WeightInit,
)
from nn.terms.weights import FIXED_INITS, RANDOM_INITS, WEIGHT_INITS
from tests.stand_ins import TOLERANCE, make_backend

VARIANCE_ERROR = 0.06  # relative, of the variance of some 10,000 draws
SEED = 12345

DENSE = (DenseLayer(n_in=80, n_out=120), 80.0, 120.0, 80 + 120)
# 16 channels in, 24 out, 5x5, stride 2x3: fan_out = 24 * 25 / 6
STRIDED = (ConvolutionLayer(n_in=16, n_out=24, kernel_size=(5, 5), stride=(2, 3)), 400.0, 100.0, 24 + 16)
LAYERS = {"dense": DENSE, "strided-convolution": STRIDED}

NORMAL_VARIANCES = {
    "lecun_normal": lambda fan_in, fan_out, ends: 1 / fan_in,
    "normal": lambda fan_in, fan_out, ends: 1 / fan_in,
    "relu": lambda fan_in, fan_out, ends: 2 / fan_in,
    "xavier": lambda fan_in, fan_out, ends: 2 / (fan_in + fan_out),
    "xavier_fan_in": lambda fan_in, fan_out, ends: 1 / fan_in,
    "xavier_legacy": lambda fan_in, fan_out, ends: 1 / ends,
}
TRUNCATED_VARIANCES = {
    "var_scaling_normal_fan_avg": lambda fan_in, fan_out, ends: 2 / (fan_in + fan_out),
    "var_scaling_normal_fan_in": lambda fan_in, fan_out, ends: 1 / fan_in,
    "var_scaling_normal_fan_out": lambda fan_in, fan_out, ends: 1 / fan_out,
}
UNIFORM_BOUNDS = {
    "lecun_uniform": lambda fan_in, fan_out, ends: 3 / math.sqrt(fan_in),
    "relu_uniform": lambda fan_in, fan_out, ends: math.sqrt(6 / fan_in),
    "sigmoid_uniform": lambda fan_in, fan_out, ends: 4 * math.sqrt(6 / (fan_in + fan_out)),
    "uniform": lambda fan_in, fan_out, ends: 1 / math.sqrt(fan_in),
    "var_scaling_uniform_fan_avg": lambda fan_in, fan_out, ends: 3 / math.sqrt((fan_in + fan_out) / 2),
    "var_scaling_uniform_fan_in": lambda fan_in, fan_out, ends: 3 / math.sqrt(fan_in),
    "var_scaling_uniform_fan_out": lambda fan_in, fan_out, ends: 3 / math.sqrt(fan_out),
    "xavier_uniform": lambda fan_in, fan_out, ends: math.sqrt(6) / math.sqrt(fan_in + fan_out),
}

every_layer = pytest.mark.parametrize("layer", LAYERS.values(), ids=LAYERS)


def draw(layer, init, dtype="float64", seed=SEED):
    """Return W of a network of that layer, on the host."""
    conf = NeuralNetConfiguration(seed=seed, dtype=dtype, weight_init=init, bias_init=0.25).list(layer)
    return nd.to_host(MultiLayerNetwork(conf).init().get_param("0_W"))


def test_the_tables_have_every_name():
    assert sorted(NORMAL_VARIANCES | TRUNCATED_VARIANCES | UNIFORM_BOUNDS) == sorted(RANDOM_INITS)
    assert sorted(WeightInit) == sorted(WEIGHT_INITS)
    assert set(WEIGHT_INITS) == {*RANDOM_INITS, *FIXED_INITS, "distribution"}


@every_layer
@pytest.mark.parametrize("init", NORMAL_VARIANCES)
def test_normal(layer, init):
    W, variance = draw(layer[0], init), NORMAL_VARIANCES[init](*layer[1:])
    assert W.var() == pytest.approx(variance, rel=VARIANCE_ERROR)
    assert abs(W.mean()) < 5 * math.sqrt(variance / W.size)
    assert np.abs(W).max() > 3 * math.sqrt(variance)  # not cut off
    assert np.mean(np.abs(W) < math.sqrt(variance)) == pytest.approx(0.6827, abs=0.02)


@every_layer
@pytest.mark.parametrize("init", TRUNCATED_VARIANCES)
def test_truncated_normal(layer, init):
    W, std = draw(layer[0], init), math.sqrt(TRUNCATED_VARIANCES[init](*layer[1:]))
    assert np.abs(W).max() <= 2 * std * (1 + 1e-6)
    assert np.abs(W).max() > 1.95 * std
    assert np.mean(np.abs(W) < std) == pytest.approx(0.6827 + 0.0455, abs=0.03)  # outliers end inside


@every_layer
@pytest.mark.parametrize("init", UNIFORM_BOUNDS)
def test_uniform(layer, init):
    W, bound = draw(layer[0], init), UNIFORM_BOUNDS[init](*layer[1:])
    assert np.abs(W).max() <= bound
    assert np.abs(W).max() > 0.999 * bound
    assert W.var() == pytest.approx(bound**2 / 3, rel=VARIANCE_ERROR)
    assert abs(W.mean()) < 5 * bound / math.sqrt(3 * W.size)


@every_layer
@pytest.mark.parametrize("init", sorted({*RANDOM_INITS, *FIXED_INITS} - {"identity"}))
def test_every_backend_draws_the_same(layer, init):
    found = []
    for name in ("numpy", "numpy-readonly", "strict"):
        with nd.use_backend(make_backend(name)):
            found.append(draw(layer[0], init, "float32"))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_the_seed_decides():
    first, second = draw(DENSE[0], "xavier", seed=1), draw(DENSE[0], "xavier", seed=2)
    assert (first != second).mean() > 0.99
    np.testing.assert_array_equal(draw(DENSE[0], "xavier", seed=1), first)


def test_layers_draw_one_after_the_other_from_one_seed():
    """As one draw of the length of W and then another: biases draw nothing."""
    conf = NeuralNetConfiguration(seed=SEED).list(DenseLayer(n_in=3, n_out=4), DenseLayer(n_in=4, n_out=2))
    net = MultiLayerNetwork(conf).init()
    rng = nd.random.Random(SEED)
    for key, count, variance in (("0_W", 12, 2 / 7), ("1_W", 8, 2 / 6)):
        expected = nd.to_host(rng.gaussian(count)) * np.float32(math.sqrt(variance))
        np.testing.assert_allclose(nd.to_host(net.get_param(key)).ravel("F"), expected, **TOLERANCE["float32"])


def test_init_seeds_the_global_generator_and_given_parameters_do_not_touch_it():
    conf = NeuralNetConfiguration(seed=SEED).list(DenseLayer(n_in=3, n_out=4))
    MultiLayerNetwork(conf).init()
    state = nd.random.get_random().get_state()
    nd.random.set_seed(5)
    MultiLayerNetwork(conf).init()
    assert nd.random.get_random().get_state() == state
    MultiLayerNetwork(conf).init(np.zeros((1, 16)))
    assert nd.random.get_random().get_state() == state


@every_layer
@pytest.mark.parametrize(("init", "value"), [("zero", 0.0), ("ones", 1.0)])
def test_fixed(layer, init, value, backend):
    assert (draw(layer[0], init) == value).all()


def test_biases_start_at_bias_init(backend):
    conf = NeuralNetConfiguration(seed=1, bias_init=0.25).list(
        DenseLayer(n_in=3, n_out=4), DenseLayer(n_in=4, n_out=2, bias_init=-1.0)
    )
    table = MultiLayerNetwork(conf).init().param_table()
    assert (nd.to_host(table["0_b"]) == 0.25).all()
    assert (nd.to_host(table["1_b"]) == -1.0).all()


def test_identity_of_a_matrix(backend):
    np.testing.assert_array_equal(draw(DenseLayer(n_in=4, n_out=4), "identity"), np.eye(4))


def test_identity_of_a_convolution_is_in_the_centre(backend):
    W = draw(ConvolutionLayer(n_in=3, n_out=3, kernel_size=(3, 5)), "identity")
    expected = np.zeros((3, 3, 3, 5))
    for channel in range(3):
        expected[channel, channel, 1, 2] = 1.0
    np.testing.assert_array_equal(W, expected)


def test_a_convolution_with_identity_weights_repeats_its_input(backend):
    layer = ConvolutionLayer(n_in=2, n_out=2, kernel_size=3, convolution_mode="same", activation="identity")
    net = MultiLayerNetwork(NeuralNetConfiguration(seed=1, weight_init="identity").list(layer)).init()
    x = np.arange(60, dtype=np.float32).reshape(1, 2, 5, 6)
    np.testing.assert_array_equal(nd.to_host(net.output(x)), x)


@pytest.mark.parametrize("layer", [DenseLayer(n_in=3, n_out=4), ConvolutionLayer(n_in=2, n_out=5)])
def test_identity_needs_as_many_outputs_as_inputs(layer):
    with pytest.raises(nd.ConfigurationError, match=r"identity.*equal in number, got a weight \[(3, 4|5, 2, 5, 5)\]"):
        draw(layer, "identity")


@pytest.mark.parametrize(("n_in", "n_out"), [(6, 6), (9, 4), (4, 9)])
@pytest.mark.parametrize("gain", [1.0, 1.5])
def test_orthogonal_matrix(n_in, n_out, gain, backend, dtype):
    W = draw(DenseLayer(n_in=n_in, n_out=n_out), OrthogonalDistribution(gain), dtype).astype("float64")
    product = W.T @ W if n_in >= n_out else W @ W.T
    atol = {"float32": 1e-5, "float64": 1e-12}[dtype]
    np.testing.assert_allclose(product, gain**2 * np.eye(min(n_in, n_out)), rtol=0.0, atol=atol)


def test_orthogonal_convolution(backend):
    """The matrix is ``[prod(shape[:-1]), shape[-1]]``: here its columns are orthonormal."""
    W = draw(ConvolutionLayer(n_in=2, n_out=3, kernel_size=(2, 5)), OrthogonalDistribution()).reshape(-1, 5)
    np.testing.assert_allclose(W.T @ W, np.eye(5), rtol=0.0, atol=1e-12)


def test_orthogonal_is_random():
    layer = DenseLayer(n_in=5, n_out=5)
    first, second = (draw(layer, OrthogonalDistribution(), seed=seed) for seed in (1, 2))
    assert np.abs(first - second).max() > 0.1


DISTRIBUTIONS = {
    "normal": (NormalDistribution(1.0, 0.5), 1.0, 0.25),
    "gaussian": (GaussianDistribution(-1.0, 2.0), -1.0, 4.0),
    "uniform": (UniformDistribution(1.0, 3.0), 2.0, 1 / 3),
    "binomial": (BinomialDistribution(10, 0.3), 3.0, 2.1),
    "log_normal": (LogNormalDistribution(0.1, 0.3), math.exp(0.145), (math.exp(0.09) - 1) * math.exp(0.29)),
    "constant": (ConstantDistribution(0.125), 0.125, 0.0),
}
"""Name -> distribution, mean, variance."""


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distribution(name, backend):
    distribution, mean, variance = DISTRIBUTIONS[name]
    W = draw(DENSE[0], distribution)
    assert W.mean() == pytest.approx(mean, abs=5 * math.sqrt(variance / W.size) + 1e-12)
    assert W.var() == pytest.approx(variance, rel=VARIANCE_ERROR)


def test_distributions_by_name_and_their_ranges():
    layer = DenseLayer(n_in=80, n_out=120, weight_init="distribution", dist=UniformDistribution(1.0, 3.0))
    W = draw(layer, "xavier")
    assert (W.min() >= 1.0, W.max() <= 3.0) == (True, True)
    np.testing.assert_array_equal(W, draw(DENSE[0], UniformDistribution(1.0, 3.0)))
    counts = draw(DENSE[0], BinomialDistribution(10, 0.3))
    assert set(counts.ravel()) <= set(range(11))
    truncated = draw(DENSE[0], TruncatedNormalDistribution(4.0, 0.5))
    assert (truncated.min() >= 3.0, truncated.max() <= 5.0) == (True, True)
    assert truncated.mean() == pytest.approx(4.0, abs=0.02)


def test_an_unknown_name_lists_the_nearest():
    with pytest.raises(nd.ChoiceError, match=r"DenseLayer: unknown weight initialisation 'xaver'.*mean 'xavier'"):
        DenseLayer(n_in=1, n_out=1, weight_init="xaver")
    with pytest.raises(nd.ChoiceError, match=r"NeuralNetConfiguration: .*'relu_uniforms', expect.*mean 'relu_uniform'"):
        NeuralNetConfiguration(weight_init="relu_uniforms")


def test_a_distribution_must_be_given_and_make_sense():
    with pytest.raises(nd.ConfigurationError, match=r"DenseLayer: weight_init 'distribution' needs dist, got None"):
        DenseLayer(n_in=1, n_out=1, weight_init="distribution")
    with pytest.raises(nd.ConfigurationError, match=r"lower must be < upper, got 3.0, 1.0"):
        UniformDistribution(3.0, 1.0)


def test_a_vector_is_no_identity():
    with pytest.raises(nd.ConfigurationError, match=r"identity.*equal in number, got a weight \[3\]"):
        draw(PReLULayer(input_shape=(3,), weight_init="identity"), "xavier")
