"""Classes and functions of Keras, PyTorch, scikit-learn and NumPy, under those of this library; see `other_words`."""

OTHER_NAMES: dict[str, str] = {
    "nd.activations.Identity": "Linear linear",
    "nd.add": "plus",
    "nd.arange": "range linspace",
    "nd.argmax": "argmin arg_max",
    "nd.astype": "cast convert_to_tensor to_dtype",
    "nd.concat": "concatenate cat stack hstack vstack append",
    "nd.copy": "clone detach deepcopy",
    "nd.create": "array tensor asarray from_numpy constant as_tensor Variable variable ndarray from_list mat Tensor",
    "nd.create_uninitialized": "empty empty_like",
    "nd.dataset.DataSet": "TensorDataset Dataset data",
    "nd.dataset.DataSet(x, labels): takes the names of classes as they are, and so does fit": (
        "LabelEncoder OrdinalEncoder StringLookup factorize"
    ),
    "nd.dataset.DataSet(x, y).split_test_and_train(0.8)": "train_test_split random_split ShuffleSplit",
    "nd.dataset.DigitsDataSetIterator": "load_digits digits",
    "nd.dataset.IrisDataSetIterator": "load_iris iris datasets",
    "nd.dataset.KFoldIterator": "KFold StratifiedKFold cross_val_score cross_validate",
    "nd.dataset.ListDataSetIterator": "DataLoader Dataloader Sequence data_loader",
    "nd.dataset.MnistDataSetIterator": "mnist load_mnist",
    "nd.dataset.NormalizerMinMaxScaler": "MinMaxScaler minmax_scale min_max",
    "nd.dataset.NormalizerStandardize": "StandardScaler Normalization scale standardize Standardize standard",
    "nd.dataset.NumpyDataSetIterator": "ImageDataGenerator from_tensor_slices NumpyArrayIterator",
    "nd.dataset.SlidingWindowDataSetIterator": (
        "timeseries_dataset_from_array TimeseriesGenerator sliding_window_view"
    ),
    "nd.dataset.one_hot": "to_categorical OneHotEncoder LabelBinarizer one_hot_encode",
    "nd.default_dtype": "get_default_dtype floatx",
    "nd.divide": "div true_divide",
    "nd.equal": "eq array_equal",
    "nd.evaluation.ConfusionMatrix": "confusion_matrix",
    "nd.evaluation.Evaluation": (
        "classification_report accuracy_score Accuracy metrics f1_score precision_score recall_score accuracy "
        "precision recall SparseCategoricalAccuracy CategoricalAccuracy"
    ),
    "nd.evaluation.ROC": "roc_auc_score AUC roc_curve auc precision_recall_curve",
    "nd.evaluation.RegressionEvaluation": "r2_score mean_squared_error MeanSquaredError mean_absolute_error R2Score",
    "nd.full": "full_like",
    "nd.gemm": "matmul mm bmm einsum inner",
    "nd.greater": "gt",
    "nd.greater_equal": "ge less_equal",
    "nd.max": "amax",
    "nd.maximum": "clip clamp",
    "nd.multiply": "mul",
    "nd.ones(x.shape)": "ones_like",
    "nd.permute": "moveaxis swapaxes",
    "nd.random.rand": "uniform random_uniform random_sample",
    "nd.random.randn": "normal standard_normal gauss random_normal",
    "nd.random.set_seed": "seed manual_seed default_rng RandomState set_random_seed random_seed",
    "nd.reshape": "view flatten ravel squeeze unsqueeze expand_dims",
    "nd.serde.load": "loadtxt load_array",
    "nd.serde.save": "savez savetxt save_array",
    "nd.set_backend": "device cuda set_device set_default_device to",
    "nd.set_default_dtype": "set_floatx set_default_tensor_type",
    "nd.subtract": "sub minus",
    "nd.to_host": "numpy to_numpy asnumpy cpu tolist get",
    "nd.zeros(x.shape)": "zeros_like",
    "nn.ActivationLayer": (
        "Activation_ ReLU Sigmoid Softmax Tanh GELU ELU SiLU SELU ReLU6 Softplus Hardtanh Hardsigmoid Mish LogSoftmax "
        "relu sigmoid softmax tanh gelu Softsign Swish Hardswish functional F activation"
    ),
    "nn.ActivationLayer: with activation='identity'": "Identity Passthrough",
    "nn.ActivationLayer: with activation='leakyrelu'": "LeakyReLU",
    "nn.BatchNormalization": "BatchNorm BatchNorm1d BatchNorm2d BatchNorm3d batch_norm SyncBatchNorm",
    "nn.Bidirectional": "BiLSTM BidirectionalLSTM",
    "nn.CnnToFeedForwardPreProcessor: input_type in .list(...) puts it where it belongs": (
        "Flatten flatten_layer Reshape Unflatten"
    ),
    "nn.ComputationGraph": "Model Functional Graph FunctionalModel",
    "nn.Convolution1DLayer": "Conv1D Conv1d Conv1DLayer Convolution1d",
    "nn.Convolution3D": "Conv3D Conv3d Convolution3DLayer",
    "nn.ConvolutionLayer": "Conv2D Conv2d Conv Convolution2D Conv2DLayer Convolution ConvLayer",
    "nn.Cropping2D": "CenterCrop Crop2D",
    "nn.Deconvolution2D": "ConvTranspose2d Conv2DTranspose Deconv2D ConvolutionTranspose2D",
    "nn.Deconvolution3D": "ConvTranspose3d Conv3DTranspose",
    "nn.DenseLayer": "Dense Linear FullyConnected FC InnerProduct LazyLinear Affine fully_connected",
    "nn.DenseLayer: with has_layer_norm=True": (
        "LayerNorm LayerNormalization GroupNorm GroupNormalization InstanceNorm2d"
    ),
    "nn.DepthwiseConvolution2D": "DepthwiseConv2D DepthwiseConv",
    "nn.DropoutLayer": "Dropout1d AlphaDropoutLayer dropout",
    "nn.ElementWiseVertex": "Add Multiply Subtract Average Maximum Minimum residual",
    "nn.EmbeddingSequenceLayer": "Embedding EmbeddingBag embedding",
    "nn.FrozenLayer": "Freeze freeze",
    "nn.GaussianDropout": "GaussianDropoutLayer",
    "nn.GlobalPoolingLayer": (
        "GlobalAveragePooling2D GlobalMaxPooling2D GlobalAveragePooling1D GlobalMaxPooling1D AdaptiveAvgPool2d "
        "AdaptiveMaxPool2d GlobalAvgPool2D GlobalMaxPool2D AdaptiveAvgPool1d GlobalAvgPool GlobalMaxPool "
        "GlobalAveragePooling3D GlobalMaxPool1D"
    ),
    "nn.InputType: input_type=InputType.feed_forward(784) in .list(...)": "Input InputLayer",
    "nn.LSTM": "LSTMCell CuDNNLSTM Lstm LSTMLayer RNNLayer",
    "nn.LSTM: GRU is not there": "GRU GRUCell CuDNNGRU",
    "nn.LayerConf: the base of a layer of one's own": "Module Layer Block Lambda Parameter nn_module",
    "nn.LocalResponseNormalization": "LocalResponseNorm LRN lrn",
    "nn.LocallyConnected2D": "LocallyConnected",
    "nn.MaskZeroLayer": "Masking",
    "nn.MergeVertex": "Concatenate Concat Merge",
    "nn.MultiLayerNetwork": (
        "Sequential ModuleList MLP MLPClassifier MLPRegressor SequentialModel NeuralNetwork Network Net "
        "MultilayerNetwork models MultiLayerPerceptron"
    ),
    "nn.OutputLayer": "Output",
    "nn.OutputLayer: with activation='identity' and loss='mean_absolute_error'": "L1Loss SmoothL1Loss HuberLoss",
    "nn.OutputLayer: with activation='identity' and loss='mse'": (
        "LinearRegression Ridge MSELoss"
    ),
    "nn.OutputLayer: with activation='sigmoid' and loss='xent'": (
        "BCELoss BCEWithLogitsLoss BinaryCrossentropy BinaryCrossEntropy"
    ),
    "nn.OutputLayer: with activation='softmax' and loss='kl_divergence'": "KLDivLoss KLDivergence",
    "nn.OutputLayer: with activation='softmax' and loss='mcxent'": (
        "CrossEntropyLoss NLLLoss CategoricalCrossentropy SparseCategoricalCrossentropy LogisticRegression "
        "cross_entropy CrossEntropy SoftmaxLoss loss"
    ),
    "nn.PReLULayer": "PReLU",
    "nn.RepeatVector": "Repeat Repeatvector",
    "nn.SelfAttentionLayer": (
        "MultiHeadAttention MultiheadAttention Attention SelfAttention Transformer TransformerEncoderLayer"
    ),
    "nn.SeparableConvolution2D": "SeparableConv2D SeparableConv",
    "nn.SimpleRnn": "RNN SimpleRNN RNNCell SimpleRNNCell",
    "nn.SpatialDropout": "Dropout2d SpatialDropout2D SpatialDropout1D Dropout3d FeatureAlphaDropout",
    "nn.Subsampling1DLayer": "MaxPooling1D MaxPool1d AveragePooling1D AvgPool1d MaxPool1D AvgPool1D",
    "nn.Subsampling3DLayer": "MaxPooling3D MaxPool3d AveragePooling3D AvgPool3d Pooling3D",
    "nn.SubsamplingLayer": (
        "MaxPooling2D MaxPool2d AveragePooling2D AvgPool2d MaxPool2D AvgPool2D MaxPooling AvgPooling Pooling MaxPool "
        "AvgPool AveragePool"
    ),
    "nn.TransferLearning": "fine_tune FineTune",
    "nn.Upsampling1D": "UpSampling1d",
    "nn.Upsampling2D": "UpSampling2D Upsample UpsamplingNearest2d Upsampling Resizing Interpolate UpsamplingBilinear2d",
    "nn.ZeroPaddingLayer": "ZeroPadding2D ZeroPad2d ZeroPadding Pad ConstantPad2d",
    "nn.load": "load_model load_state_dict from_pretrained keras_load torch_load restore_model",
    "optimize.AMSGrad": "Amsgrad",
    "optimize.AdaBelief": "Adabelief",
    "optimize.AdaDelta": "Adadelta",
    "optimize.AdaGrad": "Adagrad",
    "optimize.AdaMax": "Adamax",
    "optimize.Adam": "RAdam SparseAdam Lion Lamb Adafactor optimizers optim",
    "optimize.Adam: beside weight_decay=0.01 in NeuralNetConfiguration": "AdamW Adamw AdamOptimizer FusedAdam",
    "optimize.CheckpointListener": "ModelCheckpoint Checkpoints BackupAndRestore",
    "optimize.CosineSchedule": "CosineAnnealingLR CosineDecay CosineLR CosineDecayRestarts CosineAnnealingWarmRestarts",
    "optimize.CycleSchedule": "OneCycleLR CyclicLR OneCycle",
    "optimize.ExponentialSchedule": "ExponentialLR ExponentialDecay",
    "optimize.InverseSchedule": "InverseTimeDecay",
    "optimize.L1Regularization": "L1 l1",
    "optimize.L2Regularization": "L2 l2 regularizers L1L2 l1_l2",
    "optimize.LBFGS: optimization_algo='lbfgs' in NeuralNetConfiguration": "Lbfgs",
    "optimize.Listener": "Callback callbacks LambdaCallback Hook",
    "optimize.MapSchedule": "PiecewiseConstantDecay MultiStepLR",
    "optimize.MaxNormConstraint": "MaxNorm max_norm constraints",
    "optimize.NanListener": "TerminateOnNaN detect_anomaly",
    "optimize.Nesterovs": "Momentum Nesterov NAG SGDMomentum",
    "optimize.NonNegativeConstraint": "NonNeg",
    "optimize.PolySchedule": "PolynomialDecay PolynomialLR LinearLR",
    "optimize.ProgressBarListener": "ProgbarLogger tqdm ProgressBar",
    "optimize.RampSchedule": "WarmUp LinearWarmup Warmup",
    "optimize.ReduceLearningRateOnPlateau": "ReduceLROnPlateau",
    "optimize.RmsProp": "RMSprop RMSProp Rmsprop",
    "optimize.Schedule": "LearningRateScheduler LambdaLR lr_scheduler LearningRateSchedule schedules",
    "optimize.ScoreIterationListener": "PrintScore History CSVLogger",
    "optimize.Sgd": "SGD Sgd GradientDescent ASGD GradientDescentOptimizer",
    "optimize.StepSchedule": "StepLR",
    "optimize.TensorBoardListener": "TensorBoard SummaryWriter",
    "optimize.UnitNormConstraint": "UnitNorm",
    "optimize.Updater": "Optimizer Optimiser",
    "optimize.earlystopping.EarlyStoppingTrainer": "EarlyStopping",
}  # fmt: skip
"""What to write -> other libraries' names."""
