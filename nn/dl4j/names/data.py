"""Java's names of data sets, their iterators and normalizers, and random numbers."""

from __future__ import annotations

DATA: dict[str, dict[str, str]] = {
    "nd.dataset.async_iterator": {
        "AsyncDataSetIterator": "shutdown=close",
    },
    "nd.dataset.augmentation.base": {
        "Augmentation": "preProcess",
    },
    "nd.dataset.characters": {
        "CharacterIterator": (
            "convertCharacterToIndex convertIndexToCharacter getDefaultCharacterSet getMinimalCharacterSet"
        ),
    },
    "nd.dataset.composite": {
        "CompositeDataSetPreProcessor": "preProcess",
    },
    "nd.dataset.dataset": {
        "DataSet": (
            "addFeatureVector=data_sets:add_feature_vector addRow=data_sets:add_row "
            "batchByNumLabels=data_sets:batch_by_num_labels dataSetBatches=batch_by detach=data_sets:do_nothing "
            "divideBy exampleMaxs=data_sets:example_maxs exampleMeans=data_sets:example_means "
            "exampleSums=data_sets:example_sums filterAndStrip filterBy getColumnNames=data_sets:get_column_names "
            "getFeatures=features getFeaturesMaskArray=features_mask getLabelName getLabels=labels "
            "getLabelsMaskArray=labels_mask id=data_sets:id_of isEmpty=data_sets:is_empty iterator=data_sets:iterator "
            "labelCounts migrate=data_sets:do_nothing multiplyBy normalize=data_sets:normalize "
            "normalizeZeroMeanZeroUnitVariance numInputs numOutcomes outcome=data_sets:outcome "
            "reshape=data_sets:reshape roundToTheNearest=data_sets:round_to_the_nearest "
            "scaleMinAndMax=data_sets:scale_min_and_max setColumnNames=data_sets:set_column_names setFeatures=features "
            "setFeaturesMaskArray=features_mask setLabelNames=class_names setLabels=labels "
            "setLabelsMaskArray=labels_mask setNewNumberOfLabels=data_sets:set_new_number_of_labels "
            "setOutcome=data_sets:set_outcome sortAndBatchByNumLabels=data_sets:sort_and_batch_by_num_labels "
            "sortByLabel squishToRange=data_sets:squish_to_range toMultiDataSet validate=data_sets:validate"
        ),
    },
    "nd.dataset.emnist": {
        "EmnistDataSetIterator": "numLabels",
    },
    "nd.dataset.examples": {
        "Examples": (
            "asList batchBy getLabelNames=class_names getLabelNamesList=class_names "
            "getMemoryFootprint=memory_footprint getRange hasMaskArrays numExamples splitTestAndTrain"
        ),
        "SplitTestAndTrain": "getTest=test getTrain=train",
    },
    "nd.dataset.iterator": {
        "DataSetIterator": "getLabels=class_names inputColumns totalOutcomes",
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
            "detach=data_sets:do_nothing getFeatures getFeaturesMaskArray=get_features_masks "
            "getFeaturesMaskArrays=get_features_masks getLabels getLabelsMaskArray=get_labels_masks "
            "getLabelsMaskArrays=get_labels_masks isEmpty=data_sets:is_empty migrate=data_sets:do_nothing "
            "numFeatureArrays numLabelsArrays setFeatures setFeaturesMaskArray=set_features_masks "
            "setFeaturesMaskArrays=set_features_masks setLabels setLabelsMaskArray=set_labels_masks"
        ),
    },
    "nd.dataset.normalizers.any_normalizer": {
        "AnyNormalizer": "fitLabel getType=normalizers:get_type isFitLabel",
    },
    "nd.dataset.normalizers.base": {
        "Normalizer": (
            "preProcess revertFeatures=_revert_features_in_place revertLabels=_revert_labels_in_place "
            "transformLabel=_transform_labels_in_place"
        ),
    },
    "nd.dataset.normalizers.image_scaler": {
        "ImagePreProcessingScaler": (
            "getMaxPixelVal=max_pixel getMaxRange=max getMinRange=min setMaxPixelVal=max_pixel setMaxRange=max "
            "setMinRange=min"
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
            "getLabelMean=label_mean getLabelStd=label_std getMean=mean getStd=std setLabelStats"
        ),
    },
    "nd.dataset.pre_processor": {
        "DataSetPreProcessor": "preProcess",
        "MultiDataSetPreProcessor": "preProcess",
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
        "Random": "getSeed=seed getStatePointer=parts:state_pointer setSeed",
    },
}
