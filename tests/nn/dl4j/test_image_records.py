"""Pictures by the names of DataVec, beside the numbers of a run of Java 1.0.0-M2.1 (tests/cases/java_pictures)."""

import gzip
import json
import os
import pathlib

import numpy as np
import pytest

import nd
from nd.dataset import AsyncDataSetIterator
from nd.dataset.images.as_opencv import resized
from nn.dl4j import (
    BalancedPathFilter,
    CollectionInputSplit,
    CropImageTransform,
    CSVRecordReader,
    File,
    FileSplit,
    FlipImageTransform,
    ImageRecordReader,
    InputSplit,
    NativeImageLoader,
    ParentPathLabelGenerator,
    PathFilter,
    PathLabelGenerator,
    PatternPathLabelGenerator,
    PipelineImageTransform,
    Random,
    RandomPathFilter,
    RecordReaderDataSetIterator,
)

pytest.importorskip("PIL")
FOLDER = pathlib.Path(__file__).parents[2] / "cases" / "java_pictures"
RESULTS = dict(
    line.rstrip("\n").split("\t")
    for line in gzip.decompress((FOLDER / "results.txt.gz").read_bytes()).decode().splitlines()
)
PICTURES = ("png", "jpg", "bmp")
EXTENSIONS = ["png", "jpg"]
LABELS = ParentPathLabelGenerator()


def numbers(text):
    """Return an array that Java wrote: its shape, and its numbers."""
    shape, values = text.split(" ", 1)
    return np.array(values.split(","), np.float32).reshape(json.loads(shape))


def within(paths):
    """Return paths as Java wrote them."""
    return ",".join(os.path.relpath(path, FOLDER).replace(os.sep, "/") for path in paths)


def every_file():
    """Return all pictures in the order that Java's program had sorted them in."""
    return CollectionInputSplit(FOLDER / name for name in RESULTS["sorted"].split(","))


def test_files_of_a_folder():
    assert within(FileSplit(FOLDER, list(PICTURES)).locations()) == RESULTS["sorted"]
    for key, split in {
        "jpg": FileSplit(str(FOLDER), ["jpg"]),
        "flat": FileSplit(File(FOLDER, "cat"), ["g"], False),
    }.items():
        assert sorted(within(split.paths).split(",")) == sorted(f"{name}" for name in RESULTS[key].split(","))
    assert FileSplit(FOLDER, ["png"], False).length() == 0
    assert FileSplit(FOLDER).length() == 12  # and the two files of Java's results
    assert FileSplit(FOLDER).getRootDir() == str(FOLDER)
    with pytest.raises(nd.ConfigurationError, match=r"FileSplit: expected \(path, allow_format, recursive, random\)"):
        FileSplit(FOLDER, 3)


@pytest.mark.parametrize("key", [key for key in RESULTS if key.startswith("load")])
def test_a_picture_has_javas_numbers(key):
    """To the last bit: of JPEGs too, turned ones, palettes, 16 bits, 1 bit; smaller, larger, grey, in colour."""
    _, name, *rest = key.split()
    height, width, channels, crop = (max(0, int(number)) for number in rest)
    loader = NativeImageLoader(height, width, channels, bool(crop))
    picture = loader.asMatrix(FOLDER / name)
    np.testing.assert_array_equal(picture, numbers(RESULTS[key]))
    assert nd.dtype_name(picture) == "float32"
    np.testing.assert_array_equal(loader.asMatrix(FOLDER / name, False), nd.to_host(picture).transpose(0, 2, 3, 1))
    assert loader.asRowVector(str(FOLDER / name)).shape == (1, picture.shape[1] * picture.shape[2] * picture.shape[3])


FILTERS = (
    lambda: RandomPathFilter(Random(1)),
    lambda: RandomPathFilter(Random(2), "jpg", "png"),
    lambda: RandomPathFilter(Random(3), EXTENSIONS, 5),
    lambda: BalancedPathFilter(Random(4), EXTENSIONS, LABELS),
    lambda: BalancedPathFilter(Random(5), LABELS, 1),
    lambda: BalancedPathFilter(Random(6), EXTENSIONS, LABELS, 4),
    lambda: BalancedPathFilter(Random(7), LABELS, 7, 2, 3),
    lambda: BalancedPathFilter(Random(8), EXTENSIONS, LABELS, 2, 2),
    lambda: BalancedPathFilter(Random(9), EXTENSIONS, LABELS, 0, 0, 4, 0),
    lambda: BalancedPathFilter(Random(10), None, LABELS, 0, 0, 0, 0, "cat", "dog"),
)


@pytest.mark.parametrize("number", range(len(FILTERS)))
def test_filters_choose_what_javas_do(number):
    assert within(every_file().sample(FILTERS[number]())[0].paths) == RESULTS[f"filter {number}"]


@pytest.mark.parametrize(
    ("number", "weights"), [*enumerate([(80, 20), (1, 1, 1), (1.0,), (0.5, 0.3, 0.2), (2,), (1.0, 3.0)])]
)
def test_parts_are_as_large_as_javas(number, weights):
    parts = every_file().sample(None, *weights)
    assert ";".join(within(part.paths) for part in parts) == RESULTS[f"weights {number}"]


def test_filters_share_a_generator():
    random = Random(11)
    for key, path_filter in {
        "two": BalancedPathFilter(random, EXTENSIONS, LABELS),
        "two more": RandomPathFilter(random, *EXTENSIONS),
    }.items():
        parts = every_file().sample(path_filter, 0.7, 0.3)
        assert ";".join(within(part.paths) for part in parts) == RESULTS[key]


@pytest.mark.parametrize(("number", "labels"), [(0, LABELS), (1, PatternPathLabelGenerator("[aeiou]", 0))])
def test_minibatches_are_javas(number, labels):
    reader = ImageRecordReader(4, 3, 3, labels)
    reader.initialize(every_file())
    assert f"[{', '.join(reader.getLabels())}]" == RESULTS[f"labels {number}"]
    iterator = RecordReaderDataSetIterator(reader, 4, 1, reader.numLabels())
    for count, data_set in enumerate(iterator):
        np.testing.assert_array_equal(data_set.getFeatures(), numbers(RESULTS[f"batch {number} {count} x"]))
        np.testing.assert_array_equal(data_set.getLabels(), numbers(RESULTS[f"batch {number} {count} y"]))
    assert count == 2
    assert f"[{', '.join(iterator.getLabels())}]" == RESULTS[f"names {number}"]
    assert (iterator.totalOutcomes(), iterator.inputColumns(), len(iterator)) == (reader.numLabels(), 3, 3)


def test_pictures_without_labels_and_labels_without_numbers():
    reader = ImageRecordReader(4, 3)
    reader.initialize(every_file())
    first = RecordReaderDataSetIterator(reader, 3).next()
    np.testing.assert_array_equal(first.features, numbers(RESULTS["alone x"]))
    assert first.labels is None
    reader = ImageRecordReader(4, 3, LABELS)
    reader.initialize(every_file())
    assert RecordReaderDataSetIterator.Builder(reader, 3).build().next().labels.tolist() == [[1, 0, 0]] * 3
    classified = RecordReaderDataSetIterator.Builder(reader, 3).classification(1, 3).build()
    assert classified.next() == RecordReaderDataSetIterator(reader, 3).next()


def shuffled(folder=FOLDER, seed=12):
    reader = ImageRecordReader(4, 3, 1, LABELS)
    split = FileSplit(folder, EXTENSIONS, Random(seed))
    # Java took the files as its system lists them
    split.paths = [str(pathlib.Path(folder) / name) for name in RESULTS["random locations"].split(",")]
    reader.initialize(split)
    return RecordReaderDataSetIterator(reader, 4, 1, 3)


def test_epochs_of_a_random_split_are_javas():
    iterator = shuffled()
    for epoch in range(3):
        sums = np.concatenate([data_set.features.sum(axis=(1, 2, 3)) for data_set in iterator])
        np.testing.assert_array_equal(sums, numbers(RESULTS[f"random sums {epoch}"]))


def rest_of(iterator, epochs=2):
    return [data_set.features.tolist() for _ in range(epochs) for data_set in iterator]


def test_epochs_go_on_from_a_state():
    iterator = shuffled()
    rest_of(iterator)
    iterator.reset()
    iterator.next()
    state = json.loads(json.dumps(iterator.state()))
    other = shuffled()
    other.restore(state)
    assert rest_of(other) == rest_of(iterator)
    with pytest.raises(nd.DataError, match=r"FurtherOrder\.restore: expected pairs of a generator's state and a count"):
        other.restore({**state, "order": 3})
    with pytest.raises(nd.DataError, match=r"FurtherOrder\.restore: expected fewer shuffles of 9 examples"):
        other.restore({**state, "order": [[1, 1 << 40]]})
    with pytest.raises(nd.DataError, match="files must be"):
        other.restore({**state, "files": "0"})


def test_two_iterators_over_a_reader_do_not_disturb_each_other():
    reader = ImageRecordReader(4, 3, 1, LABELS)
    reader.initialize(FileSplit(FOLDER, EXTENSIONS, Random(3)))
    first = RecordReaderDataSetIterator(reader, 4)
    first.next()
    state = first.state()
    RecordReaderDataSetIterator(reader, 4).next()
    expected = rest_of(first, 1)
    first.restore(state)
    assert rest_of(first, 1) == expected


class Darker:
    """A transform as ImageTransforms are: of a picture [C, H, W]."""

    draws = True

    def transform(self, picture):
        return picture * 0.5


def test_a_transform_changes_pictures_before_all_else():
    for make in (
        lambda: (ImageRecordReader(4, 3, 3, LABELS, Darker()), None),
        lambda: (ImageRecordReader(4, 3, 3, LABELS), Darker()),
    ):
        reader, transform = make()
        reader.initialize(CollectionInputSplit([FOLDER / "cat" / "colour.png"]), transform)
        iterator = RecordReaderDataSetIterator(reader, 1)
        whole = NativeImageLoader().asMatrix(FOLDER / "cat" / "colour.png")
        halves = np.rint(nd.to_host(whole) * 0.5)
        loaded = NativeImageLoader(0, 0, 0, Darker()).asMatrix(FOLDER / "cat" / "colour.png")
        np.testing.assert_array_equal(loaded, halves)
        assert iterator.next().features.max() <= 128
        assert not iterator.async_supported()
    assert RecordReaderDataSetIterator(initialized(), 2).async_supported()


def test_datavecs_transforms_come_before_the_size():
    for transform, change in (
        (FlipImageTransform(1), lambda x: x[..., ::-1]),
        (
            PipelineImageTransform(FlipImageTransform(0), CropImageTransform(2)),
            lambda x: x[:, :, ::-1][..., 2:-2, 2:-2],
        ),
    ):
        reader = ImageRecordReader(5, 4, 3)
        reader.initialize(CollectionInputSplit([FOLDER / "cat" / "colour.png"]), transform)
        whole = nd.to_host(NativeImageLoader().asMatrix(FOLDER / "cat" / "colour.png"))
        changed = change(whole)[0].transpose(1, 2, 0).astype(np.uint8)
        expected = resized(changed, 5, 4).transpose(2, 0, 1)
        iterator = RecordReaderDataSetIterator(reader, 1)
        np.testing.assert_array_equal(iterator.next().features[0], expected)
        assert iterator.async_supported()
    reader.initialize(every_file(), FlipImageTransform(Random(1)))
    assert not RecordReaderDataSetIterator(reader, 1).async_supported()


def initialized(*arguments):
    reader = ImageRecordReader(4, 3, *(arguments or (3, LABELS)))
    reader.initialize(every_file())
    return reader


def test_it_is_read_ahead_and_trained_with():
    iterator = RecordReaderDataSetIterator(initialized(), 4)
    expected = [data_set.features.tolist() for data_set in RecordReaderDataSetIterator(initialized(), 4)]
    with AsyncDataSetIterator(iterator) as ahead:
        assert [data_set.features.tolist() for data_set in ahead] == expected


def test_names_that_a_test_has_beside_others():
    reader = initialized(3, True, LABELS)
    reader.setLabels(["emu", "dog", "cat"])
    assert RecordReaderDataSetIterator(reader, 1).next().labels.tolist() == [[0, 0, 1]]
    reader.setLabels(["emu", "dog"])
    with pytest.raises(nd.DataError, match=r"ImageRecordReader: labels must be among \['emu', 'dog'\], got 'cat'"):
        RecordReaderDataSetIterator(reader, 1)


def test_what_is_refused(tmp_path):
    with pytest.raises(nd.ConfigurationError, match=r"ImageRecordReader: the reader must have files\. Call init"):
        RecordReaderDataSetIterator(ImageRecordReader(4, 3), 2)
    for arguments in ((5,), (3, False, LABELS), (3, "cat"), (3, LABELS, LABELS)):
        with pytest.raises(nd.ConfigurationError, match=r"ImageRecordReader: expected \(height, width, channels"):
            ImageRecordReader(4, 3, *arguments)
    for arguments in ((1, 5), (0, 3), (2, 3), (1, 3, True)):
        with pytest.raises(nd.ConfigurationError, match=r"labels of pictures are at label_index 1, of 3 classes, got"):
            RecordReaderDataSetIterator(initialized(), 2, *arguments)
    with pytest.raises(nd.DataError, match=r"ImageRecordReader\.initialize: expected files, got none in the split"):
        ImageRecordReader(4, 3).initialize(FileSplit(tmp_path))
    with pytest.raises(nd.DataError, match=r"position must be below 1, the parts of 'grey' by 'x', got 1"):
        PatternPathLabelGenerator("x", 1).getLabelForPath("cat/grey.png")
    with pytest.raises(nd.ConfigurationError, match="BalancedPathFilter: expected"):
        BalancedPathFilter(Random(1), LABELS, 1, 2, 3, 4, 5)
    with pytest.raises(nd.ConfigurationError, match=r"InputSplit\.sample: weights must be positive, got \[0.5, -1\]"):
        every_file().sample(None, 0.5, -1)
    with pytest.raises(nd.DataError, match=r"CSVRecordReader\.initialize: expected a file, got the folder"):
        CSVRecordReader().initialize(FileSplit(tmp_path))


def test_damaged_files_are_named(tmp_path):
    (tmp_path / "a.png").write_bytes((FOLDER / "cat" / "colour.png").read_bytes()[:200])
    with pytest.raises(nd.FormatError, match=r"NativeImageLoader\.asMatrix: '.*a\.png' must be a picture that can"):
        NativeImageLoader().asMatrix(tmp_path / "a.png")
    for call in (NativeImageLoader().asMatrix, NativeImageLoader().asRowVector):
        with pytest.raises(nd.ArgumentError, match=r"path must be text or a path .*, got an array of shape"):
            call(np.ones((2, 2)))
    with pytest.raises(nd.ConfigurationError, match="and crop or a transform, got 'crop'"):
        NativeImageLoader(3, 3, 3, "crop")
    reader = ImageRecordReader(4, 3, 3)
    reader.initialize(FileSplit(tmp_path))
    with pytest.raises(nd.FormatError, match=r"ImageRecordIterator: '.*a\.png' must be .* Delete the file, or repair"):
        RecordReaderDataSetIterator(reader, 2).next()
    with pytest.raises(FileNotFoundError, match=r"none\.png"):
        NativeImageLoader(3, 3).asMatrix(tmp_path / "none.png")


def test_interfaces_are_those_of_own_parts():
    class Ending:
        def getLabelForPath(self, path):
            return os.path.splitext(path)[1]

    class Last:
        def filter(self, paths):
            return paths[-2:]

    generator: PathLabelGenerator = Ending()
    chooser: PathFilter = Last()
    (split,) = every_file().sample(chooser)
    assert isinstance(split, InputSplit)
    reader = ImageRecordReader(4, 3, 3, generator)
    reader.initialize(split)
    assert reader.getLabels() == [".bmp", ".png"]
    assert LABELS.inferLabelClasses()
    assert "png" in NativeImageLoader.ALLOWED_FORMATS
