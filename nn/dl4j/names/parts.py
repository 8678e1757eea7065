"""Java's names of the parts of a layer: activations, losses, noise, input types; of nn.dl4j's own classes."""

from __future__ import annotations

PARTS: dict[str, dict[str, str]] = {
    "nd.activations.base": {
        "Activation": "getActivation numParams=parts:num_params",
    },
    "nd.activations.rectifiers": {
        "LeakyReLU": "DEFAULT_ALPHA=alpha getAlpha=alpha",
        "RReLU": "DEFAULT_L=l DEFAULT_U=u getL=l getU=u",
        "ReLU": "getMax=max getNegativeSlope=negative_slope getThreshold=threshold",
        "ThresholdedReLU": "DEFAULT_THETA=theta getTheta=theta",
    },
    "nd.activations.smooth": {
        "ELU": "DEFAULT_ALPHA=alpha getAlpha=alpha",
        "GELU": "isPrecise=precise",
    },
    "nd.execution.memory_manager": {
        "MemoryManager": "invokeGc invokeGcOccasionally setAutoGcWindow setOccasionalGcFrequency togglePeriodicGc",
    },
    "nd.losses.base": {
        "Loss": "computeGradient computeGradientAndScore computeScore computeScoreArray scoreArray",
        "WeightedLoss": "getWeights=weights",
    },
    "nd.losses.entropies": {
        "LossBinaryXENT": "DEFAULT_CLIPPING_EPSILON=clip_eps getClipEps=clip_eps setClipEps=clip_eps",
        "LossMCXENT": "getSoftmaxClipEps=softmax_clip_eps setSoftmaxClipEps=softmax_clip_eps setWeights=weights",
    },
    "nd.losses.margins": {
        "LossFMeasure": "DEFAULT_BETA=beta getBeta=beta",
    },
    "nd.losses.mixture": {
        "LossMixtureDensity": (
            "extractComponents=parts:extract_components getLabelWidth=labels_width getNMixtures=mixtures"
        ),
    },
    "nd.ops.base": {
        "Op": "extraArgs opNum",
    },
    "nd.ops.random": {
        "_Normal": "getMean=mean getStd=std setMean=mean setStd=std",
    },
    "nn.dl4j.constructors": {
        "LossMixtureDensity": "builder=Builder",
    },
    "nn.dl4j.file_iterators": {
        "MiniBatchFileDataSetIterator": "getRootDir=root_dir setRootDir=root_dir",
    },
    "nn.dl4j.graph_vertices": {
        "VertexIndices": "getVertexEdgeNumber=vertex_edge_number getVertexIndex=vertex_index",
    },
    "nn.dl4j.image_pipelines": {
        "PipelineImageTransform.Builder": "addImageTransform setSeed",
    },
    "nn.dl4j.image_preprocessors": {
        "ImageFlatteningDataSetPreProcessor": "preProcess",
        "PermuteDataSetPreProcessor": "preProcess",
        "RGBtoGrayscaleDataSetPreProcessor": "preProcess",
    },
    "nn.dl4j.image_transforms": {
        "ImageTransform": "preProcess",
    },
    "nn.dl4j.listeners": {
        "CheckpointListener": "builder=Builder getFileForCheckpoint",
        "CollectScoresIterationListener": "exportScores getScoreVsIter=statistics",
        "PerformanceListener": "builder=Builder",
        "ScoreStat": (
            "addScore getEffectiveIndexes=effective_indexes getEffectiveScores=effective_scores getIndexes=indexes "
            "getScores=scores"
        ),
        "SleepyTrainingListener": (
            "builder=Builder getSleepMode=sleep_mode getTimeMode=time_mode getTimerBP=timer_bp getTimerEE=timer_ee "
            "getTimerES=timer_es getTimerFF=timer_ff getTimerIteration=timer_iteration setSleepMode=sleep_mode "
            "setTimeMode=time_mode setTimerBP=timer_bp setTimerEE=timer_ee setTimerES=timer_es setTimerFF=timer_ff "
            "setTimerIteration=timer_iteration"
        ),
    },
    "nn.dl4j.preprocessors": {
        "CombinedMultiDataSetPreProcessor": "builder=Builder",
        "CombinedPreProcessor": "builder=Builder",
        "_Builder": "addPreProcessor",
    },
    "nn.dl4j.records": {
        "RecordReaderDataSetIterator": "builder=Builder",
    },
    "nn.terms.distributions": {
        "BinomialDistribution": (
            "getNumberOfTrials=number_of_trials getProbabilityOfSuccess=probability_of_success "
            "setProbabilityOfSuccess=probability_of_success"
        ),
        "ConstantDistribution": "getValue=value setValue=value",
        "LogNormalDistribution": "getMean=mean getStd=std setMean=mean setStd=std",
        "NormalDistribution": "getMean=mean getStd=std setMean=mean setStd=std",
        "OrthogonalDistribution": "getGain=gain setGain=gain",
        "TruncatedNormalDistribution": "getMean=mean getStd=std setMean=mean setStd=std",
        "UniformDistribution": "getLower=lower getUpper=upper setLower=lower setUpper=upper",
    },
    "nn.terms.dropout": {
        "AlphaDropout": "getAlpha=alpha getPSchedule=confs:schedule_of_p",
        "Dropout": "getMask=mask getPSchedule=confs:schedule_of_p setP=p",
        "GaussianDropout": "getRate=rate getRateSchedule=confs:schedule_of_rate",
        "GaussianNoise": "getStddev=stddev getStddevSchedule=confs:schedule_of_stddev setStddev=stddev",
        "IDropout": "applyDropout clear=confs:forget",
        "SpatialDropout": "getPSchedule=confs:schedule_of_p setP=p",
    },
    "nn.terms.input_type": {
        "Convolutional3DType": (
            "getChannels=channels getDepth=depth getHeight=height getWidth=width setChannels=channels "
            "setDataFormat=data_format setDepth=depth setHeight=height setWidth=width"
        ),
        "ConvolutionalFlatType": (
            "getDepth=channels getFlattenedSize=size getHeight=height getUnflattenedType=confs:unflattened "
            "getWidth=width setHeight=height setWidth=width"
        ),
        "ConvolutionalType": (
            "getChannels=channels getDepth=channels getHeight=height getWidth=width setChannels=channels "
            "setFormat=format setHeight=height setWidth=width"
        ),
        "InputType": (
            "arrayElementsPerExample=confs:elements_per_example convolutional3D=convolutional3d convolutionalFlat "
            "feedForward getFormat=format getShape=shape getSize=size getType=confs:type_of inferInputType "
            "inferInputTypes"
        ),
        "RecurrentType": "getTimeSeriesLength=time_series_length",
        "_Formatted": "getDataFormat=data_format",
    },
    "nn.terms.noise": {
        "Retaining": "getP=p",
    },
    "nn.terms.preprocessors": {
        "CnnToFeedForwardPreProcessor": "getFormat=data_format",
        "InputPreProcessor": "getOutputType=output_type preProcess",
        "OfImage": (
            "getInputHeight=input_height getInputWidth=input_width getNumChannels=num_channels "
            "setInputHeight=input_height setInputWidth=input_width setNumChannels=num_channels"
        ),
        "_Volume": (
            "getInputDepth=input_depth getInputHeight=input_height getInputWidth=input_width "
            "getNumChannels=num_channels isNCDHW=ncdhw setInputDepth=input_depth setInputHeight=input_height "
            "setInputWidth=input_width setNCDHW=ncdhw setNumChannels=num_channels"
        ),
    },
    "nn.terms.series_preprocessors": {
        "CnnToRnnPreProcessor": "getRnnDataFormat=data_format",
        "FeedForwardToRnnPreProcessor": "getRnnDataFormat=data_format",
        "RnnToCnnPreProcessor": "getRnnDataFormat=data_format",
        "RnnToFeedForwardPreProcessor": "getRnnDataFormat=data_format",
    },
    "nn.terms.weight_noise": {
        "DropConnect": (
            "getWeightRetainProb=p getWeightRetainProbSchedule=confs:schedule_of_p setApplyToBiases=apply_to_biases"
        ),
        "IWeightNoise": "getParameter isApplyToBiases=apply_to_biases",
        "WeightNoise": (
            "getDistribution=distribution isAdditive=additive isApplyToBias=apply_to_biases setAdditive=additive "
            "setDistribution=distribution"
        ),
    },
}
