package ndwright;

import static ndwright.Cases.base;
import static ndwright.Cases.classifier;
import static ndwright.Cases.stack;

import java.util.ArrayList;
import java.util.List;
import org.deeplearning4j.nn.conf.ConvolutionMode;
import org.deeplearning4j.nn.conf.inputs.InputType;
import org.deeplearning4j.nn.conf.layers.Cnn3DLossLayer;
import org.deeplearning4j.nn.conf.layers.Convolution3D;
import org.deeplearning4j.nn.conf.layers.Deconvolution3D;
import org.deeplearning4j.nn.conf.layers.GlobalPoolingLayer;
import org.deeplearning4j.nn.conf.layers.Layer;
import org.deeplearning4j.nn.conf.layers.PoolingType;
import org.deeplearning4j.nn.conf.layers.Subsampling3DLayer;
import org.deeplearning4j.nn.conf.layers.Upsampling3D;
import org.deeplearning4j.nn.conf.layers.ZeroPadding3DLayer;
import org.deeplearning4j.nn.conf.layers.convolutional.Cropping3D;
import org.deeplearning4j.nn.conf.preprocessor.Cnn3DToFeedForwardPreProcessor;
import org.nd4j.linalg.activations.Activation;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.lossfunctions.LossFunctions.LossFunction;

/** Layers of volumes, channels first, with sizes and preprocessors by hand: Java infers wrong ones. */
final class VolumeCases {
    private static final int CLASSES = 4;
    private static final INDArray X = Numbers.normal(31, 2, 2, 5, 6, 4), Y = Numbers.classes(32, 2, CLASSES);
    private final List<Case> cases = new ArrayList<>();

    private VolumeCases() {}

    static List<Case> all() {
        VolumeCases volumes = new VolumeCases();
        volumes.convolutions();
        volumes.poolings();
        volumes.inferred();
        return volumes.cases;
    }

    /** Layers below a classifier; the sizes of what comes out of them are tried out first. */
    private void add(String name, Layer... layers) {
        cases.add(Case.of("volume_" + name, () -> {
            long[] out = Case.made(base().list(layers)).output(X).shape();
            int size = (int) (out[1] * out[2] * out[3] * out[4]);
            return stack(layers, classifier(CLASSES).nIn(size).build()).inputPreProcessor(layers.length,
                    new Cnn3DToFeedForwardPreProcessor(out[2], out[3], out[4], out[1], true));
        }, X, Y));
    }

    private static Convolution3D.Builder convolution(int... kernel) {
        return new Convolution3D.Builder(kernel).nIn(2).nOut(3).activation(Activation.TANH);
    }

    private void convolutions() {
        for (ConvolutionMode mode : new ConvolutionMode[] {ConvolutionMode.Truncate, ConvolutionMode.Same}) {
            add("convolution_" + mode, convolution(2, 3, 2).convolutionMode(mode).build());
            add("convolution_strided_" + mode, convolution(2, 2, 2).stride(2, 2, 2).convolutionMode(mode).build());
        }
        add("deconvolution", new Deconvolution3D.Builder().kernelSize(2, 2, 2).stride(2, 2, 2).nIn(2).nOut(3)
                .activation(Activation.TANH).build());
        add("places", new Upsampling3D.Builder(2).build(), new ZeroPadding3DLayer.Builder(1, 0, 2, 1, 0, 1).build(),
                new Cropping3D.Builder(1, 0, 1, 2, 0, 1).build(), convolution(2, 2, 2).build());
        cases.add(Case.of("volume_loss", () -> base().list(
                convolution(3, 3, 3).convolutionMode(ConvolutionMode.Same).build(),
                new Cnn3DLossLayer.Builder(Convolution3D.DataFormat.NCDHW).lossFunction(LossFunction.MSE)
                .activation(Activation.SIGMOID).build()), X, Numbers.unit(33, 2, 3, 5, 6, 4)));
    }

    private void poolings() {
        for (String kind : new String[] {"MAX", "AVG"}) {
            Subsampling3DLayer.PoolingType type = Subsampling3DLayer.PoolingType.valueOf(kind);
            for (ConvolutionMode mode : new ConvolutionMode[] {ConvolutionMode.Truncate, ConvolutionMode.Same}) {
                add("pooling_" + kind + "_" + mode, convolution(2, 2, 2).build(), new Subsampling3DLayer.Builder(type)
                        .kernelSize(2, 2, 2).stride(2, 2, 1).convolutionMode(mode).build());
            }
            cases.add(Case.of("volume_global_" + kind, () -> base().list(convolution(2, 2, 2).build(),
                    new GlobalPoolingLayer(PoolingType.valueOf(kind)), classifier(CLASSES).nIn(3).build()), X, Y));
        }
    }

    /** With the preprocessor that Java itself puts there, where it runs: it takes the channels for the last axis. */
    private void inferred() {
        InputType type = InputType.convolutional3D(Convolution3D.DataFormat.NCDHW, 5, 6, 4, 2);
        Layer[] layers = {
            convolution(2, 2, 2).convolutionMode(ConvolutionMode.Same).build(),
            new Subsampling3DLayer.Builder(Subsampling3DLayer.PoolingType.MAX).kernelSize(2, 2, 2).build()
        };
        for (Layer layer : layers) {
            String name = "volume_inferred_" + layer.getClass().getSimpleName();
            cases.add(Case.of(name, () -> base().list(layer, classifier(CLASSES).build()).setInputType(type), X, Y));
        }
    }
}
