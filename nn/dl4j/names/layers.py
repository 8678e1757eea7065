"""Java's names of layers and vertices."""

from __future__ import annotations

LAYERS: dict[str, dict[str, str]] = {
    "nn.layers.base": {
        "BaseLayerConf": (
            "getActivation=activation getActivationFn=activation getBiasInit=bias_init getBiasUpdater=bias_updater "
            "getIUpdater=updater getRegularization getRegularizationBias getUpdater=updater getWeightInit=weight_init "
            "getWeightInitFn=weight_init getWeightNoise=weight_noise setActivationFn=activation setBiasInit=bias_init "
            "setBiasUpdater=bias_updater setConstraints=constraints setGradientNormalization=gradient_normalization "
            "setGradientNormalizationThreshold=gradient_normalization_threshold setIUpdater=updater "
            "setRegularization=regularization setRegularizationBias=regularization_bias setWeightInitFn=weight_init "
            "setWeightNoise=weight_noise"
        ),
        "FeedForwardConf": "getNIn=n_in getNOut=n_out setNIn=n_in setNOut=n_out",
        "LayerConf": (
            "builder=Builder getConstraints=confs:constraints getDataFormat=data_format "
            "getGradientNormalization=confs:gradient_normalization "
            "getGradientNormalizationThreshold=confs:gradient_normalization_threshold getIDropout=drop_out "
            "getLayerName=name getOutputType=output_type getPreProcessorForInputType=preprocessor_for "
            "getRegularizationByParam=confs:regularization_by_param getUpdaterByParam=confs:updater_by_param "
            "isPretrainParam setIDropout=drop_out setLayerName=name"
        ),
    },
    "nn.layers.capsules.capsules": {
        "CapsuleLayer": (
            "getCapsuleDimensions=capsule_dimensions getCapsules=capsules "
            "getInputCapsuleDimensions=input_capsule_dimensions getInputCapsules=input_capsules getRoutings=routings "
            "isHasBias=has_bias setCapsuleDimensions=capsule_dimensions setCapsules=capsules setHasBias=has_bias "
            "setInputCapsuleDimensions=input_capsule_dimensions setInputCapsules=input_capsules setRoutings=routings "
            "setUpdater=updater setWeightInit=weight_init"
        ),
        "CapsuleStrengthLayer": "setUpdater=updater setWeightInit=weight_init",
    },
    "nn.layers.capsules.primary_capsules": {
        "PrimaryCapsules": (
            "getCapsuleDimensions=capsule_dimensions getCapsules=capsules getChannels=channels "
            "getConvolutionMode=convolution_mode getDilation=dilation getInputChannels=input_channels "
            "getKernelSize=kernel_size getLeak=leak getPadding=padding getStride=stride isHasBias=has_bias "
            "isUseRelu=use_relu setCapsuleDimensions=capsule_dimensions setCapsules=capsules setChannels=channels "
            "setConvolutionMode=convolution_mode setDilation=dilation setHasBias=has_bias "
            "setInputChannels=input_channels setKernelSize=kernel_size setLeak=leak setPadding=padding "
            "setStride=stride setUpdater=updater setUseRelu=use_relu setWeightInit=weight_init"
        ),
    },
    "nn.layers.convolution.convolution": {
        "ConvolutionConf": (
            "getCm=convolution_mode getCnn2dDataFormat=data_format getConvolutionMode=convolution_mode "
            "getDilation=dilation getKernel=kernel_size getKernelSize=kernel_size getPadding=padding getStride=stride "
            "hasBias isHasBias=has_bias setConvolutionMode=convolution_mode setDilation=dilation setHasBias=has_bias "
            "setKernelSize=kernel_size setPadding=padding setStride=stride"
        ),
    },
    "nn.layers.convolution.convolution1d": {
        "Convolution1DLayer": "getRnnDataFormat=data_format",
    },
    "nn.layers.convolution.convolution3d": {
        "Convolution3D": "getMode=convolution_mode setDataFormat=data_format",
    },
    "nn.layers.convolution.cropping": {
        "Cropping2D": "setDataFormat=data_format",
        "_Cropping": "getCropping=cropping setCropping=cropping",
    },
    "nn.layers.convolution.depthwise": {
        "_Multiplying": "getDepthMultiplier=depth_multiplier setDepthMultiplier=depth_multiplier",
    },
    "nn.layers.convolution.locally_connected": {
        "LocallyConnected1D": (
            "setActivation=activation setCm=convolution_mode setKernel=kernel_size setUpdater=updater "
            "setWeightInit=weight_init"
        ),
        "LocallyConnected2D": (
            "getFormat=data_format setActivation=activation setCm=convolution_mode setKernel=kernel_size "
            "setUpdater=updater setWeightInit=weight_init"
        ),
        "LocallyConnectedConf": "getInputSize=input_size setInputSize=input_size",
    },
    "nn.layers.convolution.space_to_batch": {
        "SpaceToBatchLayer": (
            "getBlocks=blocks getFormat=data_format getPadding=padding setBlocks=blocks setPadding=padding"
        ),
    },
    "nn.layers.convolution.space_to_depth": {
        "SpaceToDepthLayer": "getBlockSize=blocks setDataFormat=data_format",
    },
    "nn.layers.convolution.upsampling": {
        "Upsampling2D": "getFormat=data_format",
        "Upsampling3D": "setDataFormat=data_format",
        "_Upsampling": "getSize=size setSize=size",
    },
    "nn.layers.convolution.zero_padding": {
        "ZeroPaddingLayer": "setDataFormat=data_format",
        "_ZeroPadding": "getPadding=padding setPadding=padding",
    },
    "nn.layers.core.activation": {
        "ActivationLayer": "getActivationFn=activation setActivationFn=activation",
    },
    "nn.layers.core.dense": {
        "DenseLayer": (
            "hasBias hasLayerNorm isHasBias=has_bias isHasLayerNorm=has_layer_norm setHasBias=has_bias "
            "setHasLayerNorm=has_layer_norm"
        ),
    },
    "nn.layers.core.embedding": {
        "EmbeddingLayer": "hasBias isHasBias=has_bias setHasBias=has_bias",
        "EmbeddingSequenceLayer": (
            "getInputLength=input_length getOutputFormat=data_format isInferInputLength=infer_input_length "
            "setInferInputLength=infer_input_length setInputLength=input_length"
        ),
    },
    "nn.layers.core.prelu": {
        "PReLULayer": (
            "getInputShape=input_shape getSharedAxes=shared_axes setInputShape=input_shape setSharedAxes=shared_axes"
        ),
    },
    "nn.layers.core.repeat_vector": {
        "RepeatVector": "getN=n setDataFormat=data_format setN=n",
    },
    "nn.layers.kinds": {
        "SaysItsKind": "calcL1 calcL2 layerConf",
    },
    "nn.layers.losses.center_loss": {
        "CenterLossOutputLayer": (
            "getAlpha=alpha getGradientCheck=gradient_check getLambda=lambda_ setAlpha=alpha "
            "setGradientCheck=gradient_check"
        ),
    },
    "nn.layers.losses.losses_of_places": {
        "Cnn3DLossLayer": "setDataFormat=data_format",
        "CnnLossLayer": "getFormat=data_format",
        "RnnLossLayer": "getRnnDataFormat=data_format",
    },
    "nn.layers.losses.ocnn": {
        "OCNNOutputLayer": (
            "getHiddenSize=hidden_size getInitialRValue=initial_r_value getLossFn=loss getNu=nu "
            "getWindowSize=window_size isConfigureR=configure_r setConfigureR=configure_r setHiddenSize=hidden_size "
            "setInitialRValue=initial_r_value setLossFn=loss setNu=nu setWindowSize=window_size"
        ),
    },
    "nn.layers.losses.output": {
        "OutputLayer": "hasBias isHasBias=has_bias setHasBias=has_bias",
        "WithLoss": "getLossFn=loss setLossFn=loss",
    },
    "nn.layers.losses.rnn_output": {
        "RnnOutputLayer": "getRnnDataFormat=data_format",
    },
    "nn.layers.normalization.batch_normalization": {
        "BatchNormalization": (
            "getBeta=beta getCnn2DFormat=data_format getDecay=decay getEps=eps getGamma=gamma "
            "isLockGammaBeta=lock_gamma_beta isMinibatch=minibatch isUseLogStd=use_log_std setBeta=beta setDecay=decay "
            "setEps=eps setGamma=gamma setLockGammaBeta=lock_gamma_beta setMinibatch=minibatch "
            "setUseLogStd=use_log_std"
        ),
    },
    "nn.layers.normalization.local_response_normalization": {
        "LocalResponseNormalization": (
            "getAlpha=alpha getBeta=beta getK=k getN=n setAlpha=alpha setBeta=beta setDataFormat=data_format setK=k "
            "setN=n"
        ),
    },
    "nn.layers.objdetect.detected": {
        "DetectedObject": (
            "getBottomRightXY getCenterX=center_x getCenterY=center_y "
            "getClassPredictions=class_predictions getConfidence=confidence getExampleNumber=example_number "
            "getHeight=height getPredictedClass=predicted_class getTopLeftXY getWidth=width"
        ),
        "YoloUtils": "getPredictedObjects",
    },
    "nn.layers.objdetect.yolo": {
        "Yolo2OutputLayer": (
            "getBoundingBoxes=bounding_boxes getFormat=data_format getLambdaCoord=lambda_coord "
            "getLambdaNoObj=lambda_no_obj getLossClassPredictions=loss_class_predictions "
            "getLossPositionScale=loss_position_scale setBoundingBoxes=bounding_boxes setFormat=data_format "
            "setLambdaCoord=lambda_coord setLambdaNoObj=lambda_no_obj setLossClassPredictions=loss_class_predictions "
            "setLossPositionScale=loss_position_scale"
        ),
        "YoloRuntime": "getConfidenceMatrix getPredictedObjects getProbabilityMatrix",
    },
    "nn.layers.pooling.global_pooling": {
        "GlobalPoolingLayer": (
            "getPnorm=pnorm getPoolingDimensions=pooling_dimensions getPoolingType=pooling_type "
            "isCollapseDimensions=collapse_dimensions setCollapseDimensions=collapse_dimensions setPnorm=pnorm "
            "setPoolingDimensions=pooling_dimensions setPoolingType=pooling_type"
        ),
    },
    "nn.layers.pooling.subsampling": {
        "SubsamplingLayer": (
            "getCnn2dDataFormat=data_format getConvolutionMode=convolution_mode getDilation=dilation "
            "getKernelSize=kernel_size getPadding=padding getPnorm=pnorm getPoolingType=pooling_type getStride=stride "
            "isAvgPoolIncludePadInDivisor=avg_pool_include_pad_in_divisor "
            "setAvgPoolIncludePadInDivisor=avg_pool_include_pad_in_divisor setConvolutionMode=convolution_mode "
            "setDilation=dilation setKernelSize=kernel_size setPadding=padding setPnorm=pnorm "
            "setPoolingType=pooling_type setStride=stride"
        ),
    },
    "nn.layers.pooling.subsampling3d": {
        "Subsampling3DLayer": (
            "getConvolutionMode=convolution_mode getDilation=dilation getKernelSize=kernel_size getPadding=padding "
            "getPoolingType=pooling_type getStride=stride setConvolutionMode=convolution_mode "
            "setDataFormat=data_format setDilation=dilation setKernelSize=kernel_size setPadding=padding "
            "setPoolingType=pooling_type setStride=stride"
        ),
    },
    "nn.layers.recurrent.attention": {
        "AttentionConf": (
            "getHeadSize=head_size getNHeads=n_heads isProjectInput=project_input setHeadSize=head_size "
            "setNHeads=n_heads setProjectInput=project_input"
        ),
        "LearnedSelfAttentionLayer": (
            "getNQueries=n_queries setNQueries=n_queries setUpdater=updater setWeightInit=weight_init"
        ),
        "SelfAttentionLayer": "setUpdater=updater setWeightInit=weight_init",
    },
    "nn.layers.recurrent.base": {
        "RecurrentConf": "getRnnDataFormat=data_format getWeightInitFnRecurrent=weight_init_recurrent",
    },
    "nn.layers.recurrent.bidirectional": {
        "Bidirectional": "getBwd=bwd getMode=mode getRNNDataFormat=data_format setBwd=bwd setFwd=layer setMode=mode",
    },
    "nn.layers.recurrent.lstm": {
        "LstmConf": (
            "getForgetGateBiasInit=forget_gate_bias_init getGateActivationFn=gate_activation "
            "setForgetGateBiasInit=forget_gate_bias_init"
        ),
    },
    "nn.layers.recurrent.mask_zero": {
        "MaskZeroLayer": "getMaskingValue=masking_value setMaskingValue=masking_value",
    },
    "nn.layers.recurrent.recurrent_attention": {
        "RecurrentAttentionLayer": (
            "isHasBias=has_bias setActivation=activation setHasBias=has_bias setUpdater=updater "
            "setWeightInit=weight_init"
        ),
    },
    "nn.layers.pretraining.autoencoder": {
        "AutoEncoder": (
            "getCorruptionLevel=corruption_level getSparsity=sparsity setCorruptionLevel=corruption_level "
            "setSparsity=sparsity"
        ),
    },
    "nn.layers.pretraining.base": {
        "BasePretrainNetwork": (
            "getLossFunction=reconstruction_loss getVisibleBiasInit=visible_bias_init "
            "setLossFunction=reconstruction_loss setVisibleBiasInit=visible_bias_init"
        ),
    },
    "nn.layers.pretraining.distributions": {
        "CompositeBuilder": "addDistribution",
        "CompositeReconstructionDistribution": (
            "builder=Builder computeLossFunctionScoreArray=example_neg_log_probability "
            "getDistributionSizes=distribution_sizes getReconstructionDistributions=reconstruction_distributions "
            "getTotalSize=total_size"
        ),
        "LossFunctionWrapper": "getLossFunction=loss",
        "ReconstructionDistribution": (
            "distributionInputSize exampleNegLogProbability generateAtMean generateRandom "
            "hasLossFunction=confs:judges_by_loss negLogProbability"
        ),
        "_WithActivation": "getActivationFn=activation",
    },
    "nn.layers.pretraining.rbm": {
        "RBM": ("getHiddenUnit=hidden_unit getK=k getSparsity=sparsity getVisibleUnit=visible_unit"),
        "RBMRuntime": "propDown propUp sampleHiddenGivenVisible sampleVisibleGivenHidden",
    },
    "nn.layers.pretraining.variational": {
        "VariationalAutoencoder": (
            "getDecoderLayerSizes=decoder_layer_sizes getEncoderLayerSizes=encoder_layer_sizes "
            "getNumSamples=num_samples getOutputDistribution=reconstruction_distribution "
            "getPzxActivationFn=pzx_activation setDecoderLayerSizes=decoder_layer_sizes "
            "setEncoderLayerSizes=encoder_layer_sizes setNumSamples=num_samples "
            "setOutputDistribution=reconstruction_distribution setPzxActivationFn=pzx_activation"
        ),
        "VariationalRuntime": (
            "generateAtMeanGivenZ generateRandomGivenZ hasLossFunction reconstructionError "
            "reconstructionLogProbability reconstructionProbability"
        ),
    },
    "nn.layers.recurrent.simple_rnn": {
        "SimpleRnn": "hasLayerNorm isHasLayerNorm=has_layer_norm setHasLayerNorm=has_layer_norm",
    },
    "nn.layers.recurrent.time_distributed": {
        "TimeDistributed": "getRnnDataFormat=data_format",
    },
    "nn.layers.runtime": {
        "LayerRuntime": (
            "backpropGradient getConf=conf getConfig=conf getParam getPreOutput=pre_output hasBias=confs:has_bias "
            "hasLayerNorm=confs:has_layer_norm isPretrainLayer=confs:is_pretrain_layer numParams "
            "paramTable preOutput setConf=conf setParam setParamTable=confs:set_params_of setParams=params"
        ),
    },
    "nn.layers.wrapping": {
        "WrappingConf": (
            "getFwd=layer getLayer=layer getNIn=n_in getNOut=n_out getUnderlying=layer setConstraints=constraints "
            "setNIn=n_in setUnderlying=layer"
        ),
        "WrappingRuntime": "getInsideLayer=layer getUnderlying=layer",
    },
    "nn.vertices.attention": {
        "AttentionVertex": (
            "getBiasUpdater=bias_updater getGradientNormalization=gradient_normalization "
            "getGradientNormalizationThreshold=gradient_normalization_threshold getHeadSize=head_size "
            "getNHeads=n_heads getNInKeys=n_in_keys getNInQueries=n_in_queries getNInValues=n_in_values getNOut=n_out "
            "getRegularization=regularization getRegularizationBias=regularization_bias getUpdater=updater "
            "getVertexParams=vertex_params getWeightInit=weight_init isProjectInput=project_input "
            "setBiasUpdater=bias_updater setGradientNormalization=gradient_normalization "
            "setGradientNormalizationThreshold=gradient_normalization_threshold setHeadSize=head_size "
            "setNHeads=n_heads setNInKeys=n_in_keys setNInQueries=n_in_queries setNInValues=n_in_values setNOut=n_out "
            "setProjectInput=project_input setRegularization=regularization setRegularizationBias=regularization_bias "
            "setUpdater=updater setWeightInit=weight_init"
        ),
    },
    "nn.vertices.base": {
        "VertexConf": (
            "builder=Builder getOutputType=output_type maxVertexInputs=confs:max_vertex_inputs "
            "minVertexInputs=confs:min_vertex_inputs numParams=confs:num_params"
        ),
    },
    "nn.vertices.element_wise": {
        "ElementWiseVertex": "getOp=op setOp=op",
    },
    "nn.vertices.merging": {
        "MergeVertex": "DEFAULT_MERGE_DIM=merge_axis getMergeAxis=merge_axis setMergeAxis=merge_axis",
        "SubsetVertex": "getFrom=from_ getTo=to setFrom=from_ setTo=to",
    },
    "nn.vertices.norms": {
        "L2NormalizeVertex": "DEFAULT_EPS=eps getDimension=dimension getEps=eps setDimension=dimension setEps=eps",
    },
    "nn.vertices.scaling": {
        "ScaleVertex": "getScaleFactor=scale_factor setScaleFactor=scale_factor",
        "ShiftVertex": "getShiftFactor=shift_factor setShiftFactor=shift_factor",
    },
    "nn.vertices.shapes": {
        "PreprocessorVertex": "getPreProcessor=preprocessor setPreProcessor=preprocessor",
        "ReshapeVertex": (
            "DEFAULT_RESHAPE_ORDER=reshape_order getMaskShape=mask_shape getNewShape=new_shape "
            "getReshapeOrder=reshape_order setMaskShape=mask_shape setNewShape=new_shape setReshapeOrder=reshape_order"
        ),
    },
    "nn.vertices.stacking": {
        "UnstackVertex": "getFrom=from_ getStackSize=stack_size",
    },
    "nn.vertices.time_series": {
        "DuplicateToTimeSeriesVertex": "getInputName=input_name setInputName=input_name",
        "LastTimeStepVertex": "getMaskArrayInputName=mask_array_input setMaskArrayInputName=mask_array_input",
        "ReverseTimeSeriesVertex": "getMaskArrayInputName=mask_array_input",
    },
    "nn.vertices.wrapping": {
        "FrozenVertex": "getUnderlying=underlying setUnderlying=underlying",
        "LayerVertex": (
            "getLayerConf=layer getPreProcessor=preprocessor setLayerConf=layer setPreProcessor=preprocessor"
        ),
    },
}
