package ndwright;

import static ndwright.Cases.base;
import static ndwright.Cases.classifier;
import static ndwright.Cases.dense;
import static ndwright.Cases.stack;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.deeplearning4j.nn.conf.CNN2DFormat;
import org.deeplearning4j.nn.conf.ConvolutionMode;
import org.deeplearning4j.nn.conf.MultiLayerConfiguration;
import org.deeplearning4j.nn.conf.distribution.UniformDistribution;
import org.deeplearning4j.nn.conf.inputs.InputType;
import org.deeplearning4j.nn.conf.layers.ActivationLayer;
import org.deeplearning4j.nn.conf.layers.BatchNormalization;
import org.deeplearning4j.nn.conf.layers.CapsuleLayer;
import org.deeplearning4j.nn.conf.layers.CapsuleStrengthLayer;
import org.deeplearning4j.nn.conf.layers.CnnLossLayer;
import org.deeplearning4j.nn.conf.layers.ConvolutionLayer;
import org.deeplearning4j.nn.conf.layers.Deconvolution2D;
import org.deeplearning4j.nn.conf.layers.DepthwiseConvolution2D;
import org.deeplearning4j.nn.conf.layers.GlobalPoolingLayer;
import org.deeplearning4j.nn.conf.layers.Layer;
import org.deeplearning4j.nn.conf.layers.LocalResponseNormalization;
import org.deeplearning4j.nn.conf.layers.LocallyConnected2D;
import org.deeplearning4j.nn.conf.layers.LossLayer;
import org.deeplearning4j.nn.conf.layers.PReLULayer;
import org.deeplearning4j.nn.conf.layers.PoolingType;
import org.deeplearning4j.nn.conf.layers.PrimaryCapsules;
import org.deeplearning4j.nn.conf.layers.SeparableConvolution2D;
import org.deeplearning4j.nn.conf.layers.SpaceToDepthLayer;
import org.deeplearning4j.nn.conf.layers.SubsamplingLayer;
import org.deeplearning4j.nn.conf.layers.Upsampling2D;
import org.deeplearning4j.nn.conf.layers.ZeroPaddingLayer;
import org.deeplearning4j.nn.conf.layers.convolutional.Cropping2D;
import org.deeplearning4j.nn.conf.layers.objdetect.Yolo2OutputLayer;
import org.deeplearning4j.nn.conf.preprocessor.FeedForwardToCnnPreProcessor;
import org.nd4j.linalg.activations.Activation;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.dataset.DataSet;
import org.nd4j.linalg.factory.Nd4j;
import org.nd4j.linalg.lossfunctions.LossFunctions.LossFunction;
import org.nd4j.linalg.lossfunctions.impl.LossL1;
import org.nd4j.linalg.lossfunctions.impl.LossMCXENT;
import org.nd4j.linalg.lossfunctions.impl.LossMSE;

/** Layers of images. */
final class ImageCases {
    private static final int CLASSES = 4;
    private static final INDArray X = Numbers.normal(11, 3, 2, 8, 7), Y = Numbers.classes(12, 3, CLASSES);
    private static final InputType TYPE = InputType.convolutional(8, 7, 2);
    private static final ConvolutionMode[] MODES = {
        ConvolutionMode.Truncate, ConvolutionMode.Same, ConvolutionMode.Strict
    };
    private final List<Case> cases = new ArrayList<>();

    private ImageCases() {}

    static List<Case> all() {
        ImageCases images = new ImageCases();
        images.convolutions();
        images.kinds();
        images.poolings();
        images.places();
        images.normalisations();
        images.outputs();
        images.objects();
        return images.cases;
    }

    /** Layers below a classifier. */
    private Case add(String name, Layer... layers) {
        return add(name, () -> stack(layers, classifier(CLASSES).build()).setInputType(TYPE), Y);
    }

    private Case add(String name, Callable<MultiLayerConfiguration.Builder> network, INDArray y) {
        Case added = Case.of("image_" + name, network, X, y);
        cases.add(added);
        return added;
    }

    private static ConvolutionLayer.Builder convolution(int... kernel) {
        return new ConvolutionLayer.Builder(kernel).nOut(3).activation(Activation.TANH);
    }

    private void convolutions() {
        for (ConvolutionMode mode : MODES) {
            add("convolution_" + mode, convolution(3, 2).convolutionMode(mode).build());
            add("convolution_dilated_" + mode, convolution(2, 2).dilation(2, 2).convolutionMode(mode).build());
            if (mode != ConvolutionMode.Strict) {
                add("convolution_strided_" + mode, convolution(3, 3).stride(2, 2).convolutionMode(mode).build());
            }
        }
        add("convolution_padded", convolution(3, 3).padding(1, 2).hasBias(false).build());
        add("convolution_softmax", convolution(3, 3).activation(Activation.SOFTMAX).build()).withDerivatives();
        add("convolution_of_rows", () -> base().list(dense(112, 30).build(), convolution(2, 2).nIn(1).build(),
                classifier(CLASSES).build()).inputPreProcessor(1,
                new FeedForwardToCnnPreProcessor(6, 5, 1)).setInputType(TYPE), Y);
        cases.add(Case.of("image_lenet", () -> base().list(
                convolution(3, 3).nOut(6).activation(Activation.IDENTITY).build(), pooling("MAX", 2, 2).build(),
                dense(0, 10).activation(Activation.RELU).build(),
                classifier(CLASSES).build()).setInputType(InputType.convolutionalFlat(8, 7, 2)),
                X.reshape('c', 3, 112), Y));
    }

    private void kinds() {
        for (ConvolutionMode mode : new ConvolutionMode[] {ConvolutionMode.Truncate, ConvolutionMode.Same}) {
            add("deconvolution_" + mode, new Deconvolution2D.Builder(3, 2).nOut(3).stride(2, 2)
                    .convolutionMode(mode).activation(Activation.TANH).build());
            add("depthwise_" + mode, new DepthwiseConvolution2D.Builder(3, 2).depthMultiplier(2).nOut(4)
                    .convolutionMode(mode).activation(Activation.TANH).build());
            add("separable_" + mode, new SeparableConvolution2D.Builder(3, 2).depthMultiplier(2).nOut(3).stride(2, 1)
                    .convolutionMode(mode).activation(Activation.TANH).build());
            add("locally_connected_" + mode, new LocallyConnected2D.Builder().kernelSize(3, 2).nOut(3)
                    .convolutionMode(mode).activation(Activation.TANH).setInputSize(8, 7).build()).withDerivatives();
        }
        add("capsules", () -> base().list(convolution(3, 3).nOut(8).build(),
                new PrimaryCapsules.Builder(4, 2).kernelSize(3, 3).stride(1, 1).build(),
                new CapsuleLayer.Builder(CLASSES, 3, 2).build(), new CapsuleStrengthLayer.Builder().build(),
                new ActivationLayer(Activation.SOFTMAX),
                new LossLayer.Builder(LossFunction.MCXENT).activation(Activation.IDENTITY).build())
                .setInputType(TYPE), Y).withDerivatives();
    }

    private static SubsamplingLayer.Builder pooling(String kind, int... kernel) {
        SubsamplingLayer.Builder builder = new SubsamplingLayer.Builder(SubsamplingLayer.PoolingType.valueOf(kind));
        return builder.kernelSize(kernel).stride(2, 2).pnorm(kind.equals("PNORM") ? 2 : 0);
    }

    private void poolings() {
        for (String kind : new String[] {"MAX", "AVG", "PNORM"}) {
            for (ConvolutionMode mode : new ConvolutionMode[] {ConvolutionMode.Truncate, ConvolutionMode.Same}) {
                add("pooling_" + kind + "_" + mode, convolution(2, 2).convolutionMode(ConvolutionMode.Same).build(),
                        pooling(kind, 3, 2).convolutionMode(mode).build()).withDerivatives();
            }
            add("pooling_padded_" + kind, convolution(2, 2).build(), pooling(kind, 3, 3).padding(1, 1).build())
                    .withDerivatives();
            PoolingType type = PoolingType.valueOf(kind);
            add("global_" + kind, convolution(3, 3).build(), new GlobalPoolingLayer.Builder(type).pnorm(3).build());
        }
    }

    private void places() {
        add("upsampling", convolution(2, 2).build(), new Upsampling2D.Builder(2).build(), convolution(3, 3).build());
        add("upsampling_oblong", convolution(2, 2).build(), new Upsampling2D.Builder().size(new int[] {1, 3}).build());
        add("zero_padding_cropping", convolution(2, 2).build(), new ZeroPaddingLayer.Builder(1, 2, 3, 0).build(),
                convolution(3, 3).build(), new Cropping2D(1, 0, 2, 1));
        add("space_to_depth", convolution(1, 2).build(), new SpaceToDepthLayer.Builder(2, CNN2DFormat.NCHW).build(),
                convolution(2, 2).build());
    }

    private void normalisations() {
        add("response", convolution(3, 3).nOut(6).build(), new LocalResponseNormalization.Builder().build(),
                convolution(2, 2).build()).withDerivatives();
        add("response_own", convolution(3, 3).build(),
                new LocalResponseNormalization.Builder().k(1).n(3).alpha(0.1).beta(0.5).build()).withDerivatives();
        add("batch_normalisation", convolution(3, 3).build(), new BatchNormalization.Builder().build(),
                new ActivationLayer(Activation.RELU), convolution(2, 2).build());
        add("batch_normalisation_locked", convolution(3, 3).build(),
                new BatchNormalization.Builder().lockGammaBeta(true).gamma(1.5).beta(0.2).useLogStd(true).build());
        UniformDistribution slopes = new UniformDistribution(0.1, 0.5);
        add("prelu", convolution(3, 3).activation(Activation.IDENTITY).build(),
                new PReLULayer.Builder().inputShape(3, 6, 5).weightInit(slopes).build()).withDerivatives();
        add("prelu_shared", convolution(3, 3).activation(Activation.IDENTITY).build(),
                new PReLULayer.Builder().inputShape(3, 6, 5).sharedAxes(2, 3).weightInit(slopes).build())
                .withDerivatives();
    }

    private void outputs() {
        INDArray pixels = Numbers.unit(14, 3, 2, 8, 7), mask = Numbers.bits(15, 3, 1, 8, 7);
        Callable<MultiLayerConfiguration.Builder> network = () -> base().list(
                convolution(3, 3).convolutionMode(ConvolutionMode.Same).nOut(2).build(),
                new CnnLossLayer.Builder(LossFunction.MSE).activation(Activation.SIGMOID).build()).setInputType(TYPE);
        add("loss", network, pixels);
        cases.add(Case.of("image_loss_masked", network, new DataSet(X, pixels, null, mask)));
        add("loss_softmax", () -> base().list(convolution(3, 3).convolutionMode(ConvolutionMode.Same).nOut(3).build(),
                new CnnLossLayer.Builder(LossFunction.MCXENT).activation(Activation.SOFTMAX).build())
                .setInputType(TYPE), Numbers.classes(16, 3, 3, 8, 7));
    }

    /** Boxes around objects; the grid is that of the images. */
    private void objects() {
        INDArray boxes = Nd4j.create(new double[][] {{1.5, 1.0}, {0.7, 2.2}}), labels = Numbers.boxes(13, 3, 2, 8, 7);
        Yolo2OutputLayer.Builder[] layers = {
            new Yolo2OutputLayer.Builder(),
            new Yolo2OutputLayer.Builder().lambdaCoord(2).lambdaNoObj(1.5).lossClassPredictions(new LossMCXENT()),
            new Yolo2OutputLayer.Builder().lossPositionScale(new LossL1()).lossClassPredictions(new LossMSE())
        };
        for (int i = 0; i < layers.length; i++) {
            Layer layer = layers[i].boundingBoxPriors(boxes).build();
            add("objects_" + i, () -> base().list(convolution(3, 3).convolutionMode(ConvolutionMode.Same).build(),
                    new ConvolutionLayer.Builder(1, 1).nOut(14).activation(Activation.IDENTITY).build(), layer)
                    .setInputType(TYPE), labels);
        }
    }
}
