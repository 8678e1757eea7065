"""Arguments of Keras, PyTorch, scikit-learn and NumPy, under those of this library; see `other_words`."""

OTHER_ARGUMENTS: dict[str, str] = {
    "AMSGrad: an updater of its own, updater=AMSGrad(0.001)": "amsgrad",
    "ActivationLayer(activation='relu'): memory is reused by itself": "inplace",
    "AsyncDataSetIterator: in nd.dataset, for several readers; fit reads ahead by itself": (
        "workers num_workers n_jobs use_multiprocessing max_queue_size prefetch pin_memory"
    ),
    "BatchNormalization: a layer of its own": "batch_norm use_batch_norm",
    "Bidirectional(LSTM(n_out=8)): around the layer": "bidirectional go_backwards",
    "DepthwiseConvolution2D: one group for each channel": "groups",
    "EarlyStoppingTrainer: in optimize.earlystopping": "early_stopping",
    "FrozenLayer(layer): around the layer": "requires_grad trainable freeze frozen",
    "GlobalPoolingLayer: a layer of its own": "global_pool",
    "InputType.convolutional(height, width, channels): as input_type in .list(...)": "channels height width",
    "LastTimeStep(LSTM(n_out=8)): the last step alone; a layer gives all of them": "return_sequences",
    "MaskZeroLayer(LSTM(n_out=8)): around the layer": "mask_zero padding_idx",
    "Nesterovs(0.1, momentum=0.9): as updater": "nesterov nesterovs_momentum momentums",
    "NeuralNetConfiguration().list(DenseLayer(n_in=9, n_out=100), OutputLayer(n_out=3)): one after the other": (
        "layers hidden_layer_sizes num_layers n_layers arch architecture modules hidden_layers nb_layers "
        "layer_sizes"
    ),
    "OutputLayer(activation='softmax', loss='mcxent'): the layer turns logits into probabilities": "from_logits",
    "SpatialDropout(0.8): as drop_out, for channels as a whole": "noise_shape",
    "SubsamplingLayer(convolution_mode='same'): rounds sizes up": "ceil_mode",
    "activation": (
        "act activation_fn activation_function nonlinearity transfer_function output_activation act_fn "
        "hidden_activation"
    ),
    "averaging": "average",
    "axis": "dim dims axes dimension",
    "batch": "batch_size",
    "batch_size: in fit, examples in a minibatch": (
        "batch batch_sz batches_size mb_size minibatch_size steps_per_epoch"
    ),
    "beta1=0.9, beta2=0.999: one by one": "betas",
    "bias_init: a number": "bias_initializer bias_value",
    "constrain_bias=MaxNormConstraint(2.0): or another of optimize": "bias_constraint",
    "constrain_weights=MaxNormConstraint(2.0): or another of optimize": (
        "kernel_constraint max_norm weight_constraint"
    ),
    "convolution_mode": "padding_mode border_mode pad_mode",
    "data": "x x_train features inputs input train_data training_data dataset train_loader generator",
    "data_format": "format",
    "data_format='NHWC': images [N, H, W, C]; without it [N, C, H, W]": "image_data_format channels_last",
    "data_format='NWC': series [N, T, C]; without it [N, C, T]": "batch_first time_major",
    "decay": "momentum",
    "decay_rate": "gamma decay drop_rate factor",
    "dilation": "dilation_rate dilations atrous_rate",
    "drop_out: the probability to retain, 0.8 for a dropout of 0.2": (
        "dropout rate p dropout_rate drop_rate drop_prob keep_prob prob dropout_p recurrent_dropout attn_dropout "
        "dropout_prob probability keep_rate"
    ),
    "drop_out=0.8: in NeuralNetConfiguration, or a layer, the probability to retain": (
        "dropout rate dropout_rate drop_rate drop_prob keep_prob recurrent_dropout attn_dropout dropout_prob keep_rate"
    ),
    "dtype='float64': in NeuralNetConfiguration, for the whole network": "dtype torch_dtype precision",
    "epochs: in fit": (
        "epoch n_epochs num_epochs nb_epoch max_iter max_epochs n_iter max_steps n_estimators iters steps "
        "num_train_epochs"
    ),
    "eps": "epsilon",
    "epsilon": "eps",
    "features": "x data inputs input",
    "final_value": "eta_min alpha end_learning_rate min_lr",
    "folder": "filepath path dirpath save_dir directory",
    "forget_gate_bias_init": "unit_forget_bias forget_bias",
    "frequency": "log_every print_every interval log_interval every",
    "gamma": "decay_rate",
    "gate_activation": "recurrent_activation inner_activation gate_act",
    "gradient_normalization='clip_element_wise_absolute_value': in NeuralNetConfiguration": "clip_value grad_clip",
    "gradient_normalization='clip_l2_per_layer': in NeuralNetConfiguration": (
        "clip_norm global_clipnorm max_grad_norm gradient_clip_val"
    ),
    "has_bias": "bias use_bias fit_intercept with_bias",
    "head_size": "key_dim value_dim kdim vdim head_dim",
    "initial_value": "learning_rate initial_learning_rate initial_lr base_lr lr",
    "input_type=InputType.feed_forward(784): in .list(...), or recurrent, convolutional": (
        "input_shape batch_input_shape batch_shape input_length shape input_spec"
    ),
    "keep_last": "max_to_keep save_total_limit",
    "kernel_size": "kernel pool_size filter_size window window_size kernel_shape size pool_shape receptive_field",
    "l1": "l1_reg lambda_l1 alpha_l1",
    "l1: beside l2": "l1_ratio l1_l2",
    "l2": "alpha l2_reg lambda_l2 reg lamb reg_lambda",
    "l2: or l1, weight_decay": "kernel_regularizer regularizer weight_regularizer activity_regularizer penalty",
    "l2_bias": "bias_regularizer",
    "labels": "y y_train target targets y_true label train_labels",
    "learning_rate": "lr eta eta0 learning_rate_init base_lr step_size initial_lr rate",
    "load_checkpoint: of the network, and the same fit goes on where it stood": (
        "initial_epoch resume_from warm_start"
    ),
    "load_updater": "include_optimizer load_optimizer compile",
    "lock_gamma_beta=True: gamma and beta are not learned": "affine center scale elementwise_affine",
    "loss": "loss_fn loss_function criterion objective",
    "loss=...: in OutputLayer": "loss loss_fn criterion objective loss_function",
    "masking_value": "mask_value",
    "max_iter": "t_max decay_steps total_steps n_steps",
    "mean": "loc mu",
    "merge_axis": "axis dim concat_axis",
    "min_learning_rate": "min_lr lr_min",
    "mode": "merge_mode",
    "momentum": "beta mom",
    "n": "repeats times",
    "n_heads": "num_heads nhead heads",
    "n_in": (
        "in_features in_channels input_dim input_size num_embeddings vocab_size n_features num_features "
        "input_units in_dim n_inputs inputs in_size nin fan_in num_inputs max_features embed_size"
    ),
    "n_out": (
        "units filters out_features out_channels hidden_size output_dim nb_filter n_hidden num_hidden neurons "
        "n_units num_units n_neurons size embedding_dim embed_dim output_size num_classes n_classes hidden_dim "
        "hidden classes num_filters n_filters n_outputs num_outputs outputs nodes features out_dim cells cell_size "
        "nb_units d_model dim unit nout fan_out out_size width depth kernels nb_filters num_neurons hidden_units"
    ),
    "name": "layer_name label",
    "nd.set_backend('cupy'): before init, for a GPU": "device gpu use_gpu cuda accelerator gpus",
    "net.fit(x, labels): numbers between 0 and 1 are taken as they are, 0.9 and 0.05, say": "label_smoothing",
    "nodes": "layers modules vertices",
    "num_classes": "n_classes nb_classes classes n_labels num_labels",
    "p: the probability to retain": "keep_prob keep_rate",
    "padding": "pad pads zero_padding",
    "padding: or convolution_mode='same'": "output_padding",
    "path": "filepath file_path filename file fname f",
    "patience": "n_iter_no_change early_stopping_rounds tol patience_epochs",
    "pooling_type": "mode pool_mode pool_type pooling pool",
    "print_iterations": "every frequency log_every print_every interval freq log_interval",
    "rate: the probability to drop": (
        "dropout p drop_out dropout_rate drop_rate drop_prob prob dropout_p dropout_prob probability"
    ),
    "rms_decay": "rho alpha decay smoothing",
    "rnn_time_step: of the network, keeps its state from call to call": "stateful return_state",
    "sample_weight": "sample_weights weights example_weights weight",
    "save_every_n_epochs": "save_freq period every_n_epochs save_every frequency every interval",
    "save_every_n_iterations": "save_steps every_n_train_steps every_n_iterations",
    "save_updater": "save_optimizer include_optimizer save_weights_only",
    "seed": "random_state random_seed rng generator manual_seed",
    "seed: in NeuralNetConfiguration": "random_state random_seed rng generator",
    "set_learning_rate: of the network, or a Schedule in the updater": (
        "scheduler lr_scheduler lr_decay decay_steps"
    ),
    "set_listeners: of the network before fit, net.set_listeners(ScoreIterationListener(10))": (
        "callbacks callback verbose verbosity log_level progress_bar disp"
    ),
    "shape": "size dims",
    "shape: numbers one after the other, or a tuple": "size dims",
    "shuffle": "shuffle_data",
    "size": "scale_factor upscale_factor factor",
    "start": "from_",
    "std": "stddev sigma scale",
    "stddev": "std sigma scale noise",
    "step": "step_size decay_steps drop_every epochs_drop",
    "stop": "end",
    "stride": "strides subsample step pool_stride",
    "train": "training mode is_training",
    "updater": "optimizer solver optim updater_fn opt optimiser algorithm trainer",
    "updater=Adam(0.001): in NeuralNetConfiguration, the parameters are the network's": (
        "params parameters optimizer optim opt"
    ),
    "updater=Adam(beta1=0.9, beta2=0.999): in NeuralNetConfiguration": "beta_1 beta_2 betas epsilon eps rho",
    "updater=Adam(learning_rate=0.001): in NeuralNetConfiguration, the rate is the updater's": (
        "lr learning_rate eta eta0 learning_rate_init alpha base_lr"
    ),
    "updater=Nesterovs(0.1, momentum=0.9): in NeuralNetConfiguration": "momentum dampening",
    "validation_data: in fit, a pair (x, y)": (
        "eval_set validation_set val_data valid_data val_set validation eval_data test_data validation_freq "
        "validation_steps validation_batch_size val_loader"
    ),
    "validation_split: in fit, the share that is held out": (
        "validation_fraction val_split test_size valid_pct eval_split val_fraction"
    ),
    "value": "fill_value val",
    "weight_decay: in NeuralNetConfiguration, or a layer": "decay wd weight_decay",
    "weight_init": (
        "kernel_initializer initializer init weights_initializer weight_initializer embeddings_initializer "
        "depthwise_initializer init_method nonlinearity_init kernel_init w_init"
    ),
    "weight_init_recurrent": "recurrent_initializer",
    "x": "data inputs input features",
}  # fmt: skip
"""What to write -> other libraries' arguments of any function or class."""
ARGUMENTS_OF: dict[str, dict[str, str]] = {
    "argument of evaluate": {
        "DataSet(x, y, features_mask=mask, labels_mask=mask): as data": "features_mask labels_mask mask masks",
        "DataSet(x, y, labels_mask=mask): 0 for rows that do not count, 1 for those that do": (
            "sample_weight sample_weights weights"
        ),
        "NumpyDataSetIterator(x, y, batch=32): as data, minibatch by minibatch": "batch_size batch",
    },
    "argument of fit": {
        "DataSet(x, y, features_mask=mask, labels_mask=mask): as data": "features_mask labels_mask mask masks",
    },
    "argument of load": {
        "nd.set_backend('cupy'): before it, for a GPU; a file has no device": "map_location",
        "nn.register(Own): before it, for every class of one's own": "custom_objects",
    },
    "argument of output": {
        "DataSet(x, features_mask=mask): as x": "features_mask mask masks feature_mask",
        "NumpyDataSetIterator(x, batch=32): as x, minibatch by minibatch": "batch_size batch",
    },
    "argument of predict": {
        "DataSet(x, features_mask=mask): as x": "features_mask mask masks feature_mask",
        "NumpyDataSetIterator(x, batch=32): as x, minibatch by minibatch": "batch_size batch",
    },
    "argument of score": {
        "DataSet(x, y, features_mask=mask, labels_mask=mask): as data": "features_mask labels_mask mask masks",
        "DataSet(x, y, labels_mask=weights): a number for every row [N, 1]": "sample_weight sample_weights weights",
        "NumpyDataSetIterator(x, y, batch=32): as data, minibatch by minibatch": "batch_size batch",
    },
}  # fmt: skip
"""The same of one function, which comes first."""
