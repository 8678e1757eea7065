"""What the fuzzer of wrong arguments leaves out, each with its reason."""

from __future__ import annotations

_LAYER = "a layer's author implements it, the network calls it while it is put together"
_STEP = "an inner step of training, called with arrays thousands of times a second; its author implements it"
_HOOK = "a listener's author implements it, training calls it"
_MADE = "made by the library and handed out, not by users"
_SHARED = "for classes that build on it, in other files too, which call it"
_LOW = "the facade's own machinery for backends; the layers call it with arrays that they have made"

EXEMPT: dict[str, str] = {
    **dict.fromkeys(
        [f"*.{name}" for name in (
            "check", "following", "with_inputs", "with_n_in", "output_type", "output_types", "preprocessor_for",
            "resolved", "regularization_of", "updater_of", "matrix_specs", "kernel_spec", "out_size", "weight_specs",
            "out_sizes", "sized", "window", "of_sizes", "in_format", "axes_of",
            "check_inputs", "check_range", "from_row", "node_types", "types_for", "with_confs", "projections",
            "lstm_specs", "say_what_is_ignored", "tied_specs",
            "examples_of", "looks_at",
        )], _LAYER,
    ),
    **dict.fromkeys(
        [f"*.{name}" for name in (
            "apply", "coefficients", "apply_dropout", "backprop", "get_parameter", "constrained", "on", "draw",
            "pre_process", "feed_forward_mask", "mask", "mask_into", "numbers", "value_of_sum", "at", "value_at",
            "count", "learning_rate_at", "coefficient_for", "terminate", "retained", "dropout_factors", "direction",
            "first_step", "learn", "read_labels", "refine", "set_state", "slope", "terms", "get_in_order", "gain",
            "unmasked_gradient",
        )], _STEP,
    ),
    **dict.fromkeys(
        [f"*.{name}" for name in (
            "distribution_input_size", "example_neg_log_probability", "generate_at_mean", "generate_random",
            "neg_log_probability",
        )] + [f"nn.{kind}ReconstructionDistribution.gradient" for kind in (
            "Bernoulli", "Composite", "Exponential", "Gaussian",
        )] + ["nn.LossFunctionWrapper.gradient"],
        "a formula that a layer calls with arrays that it has made; programs call the layer's own methods",
    ),
    **dict.fromkeys(
        [f"*.{name}" for name in (
            "iteration_done", "on_epoch_start", "on_epoch_end", "on_forward_pass", "on_backward_pass",
            "on_gradient_calculation", "on_numeric_error", "on_fit_end", "on_start", "on_epoch", "on_completion",
            "close", "wants", "before_forward", "after_forward", "before_backward", "after_backward", "hears_nodes",
        )], _HOOK,
    ),
    **dict.fromkeys(
        (
            "nd.activations.Activation", "nd.losses.Loss", "nd.dataset.DataSetIterator", "nd.dataset.Normalizer",
            "nd.dataset.MultiDataSetIterator", "nd.dataset.MultiNormalizer", "nd.dataset.normalizers.AnyNormalizer",
            "nd.dataset.MultiDataSetPreProcessor",
            "nd.evaluation.IEvaluation", "nd.ops.ActivationBp", "nd.ops.ActivationOp",
            "nd.ops.Broadcast", "nd.ops.Pooling2D", "nd.ops.Pooling2DDerivative",
            "nd.dataset.DataSetPreProcessor", "nn.IDropout", "nn.IWeightNoise",
            "nn.InputPreProcessor", "nn.LayerConf", "nn.BaseLayerConf", "nn.FeedForwardConf",
            "nn.SameDiffConf", "nn.ReconstructionDistribution",
            "nn.LayerRuntime", "nn.VertexConf", "nn.caffe.Layer", "nn.VertexRuntime", "optimize.Schedule",
            "nn.Updater",
            "optimize.LayerConstraint", "optimize.Listener", "optimize.TerminationCondition", "optimize.Regularization",
            "optimize.ConvexOptimizer", "optimize.earlystopping.ScoreCalculator",
            "optimize.earlystopping.EpochTerminationCondition", "optimize.earlystopping.EarlyStoppingListener",
            "optimize.earlystopping.IterationTerminationCondition", "nn.Gradient",
        ), "a base to build on: its own classes are called",
    ),
    **dict.fromkeys(
        (
            "nn.VertexContext", "nd.Meeting", "nd.RecordedCall", "nd.Recording", "nd.Seat", "nd.UpdatePlan",
            "nd.Work", "nd.WorkPlan", "nn.DefaultGradient", "nn.LayerDescription", "nn.ModelFile", "nn.caffe.Blob",
            "nn.keras.KerasLayer",
            "optimize.ArrayStatistics", "optimize.Checkpoint", "optimize.NetworkUpdater", "optimize.OptimizerState",
            "optimize.Segment", "optimize.StatisticsRecord", "optimize.earlystopping.EarlyStoppingResult",
            "nd.evaluation.ConfusionMatrix",
        ), _MADE,
    ),
    **dict.fromkeys(
        (
            "nd.Seat.gather", "nd.meeting", "nd.buffer_like", "nd.cells", "nd.deferred_memory", "nd.elementwise",
            "nd.plan_shards", "nd.plan_update", "nd.plan_work", "nd.run_tasks", "nd.staged", "nd.summed",
            "nd.to_activation_order", "nd.to_image_order", "nd.to_input_order", "*.has_to_meet",
        ), _LOW,
    ),
    **dict.fromkeys(("*.before_fork", "*.in_child"), "called by the system's fork, in its own order"),
    **dict.fromkeys(
        ("*.rnn_get_previous_state", "*.rnn_set_previous_state"),
        "of recurrent layers, which are not here: tests/nn/networks/test_stored_state.py calls them wrongly",
    ),
    **dict.fromkeys(
        [f"*.{name}" for name in ("read_body", "write_body", "from_fields", "fitted", "add")],
        "the inner half of reading, writing or counting, called with what has been checked",
    ),
    **dict.fromkeys(
        [f"*.{name}" for name in (
            "change_set", "changed", "check_array", "check_given", "check_initialized", "check_labels", "check_lengths",
            "check_mask", "check_number", "check_outputs", "check_repeatable", "check_same_dtype", "check_source",
            "checked_cursor", "fixed", "handed_on", "hear_gradient", "hear_iteration", "holding", "learnt",
            "map_arrays", "minibatch_of", "named_arrays", "new_items", "numbers_at", "point", "pre_processed",
            "read_ahead", "read_settings", "result_of", "set_pair", "set_rows", "size_of_next", "start_at", "steps_of",
            "through", "value_of", "values_of", "way", "way_of", "weigh", "who", "with_arrays",
            "with_groups", "write_settings", "written",
        )], _SHARED,
    ),
    **dict.fromkeys(
        (
            "nd.dataset.ImageMultiPreProcessingScaler.fit_label", "nd.dataset.ImageMultiPreProcessingScaler.save",
            "nd.dataset.MultiDataSetWrapperIterator.input_columns",
            "nd.dataset.MultiDataSetWrapperIterator.total_outcomes", "nd.dataset.VGG16ImagePreProcessor.fit_label",
        ), "has nothing to do but to refuse",
    ),
    "*.label_columns": "a loss's author implements it, the network calls it to plan a step",
    "optimize.BackTrackLineSearch.search": "the optimizers call it, with a function of their model",
    "optimize.L1Regularization.score": _STEP,
    "optimize.L2Regularization.score": _STEP,
    "nd.losses.LossFMeasure.score_array": "has nothing to do but to refuse",
    "nd.dataset.KFoldIterator.test_fold": "has no arguments, and next must come first",
    "nn.ComputationGraph.stop_training": "can be called from a listener alone, while fit runs",
    "nn.ComputationGraph.evaluate_roc": "wants another network; it is evaluate with a ROC",
    "nn.TransferLearningHelper.unfrozen_graph": "wants a graph; it is unfrozen_mln",
    "nn.caffe.Net.backward_to": "forward must come before; it is backward_from_to",
    "nn.caffe.Solver.restore": "wants a snapshot of the same solver: tests/nn/caffe/solver/test_resume.py",
    "nn.caffe.Net.set_input_arrays": "wants a MemoryData layer: its reset takes the arrays",
    "nn.caffe.Net.set_up": "the inner half of making a net",
    "nn.caffe.Net.to_computation_graph": "wants another net: tests/nn/caffe have them",
    "nn.caffe.write_mnist_databases": "would download, and writes 70,000 examples",
    **dict.fromkeys(
        [f"nd.dataset.{name}DataSetIterator" for name in ("Cifar10", "Emnist", "FashionMnist", "Mnist")],
        "would download; its arguments are those of DigitsDataSetIterator",
    ),
    "nd.dataset.augmentation.Augmentation": "a base to build on: its own classes are called",
    **dict.fromkeys(
        [f"*.{name}" for name in (
            "change_set", "changed", "check_size", "drawn", "empty", "matrices", "mixed_labels", "moved", "reach",
            "shares",
        )],
        "an augmentation's author implements it, or calls it, in pre_process and transform",
    ),
}  # fmt: skip
"""Name, or ``*.`` and the name of a method of any class -> why it is not called."""

LONG: frozenset[str] = frozenset({
    "nn.ComputationGraph.fit:epochs", "nn.ComputationGraph.fit:labels",
    "nn.MultiLayerNetwork.fit:epochs", "nn.MultiLayerNetwork.fit:labels",
    "nn.TransferLearningHelper.fit_featurized:epochs", "nn.caffe.Solver.step:n",
    "optimize.StochasticGradientDescent.optimize:iterations",
})  # fmt: skip
"""Parameters that say how often something long is done: 10**30 is not tried."""
