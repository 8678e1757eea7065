package ndwright;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.deeplearning4j.datasets.iterator.AsyncDataSetIterator;
import org.deeplearning4j.earlystopping.EarlyStoppingConfiguration;
import org.deeplearning4j.earlystopping.scorecalc.ClassificationScoreCalculator;
import org.deeplearning4j.earlystopping.scorecalc.DataSetLossCalculator;
import org.deeplearning4j.earlystopping.scorecalc.ROCScoreCalculator;
import org.deeplearning4j.earlystopping.scorecalc.RegressionScoreCalculator;
import org.deeplearning4j.earlystopping.termination.BestScoreEpochTerminationCondition;
import org.deeplearning4j.earlystopping.termination.MaxEpochsTerminationCondition;
import org.deeplearning4j.earlystopping.termination.MaxScoreIterationTerminationCondition;
import org.deeplearning4j.earlystopping.termination.MaxTimeIterationTerminationCondition;
import org.deeplearning4j.earlystopping.termination.ScoreImprovementEpochTerminationCondition;
import org.deeplearning4j.nn.conf.MultiLayerConfiguration;
import org.deeplearning4j.nn.conf.NeuralNetConfiguration;
import org.deeplearning4j.nn.conf.constraint.*;
import org.deeplearning4j.nn.conf.distribution.*;
import org.deeplearning4j.nn.conf.dropout.*;
import org.deeplearning4j.nn.conf.layers.*;
import org.deeplearning4j.nn.conf.layers.convolutional.*;
import org.deeplearning4j.nn.conf.layers.misc.*;
import org.deeplearning4j.nn.conf.layers.objdetect.Yolo2OutputLayer;
import org.deeplearning4j.nn.conf.ocnn.OCNNOutputLayer;
import org.deeplearning4j.nn.conf.weightnoise.DropConnect;
import org.deeplearning4j.nn.conf.weightnoise.WeightNoise;
import org.deeplearning4j.nn.transferlearning.FineTuneConfiguration;
import org.deeplearning4j.optimize.listeners.*;
import org.nd4j.evaluation.classification.*;
import org.nd4j.evaluation.regression.RegressionEvaluation;
import org.nd4j.linalg.activations.Activation;
import org.nd4j.linalg.dataset.adapter.SingletonDataSetIterator;
import org.nd4j.linalg.dataset.api.iterator.DataSetIterator;
import org.nd4j.linalg.dataset.api.iterator.KFoldIterator;
import org.nd4j.linalg.dataset.api.iterator.SamplingDataSetIterator;
import org.nd4j.linalg.dataset.api.preprocessor.ImagePreProcessingScaler;
import org.nd4j.linalg.dataset.api.preprocessor.NormalizerMinMaxScaler;
import org.nd4j.linalg.factory.Nd4j;
import org.nd4j.linalg.learning.config.*;
import org.nd4j.linalg.learning.regularization.*;
import org.nd4j.linalg.lossfunctions.LossFunctions;
import org.nd4j.linalg.lossfunctions.impl.LossFMeasure;
import org.nd4j.linalg.schedule.*;

/** Makes everything with as few settings as possible and writes what it then says. Argument: the file to write. */
public final class Defaults {
    private final Map<String, Map<String, Object>> kinds = new TreeMap<>();

    private Defaults() {}

    public static void main(String[] arguments) throws Exception {
        Defaults defaults = new Defaults();
        defaults.layers();
        defaults.losses();
        defaults.ofNetworks();
        defaults.ofTraining();
        defaults.ofData();
        defaults.ofLayersParts();
        Json.write(defaults.kinds, Path.of(arguments[0]));
    }

    private void add(String kind, Supplier<Object> make) {
        Object made = make.get();
        add(kind, made.getClass().getSimpleName(), made);
    }

    private void add(String kind, String name, Object made) {
        kinds.computeIfAbsent(kind, key -> new TreeMap<>()).put(name, Values.fieldsOf(made));
    }

    private void layers() {
        for (Layer.Builder<?> builder : new Layer.Builder<?>[] {
            new ActivationLayer.Builder(), new BatchNormalization.Builder(), new CapsuleLayer.Builder(3, 4),
            new CapsuleStrengthLayer.Builder(), new CenterLossOutputLayer.Builder(), new Cnn3DLossLayer.Builder(
                Convolution3D.DataFormat.NCDHW), new CnnLossLayer.Builder(), new Convolution1DLayer.Builder(3),
            new Convolution3D.Builder(), new ConvolutionLayer.Builder(), new Cropping1D.Builder(1),
            new Cropping2D.Builder(1, 1), new Cropping3D.Builder(1, 1, 1), new Deconvolution2D.Builder(),
            new Deconvolution3D.Builder(), new DenseLayer.Builder(), new DepthwiseConvolution2D.Builder(),
            new DropoutLayer.Builder(), new ElementWiseMultiplicationLayer.Builder(), new EmbeddingLayer.Builder(),
            new EmbeddingSequenceLayer.Builder(), new GlobalPoolingLayer.Builder(),
            new LocalResponseNormalization.Builder(), new LocallyConnected1D.Builder().nIn(1).nOut(1),
            new LocallyConnected2D.Builder().nIn(1).nOut(1), new LossLayer.Builder(),
            new OCNNOutputLayer.Builder().hiddenLayerSize(3), new OutputLayer.Builder(), new PReLULayer.Builder(),
            new PrimaryCapsules.Builder(4, 3), new RepeatVector.Builder(), new RnnLossLayer.Builder(),
            new RnnOutputLayer.Builder(), new SeparableConvolution2D.Builder(), new SpaceToBatchLayer.Builder(new int[] {2, 2}),
            new SpaceToDepthLayer.Builder(2), new Subsampling1DLayer.Builder(), new Subsampling3DLayer.Builder(),
            new SubsamplingLayer.Builder(), new Upsampling1D.Builder(2), new Upsampling2D.Builder(2),
            new Upsampling3D.Builder(2),
            new Yolo2OutputLayer.Builder().boundingBoxPriors(Nd4j.ones(1, 2)), new ZeroPadding1DLayer.Builder(1), new ZeroPadding3DLayer.Builder(1),
            new ZeroPaddingLayer.Builder(1, 1),
        }) {
            add("layers", builder::build);
            add("layers_in_a_network", inNetwork(builder.build()));
        }
        add("layers", "DropoutLayer(0.5)", new DropoutLayer(0.5));
        add("layers", "Pooling1D", new Pooling1D.Builder().build());
        add("layers", "Pooling2D", new Pooling2D.Builder().build());
        add("layers", "Convolution1D", new Convolution1D.Builder(3).build());
    }

    /** A layer beside settings of the network that are no layer's default. */
    private static Supplier<Object> inNetwork(Layer layer) {
        return () -> {
            if (layer instanceof FeedForwardLayer) {
                ((FeedForwardLayer) layer).setNIn(3);
                ((FeedForwardLayer) layer).setNOut(layer instanceof OCNNOutputLayer ? 1 : 3);
            }
            return new NeuralNetConfiguration.Builder()
                    .seed(1)
                    .activation(Activation.SOFTSIGN)
                    .weightInit(org.deeplearning4j.nn.weights.WeightInit.LECUN_UNIFORM)
                    .biasInit(0.25)
                    .updater(new AdaGrad(0.5))
                    .biasUpdater(new AdaMax(0.25))
                    .dropOut(0.75)
                    .l1(0.125)
                    .l2(0.375)
                    .l1Bias(0.0625)
                    .l2Bias(0.03125)
                    .weightNoise(new DropConnect(0.5))
                    .gradientNormalization(org.deeplearning4j.nn.conf.GradientNormalization.ClipL2PerLayer)
                    .gradientNormalizationThreshold(0.7)
                    .convolutionMode(org.deeplearning4j.nn.conf.ConvolutionMode.Strict)
                    .list()
                    .layer(layer)
                    .validateOutputLayerConfig(false)
                    .build()
                    .getConf(0)
                    .getLayer();
        };
    }

    private void losses() {
        for (LossFunctions.LossFunction loss : LossFunctions.LossFunction.values()) {
            add("losses", loss.name(), loss.getILossFunction());
        }
        add("losses", "LossFMeasure()", new LossFMeasure());
        for (Activation activation : Activation.values()) {
            try {
                add("activations", activation.name(), activation.getActivationFunction());
            } catch (UnsupportedOperationException error) { // its name alone is not enough
                add("activations", activation.name(), new Refused());
            }
        }
    }

    private static final class Refused {}

    private void ofNetworks() {
        add("networks", "NeuralNetConfiguration.Builder", new NeuralNetConfiguration.Builder().seed(1));
        MultiLayerConfiguration network =
                new NeuralNetConfiguration.Builder().seed(1).list().layer(new DenseLayer.Builder().nIn(1).nOut(1).build()).build();
        add("networks", "FineTuneConfiguration", new FineTuneConfiguration.Builder().build());
        add("networks", "NeuralNetConfiguration", network.getConf(0));
        network.setConfs(Collections.emptyList());
        add("networks", "MultiLayerConfiguration", network);
    }

    private void ofTraining() {
        for (IUpdater updater : new IUpdater[] {
            new AMSGrad(), new AdaBelief(), new AdaDelta(), new AdaGrad(), new AdaMax(), new Adam(), new Nadam(),
            new Nesterovs(), new NoOp(), new RmsProp(), new Sgd(),
        }) {
            add("updaters", () -> updater);
        }
        for (org.deeplearning4j.nn.conf.Updater name : org.deeplearning4j.nn.conf.Updater.values()) {
            if (name != org.deeplearning4j.nn.conf.Updater.CUSTOM) {
                add("updaters_by_name", name.name(), name.getIUpdaterWithDefaultConfig());
            }
        }
        add("updaters_by_builder", "AMSGrad", new AMSGrad.Builder().build());
        add("updaters_by_builder", "AdaDelta", new AdaDelta.Builder().build());
        add("updaters_by_builder", "AdaGrad", new AdaGrad.Builder().build());
        add("updaters_by_builder", "Adam", new Adam.Builder().build());
        add("updaters_by_builder", "Nadam", new Nadam.Builder().build());
        add("updaters_by_builder", "Nesterovs", new Nesterovs.Builder().build());
        add("updaters_by_builder", "RmsProp", new RmsProp.Builder().build());
        add("updaters_by_builder", "Sgd", new Sgd.Builder().build());
        add("updaters_with_one_number", "AdaGrad", new AdaGrad(0.25));
        add("updaters_with_one_number", "Adam", new Adam(0.25));
        add("updaters_with_one_number", "Nesterovs", new Nesterovs(0.25));
        add("updaters_with_one_number", "RmsProp", new RmsProp(0.25));
        add("updaters_with_one_number", "Sgd", new Sgd(0.25));
        ScheduleType type = ScheduleType.ITERATION;
        add("schedules", () -> new CycleSchedule(type, 1.0, 10));
        add("schedules", () -> new MapSchedule.Builder(type).add(0, 0.1).build());
        add("regularizations", () -> new L1Regularization(0.1));
        add("regularizations", () -> new L2Regularization(0.1));
        add("regularizations", () -> new WeightDecay(0.1, true));
        listeners();
        earlyStopping();
    }

    private void listeners() {
        add("listeners", () -> new CollectScoresIterationListener());
        add("listeners", () -> new CollectScoresListener(1));
        add("listeners", () -> new PerformanceListener(1));
        add("listeners", "PerformanceListener.Builder", new PerformanceListener.Builder().build());
        add("listeners", () -> new ScoreIterationListener());
        add("listeners", () -> new TimeIterationListener(10));
        add("listeners", () -> new EvaluativeListener(iris(), 1));
        add("listeners", () -> new CheckpointListener.Builder(temporary()).saveEveryEpoch().build());
    }

    private static File temporary() {
        try {
            return Files.createTempDirectory("defaults").toFile();
        } catch (java.io.IOException error) {
            throw new IllegalStateException(error);
        }
    }

    private static DataSetIterator iris() {
        return new SingletonDataSetIterator(irises());
    }

    private static org.nd4j.linalg.dataset.DataSet irises() {
        return new org.nd4j.linalg.dataset.DataSet(Nd4j.zeros(20, 4), Nd4j.zeros(20, 3));
    }

    /** ListDataSetIterator moved between packages: both are tried. */
    private static Object listed() {
        for (String folder : new String[] {"impl", "utilty"}) {
            try {
                return Class.forName("org.deeplearning4j.datasets.iterator." + folder + ".ListDataSetIterator")
                        .getConstructor(java.util.Collection.class)
                        .newInstance(Collections.singletonList(irises()));
            } catch (ClassNotFoundException error) {
                continue;
            } catch (ReflectiveOperationException error) {
                throw new IllegalStateException(error);
            }
        }
        throw new IllegalStateException("no ListDataSetIterator");
    }

    private void earlyStopping() {
        add("early_stopping", "EarlyStoppingConfiguration.Builder", new EarlyStoppingConfiguration.Builder<>());
        add("early_stopping", () -> new BestScoreEpochTerminationCondition(0.1));
        add("early_stopping", () -> new MaxEpochsTerminationCondition(3));
        add("early_stopping", () -> new MaxScoreIterationTerminationCondition(0.1));
        add("early_stopping", () -> new MaxTimeIterationTerminationCondition(3, TimeUnit.SECONDS));
        add("early_stopping", () -> new ScoreImprovementEpochTerminationCondition(3));
        add("early_stopping", () -> new DataSetLossCalculator(iris(), true));
        add("early_stopping", () -> new ROCScoreCalculator(ROCScoreCalculator.ROCType.ROC, iris()));
        add("early_stopping", () -> new ClassificationScoreCalculator(Evaluation.Metric.ACCURACY, iris()));
        add("early_stopping", () -> new RegressionScoreCalculator(RegressionEvaluation.Metric.MSE, iris()));
    }

    private void ofData() {
        add("data", () -> new AsyncDataSetIterator(iris()));
        add("data", () -> new KFoldIterator(irises()));
        add("data", Defaults::listed);
        add("data", () -> new ImagePreProcessingScaler());
        add("data", () -> new NormalizerMinMaxScaler());
        add("data", () -> new SamplingDataSetIterator(irises(), 4, 20));
        add("evaluations", () -> new Evaluation());
        add("evaluations", () -> new EvaluationBinary());
        add("evaluations", () -> new EvaluationCalibration());
        add("evaluations", () -> new ROC());
        add("evaluations", () -> new ROCBinary());
        add("evaluations", () -> new ROCMultiClass());
        add("evaluations", () -> new RegressionEvaluation());
    }

    private void ofLayersParts() {
        add("dropouts", () -> new AlphaDropout(0.5));
        add("dropouts", () -> new Dropout(0.5));
        add("dropouts", () -> new GaussianDropout(0.5));
        add("dropouts", () -> new GaussianNoise(0.5));
        add("dropouts", () -> new SpatialDropout(0.5));
        add("weight_noises", () -> new DropConnect(0.5));
        add("weight_noises", () -> new WeightNoise(new NormalDistribution(0.0, 0.1)));
        add("constraints", () -> new MaxNormConstraint(2.0, 1));
        add("constraints", () -> new MinMaxNormConstraint(1.0, 2.0, 1));
        add("constraints", () -> new NonNegativeConstraint());
        add("constraints", () -> new UnitNormConstraint(1));
        add("distributions", () -> new BinomialDistribution(3, 0.5));
        add("distributions", () -> new ConstantDistribution(0.5));
        add("distributions", () -> new GaussianDistribution(0.5, 0.25));
        add("distributions", () -> new LogNormalDistribution(0.5, 0.25));
        add("distributions", () -> new NormalDistribution(0.5, 0.25));
        add("distributions", () -> new OrthogonalDistribution(0.5));
        add("distributions", () -> new TruncatedNormalDistribution(0.5, 0.25));
        add("distributions", () -> new UniformDistribution(0.25, 0.5));
    }
}
