"""Words of Keras, PyTorch, scikit-learn and NumPy, under what is written here in their place.

The value is the words, with spaces between them, in one spelling for all: ``batch_first`` is ``batchFirst`` too. The
key is what to write, after ": " what has to be known about it. What it begins with says who is answered with it:

- ``'mse'``: a choice, where it is one of those that there are.
- ``n_out``, ``n_out: ...``, ``beta1=0.9``: where the function has this argument, or the object this attribute.
- ``seed: in NeuralNetConfiguration``, ``rnn_time_step: of the network``: everybody, as it says where that is.
- ``Bidirectional(LSTM(n_out=8))``: everybody, as it is code that works.

Those that fit the place come first, then a mere other spelling, then the last two. Words of one function come before
those of all: "argument of evaluate", and so do those of a class and of the classes below it: "attribute of Network".
tests/test_other_words.py looks whether all of them are there.
"""

from .other_arguments import ARGUMENTS_OF, OTHER_ARGUMENTS
from .other_names import OTHER_NAMES

OTHER_WORDS: dict[str, dict[str, str]] = {
    "activation": {
        "'elu'": "celu",
        "'gelu'": "gelu_new gelu_approximate gelu_tanh",
        "'hardsigmoid'": "hard_sig",
        "'hardtanh'": "hard_tan",
        "'identity'": "linear none no pass",
        "'leakyrelu'": "leaky lrelu leaky_re_lu",
        "'relu6'": "relun clipped_relu",
        "'sigmoid'": "logistic expit sigm log_sigmoid",
        "'softmax': with the loss 'mcxent', which takes the logarithm": "log_softmax softmax2d softmin",
        "'swish'": "silu hard_silu hard_swish",
        "'thresholdedrelu'": "threshold hard_shrink soft_shrink",
        "LeakyReLU(alpha=0.01): of nd.activations, which takes the slope": "relu_with_slope",
        "PReLULayer: a layer, because its slope is learned": "prelu parametric_relu",
    },
    "argument": OTHER_ARGUMENTS,
    **ARGUMENTS_OF,
    "attribute": {
        "backprop_gradient": "backward grad gradients get_gradients autograd vjp",
        "calc_regularization_score": "losses regularization_loss",
        "class_names": "classes_ labels_ target_names",
        "clone": "copy deepcopy clone_model get_config from_config",
        "compute_gradient_and_score: it writes the gradient anew, nothing is set to zero before": (
            "zero_grad clear_grad reset_grad"
        ),
        "conf": "get_params config hyperparameters settings",
        "evaluate": "score_samples accuracy accuracy_score classification_report test evaluate_generator",
        "evaluate_roc": "roc_auc auc roc_auc_score",
        "f1": "f1_score fscore",
        "features": "x data inputs input",
        "feed_forward": "activations hidden_states get_activations intermediate",
        "fit": "train_step fit_generator train_model learn run train_epoch fit_transform",
        "fit: it trains on what it gets, one call after the other": "partial_fit",
        "fit: loss and updater are in the configuration already, nothing is compiled": "compile",
        "fit: training and output are told apart by the call: net.fit(...), net.output(x)": (
            "train eval training no_grad requires_grad_"
        ),
        "fit_batch": "train_on_batch step training_step update_batch optimizer_step",
        "flattened_gradients": "gradients_vector",
        "get_layer": "get_submodule layer nth_layer children modules named_modules",
        "get_learning_rate": "lr optimizer_lr get_lr learning_rate get_last_lr",
        "history": "loss_curve_ losses_ history_ evals_result",
        "init": "build initialize reset_parameters init_weights reset_weights apply",
        "iteration_count": "n_iter_ iterations t_ global_step",
        "labels": "y target targets",
        "layers": "modules children",
        "learning_rate": "lr rate",
        "load": "load_model from_pretrained restore load_from_checkpoint",
        "nd.evaluation.ROC: or net.evaluate_roc(data)": "roc_curve",
        "nd.set_backend('cupy'): before init, for a GPU; 'numpy' for the processor": "to cuda cpu device gpu mps",
        "num_params": "count_params n_params parameter_count numel size n_parameters",
        "output": (
            "forward predict_proba decision_function transform call predict_on_batch infer inference logits "
            "predict_generator"
        ),
        "param_table": (
            "state_dict parameters named_parameters weights trainable_weights trainable_variables coefs_ coef_ "
            "intercepts_ intercept_ variables get_weights trainable_parameters weight bias w b"
        ),
        "params": "get_weights parameters flat_params",
        "picture": "plot plot_model draw visualize show",
        "predict": "predict_classes predict_class classify argmax",
        "revert": "inverse_transform denormalize inverse",
        "rnn_clear_previous_state": "reset_states reset_state reset_hidden",
        "save": "save_model save_weights save_pretrained export serialize dump to_onnx save_state dumps",
        "score": "loss get_loss compute_loss test_on_batch evaluate_loss losses error loss_",
        "set_learning_rate": "set_lr adjust_learning_rate scheduler lr_scheduler",
        "set_listeners": "callbacks register_forward_hook add_callback register_hook set_callbacks",
        "set_param_table": "load_state_dict set_weights load_weights",
        "set_params": "set_weights",
        "stats": "classification_report report",
        "stop_training": "stop stop_training_",
        "summary": "describe info print_summary model_summary repr str named_children",
        "to_dict": "history as_dict",
        "updater": "optimizer solver_ optim optimiser trainer configure_optimizers",
        "validation_accuracy": "val_accuracy val_acc",
        "validation_metrics": "metrics",
        "validation_score": "val_loss validation_loss valid_loss",
    },
    "attribute of InputType": {
        "convolutional": "image images conv cnn",
        "convolutional3d": "volume video",
        "convolutional_flat": "flat flattened image_flat flat_image",
        "feed_forward": "dense vector linear tabular",
        "recurrent": "sequence series rnn time_series",
    },
    "attribute of Network": {
        "NeuralNetConfiguration().list(DenseLayer(n_in=9, n_out=100), OutputLayer(n_out=3)): layers come all at once": (
            "add append add_module add_layer insert pop extend"
        ),
        "NeuralNetConfiguration(dtype='float64'): or 'float32', before the network is made": (
            "half float double bfloat16 astype set_dtype"
        ),
        "TransferLearning(net, feature_extractor=0): or FrozenLayer(layer) around a layer": (
            "freeze unfreeze trainable requires_grad freeze_layers"
        ),
        "net.conf.network_input_types(): or net.layer_input_size(0), the n_in of a layer": (
            "input_shape input_dim in_features n_features_in_ input_size"
        ),
        "net.conf.to_json()": "to_json to_yaml",
        "nn.load(path): reads a network that save has written": "load_model from_pretrained load_from_checkpoint",
    },
    "backend": {
        "'array_api:torch'": "torch pytorch",
        "'cupy'": "cuda gpu torch.cuda jax_gpu nvidia",
        "'numpy': the processor's": "tensorflow tf jax cpu mxnet mlx keras theano",
    },
    "convolution mode": {
        "'same'": "half same_upper same_lower",
        "'truncate'": "valid",
    },
    "dtype": {
        "'bool'": "bool_ boolean torch.bool",
        "'float32'": "single f4 half float16 bfloat16 fp32 f32 fp16 torch.float32",
        "'float32': or 'float64', which Python's float is": "float",
        "'float64'": "double f8 f64 fp64 torch.float64",
        "'int64'": "int long i8 torch.int64",
    },
    "gradient normalisation": {
        "'clip_element_wise_absolute_value'": "clip_value value clip_grad_value clip clip_by_value",
        "'clip_l2_per_layer'": "clip_norm norm clip_grad_norm clip_by_norm",
    },
    "loss": {
        "'cosine_proximity'": "cosine_similarity cosine_embedding_loss cosine cosine_distance",
        "'hinge'": "hinge_loss hinge_embedding_loss margin_ranking_loss multi_margin_loss",
        "'kl_divergence'": "kl_div kld kullback_leibler_divergence kl_div_loss kl",
        "'mcxent'": (
            "categorical_crossentropy cross_entropy crossentropy cross_entropy_loss softmax_cross_entropy log_loss ce "
            "nll_loss_softmax categorical_cross_entropy ce_loss xentropy multinomial logloss "
            "softmax_cross_entropy_with_logits"
        ),
        "'mean_absolute_error'": "mae l1_loss absolute_error mean_abs_error smooth_l1_loss huber huber_loss smooth_l1",
        "'mean_absolute_percentage_error'": "mape",
        "'mean_squared_logarithmic_error'": "msle",
        "'mse'": (
            "mean_squared_error mse_loss squared_error mean_square_error l2_loss rmse quadratic least_squares log_cosh"
        ),
        "'negativeloglikelihood'": "nll nll_loss negative_log_likelihood",
        "'poisson'": "poisson_nll_loss poisson_nll",
        "'sparse_mcxent': or 'mcxent', for class numbers too": (
            "sparse_categorical_crossentropy sparse_cross_entropy sparse_categorical_cross_entropy "
            "sparse_softmax_cross_entropy"
        ),
        "'squared_hinge'": "soft_margin_loss",
        "'xent'": (
            "binary_crossentropy bce bce_loss bce_with_logits_loss bce_with_logits binary_cross_entropy "
            "sigmoid_cross_entropy binary_cross_entropy_with_logits logistic binary_logloss binary_focal_crossentropy "
            "focal_loss binary sigmoid"
        ),
    },
    "metric": {
        "'accuracy'": "acc categorical_accuracy binary_accuracy sparse_categorical_accuracy accuracy_score",
        "'auc'": "roc_auc auroc roc_auc_score",
        "'auprc'": "average_precision pr_auc average_precision_score auc_pr",
        "'f1'": "f1_score f1_macro fscore",
        "'mae'": "mean_absolute_error",
        "'mse'": "mean_squared_error",
        "'rmse'": "root_mean_squared_error",
    },
    "monitor": {
        "'score'": "loss train_loss training_loss",
        "'validation_accuracy'": "val_accuracy val_acc accuracy acc",
        "'validation_score'": "val_loss validation_loss valid_loss",
    },
    "name": OTHER_NAMES,
    "op of ElementWiseVertex": {
        "'add'": "sum plus",
        "'average'": "mean avg",
        "'max'": "maximum",
        "'product'": "mul multiply prod times",
        "'subtract'": "sub minus",
        "MergeVertex(): a vertex of its own": "concat concatenate cat merge",
    },
    "optimization_algo": {
        "'lbfgs'": "l_bfgs l_bfgs_b bfgs newton_cg",
        "'stochastic_gradient_descent': adam and others are given as updater": (
            "adam sgd rmsprop adamw nesterovs adagrad adadelta nadam adamax amsgrad gradient_descent momentum"
        ),
    },
    "padding": {
        "convolution_mode='causal': of the layer, beside a padding of 0": "causal",
        "convolution_mode='same': of the layer, beside a padding of 0": (
            "same half same_upper same_lower full reflect replicate circular"
        ),
        "convolution_mode='truncate': of the layer, the default": "valid",
    },
    "pooling type": {
        "'avg'": "average mean avg_pool average_pooling global_average ave",
        "'max'": "maximum max_pool max_pooling global_max",
        "'pnorm'": "lp lp_pool norm",
    },
    "stride": {
        "stride=2: of the layer, numbers": "same",
    },
    "updater": {
        "'adam'": "radam lazy_adam lion lamb adamoptimizer adafactor adabound sparse_adam",
        "'adam': for AdamW Adam(0.001) beside weight_decay=0.01 in NeuralNetConfiguration": (
            "adamw adam_w fused_adam adam_with_weight_decay torch.optim.adamw decoupled_adam"
        ),
        "'nesterovs'": "momentum sgd_momentum sgd_with_momentum nesterov nag sgd_nesterov momentum_sgd sgd_w lars",
        "'noop'": "noop_optimizer identity frozen",
        "'rmsprop'": "rms_prop_optimizer rprop r_prop",
        "'sgd'": "gradient_descent asgd vanilla gd stochastic stochastic_gradient_descent constant invscaling adaptive",
        "'sgd': for L-BFGS optimization_algo='lbfgs' in NeuralNetConfiguration": "lbfgs l_bfgs bfgs",
    },
    "weight initialisation": {
        "'identity'": "eye dirac",
        "'normal'": "random_normal gaussian normal_ randn",
        "'ones'": "ones_ one constant_1",
        "'relu'": "he he_normal kaiming_normal kaiming kaiming_normal_ msra he_norm henormal",
        "'relu_uniform'": "he_uniform kaiming_uniform kaiming_uniform_",
        "'uniform'": "random_uniform uniform_ rand",
        "'var_scaling_normal_fan_in'": "variance_scaling fan_in",
        "'xavier'": "glorot glorot_normal xavier_normal xavier_normal_ glorot_norm",
        "'xavier_uniform'": "glorot_uniform xavier_uniform_",
        "'zero'": "zeros zeros_",
        "ConstantDistribution(0.5): an object": "constant constant_ const",
        "NormalDistribution(0, 0.01): an object": "sparse sparse_",
        "OrthogonalDistribution(1.0): an object": "orthogonal orthogonal_",
        "TruncatedNormalDistribution(0, 0.01): an object": "truncated_normal trunc_normal trunc_normal_",
    },
}  # fmt: skip
"""Kind of name, as `check_choice` says it, or the argument that is given -> what to write -> the words."""
