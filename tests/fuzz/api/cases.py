"""How to call what the names of its parameters do not say, and what is not called at all, with reasons."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

import numpy as np

import nd
from nd.activations import Sigmoid, Softmax
from nn import (
    LSTM,
    DenseLayer,
    FrozenLayer,
    InputType,
    NormalDistribution,
)
from optimize.earlystopping import EarlyStoppingConfiguration, MaxEpochsTerminationCondition
from tests.cases.layers import LAYER_CASES
from tests.cases.own_parts import Wavy
from tests.cases.vertices import VERTEX_CASES

from .caffe_cases import CAFFE
from .detection_cases import DETECTION
from .graph_cases import GRAPHS
from .multi_cases import MULTI
from .ops_cases import OPS
from .prepared import (
    PREPARED,
    binary,
    featurized,
    frozen,
    iterator,
    probabilities,
    rows,
    saved_array,
    saved_arrays,
    saved_checkpoint,
    saved_data_set,
    saved_network,
    saved_normalizer,
    saved_text,
    trained,
)
from .pretraining_cases import PRETRAINING
from .series_cases import SERIES
from .values import configuration, data_set, network

Makers = dict[str, Any]


def _evaluations() -> dict[str, Any]:
    """Return good arguments of the methods of evaluations, class by class."""

    found: dict[str, Any] = {}
    for name in ("Evaluation", "EvaluationBinary", "EvaluationCalibration", "ROC", "ROCBinary", "ROCMultiClass",
                 "RegressionEvaluation"):  # fmt: skip
        where = f"nd.evaluation.{name}"
        made = PREPARED[where]
        found[f"{where}.from_json"] = lambda folder, made=made: {"text": made().to_json()}
        found[f"{where}.merge"] = lambda folder, made=made: {"other": made()}
    found["nd.evaluation.ROC.eval"] = lambda folder: {"labels": binary(), "predictions": probabilities(1)}
    found["nd.evaluation.Evaluation.get_value"] = {"metric": "accuracy"}
    for name in ("EvaluationBinary", "ROCBinary"):
        found[f"nd.evaluation.{name}.set_label_names"] = {"labels": ["a", "b", "c"]}
    return found


def _histogram() -> Any:
    return PREPARED["nd.evaluation.EvaluationCalibration"]().get_probability_histogram(0)


_CURVES: Makers = {
    "nd.evaluation.Histogram": {"title": "a", "lower": 0.0, "upper": 1.0, "bin_counts": np.array([1, 2])},
    "nd.evaluation.PrecisionRecallCurve": {
        "threshold": np.array([0.1, 0.9]), "precision": np.array([0.5, 1.0]), "recall": np.array([1.0, 0.5]),
        "tp_count": np.array([2, 1]), "fp_count": np.array([2, 0]), "fn_count": np.array([0, 1]), "total_count": 4,
    },
    "nd.evaluation.Histogram.from_json": lambda folder: {"text": _histogram().to_json()},
    "nd.evaluation.PrecisionRecallCurve.get_point_at_precision": {"precision": 0.5},
    "nd.evaluation.PrecisionRecallCurve.get_point_at_recall": {"recall": 0.5},
    "nd.evaluation.RocCurve": {
        "threshold": np.array([0.9, 0.1]), "fpr": np.array([0.0, 1.0]), "tpr": np.array([0.0, 1.0]),
    },
    "nd.evaluation.ReliabilityDiagram": {
        "title": "a", "mean_predicted_value_x": np.array([0.1, 0.9]), "fraction_positives_y": np.array([0.1, 0.9]),
    },
    "nd.evaluation.plot_confusion_matrix": lambda folder: {
        "confusion": PREPARED["nd.evaluation.Evaluation"]().confusion,
    },
    "nd.evaluation.plot_histogram": lambda folder: {
        "histogram": _histogram(),
    },
    "nd.evaluation.plot_precision_recall_curve": lambda folder: {
        "curves": PREPARED["nd.evaluation.ROC"]().get_precision_recall_curve(),
    },
    "nd.evaluation.plot_reliability_diagram": lambda folder: {
        "diagrams": PREPARED["nd.evaluation.EvaluationCalibration"]().get_reliability_diagram(0),
    },
    "nd.evaluation.plot_roc_curve": lambda folder: {"curves": PREPARED["nd.evaluation.ROC"]().get_roc_curve()},
}  # fmt: skip

_FACADE: Makers = {
    "nd.add_hook": {"hook": print},
    "nd.arange": {"start": 3},
    "nd.as_array": lambda folder: {"data": [1.0, 2.0]},
    "nd.assign": lambda folder: {"target": rows(), "source": rows()},
    "nd.axpby": lambda folder: {"alpha": 0.5, "x": rows(), "beta": 0.5, "y": rows(), "scratch": rows()},
    "nd.batched_gemm": lambda folder: {
        "a": nd.ones(2, 3, 4), "b": nd.ones(2, 4, 5), "c": nd.ones(2, 3, 5),
    },
    "nd.concat": lambda folder: {"arrays": [rows(), rows()]},
    "nd.create": {"data": [[1.0, 2.0]]},
    "nd.create_uninitialized": {"shape": (2, 3)},
    "nd.Elementwise": {"formula": print},
    "nd.Summed": {"formula": print},
    "nd.affine_gradients": lambda folder: {
        "x": nd.ones(2, 3), "delta": nd.ones(2, 4), "W_gradient": nd.zeros(3, 4), "b_gradient": nd.zeros(4),
    },
    "nd.channel_sums": lambda folder: {"x": nd.ones(2, 3, 4), "y": nd.ones(2, 3, 4)},
    "nd.col2im": lambda folder: {"col": nd.ones(1, 1, 2, 2, 3, 3), "size": (4, 4)},
    "nd.dot": lambda folder: {"x": nd.ones(3), "y": nd.ones(3)},
    "nd.exec": lambda folder: {"op": nd.ops.Abs(rows())},
    "nd.execRandom": lambda folder: {"op": nd.ops.DropOutInverted(rows(), p=0.5)},
    "nd.gemm": lambda folder: {"a": rows(), "b": nd.ones(4, 2)},
    "nd.item": lambda folder: {"x": nd.ones(1)},
    "nd.im2col": lambda folder: {"x": nd.ones(1, 1, 4, 4), "kernel": (2, 2)},
    "nd.ones": {"shape": (2, 3)},
    "nd.permute": lambda folder: {"x": rows(), "axes": (1, 0)},
    "nd.pull_rows": lambda folder: {"table": rows(), "indices": nd.astype(nd.ones(2), "int64")},
    "nd.rand": {"shape": (2, 3)},
    "nd.randn": {"shape": (2, 3)},
    "nd.record": lambda folder: {"run": lambda: nd.ones(2)},
    "nd.remove_hook": {"hook": print},
    "nd.reshape": lambda folder: {"x": rows(), "shape": (4, 3)},
    "nd.reshape_view": lambda folder: {"x": rows(), "shape": (4, 3)},
    "nd.scatter_add": lambda folder: {
        "table": rows(), "indices": nd.astype(nd.ones(2), "int64"), "updates": nd.ones(2, 4),
    },
    "nd.set_backend": {"name": "numpy"},
    "nd.sum_into": lambda folder: {"x": rows(), "axis": 0, "out": nd.zeros(4)},
    "nd.use_backend": {"name": "numpy"},
    "nd.to_flattened": lambda folder: {"order": "c", "arrays": [rows(), rows()]},
    "nd.where": lambda folder: {"condition": nd.greater(rows(), 0.5), "x": rows(), "y": rows()},
    "nd.zeros": {"shape": (2, 3)},
    "nd.random.Random.set_state": {"saved": (1, 2)},
    **{f"nd.random.{name}": lambda folder: {"generator": nd.random.Random(1)} for name in ("set_random", "use_random")},
    "nd.serde.array_from_json": {"obj": [1.0, 2.0]},
    "nd.serde.from_bytes": lambda folder: {"data": nd.serde.to_bytes(rows())},
    "nd.serde.load": lambda folder: {"path": saved_array(folder)},
    "nd.activations.get_activation": {"value": "relu"},
    "nd.losses.get_loss": {"value": "mse"},
    **{
        f"nd.losses.LossFMeasure.{name}": lambda folder: {
            "labels": nd.create(binary()), "z": nd.ones(6, 1), "p": nd.ones(6, 1) / 3.0, "activation": Sigmoid(),
        }
        for name in ("score",)
    },
    **{
        f"nd.losses.LossBinaryXENT.{name}": lambda folder: {
            "labels": nd.create([[0.0, 1.0]]), "z": nd.create([[0.5, -0.5]]), "activation": Sigmoid(),
        }
        for name in ("compute_gradient", "compute_gradient_and_score", "compute_score_array")
    },
    "nd.losses.LossBinaryXENT.compute_score": lambda folder: {
        "labels": nd.create(data_set().labels, dtype="float32"), "z": nd.ones(6, 3), "activation": Softmax(),
    },
    "nd.losses.LossFMeasure.compute_score": lambda folder: {
        "labels": nd.create(binary()), "z": nd.ones(6, 1), "activation": Sigmoid(),
    },
    "nd.losses.LossMixtureDensity": {"mixtures": 1, "labels_width": 1},
    **{
        f"nd.losses.{name}": lambda folder: {
            "labels": nd.create(data_set().labels, dtype="float32"), "z": nd.ones(6, 3), "p": nd.ones(6, 3) / 3.0,
            "activation": Softmax(),
        }
        for name in (
            "LossBinaryXENT.score", "LossBinaryXENT.score_array", "LossBinaryXENT.gradient", "LossMAE.score_array",
        )
    },
}  # fmt: skip

_DATA: Makers = {
    "nd.dataset.AsyncDataSetIterator": lambda folder: {"base": iterator()},
    "nd.dataset.CsvDataSetIterator": lambda folder: {"path": saved_text(folder), "label_index": 2, "num_classes": 3},
    "nd.dataset.DataFrameDataSetIterator": lambda folder: {
        "frame": __import__("pandas").DataFrame({"a": [1.0, 2.0], "b": [0, 1]}), "labels": "b", "num_classes": 2,
    },
    "nd.dataset.DataSet.divide_by": {"divisor": 2.0},
    "nd.dataset.DataSet.filter_and_strip": {"classes": [0, 1]},
    "nd.dataset.DataSet.filter_by": {"classes": [0, 1]},
    "nd.dataset.DataSet.get": {"index": 0},
    "nd.dataset.DataSet.get_label_name": {"number": 0},
    "nd.dataset.DataSet.get_range": {"start": 0, "stop": 2},
    "nd.dataset.DataSet.load": lambda folder: {"path": saved_data_set(folder)},
    "nd.dataset.DataSet.merge": lambda folder: {"data_sets": [data_set(), data_set()]},
    "nd.dataset.DataSet.multiply_by": {"factor": 2.0},
    "nd.dataset.EarlyTerminationDataSetIterator": lambda folder: {"base": iterator(), "n": 2},
    "nd.dataset.ExistingDataSetIterator": lambda folder: {"iterable": [data_set()]},
    "nd.dataset.GeneratorDataSetIterator": lambda folder: {"source": lambda: iter([data_set()])},
    "nd.dataset.ImagePreProcessingScaler.load": lambda folder: {"path": saved_normalizer(folder)},
    "nd.dataset.KFoldIterator": lambda folder: {"k": 2, "data_set": data_set()},
    "nd.dataset.ListDataSetIterator": lambda folder: {"data_sets": data_set()},
    "nd.dataset.MultipleEpochsIterator": lambda folder: {"base": iterator(), "epochs": 2},
    "nd.dataset.NormalizerMinMaxScaler.set_feature_stats": {"lower": np.zeros(4), "upper": np.ones(4)},
    "nd.dataset.NormalizerMinMaxScaler.set_label_stats": {"lower": np.zeros(3), "upper": np.ones(3)},
    "nd.dataset.NormalizerStandardize.set_feature_stats": {"mean": np.zeros(4), "std": np.ones(4)},
    "nd.dataset.NormalizerStandardize.set_label_stats": {"mean": np.zeros(3), "std": np.ones(3)},
    "nd.dataset.NpzDataSetIterator": lambda folder: {"paths": saved_arrays(folder)},
    "nd.dataset.NumpyDataSetIterator": lambda folder: {
        "features": data_set().features, "labels": data_set().labels, "batch": 2,
    },
    "nd.dataset.SamplingDataSetIterator": lambda folder: {"data_set": data_set(), "batch": 2, "total": 2},
    "nd.dataset.SingletonDataSetIterator": lambda folder: {"data_set": data_set()},
    **{
        f"nd.dataset.VGG16ImagePreProcessor.{name}": lambda folder: {"features": np.ones((1, 3, 4, 4), np.float32)}
        for name in ("transform_features", "revert_features")
    },
    "nd.dataset.one_hot": {"labels": [0, 2, 1], "n": 3},
    "nd.dataset.normalizers.normalizer_from_bytes": lambda folder: {"data": saved_normalizer(folder).read_bytes()},
}  # fmt: skip

_SIZES = {"height": 4, "width": 4, "channels": 1, "depth": 4, "size": 4}
_IMAGE = {"input_height": 4, "input_width": 4, "num_channels": 1}
_NETWORKS: Makers = {
    **{f"nn.{name}": {"p": 0.5} for name in ("AlphaDropout", "DropConnect", "Dropout", "SpatialDropout")},
    "nn.GaussianNoise": {"stddev": 0.1},
    "nn.WeightNoise": {"distribution": NormalDistribution(0.0, 0.1)},
    **{f"nn.{name}": {"layer": DenseLayer(n_in=4, n_out=3)} for name in ("FrozenLayer", "FrozenLayerWithBackprop")},
    **{f"nn.{name}": {"layer": LSTM(n_in=4, n_out=3)} for name in ("Bidirectional", "LastTimeStep", "MaskZeroLayer")},
    "nn.TimeDistributed": {"layer": DenseLayer(n_in=4, n_out=3)},
    "nn.LearnedSelfAttentionLayer": {"n_queries": 2},
    "nn.Convolution1D": {"kernel_size": 2},
    "nn.Cnn3DToFeedForwardPreProcessor": {"input_depth": 4, **_IMAGE},
    "nn.FeedForwardToCnn3DPreProcessor": {"input_depth": 4, **_IMAGE},
    **{f"nn.{name}": _IMAGE for name in (
        "CnnToFeedForwardPreProcessor", "FeedForwardToCnnPreProcessor", "CnnToRnnPreProcessor", "RnnToCnnPreProcessor",
    )},
    "nn.InputType.convolutional": {name: _SIZES[name] for name in ("height", "width", "channels")},
    "nn.InputType.convolutional_flat": {name: _SIZES[name] for name in ("height", "width", "channels")},
    "nn.InputType.convolutional3d": {name: _SIZES[name] for name in ("depth", "height", "width", "channels")},
    "nn.InputType.feed_forward": {"size": 4},
    "nn.ScaledWeightInit": {"name": "identity", "scale": 0.5},
    "nn.InputType.recurrent": {"size": 4},
    "nn.MultiLayerConfiguration": lambda folder: {"base": configuration().base, "layers": configuration().layers},
    "nn.MultiLayerConfiguration.from_json": lambda folder: {"text": configuration().to_json()},
    "nn.MultiLayerNetwork.do_evaluation": lambda folder: {"data": data_set()},
    "nn.NeuralNetConfiguration.list": lambda folder: {"layers": DenseLayer(n_in=4, n_out=3)},
    "nn.MultiLayerConfiguration.with_counts": {"iteration_count": 1, "epoch_count": 1},
    "nn.TransferLearningHelper.fit_featurized": lambda folder: {"data": featurized()},
    "nn.TransferLearningHelper.output_from_featurized": lambda folder: {"features": featurized().features},
    "nn.MultiLayerConfiguration.get_conf": {"layer": 0},
    "nn.MultiLayerConfiguration.get_input_pre_process": {"layer": 0},
    "nn.MultiLayerNetwork.activate_selected_layers": lambda folder: {
        "start": 0, "stop": 1, "x": data_set().features,
    },
    "nn.MultiLayerNetwork.backprop_selected_layers": lambda folder: {
        "start": 0, "stop": 1, "x": data_set().features, "epsilon": data_set().labels,
    },
    "nn.BatchNormalization.get_regularization_by_param": {"name": "beta"},
    "nn.BatchNormalization.get_updater_by_param": {"name": "beta"},
    "nn.MultiLayerConfiguration.get_layer_activation_types": {"input_type": InputType.feed_forward(4)},
    "nn.MultiLayerNetwork.activation_from_prev_layer": lambda folder: {"layer": 0, "x": data_set().features},
    "nn.MultiLayerNetwork.f1_score": lambda folder: {"data": data_set()},
    "nn.MultiLayerNetwork.backprop_gradient": lambda folder: {"epsilon": data_set().labels},
    "nn.MultiLayerNetwork.calculate_gradients": lambda folder: {
        "features": data_set().features, "labels": data_set().labels,
    },
    "nn.MultiLayerNetwork.layer_input_size": {"layer": 0},
    "nn.MultiLayerNetwork.layer_size": {"layer": 0},
    "nn.MultiLayerNetwork.set_param": lambda folder: {"key": "0_W", "value": network().get_param("0_W")},
    "nn.MultiLayerNetwork.set_param_table": lambda folder: {"table": network().param_table()},
    "nn.MultiLayerNetwork.update": lambda folder: {"gradient": network().gradient()},
    "nn.MultiLayerNetwork.get_layer": {"index": 0},
    "nn.MultiLayerNetwork.keep": {"names": 0},
    "nn.MultiLayerNetwork.kept": {"name": 0},
    "nn.MultiLayerNetwork.get_learning_rate": {"layer": 0},
    "nn.MultiLayerNetwork.set_learning_rate": {"rate": 0.1},
    "nn.MultiLayerNetwork.predict_labels": lambda folder: {"x": data_set().features},
    "nn.MultiLayerNetwork.get_param": {"key": "0_W"},
    "nn.MultiLayerNetwork.feed_forward": lambda folder: {"x": data_set().features},
    "nn.MultiLayerNetwork.feed_forward_to_layer": lambda folder: {"layer": 0, "x": data_set().features},
    "nn.MultiLayerNetwork.load": lambda folder: {"path": saved_network(folder)},
    "nn.MultiLayerNetwork.load_checkpoint": lambda folder: {"path": saved_checkpoint(folder)},
    "nn.MultiLayerNetwork.output": lambda folder: {"x": data_set().features},
    "nn.MultiLayerNetwork.predict": lambda folder: {"x": data_set().features},
    "nn.MultiLayerNetwork.set_input": lambda folder: {"x": data_set().features},
    "nn.MultiLayerNetwork.set_labels": lambda folder: {"y": data_set().labels},
    "nn.MultiLayerNetwork.set_params": lambda folder: {"params": network().params()},
    "nn.MultiLayerNetwork.set_updater_state": lambda folder: {"state": network().updater_state()},
    "nn.ModelFile.read": lambda folder: {"path": saved_network(folder)},
    "nn.TransferLearning": lambda folder: {"network": network()},
    "nn.TransferLearningHelper": lambda folder: {"network": frozen(), "frozen_till": 0},
    "nn.add_normalizer_to_model": lambda folder: {"path": saved_network(folder)},
    "nn.restore_normalizer": lambda folder: {"path": saved_network(folder)},
    "nn.register": {"part": Wavy},
    "nn.unregister": {"part": FrozenLayer},
    "nn.terms.preprocessors.Convolutional3DType": {
        name: _SIZES[name] for name in ("depth", "height", "width", "channels")
    },
    "nn.terms.preprocessors.ConvolutionalFlatType": {name: _SIZES[name] for name in ("height", "width", "channels")},
    "nn.terms.preprocessors.ConvolutionalType": {name: _SIZES[name] for name in ("height", "width", "channels")},
    **{f"nn.terms.preprocessors.{name}": {"input_type": InputType.feed_forward(4)}
       for name in ("to_images", "to_rows", "to_series")},
}  # fmt: skip

_TRAINING: Makers = {
    **{f"optimize.{name}": {"coefficient": 0.1} for name in (
        "L1Regularization", "L2Regularization", "Regularization", "WeightDecay",
    )},
    "optimize.BackTrackLineSearch.set_step_max": {"step_max": 1.0},
    "optimize.CheckpointListener": lambda folder: {"folder": folder / "checkpoints", "save_every_n_epochs": 1},
    "optimize.CosineSchedule": {"max_iter": 10},
    "optimize.CycleSchedule": {
        "initial_learning_rate": 0.1, "max_learning_rate": 1.0, "cycle_length": 10, "annealing_length": 2,
        "annealing_decay": 0.5,
    },
    "optimize.CycleSchedule.of": {"max_learning_rate": 1.0, "cycle_length": 10},
    "optimize.ExponentialSchedule": {"gamma": 0.5},
    "optimize.InverseSchedule": {"gamma": 0.5, "power": 2.0},
    "optimize.MapSchedule": {"values": {0: 0.1}},
    "optimize.PolySchedule": {"power": 2.0, "max_iter": 10},
    "optimize.RampSchedule": {"base_schedule": 0.1, "num_iter": 10},
    "optimize.SigmoidSchedule": {"gamma": 0.5, "step_size": 10},
    "optimize.StepSchedule": {"decay_rate": 0.5, "step": 10.0},
    "optimize.MaxNormConstraint": {"max_norm": 1.0},
    "optimize.MinMaxNormConstraint": {"min": 0.0, "max": 1.0},
    "optimize.EvaluativeListener": lambda folder: {"data": iterator()},
    "optimize.HtmlReportListener": lambda folder: {"path": folder / "report.html"},
    "optimize.TensorBoardListener": lambda folder: {"log_dir": folder / "board"},
    "optimize.TimeIterationListener": {"total_iterations": 10},
    **{
        f"optimize.{name}": lambda folder: {"conf": configuration(), "model": trained()}
        for name in ("ConjugateGradient", "LBFGS", "LineGradientDescent", "Solver")
    },
    "optimize.StochasticGradientDescent": lambda folder: {
        "conf": configuration(), "model": trained(), "listeners": [],
    },
    "optimize.get_updater": {"value": "sgd"},
    "optimize.earlystopping.BestScoreEpochTerminationCondition": {"best_expected_score": 0.1},
    "optimize.earlystopping.ClassificationScoreCalculator": lambda folder: {
        "metric": "accuracy", "iterator": iterator(),
    },
    "optimize.earlystopping.EarlyStoppingConfiguration": lambda folder: {
        "epoch_termination_conditions": [MaxEpochsTerminationCondition(1)], "score_calculator": _calculator(),
    },
    "optimize.earlystopping.EarlyStoppingTrainer": lambda folder: {
        "conf": EarlyStoppingConfiguration(
            epoch_termination_conditions=[MaxEpochsTerminationCondition(1)], score_calculator=_calculator()
        ),
        "model": network(), "train_iterator": iterator(),
    },
    "optimize.earlystopping.LocalFileModelSaver": lambda folder: {"directory": folder / "models"},
    "optimize.earlystopping.MaxEpochsTerminationCondition": {"max_epochs": 1},
    "optimize.earlystopping.MaxScoreIterationTerminationCondition": {"max_score": 1.0},
    "optimize.earlystopping.MaxTimeIterationTerminationCondition": {"max_time": 1.0},
    "optimize.earlystopping.ROCScoreCalculator": lambda folder: {
        "kind": "multiclass", "metric": "auc", "iterator": iterator(),
    },
    "optimize.earlystopping.RegressionScoreCalculator": lambda folder: {"metric": "mse", "iterator": iterator()},
    "optimize.earlystopping.ScoreImprovementEpochTerminationCondition": {"max_epochs_with_no_improvement": 1},
}  # fmt: skip


def _calculator() -> Any:
    from optimize.earlystopping import DataSetLossCalculator

    return DataSetLossCalculator(iterator())


def _of_rows() -> Makers:
    """Return the fields without a default of layers and vertices, as their rows in tests/cases have them."""
    parts = [row.layer for rows in LAYER_CASES.values() for row in rows]
    parts += [row.vertex for rows in VERTEX_CASES.values() for row in rows]
    return {f"nn.{type(part).__name__}": _needed(part) for part in reversed(parts)}


def _needed(part: Any) -> dict[str, Any]:
    needed = [field.name for field in fields(part) if field.init and field.default is field.default_factory is MISSING]
    return {name: getattr(part, name) for name in needed}


CASES: Makers = {
    **_of_rows(),
    **_FACADE,
    **_DATA,
    **DETECTION,
    **OPS,
    **MULTI,
    **SERIES,
    **_CURVES,
    **_evaluations(),
    **PRETRAINING,
    **CAFFE,
    **_NETWORKS,
    **GRAPHS,
    **_TRAINING,
}
"""Name of a target -> good arguments, or a function of the folder that makes them."""
