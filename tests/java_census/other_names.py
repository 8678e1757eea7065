"""Which class of ours is one of Deeplearning4j's of another name, or of a name that two of them share."""

OTHER_NAMES = {
    "deeplearning4j.earlystopping.EarlyStoppingModelSaver": "optimize.earlystopping.savers:InMemoryModelSaver",
    "deeplearning4j.earlystopping.scorecalc.ScoreCalculator": "nn.dl4j:ClassificationScoreCalculator",
    "deeplearning4j.earlystopping.trainer.BaseEarlyStoppingTrainer": "nn.dl4j:EarlyStoppingTrainer",
    "deeplearning4j.earlystopping.trainer.IEarlyStoppingTrainer": "nn.dl4j:EarlyStoppingTrainer",
    "deeplearning4j.nn.api.Classifier": "nn.dl4j:MultiLayerNetwork",
    "deeplearning4j.nn.api.Layer": "nn.layers.runtime:LayerRuntime",
    "deeplearning4j.nn.api.Layer$TrainingMode": "nn.dl4j.constants:TrainingMode",
    "deeplearning4j.nn.api.Model": "nn.networks.network:Network",
    "deeplearning4j.nn.api.NeuralNetwork": "nn.networks.network:Network",
    "deeplearning4j.nn.api.Updater": "nn.networks.inside:UpdaterOfNetwork",
    "deeplearning4j.nn.api.layers.LayerConstraint": "optimize.constraints:LayerConstraint",
    "deeplearning4j.nn.conf.ComputationGraphConfiguration$GraphBuilder": "nn.conf.graph_builder:graph_builder()",
    "deeplearning4j.nn.conf.MultiLayerConfiguration$Builder": "tests.java_census.builders:list_builder()",
    "deeplearning4j.nn.conf.NeuralNetConfiguration$ListBuilder": "tests.java_census.builders:list_builder()",
    "deeplearning4j.nn.conf.constraint.BaseConstraint": "optimize.constraints:LayerConstraint",
    "deeplearning4j.nn.conf.dropout.IDropout": "nn.terms.dropout:IDropout",
    "deeplearning4j.nn.conf.graph.GraphVertex": "nn.vertices.base:VertexConf",
    "deeplearning4j.nn.conf.inputs.InputType$InputTypeConvolutional": "nn.terms.input_type:ConvolutionalType",
    "deeplearning4j.nn.conf.inputs.InputType$InputTypeConvolutional3D": "nn.terms.input_type:Convolutional3DType",
    "deeplearning4j.nn.conf.inputs.InputType$InputTypeConvolutionalFlat": "nn.terms.input_type:ConvolutionalFlatType",
    "deeplearning4j.nn.conf.inputs.InputType$InputTypeFeedForward": "nn.terms.input_type:FeedForwardType",
    "deeplearning4j.nn.conf.inputs.InputType$InputTypeRecurrent": "nn.terms.input_type:RecurrentType",
    "deeplearning4j.nn.conf.layers.AbstractLSTM": "nn.layers.recurrent.lstm:LstmConf",
    "deeplearning4j.nn.conf.layers.BaseLayer": "nn.layers.base:BaseLayerConf",
    "deeplearning4j.nn.conf.layers.BaseOutputLayer": "nn.layers.losses.output:OutputLayer",
    "deeplearning4j.nn.conf.layers.BaseRecurrentLayer": "nn.layers.recurrent.base:RecurrentConf",
    "deeplearning4j.nn.conf.layers.ConvolutionLayer$AlgoMode": "nn.dl4j:AlgoMode",
    "deeplearning4j.nn.conf.layers.FeedForwardLayer": "nn.layers.base:FeedForwardConf",
    "deeplearning4j.nn.conf.layers.Layer": "nn.layers.base:LayerConf",
    "deeplearning4j.nn.conf.layers.NoParamLayer": "nn.layers.base:LayerConf",
    "deeplearning4j.nn.conf.layers.Subsampling3DLayer$PoolingType": "nn.dl4j:PoolingType",
    "deeplearning4j.nn.conf.layers.wrapper.BaseWrapperLayer": "nn.layers.wrapping:WrappingConf",
    "deeplearning4j.nn.conf.preprocessor.BaseInputPreProcessor": "nn.terms.preprocessors:InputPreProcessor",
    "deeplearning4j.nn.gradient.Gradient": "nn.networks.gradient:DefaultGradient",
    "deeplearning4j.nn.graph.vertex.GraphVertex": "nn.dl4j.graph_vertices:GraphVertex",
    "deeplearning4j.nn.graph.vertex.VertexIndices": "nn.dl4j.graph_vertices:VertexIndices",
    "deeplearning4j.nn.layers.AbstractLayer": "nn.layers.runtime:LayerRuntime",
    "deeplearning4j.nn.layers.BaseLayer": "nn.layers.runtime:LayerRuntime",
    "deeplearning4j.nn.layers.BaseOutputLayer": "nn.layers.losses.output:OutputRuntime",
    "deeplearning4j.nn.layers.convolution.Convolution3DLayer": (
        "nn.layers.convolution.convolution3d:Convolution3DRuntime"
    ),
    "deeplearning4j.nn.layers.convolution.Cropping1DLayer": "nn.layers.convolution.cropping:CroppingRuntime",
    "deeplearning4j.nn.layers.convolution.Cropping2DLayer": "nn.layers.convolution.cropping:CroppingRuntime",
    "deeplearning4j.nn.layers.convolution.Cropping3DLayer": "nn.layers.convolution.cropping:CroppingRuntime",
    "deeplearning4j.nn.layers.convolution.Deconvolution2DLayer": (
        "nn.layers.convolution.deconvolution:Deconvolution2DRuntime"
    ),
    "deeplearning4j.nn.layers.convolution.Deconvolution3DLayer": (
        "nn.layers.convolution.deconvolution:Deconvolution3DRuntime"
    ),
    "deeplearning4j.nn.layers.convolution.DepthwiseConvolution2DLayer": (
        "nn.layers.convolution.depthwise:DepthwiseRuntime"
    ),
    "deeplearning4j.nn.layers.convolution.SeparableConvolution2DLayer": (
        "nn.layers.convolution.depthwise:SeparableRuntime"
    ),
    "deeplearning4j.nn.layers.convolution.SpaceToBatch": "nn.layers.convolution.space_to_batch:SpaceToBatchRuntime",
    "deeplearning4j.nn.layers.convolution.SpaceToDepth": "nn.layers.convolution.space_to_depth:SpaceToDepthRuntime",
    "deeplearning4j.nn.layers.feedforward.PReLU": "nn.layers.core.prelu:PReLURuntime",
    "deeplearning4j.nn.layers.objdetect.DetectedObject": "nn.layers.objdetect.detected:DetectedObject",
    "deeplearning4j.nn.layers.objdetect.YoloUtils": "nn.layers.objdetect.detected:YoloUtils",
    "deeplearning4j.nn.layers.recurrent.BaseRecurrentLayer": "nn.layers.recurrent.base:RecurrentRuntime",
    "deeplearning4j.nn.layers.recurrent.BidirectionalLayer": "nn.layers.recurrent.bidirectional:BidirectionalRuntime",
    "deeplearning4j.nn.layers.recurrent.LastTimeStepLayer": "nn.layers.recurrent.last_time_step:LastTimeStepRuntime",
    "deeplearning4j.nn.layers.recurrent.TimeDistributedLayer": (
        "nn.layers.recurrent.time_distributed:TimeDistributedRuntime"
    ),
    "deeplearning4j.nn.layers.util.IdentityLayer": "nn.layers.core.identity:IdentityLayer",
    "deeplearning4j.nn.layers.wrapper.BaseWrapperLayer": "nn.layers.wrapping:WrappingRuntime",
    "deeplearning4j.nn.transferlearning.TransferLearning$GraphBuilder": (
        "nn.transferlearning.graph_editing:GraphBuilder"
    ),
    "deeplearning4j.nn.updater.BaseMultiLayerUpdater": "nn.networks.inside:UpdaterOfNetwork",
    "deeplearning4j.nn.updater.MultiLayerUpdater": "nn.networks.inside:UpdaterOfNetwork",
    "deeplearning4j.nn.updater.graph.ComputationGraphUpdater": "nn.networks.inside:UpdaterOfNetwork",
    "deeplearning4j.optimize.solvers.BackTrackLineSearch": "optimize.line_search:BackTrackLineSearch",
    "nd4j.evaluation.BaseEvaluation": "nd.evaluation.base:IEvaluation",
    "nd4j.evaluation.IMetric": "tests.java_census.builders:metric()",
    "nd4j.evaluation.curves.BaseCurve": "nd.evaluation.curves:RocCurve",
    "nd4j.evaluation.curves.BaseHistogram": "nd.evaluation.histograms:Histogram",
    "nd4j.evaluation.curves.PrecisionRecallCurve$Confusion": "nd.evaluation.curves:Confusion",
    "nd4j.evaluation.curves.PrecisionRecallCurve$Point": "nd.evaluation.curves:Point",
    "nd4j.linalg.api.rng.Random": "nd.random:Random",
    "nd4j.linalg.dataset.SplitTestAndTrain": "nd.dataset.examples:SplitTestAndTrain",
    "nd4j.linalg.dataset.api.preprocessor.AbstractDataSetNormalizer": "nd.dataset.normalizers.base:FittedNormalizer",
    "nd4j.linalg.dataset.api.preprocessor.AbstractMultiDataSetNormalizer": (
        "nd.dataset.normalizers.multi:UniformMultiNormalizer"
    ),
    "nd4j.linalg.dataset.api.preprocessor.DataNormalization": "nd.dataset.normalizers.base:Normalizer",
    "nd4j.linalg.dataset.api.preprocessor.MultiDataNormalization": "nd.dataset.normalizers.multi:MultiNormalizer",
    "nd4j.linalg.learning.legacy.AdaGrad": "",
}
"""Java's class, without "org." -> "module:class" of ours, "module:function()" that makes one, "" for none."""
