package ndwright;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.deeplearning4j.exception.DL4JInvalidConfigException;
import org.deeplearning4j.nn.conf.MultiLayerConfiguration;
import org.deeplearning4j.nn.conf.NeuralNetConfiguration;
import org.deeplearning4j.nn.conf.layers.*;
import org.deeplearning4j.nn.conf.layers.misc.FrozenLayer;
import org.deeplearning4j.nn.multilayer.MultiLayerNetwork;
import org.nd4j.linalg.activations.Activation;
import org.nd4j.linalg.dataset.DataSet;
import org.nd4j.linalg.dataset.adapter.SingletonDataSetIterator;
import org.nd4j.linalg.dataset.api.iterator.DataSetIterator;
import org.nd4j.linalg.factory.Nd4j;
import org.nd4j.linalg.lossfunctions.LossFunctions.LossFunction;

/** Which output layers Java refuses, when a network is built and when it is evaluated. Argument: the file to write. */
public final class OutputLayers {
    private static final Activation[] ACTIVATIONS = {
        Activation.CUBE, Activation.ELU, Activation.GELU, Activation.HARDSIGMOID, Activation.HARDTANH,
        Activation.IDENTITY, Activation.LEAKYRELU, Activation.MISH, Activation.RATIONALTANH, Activation.RECTIFIEDTANH,
        Activation.RELU, Activation.RELU6, Activation.RRELU, Activation.SELU, Activation.SIGMOID, Activation.SOFTMAX,
        Activation.SOFTPLUS, Activation.SOFTSIGN, Activation.SWISH, Activation.TANH, Activation.THRESHOLDEDRELU,
    };

    private OutputLayers() {}

    public static void main(String[] arguments) throws Exception {
        Map<String, Object> found = new LinkedHashMap<>();
        found.put("refused_when_built", refusedWhenBuilt());
        found.put("refused_when_evaluated", refusedWhenEvaluated());
        found.put("odd_places", oddPlaces());
        Json.write(found, Path.of(arguments[0]));
    }

    private static List<String> refusedWhenBuilt() {
        List<String> refused = new ArrayList<>();
        for (LossFunction loss : LossFunction.values()) {
            for (Activation activation : ACTIVATIONS) {
                for (int n : new int[] {1, 3}) {
                    for (Layer layer : layers(loss, activation, n)) {
                        if (refuses(() -> network(layer))) {
                            String name = layer.getClass().getSimpleName();
                            refused.add(name + " " + loss + " " + activation + " " + n);
                        }
                    }
                }
            }
        }
        return refused;
    }

    private static List<Layer> layers(LossFunction loss, Activation activation, int n) {
        List<Layer> layers = new ArrayList<>();
        layers.add(new OutputLayer.Builder(loss).activation(activation).nIn(4).nOut(n).build());
        layers.add(new RnnOutputLayer.Builder(loss).activation(activation).nIn(4).nOut(n).build());
        layers.add(new CenterLossOutputLayer.Builder(loss).activation(activation).nIn(4).nOut(n).build());
        if (n == 1) { // these have no size of their own
            layers.add(new LossLayer.Builder(loss).activation(activation).build());
            layers.add(new RnnLossLayer.Builder(loss).activation(activation).build());
            layers.add(new CnnLossLayer.Builder(loss).activation(activation).build());
            Cnn3DLossLayer volumes = new Cnn3DLossLayer.Builder(Convolution3D.DataFormat.NCDHW)
                    .lossFunction(loss).activation(activation).build();
            layers.add(volumes);
        }
        return layers;
    }

    private static MultiLayerConfiguration network(Layer... layers) {
        NeuralNetConfiguration.ListBuilder builder = new NeuralNetConfiguration.Builder().list();
        for (Layer layer : layers) {
            builder.layer(layer);
        }
        return builder.build();
    }

    private static boolean refuses(Runnable action) {
        try {
            action.run();
            return false;
        } catch (DL4JInvalidConfigException | IllegalStateException error) {
            return true;
        }
    }

    private static List<String> refusedWhenEvaluated() {
        List<String> refused = new ArrayList<>();
        for (Activation activation : ACTIVATIONS) {
            Layer output = new OutputLayer.Builder(LossFunction.MSE).activation(activation).nIn(4).nOut(3).build();
            Layer dense = new DenseLayer.Builder().nIn(4).nOut(3).build();
            Layer loss = new LossLayer.Builder(LossFunction.MSE).activation(activation).build();
            refused.addAll(evaluations(activation, network(dense, loss)));
            refused.addAll(evaluations(activation, network(output)));
        }
        return refused;
    }

    private static List<String> evaluations(Activation activation, MultiLayerConfiguration configuration) {
        MultiLayerNetwork network = new MultiLayerNetwork(configuration);
        network.init();
        String name = network.getLayer(network.getnLayers() - 1).conf().getLayer().getClass().getSimpleName();
        DataSet data = new DataSet(Nd4j.rand(6, 4), Nd4j.eye(3).repeat(0, 2));
        DataSetIterator iterator = new SingletonDataSetIterator(data);
        Map<String, Runnable> actions = new LinkedHashMap<>();
        actions.put("evaluate", () -> network.evaluate(iterator));
        actions.put("evaluateROC", () -> network.evaluateROC(new SingletonDataSetIterator(binary()), 0));
        actions.put("evaluateROCMultiClass", () -> network.evaluateROCMultiClass(iterator, 0));
        actions.put("evaluateRegression", () -> network.evaluateRegression(iterator));
        actions.put("doEvaluation", () -> network.doEvaluation(
                iterator, new org.nd4j.evaluation.classification.Evaluation()));
        List<String> refused = new ArrayList<>();
        actions.forEach((action, run) -> {
            try {
                run.run();
            } catch (IllegalStateException error) {
                if (String.valueOf(error.getMessage()).contains("output layer")) {
                    refused.add(name + " " + activation + " " + action);
                }
            } catch (RuntimeException error) {
                // the ROC of three outputs: after the check
            }
        });
        return refused;
    }

    private static DataSet binary() {
        return new DataSet(Nd4j.rand(6, 4), Nd4j.rand(6, 3));
    }

    private static Map<String, Object> oddPlaces() {
        Layer wrong = new OutputLayer.Builder(LossFunction.MCXENT).activation(Activation.SIGMOID).nIn(4).nOut(3).build();
        Layer right = new OutputLayer.Builder(LossFunction.MSE).activation(Activation.TANH).nIn(3).nOut(3).build();
        Map<String, Object> refused = new LinkedHashMap<>();
        refused.put("frozen", refuses(() -> network(new FrozenLayer(wrong))));
        refused.put("in the middle", refuses(() -> network(wrong, right)));
        String text = unchecked(wrong).toJson();
        refused.put("read, said false", refuses(() -> MultiLayerConfiguration.fromJson(text)));
        String checked = text.replaceAll("\"validateOutputLayerConfig\" : false", "\"validateOutputLayerConfig\" : true");
        refused.put("read, said true", refuses(() -> MultiLayerConfiguration.fromJson(checked)));
        String silent = text.replaceAll(",\\s*\"validateOutputLayerConfig\" : false", "");
        refused.put("read, not said", refuses(() -> MultiLayerConfiguration.fromJson(silent)));
        refused.put("read, not said: is on", MultiLayerConfiguration.fromJson(silent).isValidateOutputLayerConfig());
        refused.put("read and initialised, said true",
                refuses(() -> new MultiLayerNetwork(MultiLayerConfiguration.fromJson(checked)).init()));
        return refused;
    }

    private static MultiLayerConfiguration unchecked(Layer layer) {
        return new NeuralNetConfiguration.Builder().list().layer(layer).validateOutputLayerConfig(false).build();
    }
}
