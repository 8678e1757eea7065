"""Java's names of evaluations and their curves."""

from __future__ import annotations

EVALUATION: dict[str, dict[str, str]] = {
    "nd.evaluation.base": {
        "IEvaluation": (
            "evalTimeSeries=eval fromJson getValue newInstance=evaluations:new_instance scoreForMetric=get_value toJson"
        ),
    },
    "nd.evaluation.binary": {
        "EvaluationBinary": (
            "averageAccuracy averageF1 averageFalseAlarmRate averageGMeasure averageMatthewsCorrelation "
            "averagePrecision averageRecall fBeta falseAlarmRate falseNegativeRate falseNegatives falsePositiveRate "
            "falsePositives gMeasure getAxis=axis getCountFalseNegative=evaluations:count_false_negative "
            "getCountFalsePositive=evaluations:count_false_positive "
            "getCountTrueNegative=evaluations:count_true_negative getCountTruePositive=evaluations:count_true_positive "
            "getDecisionThreshold=decision_threshold getLabels=labels getROCBinary=roc_binary matthewsCorrelation "
            "numLabels setAxis=axis setDecisionThreshold=decision_threshold setLabelNames setLabels=labels "
            "setRocBinary=roc_binary totalCount trueNegatives truePositives"
        ),
    },
    "nd.evaluation.calibration": {
        "EvaluationCalibration": (
            "DEFAULT_HISTOGRAM_NUM_BINS=histogram_num_bins DEFAULT_RELIABILITY_DIAG_NUM_BINS=reliability_diag_num_bins "
            "getAxis=axis getHistogramNumBins=histogram_num_bins getLabelCountsEachClass getPredictionCountsEachClass "
            "getProbabilityHistogram getProbabilityHistogramAllClasses "
            "getReliabilityDiagNumBins=reliability_diag_num_bins getReliabilityDiagram getResidualPlot "
            "getResidualPlotAllClasses isExcludeEmptyBins=exclude_empty_bins numClasses setAxis=axis"
        ),
    },
    "nd.evaluation.classification": {
        "Evaluation": (
            "addToConfusion=evaluations:add_to_confusion averageF1NumClassesExcluded "
            "averageFBetaNumClassesExcluded=average_f1_num_classes_excluded averagePrecisionNumClassesExcluded "
            "averageRecallNumClassesExcluded classCount confusionMatrix confusionToString fBeta falseAlarmRate "
            "falseNegativeRate falseNegatives falsePositiveRate falsePositives gMeasure getAxis=axis "
            "getBinaryDecisionThreshold=binary_decision_threshold getBinaryPositiveClass=binary_positive_class "
            "getClassLabel getConfusion=confusion getConfusionMatrix=confusion getCostArray=cost_array "
            "getFalseNegatives=false_negatives getFalsePositives=false_positives getLabelsList=labels_list "
            "getMaxWarningClassesToPrint=max_warning_classes_to_print getNumRowCounter getTopN=top_n "
            "getTopNCorrectCount=evaluations:top_n_correct_count getTopNTotalCount=evaluations:top_n_total_count "
            "getTrueNegatives=true_negatives getTruePositives=true_positives matthewsCorrelation setAxis=axis "
            "setBinaryDecisionThreshold=binary_decision_threshold setBinaryPositiveClass=binary_positive_class "
            "setConfusion=confusion setCostArray=cost_array setLabelsList=labels_list "
            "setMaxWarningClassesToPrint=max_warning_classes_to_print setNumRowCounter=num_row_counter topNAccuracy "
            "trueNegatives truePositives"
        ),
    },
    "nd.evaluation.confusion": {
        "ConfusionMatrix": "getActualTotal getClasses=classes getCount getPredictedTotal toCSV",
    },
    "nd.evaluation.curve_columns": {
        "Columns": "fromJson numPoints toJson",
    },
    "nd.evaluation.curves": {
        "Confusion": "getFnCount=fn_count getFpCount=fp_count getPoint=point getTnCount=tn_count getTpCount=tp_count",
        "Point": "getIdx=idx getPrecision=precision getRecall=recall getThreshold=threshold",
        "PrecisionRecallCurve": (
            "calculateAUPRC getArea=calculate_auprc getConfusionMatrixAtPoint getConfusionMatrixAtThreshold "
            "getFnCount=fn_count getFpCount=fp_count getPointAtPrecision getPointAtRecall getPointAtThreshold "
            "getPrecision getRecall getThreshold getTitle getTotalCount=total_count getTpCount=tp_count getX=x getY=y "
            "setFnCount=fn_count setFpCount=fp_count setPrecision=precision setRecall=recall setThreshold=threshold "
            "setTotalCount=total_count setTpCount=tp_count"
        ),
        "RocCurve": (
            "calculateAUC getAuc=calculate_auc getFalsePositiveRate getFpr=fpr getThreshold getTitle getTpr=tpr "
            "getTruePositiveRate getX=x getY=y setFpr=fpr setThreshold=threshold setTpr=tpr"
        ),
    },
    "nd.evaluation.histograms": {
        "Histogram": (
            "getBinCounts=bin_counts getBinLowerBounds getBinMidValues getBinUpperBounds getLower=lower getTitle "
            "getUpper=upper"
        ),
        "ReliabilityDiagram": (
            "getFractionPositivesY=fraction_positives_y getMeanPredictedValueX=mean_predicted_value_x getTitle getX=x "
            "getY=y"
        ),
    },
    "nd.evaluation.regression": {
        "RegressionEvaluation": (
            "DEFAULT_PRECISION=precision averageMeanAbsoluteError averageMeanSquaredError averagePearsonCorrelation "
            "averageRSquared averagecorrelationR2=average_pearson_correlation "
            "averagerelativeSquaredError=average_relative_squared_error "
            "averagerootMeanSquaredError=average_root_mean_squared_error correlationR2=pearson_correlation "
            "getAxis=axis getColumnNames=column_names getPrecision=precision meanAbsoluteError meanSquaredError "
            "numColumns pearsonCorrelation rSquared relativeSquaredError rootMeanSquaredError setAxis=axis "
            "setColumnNames=column_names setPrecision=precision"
        ),
    },
    "nd.evaluation.roc": {
        "ROC": (
            "calculateAUC calculateAUCPR=calculate_auc_pr getAxis=axis getCountActualNegative=count_actual_negative "
            "getCountActualPositive=count_actual_positive getExampleCount=example_count getPrecisionRecallCurve "
            "getRocCurve getThresholdSteps=threshold_steps isExact isRocRemoveRedundantPts=roc_remove_redundant_pts "
            "setAxis=axis setCountActualNegative=count_actual_negative setCountActualPositive=count_actual_positive "
            "setExampleCount=example_count setRocRemoveRedundantPts=roc_remove_redundant_pts "
            "setThresholdSteps=threshold_steps"
        ),
    },
    "nd.evaluation.roc_binary": {
        "ROCBinary": "numLabels",
    },
    "nd.evaluation.roc_multi_class": {
        "ROCMultiClass": "getNumClasses",
    },
    "nd.evaluation.roc_outputs": {
        "RocOutputs": (
            "calculateAUC calculateAUCPR=calculate_auc_pr calculateAverageAUC "
            "calculateAverageAUCPR=calculate_average_auc_pr calculateAverageAuc getAxis=axis getCountActualNegative "
            "getCountActualPositive getLabels=labels getPrecisionRecallCurve getROC getRocCurve "
            "getThresholdSteps=threshold_steps getUnderlying=underlying "
            "isRocRemoveRedundantPts=roc_remove_redundant_pts setAxis=axis setLabelNames setLabels=labels "
            "setRocRemoveRedundantPts=roc_remove_redundant_pts setThresholdSteps=threshold_steps "
            "setUnderlying=underlying"
        ),
    },
}
