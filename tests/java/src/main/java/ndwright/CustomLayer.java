package ndwright;

import java.io.File;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.deeplearning4j.nn.api.ParamInitializer;
import org.deeplearning4j.nn.conf.NeuralNetConfiguration;
import org.deeplearning4j.nn.conf.inputs.InputType;
import org.deeplearning4j.nn.conf.layers.FeedForwardLayer;
import org.deeplearning4j.nn.conf.layers.OutputLayer;
import org.deeplearning4j.nn.conf.memory.LayerMemoryReport;
import org.deeplearning4j.nn.multilayer.MultiLayerNetwork;
import org.deeplearning4j.nn.params.DefaultParamInitializer;
import org.deeplearning4j.nn.workspace.LayerWorkspaceMgr;
import org.deeplearning4j.optimize.api.TrainingListener;
import org.nd4j.linalg.activations.Activation;
import org.nd4j.linalg.api.buffer.DataType;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.factory.Nd4j;
import org.nd4j.linalg.lossfunctions.LossFunctions.LossFunction;

/** A layer of a user's own, as DL4J's documentation writes them. Arguments: the zip and the JSON file to write. */
public final class CustomLayer {
    private CustomLayer() {}

    public static void main(String[] arguments) throws Exception {
        Plain layer = new Plain.Builder().nIn(3).nOut(4).activation(Activation.TANH).build();
        MultiLayerNetwork network = new MultiLayerNetwork(new NeuralNetConfiguration.Builder()
                .seed(5)
                .list()
                .layer(layer)
                .layer(new OutputLayer.Builder(LossFunction.MCXENT).nIn(4).nOut(2).build())
                .build());
        network.init();
        INDArray x = Nd4j.linspace(DataType.FLOAT, -1.0, 0.2, 6).reshape('c', 2, 3);
        network.save(new File(arguments[0]), true);
        Map<String, Object> said = new TreeMap<>();
        said.put("x", rows(x));
        said.put("W", rows(network.getLayer(0).getParam("W")));
        said.put("output", rows(network.output(x)));
        Json.write(Map.of("plain", said), Path.of(arguments[1]));
    }

    private static List<Object> rows(INDArray array) {
        List<Object> rows = new java.util.ArrayList<>();
        for (double[] row : array.toDoubleMatrix()) {
            rows.add(row);
        }
        return rows;
    }

    /** Its configuration. */
    public static class Plain extends FeedForwardLayer {
        public Plain() {}

        private Plain(Builder builder) {
            super(builder);
        }

        @Override
        public org.deeplearning4j.nn.api.Layer instantiate(
                NeuralNetConfiguration conf, Collection<TrainingListener> listeners, int index, INDArray parameters,
                boolean initialise, DataType type) {
            PlainAtWork layer = new PlainAtWork(conf, type);
            layer.setListeners(listeners);
            layer.setIndex(index);
            layer.setParamsViewArray(parameters);
            layer.setParamTable(initializer().init(conf, parameters, initialise));
            layer.setConf(conf);
            return layer;
        }

        @Override
        public ParamInitializer initializer() {
            return DefaultParamInitializer.getInstance();
        }

        @Override
        public LayerMemoryReport getMemoryReport(InputType inputType) {
            return null;
        }

        /** DL4J's fluent style. */
        public static class Builder extends FeedForwardLayer.Builder<Builder> {
            @Override
            @SuppressWarnings("unchecked")
            public Plain build() {
                return new Plain(this);
            }
        }
    }

    /** It at work: what BaseLayer does. */
    public static class PlainAtWork extends org.deeplearning4j.nn.layers.BaseLayer<Plain> {
        public PlainAtWork(NeuralNetConfiguration conf, DataType type) {
            super(conf, type);
        }

        @Override
        public void fit(INDArray input, LayerWorkspaceMgr workspaces) {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean isPretrainLayer() {
            return false;
        }
    }
}
