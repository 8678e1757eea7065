"""Java's names of networks, their configurations, transfer learning."""

from __future__ import annotations

NETWORKS: dict[str, dict[str, str]] = {
    "nn.conf.graph": {
        "ComputationGraphConfiguration": (
            "fromJson getDefaultConfiguration=base getLayerActivationTypes getNetworkInputs=inputs "
            "getNetworkOutputs=outputs getTopologicalOrder=topological_order getTopologicalOrderStr=topological_order "
            "getVertexInputs=vertex_inputs getVertices=vertices setDataType=dtype setNetworkInputs=inputs "
            "setNetworkOutputs=outputs setVertexInputs=vertex_inputs setVertices=vertices"
        ),
    },
    "nn.conf.multilayer": {
        "MultiLayerConfiguration": (
            "fromJson getConf getConfs getInputPreProcess getInputPreProcessors=preprocessors getLayerActivationTypes "
            "setDataType=dtype setInputPreProcessors=preprocessors"
        ),
    },
    "nn.conf.network": {
        "NeuralNetConfiguration": (
            "builder=Builder getDataType=dtype getLayer=layer "
            "getMaxNumLineSearchIterations=max_num_line_search_iterations getNumIterations=num_iterations "
            "getOptimizationAlgo=optimization_algo getSeed=seed getStepFunction=step_function getVariables=variables "
            "isBackprop=backprop isMiniBatch=mini_batch isMinimize=minimize isPretrain=pretrain setDataType=dtype "
            "setLayer=layer setMaxNumLineSearchIterations=max_num_line_search_iterations setMiniBatch=mini_batch "
            "setMinimize=minimize setOptimizationAlgo=optimization_algo setSeed=seed setStepFunction=step_function"
        ),
    },
    "nn.conf.nodes": {
        "NetworkConfiguration": (
            "getBackpropType=backprop_type getDataType=dtype getEpochCount=epoch_count "
            "getIterationCount=iteration_count getNumIterations=num_iterations getTbpttBackLength=tbptt_back_length "
            "getTbpttFwdLength=tbptt_fwd_length isBackprop isPretrain "
            "isValidateOutputLayerConfig=confs:validates_outputs setBackpropType=backprop_type "
            "setEpochCount=epoch_count setIterationCount=iteration_count setTbpttBackLength=tbptt_back_length "
            "setTbpttFwdLength=tbptt_fwd_length toJson"
        ),
    },
    "nn.networks.core": {
        "NetworkCore": (
            "batchSize computeGradientAndScore getEpochCount=epoch_count getFlattenedGradients=flattened_gradients "
            "getGradient=gradient getGradientsViewArray=flattened_gradients getInputMiniBatchSize=batch_size "
            "getIterationCount=iteration_count getLayers=layers getListeners=listeners getParam initDone==init_done "
            "isInitCalled numParams "
            "paramTable setConf=conf setListeners=listeners setParameters=set_params setParams updaterState"
        ),
    },
    "nn.networks.gradient": {
        "DefaultGradient": "flatteningOrderForVariable getGradientFor gradientForVariable setGradientFor",
    },
    "nn.networks.graph": {
        "ComputationGraph": (
            "backpropGradient feedForward getInput getInputMaskArrays=networks:get_input_masks getInputs "
            "getLabelMaskArrays=networks:get_label_masks getLayer getNumInputArrays=num_input_arrays "
            "getNumLayers=n_layers getNumOutputArrays=num_output_arrays getOutputLayer "
            "getVertex=graph_vertices:get_vertex getVertices=graph_vertices:get_vertices outputSingle "
            "rnnActivateUsingStoredState rnnTimeStep setInput setInputs setLabel setLabels "
            "setLayerMaskArrays=set_masks setUpdater=updater topologicalSortOrder=topological_order"
        ),
    },
    "nn.networks.inference": {
        "Inference": "doEvaluation evaluateROC evaluateROCMultiClass evaluateRegression",
    },
    "nn.networks.inside": {
        "Inside": (
            "calcL1 calcL2 calcRegularizationScore clearLayerMaskArrays=clear_masks f1Score "
            "getDefaultConfiguration=default_configuration getUpdater gradientAndScore incrementEpochCount "
            "scoreExamples setParam setParamTable"
        ),
        "UpdaterOfNetwork": "getStateViewArray=state_view_array setStateViewArray=state_view_array",
    },
    "nn.networks.multilayer": {
        "MultiLayerNetwork": (
            "activate=networks:activate activateSelectedLayers backpropGradient calculateGradients "
            "doTruncatedBPTT=solvers:do_truncated_bptt feedForward "
            "feedForwardToLayer getInput getLabels getLayer getLayerNames=layer_names getOutputLayer "
            "getTrainingListeners=listeners getnLayers=n_layers numLabels=networks:num_labels "
            "rnnActivateUsingStoredState rnnTimeStep setEpochCount=epoch_count setInput "
            "setInputMiniBatchSize=batch_size setIterationCount=iteration_count setLabels setLayerMaskArrays=set_masks "
            "setLayerWiseConfigurations=configuration setLayers=layers setUpdater=updater toComputationGraph"
        ),
    },
    "nn.networks.network": {
        "Network": (
            "clearLayersStates=networks:do_nothing close=networks:close convertDataType=networks:convert_data_type "
            "getLastEtlTime=last_etl_ms getOptimizer initGradientsView=networks:do_nothing "
            "input=networks:input_of layerInputSize layerSize setCacheMode=networks:do_nothing "
            "setLastEtlTime=last_etl_ms"
        ),
    },
    "nn.networks.pretrainable": {
        "Pretrainable": "pretrain pretrainLayer",
    },
    "nn.networks.saving": {
        "Saved": "getConfiguration=configuration getLayerWiseConfigurations=configuration",
    },
    "nn.networks.streaming": {
        "Streaming": (
            "rnnClearPreviousState rnnGetPreviousState rnnGetPreviousStates rnnSetPreviousState rnnSetPreviousStates "
            "updateRnnStateWithTBPTTState"
        ),
    },
    "nn.networks.tasks": {
        "Task": (
            "getArchitectureType=architecture_type getNetworkType=network_type getNumFeatures=num_features "
            "getNumLabels=num_labels getNumSamples=num_samples toCompactString"
        ),
    },
    "nn.networks.trainable": {
        "Trainable": "addListeners getLearningRate setLearningRate setListeners",
    },
    "nn.transferlearning.editing": {
        "TransferLearning": "builder=Builder",
    },
    "nn.transferlearning.featurizing": {
        "TransferLearningHelper": "fitFeaturized outputFromFeaturized unfrozenGraph unfrozenMLN",
    },
    "nn.transferlearning.fine_tune": {
        "FineTuneConfiguration": "builder=Builder",
    },
    "nn.transferlearning.graph_editing": {
        "GraphBuilder": (
            "addInputs addLayer addVertex fineTuneConfiguration nInReplace nOutReplace removeVertexAndConnections "
            "removeVertexKeepConnections setFeatureExtractor setInputTypes setInputs setOutputs setWorkspaceMode "
            "validateOutputLayerConfig"
        ),
    },
    "nn.zoo.darknet": {
        "TinyYOLO": "getNBoxes=n_boxes getPriorBoxes=prior_boxes",
        "YOLO2": "getNBoxes=n_boxes getPriorBoxes=prior_boxes",
    },
    "nn.zoo.zoo_model": {
        "ModelMetaData": "getInputShape=input_shape getNumOutputs=num_outputs getZooType=zoo_type useMDS",
        "ZooModel": (
            "builder=Builder initPretrained metaData modelName modelType pretrainedAvailable pretrainedChecksum "
            "pretrainedUrl"
        ),
    },
}
