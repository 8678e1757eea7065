package ndwright;

import static ndwright.Cases.base;
import static ndwright.Cases.classifier;
import static ndwright.Cases.dense;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.deeplearning4j.nn.api.OptimizationAlgorithm;
import org.deeplearning4j.nn.conf.GradientNormalization;
import org.deeplearning4j.nn.conf.MultiLayerConfiguration;
import org.deeplearning4j.nn.conf.NeuralNetConfiguration;
import org.deeplearning4j.nn.conf.constraint.MaxNormConstraint;
import org.deeplearning4j.nn.conf.constraint.MinMaxNormConstraint;
import org.deeplearning4j.nn.conf.constraint.NonNegativeConstraint;
import org.deeplearning4j.nn.conf.distribution.NormalDistribution;
import org.deeplearning4j.nn.conf.dropout.SpatialDropout;
import org.deeplearning4j.nn.conf.graph.AttentionVertex;
import org.deeplearning4j.nn.conf.inputs.InputType;
import org.deeplearning4j.nn.conf.layers.ActivationLayer;
import org.deeplearning4j.nn.conf.layers.BatchNormalization;
import org.deeplearning4j.nn.conf.layers.Convolution1DLayer;
import org.deeplearning4j.nn.conf.layers.Convolution3D;
import org.deeplearning4j.nn.conf.layers.ConvolutionLayer;
import org.deeplearning4j.nn.conf.layers.DenseLayer;
import org.deeplearning4j.nn.conf.layers.DepthwiseConvolution2D;
import org.deeplearning4j.nn.conf.layers.GlobalPoolingLayer;
import org.deeplearning4j.nn.conf.layers.LSTM;
import org.deeplearning4j.nn.conf.layers.Layer;
import org.deeplearning4j.nn.conf.layers.LearnedSelfAttentionLayer;
import org.deeplearning4j.nn.conf.layers.LocalResponseNormalization;
import org.deeplearning4j.nn.conf.layers.LossLayer;
import org.deeplearning4j.nn.conf.layers.OutputLayer;
import org.deeplearning4j.nn.conf.layers.PReLULayer;
import org.deeplearning4j.nn.conf.layers.PoolingType;
import org.deeplearning4j.nn.conf.layers.RnnLossLayer;
import org.deeplearning4j.nn.conf.layers.RnnOutputLayer;
import org.deeplearning4j.nn.conf.layers.SelfAttentionLayer;
import org.deeplearning4j.nn.conf.layers.SpaceToBatchLayer;
import org.deeplearning4j.nn.conf.layers.misc.ElementWiseMultiplicationLayer;
import org.deeplearning4j.nn.conf.layers.recurrent.Bidirectional;
import org.deeplearning4j.nn.conf.layers.recurrent.LastTimeStep;
import org.deeplearning4j.nn.conf.layers.recurrent.TimeDistributed;
import org.deeplearning4j.nn.conf.layers.util.MaskLayer;
import org.deeplearning4j.nn.conf.ocnn.OCNNOutputLayer;
import org.deeplearning4j.nn.conf.weightnoise.WeightNoise;
import org.deeplearning4j.nn.graph.ComputationGraph;
import org.deeplearning4j.nn.layers.util.IdentityLayer;
import org.deeplearning4j.nn.multilayer.MultiLayerNetwork;
import org.deeplearning4j.nn.weights.WeightInit;
import org.nd4j.autodiff.samediff.SDVariable;
import org.nd4j.autodiff.samediff.SameDiff;
import org.nd4j.linalg.activations.Activation;
import org.nd4j.linalg.activations.impl.ActivationHardSigmoid;
import org.nd4j.linalg.api.buffer.DataType;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.dataset.DataSet;
import org.nd4j.linalg.factory.Nd4j;
import org.nd4j.linalg.indexing.NDArrayIndex;
import org.nd4j.linalg.learning.GradientUpdater;
import org.nd4j.linalg.learning.SgdUpdater;
import org.nd4j.linalg.learning.config.AdaBelief;
import org.nd4j.linalg.learning.config.Sgd;
import org.nd4j.linalg.lossfunctions.LossFunctions.LossFunction;
import org.nd4j.linalg.schedule.CycleSchedule;
import org.nd4j.linalg.schedule.PolySchedule;
import org.nd4j.linalg.schedule.ScheduleType;

/** Faults of Deeplearning4j, shown by itself: networks that its own builder makes, and no file of ours. */
final class Proofs {
    private static final int CLASSES = 3;
    private static final INDArray ROWS = Numbers.normal(51, 4, 5), IMAGES = Numbers.normal(52, 4, 2, 6, 6);
    private static final INDArray SERIES = Numbers.normal(53, 4, 3, 7), Y = Numbers.classes(54, 4, CLASSES);
    private static final InputType OF_IMAGES = InputType.convolutional(6, 6, 2);
    private final Map<String, String> said = new TreeMap<>();

    private Proofs() {}

    /** Writes what goes wrong, by the fault's name; an empty text for what goes right. */
    static void write(Path path) throws IOException {
        Proofs proofs = new Proofs();
        proofs.schedules();
        proofs.updates();
        proofs.noise();
        proofs.constraints();
        proofs.images();
        proofs.outputs();
        proofs.wrapped();
        proofs.graphs();
        new SeriesProofs(proofs).all();
        new NoiseProofs(proofs).all();
        new GraphProofs(proofs).all();
        Json.write(Map.of("proofs", proofs.said), path);
    }

    /** A fault that shows itself as an error. */
    void fails(String name, Callable<?> action) {
        String text = "";
        try {
            action.call();
        } catch (Throwable error) {
            Throwable root = error;
            while (root.getCause() != null) {
                root = root.getCause();
            }
            text = root.toString().split("\n")[0];
        }
        said.put(name, text);
    }

    void wrong(String name, boolean isWrong, String text) {
        said.put(name, isWrong ? text : "");
    }

    private static MultiLayerConfiguration.Builder rows(Layer layer) {
        return base().updater(new Sgd(0.1)).list(layer, classifier(CLASSES).build())
                .setInputType(InputType.feedForward(5));
    }

    private static MultiLayerConfiguration.Builder perceptron(NeuralNetConfiguration.Builder settings) {
        return settings.list(dense(5, 4).build(), classifier(CLASSES).nIn(4).build());
    }

    private static MultiLayerConfiguration.Builder images(Layer... layers) {
        return Cases.stack(layers, classifier(CLASSES).build()).setInputType(OF_IMAGES);
    }

    /** Runs and trains a network. */
    void fails(String name, MultiLayerConfiguration.Builder network, INDArray x, INDArray y) {
        fails(name, () -> {
            MultiLayerNetwork tried = Case.made(network);
            DataSet data = new DataSet(x, y);
            Training.output(tried, data);
            return Training.fit(tried, data, 1);
        });
    }

    /** The weights of the first layer after a step. */
    private static INDArray weightsAfterStep(MultiLayerConfiguration.Builder network, INDArray x) {
        MultiLayerNetwork trained = Case.made(network);
        Training.fit(trained, new DataSet(x, Y), 1);
        return trained.getParam("0_W").dup();
    }

    private static double farthest(INDArray one, INDArray other) {
        return one.sub(other).amaxNumber().doubleValue();
    }

    private void schedules() {
        double half = new PolySchedule(ScheduleType.ITERATION, 0.1, 2, 10).valueAt(5, 0);
        wrong("poly schedule", half > 0.1, "from 0.1 down to 0 in 10 iterations is at 5: " + half);
        double first = new CycleSchedule(ScheduleType.ITERATION, 0.1, 8).valueAt(0, 0);
        double spare = new CycleSchedule(ScheduleType.ITERATION, 0.1, 8).valueAt(6, 0);
        wrong("cycle schedule", spare > 2 * first, "back at the initial rate of " + first + " it is " + spare);
    }

    private void updates() {
        fails("restricted Boltzmann machine", () -> Class.forName("org.deeplearning4j.nn.conf.layers.RBM"));
        fails("adabelief", rows(dense(5, 4).updater(new AdaBelief()).build()), ROWS, Y);
        double off = farthest(
                weightsAfterStep(perceptron(base().minimize(false)), ROWS), weightsAfterStep(perceptron(base()), ROWS));
        wrong("maximise", off == 0.0, "the step that is to maximise is the one that minimises");
        MultiLayerNetwork empty = Case.made(base().list(
                new LossLayer.Builder(LossFunction.MSE).activation(Activation.TANH).build()));
        Training.fit(empty, new DataSet(ROWS, ROWS), 1);
        wrong("no parameters", empty.score() == 0.0, "the score of a step is 0");
        Counted.count = 0;
        weightsAfterStep(perceptron(base().optimizationAlgo(OptimizationAlgorithm.LINE_GRADIENT_DESCENT)
                .updater(new Counted())), ROWS);
        wrong("search along a line", Counted.count == 2, "an iteration runs the updater " + Counted.count + " times");
        double penalty = 0.1, rate = 0.05;
        INDArray plain = weightsAfterStep(depthwise(0.0, rate), IMAGES);
        INDArray start = Case.made(depthwise(penalty, rate)).getParam("0_W").dup();
        INDArray wanted = plain.sub(start.mul(penalty * rate));
        off = farthest(weightsAfterStep(depthwise(penalty, rate), IMAGES), wanted);
        wrong("penalty of depthwise", off > 1e-6, "l2 moves the weights by " + off + " too much");
    }

    /** Noise is for training alone. */
    private void noise() {
        WeightNoise noise = new WeightNoise(new NormalDistribution(0, 1), true, true);
        MultiLayerNetwork noised = Case.made(rows(dense(5, 4).weightNoise(noise).build()));
        double off = farthest(noised.output(ROWS), noised.output(ROWS));
        wrong("noise of biases", off > 0.0, "two outputs for the same features differ by " + off);
    }

    private static MultiLayerConfiguration.Builder depthwise(double penalty, double rate) {
        return images(new DepthwiseConvolution2D.Builder(2, 2).depthMultiplier(2).nOut(4).activation(Activation.TANH)
                .updater(new Sgd(rate)).l2(penalty).build());
    }

    private void constraints() {
        Counting.count = 0;
        weightsAfterStep(rows(dense(5, 4).constrainWeights(new Counting()).build()), ROWS);
        wrong("constraints twice", Counting.count == 2, "a step applies a constraint " + Counting.count + " times");
        INDArray within = Nd4j.createFromArray(new double[][] {{3, 4}, {6, 8}});
        INDArray held = within.dup();
        new MinMaxNormConstraint(1, 20, 0.5, 1).apply(held);
        double off = farthest(held, within);
        wrong("rate of min max norm", off > 0.01, "norms that are within are moved by " + off);
        fails("equal norms", () -> {
            new MinMaxNormConstraint(0.5, 0.5, 1).apply(within.dup());
            return null;
        });
        off = largestNorm(new Convolution1DLayer.Builder(2).nIn(3).nOut(4).hasBias(false)
                .constrainWeights(new MaxNormConstraint(0.1, 1, 2, 3)).activation(Activation.IDENTITY).build());
        wrong("norm of a series' kernel", off > 0.11, "weights of one output held to a norm of 0.1 have one of " + off);
        fails("norm of all weights", rows(dense(5, 4).constrainWeights(new MaxNormConstraint(0.5, 0, 1)).build()),
                ROWS, Y);
        OCNNOutputLayer scalar = new OCNNOutputLayer.Builder().nIn(5).hiddenLayerSize(3)
                .activation(Activation.SIGMOID).build();
        scalar.setConstraints(List.of(new MaxNormConstraint(0.5, Set.of("r"), 1)));
        fails("norm of a scalar", base().list(scalar), ROWS, Nd4j.ones(4, 1));
        ElementWiseMultiplicationLayer factors = new ElementWiseMultiplicationLayer.Builder().nIn(5).nOut(5)
                .activation(Activation.TANH).build();
        factors.setConstraints(List.of(new MaxNormConstraint(0.5, Set.of("W"), 1)));
        fails("norm of factors", () -> {  // which are a row until they are saved
            File file = File.createTempFile("factors", ".zip");
            Case.made(rows(factors)).save(file, true);
            return Training.fit(MultiLayerNetwork.load(file, true), new DataSet(ROWS, Y), 1);
        });
        fails("norm of a bias", rows(dense(5, 4).constrainBias(new MaxNormConstraint(0.5, 1)).build()), ROWS, Y);
    }

    /** The largest norm of the weights of an output after a step, as answers to single ones tell it. */
    private static double largestNorm(Convolution1DLayer layer) {
        MultiLayerNetwork network = Case.made(base().list(layer, new RnnLossLayer.Builder(LossFunction.MSE)
                .activation(Activation.IDENTITY).build()).setInputType(InputType.recurrent(3, 2)));
        Training.fit(network, new DataSet(Numbers.normal(56, 4, 3, 2), Numbers.normal(57, 4, 4, 1)), 1);
        INDArray answers = network.output(Nd4j.eye(6).castTo(DataType.DOUBLE).reshape('c', 6, 3, 2));
        return answers.reshape('c', 6, 4).norm2(0).maxNumber().doubleValue();
    }

    /** Counts how often it is run; of one step with the same updater everywhere. */
    public static final class Counted extends Sgd {
        private static int count;

        @Override
        public Counted clone() {
            return this;
        }

        @Override
        public GradientUpdater instantiate(INDArray view, boolean initialise) {
            return new SgdUpdater(this) {
                @Override
                public void applyUpdater(INDArray gradient, int iteration, int epoch) {
                    count++;
                    super.applyUpdater(gradient, iteration, epoch);
                }
            };
        }
    }

    /** Counts how often it is applied; of a step with one weight. */
    public static final class Counting extends NonNegativeConstraint {
        private static int count;

        @Override
        public void apply(INDArray param) {
            count++;
        }

        @Override
        public Counting clone() {
            Counting twin = new Counting();
            twin.setParams(getParams());
            return twin;
        }
    }

    private static INDArray meanAfterStep(boolean minibatch) {
        MultiLayerNetwork network = Case.made(rows(new BatchNormalization.Builder().minibatch(minibatch).build()));
        Training.fit(network, new DataSet(ROWS, Y), 1);
        return network.getParam("0_mean");
    }

    private void images() {
        fails("identity at the input", rows(new IdentityLayer()), ROWS, Y);
        fails("mask at the input", images(new MaskLayer()), IMAGES, Y);
        Nd4j.getRandom().setSeed(5);
        Nd4j.rand(1);
        double next = Nd4j.rand(1).getDouble(0);
        Nd4j.getRandom().setSeed(5);
        Nd4j.rand(1);
        Nd4j.linspace(0, 3, 4, DataType.DOUBLE);
        wrong("numbers of a line", Nd4j.rand(1).getDouble(0) != next, "Nd4j.linspace draws random numbers");
        fails("first layer without parameters", images(new ActivationLayer(Activation.RELU)), IMAGES, Y);
        double off = farthest(meanAfterStep(true), meanAfterStep(false));
        wrong("one minibatch", off == 0.0, "the running mean is no other where the data are one minibatch");
        fails("wide response normalisation", images(new LocalResponseNormalization.Builder().n(5).build()), IMAGES, Y);
        fails("shared slopes", images(new ConvolutionLayer.Builder(1, 1).nOut(2).build(),
                new PReLULayer.Builder().inputShape(2, 6, 6).sharedAxes(2, 3).build()), IMAGES, Y);
        SpaceToBatchLayer blocks = new SpaceToBatchLayer.Builder(new int[] {2, 2}).build();
        blocks.setIDropout(new SpatialDropout(0.6));
        fails("blocks with dropout", images(blocks), IMAGES, Numbers.classes(58, 16, CLASSES));
    }

    private void outputs() {
        StringBuilder missing = new StringBuilder();
        for (Activation activation : Activation.values()) {
            try {
                SameDiff graph = SameDiff.create();
                activation.asSameDiff("x", graph, graph.var("in", ROWS));
            } catch (UnsupportedOperationException error) {
                missing.append(' ').append(activation);
            }
        }
        said.put("activations of SameDiff", missing.toString());
        SameDiff leaky = SameDiff.create();
        SDVariable below = leaky.constant(Nd4j.createFromArray(-1.0));
        double slope = -Activation.LEAKYRELU.asSameDiff("a", leaky, below).eval().getDouble(0);
        wrong("leaky ReLU of SameDiff", slope == 0.0, "its slope below 0 is " + slope);
        fails("learned queries", base().list(new LearnedSelfAttentionLayer.Builder().nIn(3).nOut(3).nHeads(1)
                .nQueries(2).projectInput(false).build(), new RnnOutputLayer.Builder(LossFunction.MSE).nIn(3).nOut(2)
                .build()).setInputType(InputType.recurrent(3, 7)), SERIES, Numbers.normal(55, 4, 2, 2));
        MultiLayerNetwork attending = Case.made(base().l2(0.5).list(new SelfAttentionLayer.Builder().nIn(3).nOut(4)
                .nHeads(2).projectInput(true).build(), new RnnOutputLayer.Builder(LossFunction.MSE).nIn(4).nOut(2)
                .build()).setInputType(InputType.recurrent(3, 7)));
        wrong("penalty of SameDiff", attending.getLayer(0).calcRegularizationScore(true) == 0.0,
                "weights of a layer with l2 add nothing to the score");
        fails("time steps without bias", base().list(new RnnOutputLayer.Builder(LossFunction.MSE).nIn(3).nOut(2)
                .hasBias(false).build()).setInputType(InputType.recurrent(3, 7)), SERIES, Numbers.normal(55, 4, 2, 7));
        MultiLayerNetwork steps = Case.made(base().list(new RnnOutputLayer.Builder(LossFunction.MSE).nIn(3).nOut(2)
                .build()).setInputType(InputType.recurrent(3, 7)));
        INDArray seen = Nd4j.ones(4, 7), series = Numbers.normal(60, 4, 2, 7);
        seen.putScalar(0, 6, 0.0);
        double counted = steps.score(new DataSet(SERIES, series, seen, null));
        wrong("steps that are masked", counted == steps.score(new DataSet(SERIES, series)),
                "a step that the features' mask leaves out counts in the score of " + counted);
        double exact = new ActivationHardSigmoid().getActivation(Nd4j.createFromArray(1.0), false).getDouble(0);
        wrong("constants", Math.abs(exact - 0.7) > 1e-12, "hard sigmoid of 1 is " + exact + " and not 0.7");
        MultiLayerNetwork masked = Case.made(base().list(new OutputLayer.Builder(LossFunction.KL_DIVERGENCE).nIn(5)
                .nOut(CLASSES).activation(Activation.IDENTITY).build()).validateOutputLayerConfig(false));
        INDArray mask = Nd4j.createFromArray(new double[][] {{1}, {1}, {1}, {0}});
        double[] scores = Training.fit(masked, new DataSet(ROWS, Y, null, mask), 1);
        boolean broken = Double.isFinite(scores[0]) && masked.params().isNaN().any();
        wrong("masked example", broken, "a step with the score of " + scores[0] + " makes parameters NaN");
        fails("layer normalisation", rows(dense(5, 4).hasLayerNorm(true).build()), ROWS, Y);
        fails("volumes", () -> {
            Convolution3D layer = new Convolution3D.Builder(2, 2, 2).nIn(2).nOut(2).build();
            MultiLayerNetwork volumes = Case.made(base().list(layer));
            File zip = File.createTempFile("volumes", ".zip");
            volumes.save(zip);
            return MultiLayerNetwork.load(zip, false).output(Numbers.normal(59, 2, 2, 3, 3, 3));
        });
        fails("batch normalisation of volumes", base().list(new BatchNormalization(), classifier(CLASSES).build())
                .setInputType(InputType.convolutional3D(Convolution3D.DataFormat.NCDHW, 3, 3, 3, 2)),
                Numbers.normal(59, 4, 2, 3, 3, 3), Y);
        fails("one class with dropout", base().list(new OCNNOutputLayer.Builder().nIn(5).hiddenLayerSize(3)
                .activation(Activation.SIGMOID).dropOut(0.7).build()), ROWS, Nd4j.ones(4, 1));
    }

    private void wrapped() {
        InputType type = InputType.recurrent(3, 7);
        fails("what is not recurrent inside", base().list(new LastTimeStep(new Convolution1DLayer.Builder(2).nOut(2)
                .build()), classifier(CLASSES).build()).setInputType(type), SERIES, Y);
        Layer inside = new LSTM.Builder().nIn(3).nOut(2).weightInit(WeightInit.XAVIER).updater(new Sgd(0.1))
                .activation(Activation.TANH).biasInit(0.0).build();
        fails("last steps in both directions", base().list(new Bidirectional(Bidirectional.Mode.ADD,
                new LastTimeStep(inside)), classifier(CLASSES).nIn(2).build()), SERIES, Y);
        MultiLayerNetwork everyStep = Case.made(base().list(new TimeDistributed(new DenseLayer.Builder().nOut(2)
                .build()), new GlobalPoolingLayer(PoolingType.SUM), classifier(CLASSES).build()).setInputType(type));
        INDArray seen = Nd4j.ones(4, 7);
        seen.putScalar(0, 6, 0.0);
        INDArray alone = everyStep.output(SERIES.get(NDArrayIndex.interval(1, 4)));
        INDArray beside = everyStep.output(SERIES, false, seen, null).get(NDArrayIndex.interval(1, 4));
        double moved = farthest(alone, beside);
        wrong("mask of every step", moved > 1e-3, "a step of one example that the mask leaves out moves others' outputs "
                + "by " + moved);
    }

    private void graphs() {
        ComputationGraph penalised = attention(base().l2(0.5));
        double all = penalised.calcRegularizationScore(true);
        double ofLayer = penalised.getLayer("out").calcRegularizationScore(true);
        wrong("penalty of a vertex", all == ofLayer, "weights of a vertex with l2 add nothing to the score's " + all);
        double threshold = 1e-9;
        ComputationGraph clipped = attention(base().updater(new Sgd(1.0)).gradientNormalizationThreshold(threshold)
                .gradientNormalization(GradientNormalization.ClipElementWiseAbsoluteValue));
        INDArray start = clipped.getVertex("attention").params().dup();
        clipped.fit(new DataSet(SERIES, SERIES));
        double off = farthest(clipped.getVertex("attention").params(), start);
        wrong("normalisation of a vertex", off > 2 * threshold, "gradients held to 1e-9 move weights by " + off);
    }

    private static ComputationGraph attention(NeuralNetConfiguration.Builder settings) {
        ComputationGraph graph = new ComputationGraph(settings.graphBuilder().addInputs("x")
                .addVertex("attention", new AttentionVertex.Builder().nInQueries(3).nInKeys(3).nInValues(3).nOut(3)
                        .nHeads(1).headSize(2).projectInput(true).weightInit(WeightInit.XAVIER).build(), "x", "x", "x")
                .addLayer("out", new RnnOutputLayer.Builder(LossFunction.MSE).nIn(3).nOut(3)
                        .activation(Activation.TANH).build(), "attention")
                .setOutputs("out").build());
        graph.init();
        return graph;
    }
}
