"""Java's names of updaters, listeners, early stopping, solvers."""

from __future__ import annotations

TRAINING: dict[str, dict[str, str]] = {
    "optimize.api": {
        "Listener": "iterationDone onBackwardPass onEpochEnd onEpochStart onForwardPass onGradientCalculation",
    },
    "optimize.constraints": {
        "LayerConstraint": "apply=confs:apply_constraint getEpsilon=epsilon getParams=params setParams=params",
        "MaxNormConstraint": "getMaxNorm=max_norm setEpsilon=epsilon setMaxNorm=max_norm",
        "MinMaxNormConstraint": (
            "DEFAULT_RATE=rate getMax=max getMin=min getRate=rate setEpsilon=epsilon setMax=max setMin=min setRate=rate"
        ),
        "NonNegativeConstraint": "setEpsilon=epsilon",
        "UnitNormConstraint": "setEpsilon=epsilon",
        "_NormConstraint": "getDimensions=dimensions setDimensions=dimensions",
    },
    "optimize.earlystopping.api": {
        "EarlyStoppingListener": "onCompletion onEpoch onStart",
    },
    "optimize.earlystopping.configuration": {
        "EarlyStoppingConfiguration": (
            "builder=Builder getEpochTerminationConditions=epoch_termination_conditions "
            "getEvaluateEveryNEpochs=evaluate_every_n_epochs "
            "getIterationTerminationConditions=iteration_termination_conditions getModelSaver=model_saver "
            "getScoreCalculator=score_calculator isSaveLastModel=save_last_model "
            "setEpochTerminationConditions=epoch_termination_conditions "
            "setEvaluateEveryNEpochs=evaluate_every_n_epochs "
            "setIterationTerminationConditions=iteration_termination_conditions setModelSaver=model_saver "
            "setSaveLastModel=save_last_model setScoreCalculator=score_calculator"
        ),
        "EarlyStoppingResult": (
            "getBestModel=best_model getBestModelEpoch=best_model_epoch getBestModelScore=best_model_score "
            "getScoreVsEpoch=score_vs_epoch getTerminationDetails=termination_details "
            "getTerminationReason=termination_reason getTotalEpochs=total_epochs setBestModel=best_model "
            "setBestModelEpoch=best_model_epoch setBestModelScore=best_model_score setScoreVsEpoch=score_vs_epoch "
            "setTerminationDetails=termination_details setTerminationReason=termination_reason "
            "setTotalEpochs=total_epochs"
        ),
    },
    "optimize.earlystopping.epoch_conditions": {
        "BestScoreEpochTerminationCondition": "getBestExpectedScore=best_expected_score",
        "MaxEpochsTerminationCondition": "getMaxEpochs=max_epochs setMaxEpochs=max_epochs",
        "ScoreImprovementEpochTerminationCondition": (
            "getBestEpoch=best_epoch getBestScore=best_score "
            "getMaxEpochsWithNoImprovement=max_epochs_with_no_improvement getMinImprovement=min_improvement "
            "setBestEpoch=best_epoch setBestScore=best_score "
            "setMaxEpochsWithNoImprovement=max_epochs_with_no_improvement setMinImprovement=min_improvement"
        ),
    },
    "optimize.earlystopping.iteration_conditions": {
        "MaxScoreIterationTerminationCondition": "getMaxScore=max_score setMaxScore=max_score",
        "MaxTimeIterationTerminationCondition": (
            "getMaxTimeAmount=max_time getMaxTimeUnit=max_time_unit setMaxTimeAmount=max_time "
            "setMaxTimeUnit=max_time_unit"
        ),
    },
    "optimize.earlystopping.savers": {
        "InMemoryModelSaver": "getBestModel getLatestModel saveBestModel saveLatestModel",
        "LocalFileModelSaver": "getBestModel getLatestModel saveBestModel saveLatestModel",
    },
    "optimize.earlystopping.reconstruction_scores": {
        "VAEReconProbScoreCalculator": "calculateScore minimizeScore",
        "_Reconstruction": "calculateScore minimizeScore",
    },
    "optimize.earlystopping.score_calculators": {
        "ClassificationScoreCalculator": "calculateScore minimizeScore",
        "DataSetLossCalculator": "calculateScore minimizeScore",
        "ROCScoreCalculator": "calculateScore minimizeScore",
        "RegressionScoreCalculator": "calculateScore minimizeScore",
    },
    "optimize.earlystopping.trainer": {
        "EarlyStoppingTrainer": "setListener=listener",
    },
    "optimize.line_search": {
        "BackTrackLineSearch": (
            "getMaxIterations=max_iterations getStepMax=step_max setMaxIterations=max_iterations setStepMax"
        ),
    },
    "optimize.listeners.checkpoint": {
        "CheckpointListener": "availableCheckpoints lastCheckpoint",
    },
    "optimize.listeners.checkpoint_folder": {
        "Checkpoint": (
            "getCheckpointNum=number getEpoch=epoch getFilename=filename getIteration=iteration "
            "getModelType=model_type getTimestamp=timestamp setCheckpointNum=number setEpoch=epoch "
            "setFilename=filename setIteration=iteration setModelType=model_type setTimestamp=timestamp"
        ),
    },
    "optimize.listeners.collect_scores": {
        "CollectScoresListener": "getFrequency=frequency",
    },
    "optimize.listeners.evaluative": {
        "EvaluativeListener": (
            "getCallback=callback getEvaluations=evaluations getInvocationType=invocation_type setCallback=callback"
        ),
    },
    "optimize.regularization": {
        "L1Regularization": "getL1=parts:coefficient",
        "L2Regularization": "getL2=parts:coefficient",
        "WeightDecay": "getCoeff=parts:coefficient isApplyLR=apply_lr",
    },
    "optimize.schedules": {
        "CycleSchedule": (
            "getAnnealingDecay=annealing_decay getAnnealingLength=annealing_length getCycleLength=cycle_length "
            "getIncrement=increment getInitialLearningRate=initial_learning_rate getMaxLearningRate=max_learning_rate "
            "getStepSize=step_size setAnnealingDecay=annealing_decay"
        ),
        "ExponentialSchedule": "getGamma=gamma getInitialValue=initial_value",
        "FixedSchedule": "getValue=value",
        "InverseSchedule": "getGamma=gamma getInitialValue=initial_value getPower=power",
        "MapSchedule": (
            "getAllKeysSorted=parts:all_keys_sorted getValues=values setScheduleType=schedule_type setValues=values"
        ),
        "PolySchedule": "getInitialValue=initial_value getMaxIter=max_iter getPower=power",
        "Schedule": "builder=Builder valueAt",
        "SigmoidSchedule": "getGamma=gamma getInitialValue=initial_value getStepSize=step_size",
        "StepSchedule": "getDecayRate=decay_rate getInitialValue=initial_value getStep=step",
        "_CountingSchedule": "getScheduleType=schedule_type",
    },
    "optimize.solver": {
        "OfModel": "stepFunction==step_function",
        "Solver": "builder=Builder getOptimizer=optimizer setListeners stepFunction==step_function",
    },
    "optimize.updaters.adabelief": {
        "AdaBelief": (
            "DEFAULT_BETA1_MEAN_DECAY=beta1 DEFAULT_BETA2_VAR_DECAY=beta2 DEFAULT_EPSILON=epsilon "
            "DEFAULT_LEARNING_RATE=learning_rate getBeta1=beta1 getBeta2=beta2 getEpsilon=epsilon "
            "getLearningRateSchedule=parts:learning_rate_schedule setBeta1=beta1 setBeta2=beta2 setEpsilon=epsilon "
            "setLearningRate=learning_rate"
        ),
    },
    "optimize.updaters.adadelta": {
        "AdaDelta": (
            "DEFAULT_ADADELTA_EPSILON=epsilon DEFAULT_ADADELTA_RHO=rho getEpsilon=epsilon getRho=rho "
            "setEpsilon=epsilon setRho=rho"
        ),
    },
    "optimize.updaters.adagrad": {
        "AdaGrad": (
            "DEFAULT_ADAGRAD_EPSILON=epsilon DEFAULT_ADAGRAD_LEARNING_RATE=learning_rate getEpsilon=epsilon "
            "getLearningRateSchedule=parts:learning_rate_schedule setEpsilon=epsilon setLearningRate=learning_rate"
        ),
    },
    "optimize.updaters.adam": {
        "Adam": (
            "DEFAULT_ADAM_BETA1_MEAN_DECAY=beta1 DEFAULT_ADAM_BETA2_VAR_DECAY=beta2 DEFAULT_ADAM_EPSILON=epsilon "
            "DEFAULT_ADAM_LEARNING_RATE=learning_rate getBeta1=beta1 getBeta2=beta2 getEpsilon=epsilon "
            "getLearningRateSchedule=parts:learning_rate_schedule setBeta1=beta1 setBeta2=beta2 setEpsilon=epsilon "
            "setLearningRate=learning_rate"
        ),
    },
    "optimize.updaters.adamax": {
        "AdaMax": (
            "DEFAULT_ADAMAX_BETA1_MEAN_DECAY=beta1 DEFAULT_ADAMAX_BETA2_VAR_DECAY=beta2 DEFAULT_ADAMAX_EPSILON=epsilon "
            "DEFAULT_ADAMAX_LEARNING_RATE=learning_rate getBeta1=beta1 getBeta2=beta2 getEpsilon=epsilon "
            "getLearningRateSchedule=parts:learning_rate_schedule setBeta1=beta1 setBeta2=beta2 setEpsilon=epsilon "
            "setLearningRate=learning_rate"
        ),
    },
    "optimize.updaters.amsgrad": {
        "AMSGrad": (
            "DEFAULT_AMSGRAD_BETA1_MEAN_DECAY=beta1 DEFAULT_AMSGRAD_BETA2_VAR_DECAY=beta2 "
            "DEFAULT_AMSGRAD_EPSILON=epsilon DEFAULT_AMSGRAD_LEARNING_RATE=learning_rate getBeta1=beta1 getBeta2=beta2 "
            "getEpsilon=epsilon getLearningRateSchedule=parts:learning_rate_schedule setBeta1=beta1 setBeta2=beta2 "
            "setEpsilon=epsilon setLearningRate=learning_rate"
        ),
    },
    "optimize.updaters.base": {
        "Updater": (
            "builder=Builder getLearningRate=parts:learning_rate hasLearningRate=parts:has_learning_rate "
            "stateSize=parts:state_size"
        ),
    },
    "optimize.updaters.nadam": {
        "Nadam": (
            "DEFAULT_NADAM_BETA1_MEAN_DECAY=beta1 DEFAULT_NADAM_BETA2_VAR_DECAY=beta2 DEFAULT_NADAM_EPSILON=epsilon "
            "DEFAULT_NADAM_LEARNING_RATE=learning_rate getBeta1=beta1 getBeta2=beta2 getEpsilon=epsilon "
            "getLearningRateSchedule=parts:learning_rate_schedule setBeta1=beta1 setBeta2=beta2 setEpsilon=epsilon "
            "setLearningRate=learning_rate"
        ),
    },
    "optimize.updaters.nesterovs": {
        "Nesterovs": (
            "DEFAULT_NESTEROV_LEARNING_RATE=learning_rate DEFAULT_NESTEROV_MOMENTUM=momentum "
            "currentMomentum=parts:current_momentum getLearningRateSchedule=parts:learning_rate_schedule "
            "getMomentum=momentum getMomentumISchedule=parts:momentum_schedule setLearningRate=learning_rate "
            "setMomentum=momentum"
        ),
    },
    "optimize.updaters.rmsprop": {
        "RmsProp": (
            "DEFAULT_RMSPROP_EPSILON=epsilon DEFAULT_RMSPROP_LEARNING_RATE=learning_rate "
            "DEFAULT_RMSPROP_RMSDECAY=rms_decay getEpsilon=epsilon "
            "getLearningRateSchedule=parts:learning_rate_schedule getRmsDecay=rms_decay setEpsilon=epsilon "
            "setLearningRate=learning_rate setRmsDecay=rms_decay"
        ),
    },
    "optimize.updaters.sgd": {
        "Sgd": (
            "DEFAULT_SGD_LR=learning_rate getLearningRateSchedule=parts:learning_rate_schedule "
            "setLearningRate=learning_rate"
        ),
    },
}
