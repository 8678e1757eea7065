"""Java's names of data sets, their iterators and normalizers, and random numbers."""

from __future__ import annotations

DATA: dict[str, dict[str, str]] = {
    "nd.dataset.by_class": {
        "ByClass": "filterAndStrip filterBy labelCounts sortByLabel",
    },
    "nd.dataset.characters": {
        "CharacterIterator": (
            "convertCharacterToIndex convertIndexToCharacter getDefaultCharacterSet getMinimalCharacterSet"
        ),
    },
    "nd.dataset.dataset": {
        "DataSet": (
            "divideBy getFeatures=features getFeaturesMaskArray=features_mask getLabelName getLabels=labels "
            "getLabelsMaskArray=labels_mask multiplyBy normalizeZeroMeanZeroUnitVariance numInputs numOutcomes "
            "setFeatures=features setFeaturesMaskArray=features_mask setLabelNames=class_names setLabels=labels "
            "setLabelsMaskArray=labels_mask toMultiDataSet"
        ),
    },
    "nd.dataset.examples": {
        "Examples": (
            "asList batchBy getLabelNames=class_names getLabelNamesList=class_names "
            "getMemoryFootprint=memory_footprint getRange hasMaskArrays numExamples splitTestAndTrain"
        ),
        "SplitTestAndTrain": "getTest=test getTrain=train",
    },
    "nd.dataset.iterator": {
        "DataSetIterator": "inputColumns totalOutcomes",
        "MinibatchIterator": (
            "asyncSupported getPreProcessor=pre_processor hasNext isResetSupported=reset_supported resetSupported "
            "setPreProcessor"
        ),
    },
    "nd.dataset.java_random": {
        "JavaRandom": "nextBoolean nextDouble nextFloat nextGaussian nextInt nextLong setSeed",
    },
    "nd.dataset.kfold": {
        "KFoldIterator": "testFold",
    },
    "nd.dataset.last_time_step": {
        "LabelLastTimeStepPreProcessor": "preProcess",
    },
    "nd.dataset.multi_data_set": {
        "MultiDataSet": (
            "getFeatures getFeaturesMaskArray=get_features_masks getFeaturesMaskArrays=get_features_masks getLabels "
            "getLabelsMaskArray=get_labels_masks getLabelsMaskArrays=get_labels_masks numFeatureArrays "
            "numLabelsArrays setFeatures setFeaturesMaskArray=set_features_masks "
            "setFeaturesMaskArrays=set_features_masks setLabels setLabelsMaskArray=set_labels_masks"
        ),
    },
    "nd.dataset.normalizers.any_normalizer": {
        "AnyNormalizer": "fitLabel isFitLabel",
    },
    "nd.dataset.normalizers.base": {
        "Normalizer": (
            "preProcess revertFeatures=_revert_features_in_place revertLabels=_revert_labels_in_place "
            "transformLabel=_transform_labels_in_place"
        ),
    },
    "nd.dataset.normalizers.min_max": {
        "NormalizerMinMaxScaler": (
            "getLabelMax=label_max getLabelMin=label_min getMax=max getMin=min getTargetMax=target_max "
            "getTargetMin=target_min setFeatureStats setLabelStats"
        ),
    },
    "nd.dataset.normalizers.multi": {
        "FittedMultiNormalizer": "numInputs numOutputs",
        "MultiNormalizer": "preProcess revertFeatures=_revert_features_in_place revertLabels=_revert_labels_in_place",
        "UniformMultiNormalizer": "setFeatureStats setLabelStats",
    },
    "nd.dataset.normalizers.multi_hybrid": {
        "MultiNormalizerHybrid": (
            "getInputStats getOutputStats minMaxScaleAllInputs minMaxScaleAllOutputs minMaxScaleInput "
            "minMaxScaleOutput standardizeAllInputs standardizeAllOutputs standardizeInput standardizeOutput"
        ),
    },
    "nd.dataset.normalizers.multi_min_max": {
        "MultiNormalizerMinMaxScaler": (
            "getLabelMax getLabelMin getMax getMin getTargetMax=target_max getTargetMin=target_min"
        ),
    },
    "nd.dataset.normalizers.multi_standardize": {
        "MultiNormalizerStandardize": "getFeatureMean getFeatureStd getLabelMean getLabelStd",
    },
    "nd.dataset.normalizers.standardize": {
        "NormalizerStandardize": (
            "getLabelMean=label_mean getLabelStd=label_std getMean=mean getStd=std setFeatureStats setLabelStats"
        ),
    },
    "nd.dataset.sequence_multi_iterator": {
        "RecordReaderMultiDataSetIterator": "builder=Builder",
        "RecordReaderMultiDataSetIterator.Builder": (
            "addInput addInputOneHot addOutput addOutputOneHot addSequenceReader sequenceAlignmentMode"
        ),
    },
    "nd.java_names": {
        "Pair": "getFirst=first getKey=first getLeft=first getRight=second getSecond=second getValue=second",
    },
    "nd.random": {
        "Random": "getSeed=seed setSeed",
    },
}
