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

    void write(DataSet data) throws IOException {
        write("x", data.getFeatures());
        write("y", data.getLabels());
        write("xm", data.getFeaturesMaskArray());
        write("ym", data.getLabelsMaskArray());
    }

    /** An array, null where there is none. */
    private INDArray read(String name, DataType type) {
        return has(name + ".npy") ? Nd4j.createFromNpyFile(file(name + ".npy")).castTo(type) : null;
    }

    /** In C order; nothing where there is none. */
    void write(String name, INDArray array) throws IOException {
        if (array != null) {
            Nd4j.writeAsNumpy(array.dup('c'), file(name + ".npy"));
        }
    }

    void write(String name, double... numbers) throws IOException {
        write(name, Nd4j.create(numbers, new long[] {numbers.length}, DataType.DOUBLE));
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
