package ndwright;

import java.util.Random;
import java.util.function.DoubleSupplier;
import org.nd4j.linalg.api.buffer.DataType;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.factory.Nd4j;

/** Data in double precision from java.util.Random, so that ND4J's generator has no part in them. */
final class Numbers {
    private Numbers() {}

    static INDArray normal(long seed, long... shape) {
        return filled(new Random(seed)::nextGaussian, shape);
    }

    /** Between 0 and 1. */
    static INDArray unit(long seed, long... shape) {
        return filled(new Random(seed)::nextDouble, shape);
    }

    /** 0 and 1. */
    static INDArray bits(long seed, long... shape) {
        Random random = new Random(seed);
        return filled(() -> random.nextInt(2), shape);
    }

    /** Whole numbers below. */
    static INDArray indices(long seed, int below, long... shape) {
        Random random = new Random(seed);
        return filled(() -> random.nextInt(below), shape);
    }

    /** One of the classes for every example and place: [examples, classes, places...]. */
    static INDArray classes(long seed, int examples, int classes, int... places) {
        int count = 1;
        for (int length : places) {
            count *= length;
        }
        Random random = new Random(seed);
        double[] values = new double[examples * classes * count];
        for (int example = 0; example < examples; example++) {
            for (int place = 0; place < count; place++) {
                values[(example * classes + random.nextInt(classes)) * count + place] = 1.0;
            }
        }
        long[] shape = new long[places.length + 2];
        shape[0] = examples;
        shape[1] = classes;
        for (int axis = 0; axis < places.length; axis++) {
            shape[axis + 2] = places[axis];
        }
        return Nd4j.create(values, shape, DataType.DOUBLE);
    }

    /** Corners and class of an object in about every second cell: [examples, 4 + classes, height, width]. */
    static INDArray boxes(long seed, int examples, int classes, int height, int width) {
        Random random = new Random(seed);
        INDArray labels = Nd4j.zeros(DataType.DOUBLE, examples, 4 + classes, height, width);
        for (int cell = 0; cell < examples * height * width; cell++) {
            int example = cell / (height * width), row = cell / width % height, column = cell % width;
            double x = column + random.nextDouble(), y = row + random.nextDouble();
            double halfWidth = 0.1 + random.nextDouble(), halfHeight = 0.1 + random.nextDouble();
            int kind = random.nextInt(classes);
            if (random.nextBoolean()) {
                double[] corners = {x - halfWidth, y - halfHeight, x + halfWidth, y + halfHeight};
                for (int i = 0; i < corners.length; i++) {
                    labels.putScalar(new int[] {example, i, row, column}, corners[i]);
                }
                labels.putScalar(new int[] {example, 4 + kind, row, column}, 1.0);
            }
        }
        return labels;
    }

    /** The mask of series of these lengths. */
    static INDArray lengths(int steps, int... lengths) {
        double[] values = new double[lengths.length * steps];
        for (int i = 0; i < values.length; i++) {
            values[i] = i % steps < lengths[i / steps] ? 1.0 : 0.0;
        }
        return Nd4j.create(values, new long[] {lengths.length, steps}, DataType.DOUBLE);
    }

    private static INDArray filled(DoubleSupplier next, long... shape) {
        int count = 1;
        for (long length : shape) {
            count *= (int) length;
        }
        double[] values = new double[count];
        for (int i = 0; i < count; i++) {
            values[i] = next.getAsDouble();
        }
        return Nd4j.create(values, shape, DataType.DOUBLE);
    }
}
