package ndwright;

import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.nd4j.linalg.api.buffer.DataType;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.dataset.DataSet;
import org.nd4j.linalg.dataset.MultiDataSet;
import org.nd4j.linalg.factory.Nd4j;

/** One case on disk: arrays as .npy, texts, and what went wrong. */
final class Folder {
    private final File place;

    Folder(File place) {
        this.place = place;
        place.mkdirs();
    }

    /** The folders inside of one, by name. */
    static List<Folder> all(File place) {
        return Arrays.stream(place.listFiles(File::isDirectory)).sorted().map(Folder::new).collect(Collectors.toList());
    }

    File file(String name) {
        return new File(place, name);
    }

    boolean has(String name) {
        return file(name).exists();
    }

    /** Features, labels and masks, as x, y, xm and ym. */
    DataSet data(DataType type) {
        return new DataSet(read("x", type), read("y", type), read("xm", type), read("ym", type));
    }

    /** Features, labels and masks of graphs, as x0, y0, xm0, ym0, x1 and so on. */
    MultiDataSet multiData(DataType type) {
        INDArray[] features = several("x", type), labels = several("y", type);
        return new MultiDataSet(
                features, labels, masks("xm", features.length, type), masks("ym", labels.length, type));
    }

    private int count(String name) {
        int count = 0;
        while (has(name + count + ".npy")) {
            count++;
        }
        return count;
    }

    /** All arrays name0, name1 and so on. */
    INDArray[] several(String name, DataType type) {
        return several(name, count(name), type);
    }

    private INDArray[] several(String name, int count, DataType type) {
        INDArray[] arrays = new INDArray[count];
        for (int i = 0; i < count; i++) {
            arrays[i] = read(name + i, type);
        }
        return arrays;
    }

    /** Null where there is none at all. */
    private INDArray[] masks(String name, int count, DataType type) {
        INDArray[] masks = several(name, count, type);
        return Arrays.stream(masks).allMatch(mask -> mask == null) ? null : masks;
    }

    void write(DataSet data) throws IOException {
        write("x", data.getFeatures());
        write("y", data.getLabels());
        write("xm", data.getFeaturesMaskArray());
        write("ym", data.getLabelsMaskArray());
    }

    /** An array, null where there is none. */
    INDArray read(String name, DataType type) {
        return has(name + ".npy") ? Nd4j.createFromNpyFile(file(name + ".npy")).castTo(type) : null;
    }

    /** In C order; nothing where there is none. */
    void write(String name, INDArray array) throws IOException {
        if (array != null) {
            Nd4j.writeAsNumpy(array.dup('c'), file(name + ".npy"));
        }
    }

    /** With a number behind the name. */
    void write(String name, INDArray[] arrays) throws IOException {
        for (int i = 0; i < arrays.length; i++) {
            write(name + i, arrays[i]);
        }
    }

    void write(String name, double... numbers) throws IOException {
        write(name, Nd4j.create(numbers, new long[] {numbers.length}, DataType.DOUBLE));
    }

    String text(String name) throws IOException {
        return Files.readString(file(name).toPath()).strip();
    }

    void text(String name, String text) throws IOException {
        Files.writeString(file(name).toPath(), text);
    }

    /** What was being done, and the whole error. */
    void failed(String doing, Throwable error) throws IOException {
        StringWriter text = new StringWriter();
        error.printStackTrace(new PrintWriter(text));
        text("error.txt", doing + "\n" + text);
    }
}
