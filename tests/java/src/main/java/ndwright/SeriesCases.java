package ndwright;

import static ndwright.Cases.base;
import static ndwright.Cases.classifier;
import static ndwright.Cases.dense;
import static ndwright.Cases.stack;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.deeplearning4j.nn.conf.ConvolutionMode;
import org.deeplearning4j.nn.conf.MultiLayerConfiguration;
import org.deeplearning4j.nn.conf.RNNFormat;
import org.deeplearning4j.nn.conf.inputs.InputType;
import org.deeplearning4j.nn.conf.layers.Convolution1DLayer;
import org.deeplearning4j.nn.conf.layers.ConvolutionLayer;
import org.deeplearning4j.nn.conf.layers.EmbeddingSequenceLayer;
import org.deeplearning4j.nn.conf.layers.GlobalPoolingLayer;
import org.deeplearning4j.nn.conf.layers.Layer;
import org.deeplearning4j.nn.conf.layers.LocallyConnected1D;
import org.deeplearning4j.nn.conf.layers.PoolingType;
import org.deeplearning4j.nn.conf.layers.RnnLossLayer;
import org.deeplearning4j.nn.conf.layers.RnnOutputLayer;
import org.deeplearning4j.nn.conf.layers.Subsampling1DLayer;
import org.deeplearning4j.nn.conf.layers.SubsamplingLayer;
import org.deeplearning4j.nn.conf.layers.Upsampling1D;
import org.deeplearning4j.nn.conf.layers.ZeroPadding1DLayer;
import org.deeplearning4j.nn.conf.layers.convolutional.Cropping1D;
import org.deeplearning4j.nn.conf.preprocessor.CnnToRnnPreProcessor;
import org.deeplearning4j.nn.conf.preprocessor.RnnToCnnPreProcessor;
import org.nd4j.linalg.activations.Activation;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.dataset.DataSet;
import org.nd4j.linalg.lossfunctions.LossFunctions.LossFunction;

/** Layers of series, and masks of their steps. */
final class SeriesCases {
    private static final int EXAMPLES = 3, STEPS = 9, CLASSES = 4;
    private static final INDArray X = Numbers.normal(21, EXAMPLES, 4, STEPS);
    private static final INDArray Y = Numbers.classes(22, EXAMPLES, CLASSES);
    private static final INDArray LENGTHS = Numbers.lengths(STEPS, 9, 5, 2);
    private static final InputType TYPE = InputType.recurrent(4, STEPS);
    private final List<Case> cases = new ArrayList<>();

    private SeriesCases() {}

    static List<Case> all() {
        SeriesCases series = new SeriesCases();
        series.convolutions();
        series.others();
        series.outputs();
        return series.cases;
    }

    private void add(String name, INDArray mask, Layer... layers) {
        add(name, () -> stack(layers, new GlobalPoolingLayer(PoolingType.AVG), classifier(CLASSES).build())
                .setInputType(TYPE), new DataSet(X, Y, mask, null));
    }

    private Case add(String name, Callable<MultiLayerConfiguration.Builder> network, DataSet data) {
        Case added = Case.of("series_" + name, network, data);
        cases.add(added);
        return added;
    }

    private static Convolution1DLayer.Builder convolution(int kernel) {
        return new Convolution1DLayer.Builder(kernel).nOut(5).activation(Activation.TANH);
    }

    private void convolutions() {
        for (ConvolutionMode mode : new ConvolutionMode[] {
                ConvolutionMode.Truncate, ConvolutionMode.Same, ConvolutionMode.Causal}) {
            add("convolution_" + mode, null, convolution(3).convolutionMode(mode).build());
            int dilation = mode == ConvolutionMode.Causal ? 2 : 1;
            add("convolution_strided_" + mode, null,
                    convolution(2).stride(2).dilation(dilation).convolutionMode(mode).build());
            if (mode != ConvolutionMode.Truncate) {
                add("convolution_masked_" + mode, LENGTHS, convolution(3).convolutionMode(mode).build());
            }
        }
        add("convolution_two", null, convolution(3).hasBias(false).build(), convolution(2).nOut(3).build());
        add("locally_connected", () -> base().list(new LocallyConnected1D.Builder().kernelSize(3).nOut(5)
                .setInputSize(STEPS).activation(Activation.TANH).build(), new GlobalPoolingLayer(PoolingType.AVG),
                classifier(CLASSES).build()).setInputType(TYPE), new DataSet(X, Y)).withDerivatives();
    }

    private void others() {
        for (SubsamplingLayer.PoolingType kind : new SubsamplingLayer.PoolingType[] {
                SubsamplingLayer.PoolingType.MAX, SubsamplingLayer.PoolingType.AVG}) {
            add("pooling_" + kind, null, convolution(2).build(), new Subsampling1DLayer.Builder(kind, 2, 2).build());
        }
        for (PoolingType kind : PoolingType.values()) {
            add("global_masked_" + kind, () -> base().list(
                    convolution(3).convolutionMode(ConvolutionMode.Same).build(),
                    new GlobalPoolingLayer.Builder(kind).pnorm(2).build(), classifier(CLASSES).build())
                    .setInputType(TYPE), new DataSet(X, Y, LENGTHS, null));
        }
        add("places", null, convolution(1).build(), new Upsampling1D.Builder(2).build(),
                new ZeroPadding1DLayer.Builder(1, 2).build(), new Cropping1D(2, 1), convolution(3).build());
        INDArray words = Numbers.indices(23, 7, EXAMPLES, 6);
        add("embedding", () -> base().list(
                new EmbeddingSequenceLayer.Builder().nIn(7).nOut(5).inputLength(6).hasBias(true).build(),
                convolution(2).build(), new GlobalPoolingLayer(PoolingType.MAX), classifier(CLASSES).build())
                .setInputType(InputType.recurrent(7, 6)), new DataSet(words, Y));
        add("images_of_steps", () -> base().list(
                new ConvolutionLayer.Builder(2, 2).nIn(1).nOut(2).activation(Activation.TANH).build(),
                new RnnOutputLayer.Builder(LossFunction.MCXENT).nIn(2).nOut(CLASSES).dataFormat(RNNFormat.NCW)
                .activation(Activation.SOFTMAX).build())
                .inputPreProcessor(0, new RnnToCnnPreProcessor(2, 2, 1))
                .inputPreProcessor(1, new CnnToRnnPreProcessor(1, 1, 2)),
                new DataSet(X, Numbers.classes(24, EXAMPLES, CLASSES, STEPS)));
    }

    private void outputs() {
        INDArray every = Numbers.classes(24, EXAMPLES, CLASSES, STEPS);
        Callable<MultiLayerConfiguration.Builder> network = () -> base().list(dense(4, 5).build(),
                new RnnOutputLayer.Builder(LossFunction.MCXENT).nOut(CLASSES).activation(Activation.SOFTMAX).build())
                .setInputType(TYPE);
        Callable<MultiLayerConfiguration.Builder> loss = () -> base().list(
                convolution(3).nOut(CLASSES).convolutionMode(ConvolutionMode.Same).build(),
                new RnnLossLayer.Builder(LossFunction.MSE).activation(Activation.SIGMOID).build()).setInputType(TYPE);
        add("output", network, new DataSet(X, every));
        add("output_masked", network, new DataSet(X, every, LENGTHS, LENGTHS));
        add("output_features_masked", network, new DataSet(X, every, LENGTHS, null));
        add("output_labels_masked", network, new DataSet(X, every, null, LENGTHS));
        Callable<MultiLayerConfiguration.Builder> convolved = () -> base().list(
                convolution(3).convolutionMode(ConvolutionMode.Same).build(),
                new RnnOutputLayer.Builder(LossFunction.MCXENT).nOut(CLASSES).activation(Activation.SOFTMAX).build())
                .setInputType(TYPE);
        add("convolved_features_masked", convolved, new DataSet(X, every, LENGTHS, null));
        add("convolved_masked", convolved, new DataSet(X, every, LENGTHS, LENGTHS));
        add("convolved_twice_masked", () -> base().list(
                convolution(3).convolutionMode(ConvolutionMode.Same).build(),
                convolution(2).nOut(CLASSES).convolutionMode(ConvolutionMode.Causal).build(),
                new RnnLossLayer.Builder(LossFunction.MSE).activation(Activation.SIGMOID).build()).setInputType(TYPE),
                new DataSet(X, every, LENGTHS, LENGTHS));
        add("loss", loss, new DataSet(X, every));
        add("loss_masked", loss, new DataSet(X, every, LENGTHS, LENGTHS));
    }
}
