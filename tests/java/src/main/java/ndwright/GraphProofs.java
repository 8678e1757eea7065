package ndwright;

import static ndwright.Cases.base;
import static ndwright.Cases.classifier;

import java.util.Arrays;
import org.deeplearning4j.nn.conf.CNN2DFormat;
import org.deeplearning4j.nn.conf.ComputationGraphConfiguration.GraphBuilder;
import org.deeplearning4j.nn.conf.NeuralNetConfiguration;
import org.deeplearning4j.nn.conf.RNNFormat;
import org.deeplearning4j.nn.conf.graph.GraphVertex;
import org.deeplearning4j.nn.conf.graph.L2NormalizeVertex;
import org.deeplearning4j.nn.conf.graph.MergeVertex;
import org.deeplearning4j.nn.conf.graph.PoolHelperVertex;
import org.deeplearning4j.nn.conf.graph.SubsetVertex;
import org.deeplearning4j.nn.conf.inputs.InputType;
import org.deeplearning4j.nn.conf.layers.Convolution1DLayer;
import org.deeplearning4j.nn.conf.layers.Convolution3D;
import org.deeplearning4j.nn.conf.layers.ConvolutionLayer;
import org.deeplearning4j.nn.conf.layers.GlobalPoolingLayer;
import org.deeplearning4j.nn.conf.layers.OutputLayer;
import org.deeplearning4j.nn.conf.layers.PoolingType;
import org.deeplearning4j.nn.conf.layers.RnnOutputLayer;
import org.deeplearning4j.nn.conf.layers.recurrent.SimpleRnn;
import org.deeplearning4j.nn.graph.ComputationGraph;
import org.nd4j.linalg.activations.Activation;
import org.nd4j.linalg.api.buffer.DataType;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.dataset.MultiDataSet;
import org.nd4j.linalg.lossfunctions.LossFunctions.LossFunction;

/** Faults of graphs, and of arrays whose channels come last, shown by themselves. */
final class GraphProofs {
    private static final int EXAMPLES = 4, CLASSES = 3;
    private static final INDArray Y = Numbers.classes(91, EXAMPLES, CLASSES);
    private static final InputType IMAGES = InputType.convolutional(4, 6, 2);
    private static final InputType CHANNELS_LAST = InputType.convolutional(4, 6, 2, CNN2DFormat.NHWC);
    private final Proofs proofs;

    GraphProofs(Proofs proofs) {
        this.proofs = proofs;
    }

    void all() {
        outputs();
        vertices();
        series();
    }

    private static void train(GraphBuilder builder, INDArray x, INDArray... labels) {
        ComputationGraph graph = new ComputationGraph(builder.build());
        graph.init();
        graph.fit(new MultiDataSet(new INDArray[] {x}, labels));
    }

    private static void output(GraphBuilder builder, INDArray x) {
        ComputationGraph graph = new ComputationGraph(builder.build());
        graph.init();
        graph.output(x);
    }

    private void outputs() {
        OutputLayer between = new OutputLayer.Builder(LossFunction.MSE).nIn(5).nOut(4).activation(Activation.TANH).build();
        proofs.fails("output that is read", () -> {
            train(base().graphBuilder().addInputs("in").addLayer("between", between, "in")
                    .addLayer("out", classifier(CLASSES).nIn(4).build(), "between").setOutputs("between", "out"),
                    Numbers.normal(92, EXAMPLES, 5), Numbers.normal(93, EXAMPLES, 4), Y);
            return null;
        });
    }

    /** A vertex behind a convolution of images. */
    private static GraphBuilder behind(GraphVertex vertex, InputType type) {
        return behind(base(), vertex, type);
    }

    private static GraphBuilder behind(NeuralNetConfiguration.Builder base, GraphVertex vertex, InputType type) {
        CNN2DFormat format = type == CHANNELS_LAST ? CNN2DFormat.NHWC : CNN2DFormat.NCHW;
        ConvolutionLayer convolution = new ConvolutionLayer.Builder(1, 1).nOut(2).dataFormat(format).build();
        return base.graphBuilder().addInputs("in").addLayer("convolution", convolution, "in")
                .addVertex("vertex", vertex, "convolution")
                .addLayer("pooled", new GlobalPoolingLayer(PoolingType.AVG), "vertex")
                .addLayer("out", classifier(CLASSES).nIn(2).build(), "pooled").setOutputs("out").setInputTypes(type);
    }

    private void vertices() {
        INDArray images = Numbers.normal(94, EXAMPLES, 2, 4, 6), last = Numbers.normal(95, EXAMPLES, 4, 6, 2);
        proofs.fails("norm of images in double precision", () -> {
            output(behind(new L2NormalizeVertex(), IMAGES), images);
            return null;
        });
        proofs.fails("norm of images over their channels", () -> {
            GraphBuilder single = behind(base().dataType(DataType.FLOAT), new L2NormalizeVertex(new int[] {1}, 1e-8), IMAGES);
            train(single, images.castTo(DataType.FLOAT), Y.castTo(DataType.FLOAT));
            return null;
        });
        proofs.fails("helper of pooling", () -> {
            train(behind(new PoolHelperVertex(), IMAGES), images, Y);
            return null;
        });
        proofs.fails("helper of pooling, channels last", () -> {
            train(behind(new PoolHelperVertex(), CHANNELS_LAST), last, Y);
            return null;
        });
        ComputationGraph subset = new ComputationGraph(behind(new SubsetVertex(0, 0), CHANNELS_LAST).build());
        subset.init();
        long[] shape = subset.feedForward(last, false).get("vertex").shape();
        proofs.wrong("subset of channels that come last", shape[1] == 1, "rows are taken: " + Arrays.toString(shape));
        InputType volumes = InputType.convolutional3D(Convolution3D.DataFormat.NDHWC, 2, 3, 3, 2);
        Convolution3D.Builder one = new Convolution3D.Builder(1, 1, 1).nOut(2).dataFormat(Convolution3D.DataFormat.NDHWC);
        Convolution3D.Builder other = new Convolution3D.Builder(1, 1, 1).nOut(3).dataFormat(Convolution3D.DataFormat.NDHWC);
        proofs.fails("merged volumes", () -> {
            output(base().graphBuilder().addInputs("in").addLayer("one", one.build(), "in")
                    .addLayer("other", other.build(), "in").addVertex("both", new MergeVertex(), "one", "other")
                    .addLayer("out", classifier(CLASSES).build(), "both").setOutputs("out").setInputTypes(volumes),
                    Numbers.normal(96, EXAMPLES, 2, 3, 3, 2));
            return null;
        });
    }

    private void series() {
        INDArray x = Numbers.normal(97, EXAMPLES, 5, 3), labels = Numbers.normal(98, EXAMPLES, 5, 2);
        RnnOutputLayer steps = new RnnOutputLayer.Builder(LossFunction.MSE).nIn(4).nOut(2).dataFormat(RNNFormat.NWC)
                .activation(Activation.TANH).build();
        InputType type = InputType.recurrent(3, 5, RNNFormat.NWC);
        proofs.fails("dropout of a recurrent layer of series NWC", base().list(new SimpleRnn.Builder().nIn(3).nOut(4)
                .dataFormat(RNNFormat.NWC).dropOut(0.5).build(), steps).setInputType(type), x, labels);
        proofs.fails("convolution of series NWC", base().list(new Convolution1DLayer.Builder(1).nIn(3).nOut(4)
                .rnnDataFormat(RNNFormat.NWC).build(), steps).setInputType(type), x, labels);
    }
}
