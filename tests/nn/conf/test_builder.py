"""DL4J's fluent style, and the enums."""

from dataclasses import fields

import pytest

import nd
from nd.activations import ACTIVATIONS
from nd.arrays.convolution import CONVOLUTION_MODES
from nd.losses import LOSSES
from nn import (
    RBM,
    Activation,
    BernoulliReconstructionDistribution,
    CnnToFeedForwardPreProcessor,
    Convolution1DLayer,
    ConvolutionLayer,
    ConvolutionMode,
    DenseLayer,
    DepthwiseConvolution2D,
    DropConnect,
    Dropout,
    GlobalPoolingLayer,
    GradientNormalization,
    InputType,
    LocallyConnected1D,
    LocallyConnected2D,
    LossFunction,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    NormalDistribution,
    OCNNOutputLayer,
    OptimizationAlgorithm,
    OutputLayer,
    PoolingType,
    SubsamplingLayer,
    Updater,
    WeightInit,
)
from nn.files.json_values import camel_case
from nn.layers import LAYERS
from nn.layers.pooling.global_pooling import POOLINGS
from nn.layers.same_size import SameSizeConf
from nn.terms.weights import WEIGHT_INITS
from optimize import (
    AdaDelta,
    AdaGrad,
    Adam,
    AdaMax,
    MaxNormConstraint,
    MinMaxNormConstraint,
    Nadam,
    Nesterovs,
    NonNegativeConstraint,
    RmsProp,
    Sgd,
    UnitNormConstraint,
    WeightDecay,
    ZeroDirection,
)
from optimize.builder import snake_case
from optimize.gradient_normalization import GRADIENT_NORMALIZATIONS
from optimize.solvers import OPTIMIZERS
from optimize.updaters import UPDATERS
from tests.cases.layers import LAYER_CASES
from tests.cells import every_row


def two_layers():
    return (
        DenseLayer.Builder().nIn(1).nOut(2).activation(Activation.RELU).dropOut(0.5).build(),
        OutputLayer.Builder(LossFunction.MSE).activation(Activation.IDENTITY).nIn(2).nOut(1).build(),
    )


def test_the_chain_of_the_articles_is_the_keyword_form():
    conf = (NeuralNetConfiguration.Builder()
            .seed(12345).iterations(1)
            .optimizationAlgo(OptimizationAlgorithm.STOCHASTIC_GRADIENT_DESCENT)
            .learningRate(0.01).weightInit(WeightInit.XAVIER).updater(Updater.SGD)
            .list()
            .layer(0, DenseLayer.Builder().nIn(1).nOut(2).activation(Activation.RELU).dropOut(0.5).build())
            .layer(1, OutputLayer.Builder(LossFunction.MSE).activation(Activation.IDENTITY).nIn(2).nOut(1).build())
            .pretrain(False).backprop(True).build())  # fmt: skip
    keywords = NeuralNetConfiguration(seed=12345, updater=Sgd(0.01)).list(
        DenseLayer(n_in=1, n_out=2, activation="relu", drop_out=0.5),
        OutputLayer(n_in=2, n_out=1, loss="mse", activation="identity"),
    )
    assert conf == keywords
    assert conf.to_json() == keywords.to_json()
    assert conf.layers[0].drop_out == Dropout(0.5)
    net = MultiLayerNetwork(conf).init()
    net.fit([[1.0], [2.0]], [[1.0], [2.0]], epochs=3)
    assert net.iteration_count == 3


def test_learning_rate_and_momentum_beside_a_name():
    conf = NeuralNetConfiguration.Builder().updater(Updater.NESTEROVS).learningRate(0.02).momentum(0.8).build()
    assert conf.updater == Nesterovs(0.02, 0.8)
    assert NeuralNetConfiguration(seed=1, learning_rate=0.5) == NeuralNetConfiguration(seed=1, updater=Sgd(0.5))


@every_row(
    ("updater", "expected"),
    [
        (Nesterovs(momentum=0.8), Nesterovs(0.03, 0.8)), (Nesterovs(), Nesterovs(0.03, 0.9)),
        (Nesterovs.Builder(0.8).build(), Nesterovs(0.03, 0.8)), (RmsProp(rms_decay=0.5), RmsProp(0.03, 0.5)),
        (Adam(beta1=0.8), Adam(0.03, 0.8)), (AdaGrad(), AdaGrad(0.03)), (AdaMax(), AdaMax(0.03)),
        (Nadam(), Nadam(0.03)), (Sgd(), Sgd(0.03)),
    ],
    ids=lambda updater: type(updater).__name__,
)  # fmt: skip
def test_a_learning_rate_beside_an_updater_without_one(updater, expected):
    """What Deeplearning4j 0.9.1 printed for ``.updater(u).learningRate(0.03)``, whichever comes first."""
    assert NeuralNetConfiguration.Builder().updater(updater).learningRate(0.03).build().updater == expected
    assert NeuralNetConfiguration.Builder().learningRate(0.03).updater(updater).build().updater == expected


def test_momentum_beside_an_updater():
    """As Deeplearning4j 0.9.1."""
    conf = NeuralNetConfiguration.Builder().updater(Nesterovs()).momentum(0.7).learningRate(0.03).build()
    assert conf.updater == Nesterovs(0.03, 0.7)


def test_a_learning_rate_beside_an_updater_that_has_another_or_none():
    with pytest.raises(
        nd.ConfigurationError, match=r"learning_rate 0.5 given beside Nesterovs\(learning_rate=0.2, .*itse"
    ):
        NeuralNetConfiguration(updater=Nesterovs(0.2, 0.8), learning_rate=0.5)
    with pytest.raises(nd.ConfigurationError, match=r"momentum 0.5 given beside Nesterovs\(.*momentum=0.8"):
        NeuralNetConfiguration(updater=Nesterovs(momentum=0.8), momentum=0.5)
    with pytest.raises(nd.ConfigurationError, match="'AdaDelta' has no learning_rate, expected epsilon, rho"):
        NeuralNetConfiguration(updater=AdaDelta(), learning_rate=0.5)
    assert NeuralNetConfiguration(updater=Nesterovs(0.2, 0.8), learning_rate=0.2).updater == Nesterovs(0.2, 0.8)


def test_layers_in_any_order_and_without_numbers():
    first, second = two_layers()
    base = NeuralNetConfiguration(seed=1)
    expected = base.list(first, second)
    start = NeuralNetConfiguration.Builder().seed(1).list
    assert start().layer(1, second).layer(0, first).build() == expected
    assert start().layer(first).layer(second).build() == expected
    unbuilt = DenseLayer.Builder().nIn(1).nOut(2).activation("relu").dropOut(0.5)
    assert start().layer(0, unbuilt).layer(second).build() == expected


@pytest.mark.parametrize("indices", [(0, 2), (1, 2), (1,), (-1, 0)])
def test_a_missing_layer_is_named(indices):
    builder = NeuralNetConfiguration.Builder().list()
    for index in indices:
        builder = builder.layer(index, DenseLayer(n_in=1, n_out=1))
    shown = ", ".join(map(str, sorted(indices)))
    with pytest.raises(nd.ConfigurationError, match=rf"layers must be 0\.\.n-1, got \[{shown}\]"):
        builder.build()


def test_no_layers_or_what_is_none():
    with pytest.raises(nd.ConfigurationError, match="needs at least one layer, got none"):
        NeuralNetConfiguration.Builder().list().build()
    with pytest.raises(nd.ConfigurationError, match="layer 1 must be a layer configuration, got 'dense'"):
        NeuralNetConfiguration().list(DenseLayer(n_in=1, n_out=1), "dense")


@pytest.mark.parametrize(("call", "value"), [("pretrain", True), ("backprop", False)])
def test_how_a_network_is_trained_can_be_said_behind_the_layers(call, value):
    builder = NeuralNetConfiguration.Builder().list().layer(two_layers()[0])
    assert getattr(getattr(builder, call)(value).build().base, call) is value
    assert getattr(NeuralNetConfiguration.Builder().list().layer(two_layers()[0]).build().base, call) is not value


def test_input_type_in_either_spelling():
    layer = DenseLayer(n_out=2)
    expected = NeuralNetConfiguration(seed=1).list(layer, input_type=InputType.feed_forward(3))
    for call in ("setInputType", "inputType"):
        builder = NeuralNetConfiguration.Builder().seed(1).list().layer(0, layer)
        assert getattr(builder, call)(InputType.feed_forward(3)).build() == expected


def test_a_preprocessor_given_by_hand_is_used():
    preprocessor = CnnToFeedForwardPreProcessor(4, 4, 2)
    conf = (
        NeuralNetConfiguration.Builder()
        .seed(1)
        .list()
        .layer(0, ConvolutionLayer(n_in=1, n_out=2, kernel_size=3))
        .layer(1, OutputLayer(n_in=32, n_out=2))
        .inputPreProcessor(1, preprocessor)
        .build()
    )
    assert conf.preprocessors == {1: preprocessor}
    assert tuple(MultiLayerNetwork(conf).init().output(nd.zeros(2, 1, 6, 6)).shape) == (2, 2)


def test_what_a_builder_takes_in_its_call():
    assert ConvolutionLayer.Builder(3, 2).nOut(4).build() == ConvolutionLayer(n_out=4, kernel_size=(3, 2))
    assert ConvolutionLayer.Builder((3, 2)).nOut(4).build() == ConvolutionLayer(n_out=4, kernel_size=(3, 2))
    assert SubsamplingLayer.Builder(PoolingType.AVG).kernelSize(2, 2).stride(2, 2).build() == SubsamplingLayer(
        "avg", kernel_size=(2, 2), stride=(2, 2)
    )
    assert OutputLayer.Builder(LossFunction.XENT).build() == OutputLayer(loss="xent")


def test_an_argument_that_a_builder_does_not_take_is_refused():
    with pytest.raises((nd.ConfigurationError, TypeError), match="DenseLayer"):
        DenseLayer.Builder(5)
    with pytest.raises((nd.ConfigurationError, TypeError), match="OutputLayer"):
        OutputLayer.Builder("mse", 7)


@every_row("target", [NeuralNetConfiguration, *LAYERS.values()])
def test_every_field_has_its_call(target):
    axes = getattr(target, "axes", 2)
    axes = axes if isinstance(axes, int) else len(axes)
    unshared = target in (LocallyConnected1D, LocallyConnected2D)
    given = of_rows(target) | {
        "seed": 3, "dtype": "float64", "updater": Sgd(0.2), "bias_updater": Sgd(0.3), "iterations": 2,
        "mini_batch": False, "max_num_line_search_iterations": 7, "activation": "tanh", "weight_init": "relu",
        "bias_init": 0.5, "drop_out": 0.9, "l1": 0.1, "l2": 0.2, "l1_bias": 0.3, "l2_bias": 0.4,
        "convolution_mode": "same", "minimize": False, "name": "here", "n_in": 3,
        "n_out": 6 if target is DepthwiseConvolution2D else 4, "has_bias": False, "kernel_size": (2, 3, 4)[:axes],
        "stride": (1, 2, 3)[:axes], "padding": (2, 1, 0)[:axes], "dilation": (3, 1, 2)[:axes],
        "depth_multiplier": 2, "input_size": (7, 8)[:axes], "pnorm": 2, "pooling_type": "avg", "loss": "mse",
        "weight_decay": 0.5, "weight_decay_bias": (0.6, False), "gradient_normalization": "clip_l2_per_layer",
        "gradient_normalization_threshold": 2.0,
        "avg_pool_include_pad_in_divisor": True, "validate_output_layer_config": False, "step_function": "gradient",
        "weight_noise": DropConnect(0.5), "constraints": NonNegativeConstraint(),
        "constrain_weights": MaxNormConstraint(1), "constrain_bias": UnitNormConstraint(),
        "constrain_all_parameters": MinMaxNormConstraint(1, 2),
        "layer": DenseLayer(n_out=2), "bwd": DenseLayer(n_out=2), "mode": "mul", "masking_value": 1.5,
        "lbfgs_memory": 7, "terminations": (ZeroDirection(),),
        "decay": 0.8, "eps": 0.1, "gamma": 2.0, "beta": 0.3, "lock_gamma_beta": True,
        "use_log_std": False, "minibatch": False, "n": 3, "alpha": 0.1,
        "k": 2 if target is RBM else 1.5, "input_shape": (2, 3),
        "shared_axes": (1,), "infer_input_length": False, "input_length": 7,
        "lambda_": 0.3, "gradient_check": True, "hidden_size": 5, "nu": 0.2,
        "window_size": 9, "initial_r_value": 0.7, "configure_r": False, "capsules": 4, "capsule_dimensions": 6,
        "routings": 2, "input_capsules": 7, "input_capsule_dimensions": 8, "channels": 3, "use_relu": True, "leak": 0.1,
        "input_channels": 2, "blocks": 2, "collapse_dimensions": False, "cropping": 1, "pooling_dimensions": (2, 3),
        "size": 3, "has_layer_norm": True, "gate_activation": "hardsigmoid", "forget_gate_bias_init": 2.0,
        "weight_init_recurrent": "xavier_uniform",
        "n_heads": 2, "head_size": 5, "n_queries": 3, "project_input": True,
        "pretrain": True, "backprop": False, "corruption_level": 0.2, "sparsity": 0.3, "reconstruction_loss": "mse",
        "visible_bias_init": 0.4, "hidden_unit": "softmax", "visible_unit": "linear", "num_samples": 3,
        "encoder_layer_sizes": (5, 6), "decoder_layer_sizes": (7, 8), "pzx_activation": "tanh",
        "reconstruction_distribution": BernoulliReconstructionDistribution(),
    }  # fmt: skip
    if issubclass(target, SameSizeConf):
        given["n_out"] = given["n_in"]
    if target is OCNNOutputLayer:
        given["n_out"] = 1
    given |= {"data_format": [None, *getattr(target, "formats", ())][-1], "input_format": "NHWC"}
    exempt = {"learning_rate", "momentum", "older", "optimization_algo", "dist", "unused"}  # tested apart
    exempt |= {"regularization", "regularization_bias"}  # in whose place are l1, l2 and weight decay
    exempt |= {"bias_init", "weight_noise"} if unshared else set()  # which are always the same there
    names = {field.name for field in fields(target)} - exempt - {"l2", "l2_bias"}  # in whose place is weight decay
    names -= set(getattr(target, "refused", ()))
    builder = target.Builder()
    for name in names:
        builder = getattr(builder, camel_case(name))(given[name])
    assert builder.build() == target(**{name: given[name] for name in names})


def of_rows(target):
    """Return what the rows of a layer say of its fields, other than the defaults where they do."""
    rows = [case.layer for rows in LAYER_CASES.values() for case in rows if type(case.layer) is target]
    said = {}
    for field in fields(target):
        values = [getattr(layer, field.name) for layer in rows]
        said |= {field.name: next((each for each in values if each != field.default), values[0])} if values else {}
    return said


@pytest.mark.parametrize("target", [NeuralNetConfiguration, DenseLayer])
@pytest.mark.parametrize("bias", ["", "Bias"])
def test_of_l2_and_weight_decay_the_later_call_counts(target, bias):
    def built(*calls):
        builder = target.Builder()
        for call, *values in calls:
            builder = getattr(builder, call + bias)(*values)
        made = builder.build()
        return [getattr(made, f"{name}{bias and '_bias'}") for name in ("l2", "weight_decay")]

    assert built(("l2", 0.1), ("weightDecay", 0.2)) == [None, WeightDecay(0.2, apply_lr=True)]
    assert built(("weightDecay", 0.2, False), ("l2", 0.1)) == [0.1, None]
    assert built(("weightDecay", 0.2, False), ("l2", 0.0)) == [0.0, WeightDecay(0.2, apply_lr=False)]
    assert built(("l2", 0.1), ("weightDecay", 0.0)) == [0.1, WeightDecay(0.0)]


@pytest.mark.parametrize("spelling", ["nIn", "n_in"])
def test_both_spellings(spelling):
    assert getattr(DenseLayer.Builder(), spelling)(3).build() == DenseLayer(n_in=3)


@pytest.mark.parametrize(
    ("java", "ours"),
    [("nIn", "n_in"), ("weightInit", "weight_init"), ("l2Bias", "l2_bias"), ("seed", "seed"),
     ("maxNumLineSearchIterations", "max_num_line_search_iterations"), ("dropOut", "drop_out")],
)  # fmt: skip
def test_snake_case(java, ours):
    assert snake_case(java) == ours


def test_an_unknown_setting_names_the_nearest():
    with pytest.raises(nd.ChoiceError, match=r"DenseLayer.Builder: unknown setting 'n_ins'.*Did you mean 'n_in'"):
        DenseLayer.Builder().nIns(3)
    with pytest.raises(nd.ChoiceError, match=r"NeuralNetConfiguration.Builder: .*'wieght_init'.*mean 'weight_init'"):
        NeuralNetConfiguration.Builder().wieghtInit("xavier")
    with pytest.raises(nd.ChoiceError, match=r"unknown setting 'pretrian'.*Did you mean 'pretrain'"):
        NeuralNetConfiguration.Builder().list().pretrian(False)


# ---- enums


@pytest.mark.parametrize(
    ("enum", "names"),
    [
        (Activation, ACTIVATIONS),
        (ConvolutionMode, CONVOLUTION_MODES),
        (GradientNormalization, GRADIENT_NORMALIZATIONS),
        (LossFunction, LOSSES),
        (OptimizationAlgorithm, OPTIMIZERS),
        (PoolingType, POOLINGS),
        (Updater, UPDATERS),
        (WeightInit, WEIGHT_INITS),
    ],
)
def test_an_enum_has_every_name(enum, names):
    assert sorted(enum) == sorted(names)


@every_row(
    "make",
    [
        *(lambda s, m=m: DenseLayer(activation=s(m)) for m in Activation),
        *(lambda s, m=m: OutputLayer(loss=s(m)) for m in LossFunction if m != "mixturedensity"),
        *(lambda s, m=m: DenseLayer(weight_init=s(m)) for m in WeightInit if m != "distribution"),
        lambda s: DenseLayer(weight_init=s(WeightInit.DISTRIBUTION), dist=NormalDistribution()),
        *(lambda s, m=m: DenseLayer(updater=s(m)) for m in Updater),
        *(lambda s, m=m: NeuralNetConfiguration(seed=1, updater=s(m)) for m in Updater),
        *(lambda s, m=m: Convolution1DLayer(kernel_size=2, convolution_mode=s(m)) for m in ConvolutionMode),
        *(lambda s, m=m: DenseLayer(gradient_normalization=s(m)) for m in GradientNormalization),
        *(lambda s, m=m: GlobalPoolingLayer(s(m)) for m in PoolingType),
        *(lambda s, m=m: NeuralNetConfiguration(seed=1, optimization_algo=s(m)) for m in OptimizationAlgorithm),
    ],
)
def test_enums_and_strings_in_either_case_are_the_same(make):
    assert make(lambda member: member) == make(str) == make(lambda member: str(member).upper())
