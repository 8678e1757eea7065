package ndwright;

import static ndwright.Cases.base;
import static ndwright.Cases.classifier;
import static ndwright.Cases.dense;

import java.io.File;
import java.util.Arrays;
import org.deeplearning4j.nn.api.OptimizationAlgorithm;
import org.deeplearning4j.nn.conf.CNN2DFormat;
import org.deeplearning4j.nn.conf.MultiLayerConfiguration;
import org.deeplearning4j.nn.conf.dropout.SpatialDropout;
import org.deeplearning4j.nn.conf.inputs.InputType;
import org.deeplearning4j.nn.conf.layers.AutoEncoder;
import org.deeplearning4j.nn.conf.layers.CenterLossOutputLayer;
import org.deeplearning4j.nn.conf.layers.CnnLossLayer;
import org.deeplearning4j.nn.conf.layers.Convolution1DLayer;
import org.deeplearning4j.nn.conf.layers.Convolution3D;
import org.deeplearning4j.nn.conf.layers.ConvolutionLayer;
import org.deeplearning4j.nn.conf.layers.Deconvolution2D;
import org.deeplearning4j.nn.conf.layers.Deconvolution3D;
import org.deeplearning4j.nn.conf.layers.GlobalPoolingLayer;
import org.deeplearning4j.nn.conf.layers.Layer;
import org.deeplearning4j.nn.conf.layers.LossLayer;
import org.deeplearning4j.nn.conf.layers.OutputLayer;
import org.deeplearning4j.nn.conf.layers.PoolingType;
import org.deeplearning4j.nn.conf.layers.RnnLossLayer;
import org.deeplearning4j.nn.conf.layers.RnnOutputLayer;
import org.deeplearning4j.nn.conf.layers.SpaceToDepthLayer;
import org.deeplearning4j.nn.conf.layers.misc.ElementWiseMultiplicationLayer;
import org.deeplearning4j.nn.conf.layers.misc.FrozenLayerWithBackprop;
import org.deeplearning4j.nn.conf.layers.misc.RepeatVector;
import org.deeplearning4j.nn.conf.layers.recurrent.Bidirectional;
import org.deeplearning4j.nn.conf.layers.recurrent.SimpleRnn;
import org.deeplearning4j.nn.conf.layers.variational.VariationalAutoencoder;
import org.deeplearning4j.nn.conf.weightnoise.DropConnect;
import org.deeplearning4j.nn.multilayer.MultiLayerNetwork;
import org.deeplearning4j.nn.workspace.LayerWorkspaceMgr;
import org.nd4j.linalg.activations.Activation;
import org.nd4j.linalg.api.buffer.DataType;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.dataset.DataSet;
import org.nd4j.linalg.factory.Nd4j;
import org.nd4j.linalg.lossfunctions.LossFunctions.LossFunction;
import org.nd4j.linalg.lossfunctions.impl.LossSparseMCXENT;

/** Faults of dropout and weight noise, shown by themselves. */
final class NoiseProofs {
    private static final int EXAMPLES = 4, CLASSES = 3, STEPS = 5;
    private static final INDArray ROWS = Numbers.normal(71, EXAMPLES, 5), Y = Numbers.classes(72, EXAMPLES, CLASSES);
    private static final INDArray SERIES = Numbers.normal(73, EXAMPLES, 3, STEPS);
    private static final INDArray IMAGES = Numbers.normal(75, EXAMPLES, 2, 3, 3);
    private final Proofs proofs;

    NoiseProofs(Proofs proofs) {
        this.proofs = proofs;
    }

    void all() {
        scores();
        draws();
        errors();
        failing();
    }

    private static MultiLayerConfiguration.Builder overSeries(Layer... layers) {
        return base().list(layers).setInputType(InputType.recurrent(3, STEPS));
    }

    private static RnnOutputLayer.Builder everyStep() {
        return new RnnOutputLayer.Builder(LossFunction.MSE).nIn(3).nOut(2).activation(Activation.TANH);
    }

    /** The score of a first step, and that of the same data before it. */
    private static double[] ofStep(MultiLayerConfiguration.Builder configuration, INDArray x, INDArray y) {
        MultiLayerNetwork network = Case.made(configuration);
        DataSet data = new DataSet(x, y);
        double before = Training.score(network, data);
        return new double[] {Training.fit(network, data, 1)[0], before};
    }

    /** Scores of steps that are not those of what the step has computed. */
    private void scores() {
        double[] score = ofStep(overSeries(everyStep().dropOut(0.5).build()), SERIES, Numbers.normal(74, EXAMPLES, 2, STEPS));
        proofs.wrong("score of time steps with dropout", score[0] == score[1],
                "with half of the inputs dropped the score is that without: " + score[0]);
        score = ofStep(base().list(dense(5, 4).build(), new LossLayer.Builder(LossFunction.MSE)
                .activation(Activation.TANH).build()), ROWS, Numbers.normal(76, EXAMPLES, 4));
        proofs.wrong("score of a loss layer", Math.abs(score[0] - score[1]) > 1e-3,
                "without any noise the score of a step is " + score[0] + ", that of the same data " + score[1]);
        score = ofStep(base().list(new ElementWiseMultiplicationLayer.Builder().nIn(5).nOut(5)
                .activation(Activation.TANH).dropOut(0.5).build(), classifier(CLASSES).nIn(5).build()), ROWS, Y);
        proofs.wrong("dropout of single weights", score[0] == score[1],
                "with half of the inputs dropped the score is that without: " + score[0]);
        pretrained();
    }

    private void pretrained() {
        double[] score = ofStep(base().list(new AutoEncoder.Builder().nIn(5).nOut(5).activation(Activation.TANH)
                .dropOut(0.5).build(), classifier(CLASSES).nIn(5).build()), ROWS, Y);
        proofs.wrong("dropout of an autoencoder", score[0] == score[1],
                "with half of the inputs dropped the score is that without: " + score[0]);
        proofs.fails("weight noise of a variational autoencoder", () -> {
            MultiLayerNetwork network = Case.made(base().list(new VariationalAutoencoder.Builder().nIn(5).nOut(4)
                    .encoderLayerSizes(3).decoderLayerSizes(3).weightNoise(new DropConnect(0.5)).build(),
                    classifier(CLASSES).nIn(4).build()));
            DataSet data = new DataSet(ROWS, Y);
            Training.gradient(network, data);
            return Training.fit(network, data, 3);
        });
    }

    /** How often noise is drawn in a step: for a weight and a bias twice. */
    private static int drawnBy(MultiLayerConfiguration.Builder configuration, INDArray x, INDArray y) {
        Counting.count = 0;
        Training.fit(Case.made(configuration), new DataSet(x, y), 1);
        return Counting.count;
    }

    private void draws() {
        int usual = drawnBy(base().list(new OutputLayer.Builder(LossFunction.MCXENT).nIn(5).nOut(CLASSES)
                .activation(Activation.SOFTMAX).weightNoise(new Counting()).build()), ROWS, Y);
        int steps = drawnBy(overSeries(everyStep().weightNoise(new Counting()).build()), SERIES,
                Numbers.normal(74, EXAMPLES, 2, STEPS));
        proofs.wrong("noise of time steps", steps > usual, "noise of one step is drawn " + steps + " times, not " + usual);
        int centers = drawnBy(base().list(new CenterLossOutputLayer.Builder(LossFunction.MCXENT).nIn(5).nOut(CLASSES)
                .activation(Activation.SOFTMAX).weightNoise(new Counting()).build()), ROWS, Y);
        proofs.wrong("noise of centers", centers > usual, "noise of one step is drawn " + centers + " times, not " + usual);
        int frozen = drawnBy(base().list(new FrozenLayerWithBackprop(dense(5, 4).weightNoise(new Counting()).build()),
                classifier(CLASSES).nIn(4).build()), ROWS, Y);
        proofs.wrong("noise of frozen layers", frozen > 0, "a frozen layer draws noise " + frozen + " times in a step");
    }

    private static Convolution1DLayer.Builder convolution() {
        return new Convolution1DLayer.Builder(2).nIn(3).nOut(4);
    }

    /** How many inputs that a layer has dropped get an error all the same. */
    private static int errorsOfDropped(Layer dropping, InputType type, INDArray x) {
        MultiLayerNetwork network = Case.made(base().dropOut(0.5).list(dropping, classifier(CLASSES).build())
                .setInputType(type));
        network.initGradientsView();
        LayerWorkspaceMgr workspaces = LayerWorkspaceMgr.noWorkspaces();
        org.deeplearning4j.nn.api.Layer layer = network.getLayer(0);
        layer.setInput(x.dup(), workspaces);
        INDArray activations = layer.activate(true, workspaces);
        INDArray below = layer.backpropGradient(Nd4j.ones(DataType.DOUBLE, activations.shape()), workspaces).getSecond();
        INDArray errs = below.neq(0.0).castTo(DataType.DOUBLE), dropped = layer.input().eq(0.0).castTo(DataType.DOUBLE);
        return errs.mul(dropped).sumNumber().intValue();
    }

    private void errors() {
        InputType series = InputType.recurrent(3, STEPS), images = InputType.convolutional(3, 3, 2);
        InputType volumes = InputType.convolutional3D(Convolution3D.DataFormat.NCDHW, 2, 2, 2, 2);
        INDArray inVolumes = Numbers.normal(79, EXAMPLES, 2, 2, 2, 2), large = Numbers.normal(80, EXAMPLES, 2, 4, 4);
        int[] past = {
            errorsOfDropped(convolution().build(), series, SERIES),
            errorsOfDropped(new Convolution3D.Builder(1, 1, 1).nOut(2).build(), volumes, inVolumes),
            errorsOfDropped(new Deconvolution2D.Builder(2, 2).nOut(2).build(), images, IMAGES),
            errorsOfDropped(new Deconvolution3D.Builder().kernelSize(2, 2, 2).nOut(2).build(), volumes, inVolumes),
            errorsOfDropped(new RepeatVector.Builder(2).build(), InputType.feedForward(5), ROWS),
            errorsOfDropped(new SpaceToDepthLayer.Builder(2, CNN2DFormat.NCHW).build(),
                    InputType.convolutional(4, 4, 2), large)
        };
        proofs.wrong("errors of dropped inputs", Arrays.stream(past).allMatch(count -> count > 0),
                "of six layers so many inputs that are dropped get an error: " + Arrays.toString(past));
    }

    private void failing() {
        proofs.fails("dropout of channels of time steps", overSeries(everyStep().dropOut(new SpatialDropout(0.5)).build()),
                SERIES, Numbers.normal(74, EXAMPLES, 2, STEPS));
        proofs.fails("class numbers of pixels", base().list(new ConvolutionLayer.Builder(1, 1).nOut(CLASSES).build(),
                new CnnLossLayer.Builder(new LossSparseMCXENT()).activation(Activation.SOFTMAX).build())
                .setInputType(InputType.convolutional(3, 3, 2)), IMAGES, Nd4j.zeros(EXAMPLES, 1, 3, 3));
        proofs.fails("LBFGS above frozen layers", base().optimizationAlgo(OptimizationAlgorithm.LBFGS).list(
                new FrozenLayerWithBackprop(dense(5, 4).build()), classifier(CLASSES).nIn(4).build()), ROWS, Y);
        Bidirectional inside = new Bidirectional(Bidirectional.Mode.ADD, new SimpleRnn.Builder().nOut(4)
                .activation(Activation.TANH).build());
        proofs.fails("both directions in both directions", () -> {
            MultiLayerNetwork network = Case.made(overSeries(new Bidirectional(Bidirectional.Mode.ADD, inside),
                    new RnnLossLayer.Builder(LossFunction.MSE).activation(Activation.IDENTITY).build()));
            network.save(File.createTempFile("both", ".zip"), true);
            return network.output(SERIES);
        });
    }

    /** Counts how often it is asked for noise in training; of one step. */
    public static final class Counting extends DropConnect {
        private static int count;

        Counting() {
            super(0.5, true);
        }

        @Override
        public INDArray getParameter(org.deeplearning4j.nn.api.Layer layer, String name, int iteration, int epoch,
                boolean train, LayerWorkspaceMgr workspaces) {
            count += train ? 1 : 0;
            return super.getParameter(layer, name, iteration, epoch, train, workspaces);
        }

        @Override
        public Counting clone() {
            return this;
        }
    }
}
