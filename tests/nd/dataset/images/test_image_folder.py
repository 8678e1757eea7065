"""ImageFolderIterator: which pictures, in which order, in which form."""

import pathlib

import numpy as np
import pytest

import nd
from nd.dataset import ImageFolderIterator, ImagePreProcessingScaler

pytest.importorskip("PIL")
from PIL import Image

from tests.nd.dataset.images.pictures import pets, picture, save


def rows(iterator):
    """Return path -> row of an epoch, and the classes by path."""
    found = {}
    for data_set in iterator:
        for row, path in enumerate(iterator.batch_paths):
            label = None if data_set.labels is None else int(data_set.labels[row].argmax())
            found[path] = (data_set.features[row], label)
    return found


def test_features_and_labels(tmp_path):
    pixels = pets(tmp_path)
    iterator = ImageFolderIterator(tmp_path, 4, (6, 5))
    assert (len(iterator), iterator.batch(), iterator.total_outcomes(), iterator.input_columns()) == (3, 4, 2, 3)
    assert iterator.class_names == ("cat", "dog")
    assert iterator.paths == [str(tmp_path / name) for name in pixels]
    found = rows(iterator)
    assert len(found) == 9
    for name, bytes_ in pixels.items():
        row, label = found[str(tmp_path / name)]
        np.testing.assert_array_equal(row, (bytes_.transpose(2, 0, 1) / np.float32(255)).astype(np.float32))
        assert label == name.startswith("dog")
    first = ImageFolderIterator(str(tmp_path), 4, (6, 5), scale=False, shuffle=False).next()
    assert (first.features.dtype, first.labels.dtype) == (np.float32, np.float32)
    np.testing.assert_array_equal(first.features[1], pixels["cat/1.png"].transpose(2, 0, 1))
    assert first.class_names == ("cat", "dog")


def test_a_relative_folder_is_found_from_another_working_directory(tmp_path, monkeypatch):
    pets(tmp_path / "pets")
    monkeypatch.chdir(tmp_path)
    iterator = ImageFolderIterator("pets", 4, 3)
    monkeypatch.chdir(tmp_path / "pets")
    assert sum(len(data_set.features) for data_set in iterator) == 9


def test_every_epoch_has_another_order_and_a_seed_has_its_own(tmp_path):
    pets(tmp_path)

    def orders(**options):
        iterator = ImageFolderIterator(tmp_path, 4, 3, **options)
        return [[path for _ in iterator for path in iterator.batch_paths] for _ in range(3)]

    one = orders(seed=1)
    assert one == orders(seed=1) == orders(seed=1, workers=0) == orders(seed=1, workers=5)
    assert one != orders(seed=2)
    assert len({tuple(order) for order in one}) == 3
    assert all(sorted(order) == sorted(one[0]) for order in one)
    straight = orders(shuffle=False)
    assert straight == [ImageFolderIterator(tmp_path, 4, 3).paths] * 3


def test_the_same_bits_whatever_the_number_of_threads(tmp_path):
    pets(tmp_path, 30, 30, (20, 17))
    epochs = [
        [data_set.features.tobytes() for _ in range(2) for data_set in ImageFolderIterator(tmp_path, 7, 8, workers=n)]
        for n in (0, 1, 4)
    ]
    assert epochs[0] == epochs[1] == epochs[2]


@pytest.mark.parametrize("name", ["bicubic", "bilinear", "box", "hamming", "lanczos", "nearest"])
def test_sizes_are_pillows(name, tmp_path):
    pixels = save(tmp_path / "a.png", picture(1, 20, 31))
    data = ImageFolderIterator(tmp_path, 1, (7, 9), interpolation=name, scale=False).next()
    expected = Image.fromarray(pixels).resize((9, 7), getattr(Image.Resampling, name.upper()))
    np.testing.assert_array_equal(data.features[0], np.asarray(expected).transpose(2, 0, 1))


@pytest.mark.parametrize(("height", "width"), [(20, 30), (30, 20), (20, 20)])
def test_the_middle_is_taken_or_bars_are_put_beside(height, width, tmp_path):
    pixels = save(tmp_path / "a.png", picture(1, height, width))
    data = ImageFolderIterator(tmp_path, 1, 20, resize="crop", scale=False).next().features[0].transpose(1, 2, 0)
    top, left = (height - 20) // 2, (width - 20) // 2
    np.testing.assert_array_equal(data, pixels[top : top + 20, left : left + 20])
    data = ImageFolderIterator(tmp_path, 1, 30, resize="pad", scale=False).next().features[0].transpose(1, 2, 0)
    if height != width:
        top, left = (30 - height) // 2, (30 - width) // 2
        np.testing.assert_array_equal(data[top : top + height, left : left + width], pixels)
        assert data.sum() == pixels.sum()
    else:
        np.testing.assert_array_equal(data, np.asarray(Image.fromarray(pixels).resize((30, 30), 2)))


def test_a_crop_takes_as_much_as_fits(tmp_path):
    pixels = save(tmp_path / "a.png", picture(1, 10, 40))
    data = ImageFolderIterator(tmp_path, 1, (5, 10), resize="crop", scale=False).next().features[0]
    expected = Image.fromarray(pixels[:, 10:30]).resize((10, 5), Image.Resampling.BILINEAR)
    np.testing.assert_array_equal(data.transpose(1, 2, 0), np.asarray(expected))


KINDS = {
    "grey": (lambda x: Image.fromarray(x[..., 0]), lambda x: x[..., [0, 0, 0]]),
    "colour": (Image.fromarray, lambda x: x),
    "opacity": (lambda x: Image.fromarray(np.dstack([x, x[..., :1]])), lambda x: x),
    "grey and opacity": (lambda x: Image.fromarray(x[..., :2], "LA"), lambda x: x[..., [0, 0, 0]]),
    "16 bits": (
        lambda x: Image.fromarray(x[..., 0].astype(np.uint16) * 256 + x[..., 1]),
        lambda x: x[..., [0, 0, 0]],
    ),
    "1 bit": (lambda x: Image.fromarray(x[..., 0] > 99), lambda x: (x[..., [0, 0, 0]] > 99) * np.uint8(255)),
    "palette": (
        lambda x: Image.fromarray(x // 128 * 128).convert("P", palette=Image.Palette.ADAPTIVE),
        lambda x: x // 128 * 128,
    ),
}


@pytest.mark.parametrize(("most", "number"), [(65535, 0x80FF), (1023, 514), (300, 151)])
def test_grey_maps_of_more_than_eight_bits(most, number, tmp_path):
    """Which Pillow holds in 32 bits, all other files of 16 bits in 16."""
    pixels = np.full((6, 5), number, ">u2")
    (tmp_path / "a.pgm").write_bytes(b"P5 5 6 %d\n" % most + pixels.tobytes())
    for channels in (1, 3):
        data = ImageFolderIterator(tmp_path, 1, (6, 5), channels=channels, scale=False).next()
        assert data.features.shape == (1, channels, 6, 5)
        assert set(np.unique(data.features)) == {number * 65535 // most >> 8} == {128}


def test_lab_becomes_grey_or_colours(tmp_path):
    Image.merge("LAB", [Image.new("L", (5, 6), 255), *[Image.new("L", (5, 6), 128)] * 2]).save(tmp_path / "a.tif")
    for channels in (1, 3):
        data = ImageFolderIterator(tmp_path, 1, (6, 5), channels=channels, scale=False).next()
        np.testing.assert_allclose(data.features, 255, atol=2)


@pytest.mark.filterwarnings("ignore:.mode. parameter is deprecated:DeprecationWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_pictures_of_all_kinds_get_the_channels_that_are_wanted(kind, tmp_path):
    make, colours = KINDS[kind]
    pixels = picture(3)
    make(pixels).save(tmp_path / "a.png")
    expected = colours(pixels)
    for channels, order, want in (
        (3, "rgb", expected),
        (3, "bgr", expected[..., ::-1]),
        (1, "rgb", np.asarray(Image.fromarray(expected).convert("L"))[..., None]),
        (4, "rgb", np.dstack([expected, np.full((6, 5, 1), 255)])),
        (4, "bgr", np.dstack([expected[..., ::-1], np.full((6, 5, 1), 255)])),
    ):
        iterator = ImageFolderIterator(tmp_path, 1, (6, 5), channels=channels, channel_order=order, scale=False)
        features = iterator.next().features
        assert features.shape == (1, channels, 6, 5)
        colour = slice(None, 3) if "opacity" in kind else slice(None)
        np.testing.assert_array_equal(features[0].transpose(1, 2, 0)[..., colour], want[..., colour])


def test_cmyk_and_transparent_palettes(tmp_path):
    pixels = picture(4)
    Image.fromarray(pixels).convert("CMYK").save(tmp_path / "a.tif")
    features = ImageFolderIterator(tmp_path, 1, (6, 5), scale=False).next().features
    np.testing.assert_array_equal(features[0].transpose(1, 2, 0), pixels)
    (tmp_path / "a.tif").unlink()
    few = Image.fromarray(pixels // 128 * 128).convert("P", palette=Image.Palette.ADAPTIVE)
    few.save(tmp_path / "a.png", transparency=bytes(range(8)))
    features = ImageFolderIterator(tmp_path, 1, (6, 5), scale=False).next().features
    np.testing.assert_array_equal(features[0].transpose(1, 2, 0), pixels // 128 * 128)


@pytest.mark.parametrize("ending", ["png", "tif", "webp"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_pictures_are_turned_as_they_were_taken(orientation, ending, tmp_path):
    """The ways of the Exif standard, written with flips of arrays."""
    upright = picture(5, 7, 4)
    stored = {
        1: lambda x: x, 2: lambda x: x[:, ::-1], 3: lambda x: x[::-1, ::-1], 4: lambda x: x[::-1],
        5: lambda x: x.swapaxes(0, 1), 6: lambda x: x.swapaxes(0, 1)[::-1],
        7: lambda x: x[::-1, ::-1].swapaxes(0, 1), 8: lambda x: x.swapaxes(0, 1)[:, ::-1],
    }[orientation](upright)  # fmt: skip
    exif = Image.Exif()
    exif[0x0112] = orientation
    options = {"lossless": True} if ending == "webp" else {}
    Image.fromarray(np.ascontiguousarray(stored)).save(tmp_path / f"a.{ending}", exif=exif, **options)
    data = ImageFolderIterator(tmp_path, 1, (7, 4), scale=False).next().features[0]
    np.testing.assert_array_equal(data.transpose(1, 2, 0), upright)


# ---- which pictures


def test_files_deeper_belong_to_the_class_and_others_are_ignored(tmp_path):
    pets(tmp_path, 1, 1)
    save(tmp_path / "cat" / "more" / "x.jpg" / "7.PNG", picture(8))
    for name in ("cat/Thumbs.db", "cat/._0.png", ".hidden/a.png", "notes.txt", "cat/.more/a.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"no picture")
    names = [str(tmp_path / name) for name in ("cat/0.png", "cat/more/x.jpg/7.PNG", "dog/0.png")]
    assert ImageFolderIterator(tmp_path, 1, 3).paths == names
    assert ImageFolderIterator(tmp_path, 1, 3, endings=[".PNG"]).paths == names
    assert ImageFolderIterator(str(tmp_path) + "/", 1, 3).next().features.shape == (1, 3, 3, 3)


def test_links_are_followed_but_not_in_circles(tmp_path):
    pets(tmp_path / "all", 2, 1)
    (tmp_path / "some" / "cat").mkdir(parents=True)
    (tmp_path / "some" / "cat" / "linked").symlink_to(tmp_path / "all" / "cat")
    (tmp_path / "all" / "cat" / "up").symlink_to(tmp_path / "some" / "cat")
    (tmp_path / "some" / "cat" / "self").symlink_to(tmp_path / "some")
    (tmp_path / "some" / "cat" / "gone.png").symlink_to(tmp_path / "nowhere.png")
    assert [pathlib.Path(path).name for path in ImageFolderIterator(tmp_path / "some", 1, 3).paths] == [
        "0.png",
        "1.png",
    ]


def test_classes_by_name(tmp_path):
    pixels = pets(tmp_path, 2, 2)
    save(tmp_path / "emu" / "0.png", picture(1))
    (tmp_path / "fox").mkdir()
    save(tmp_path / "beside.png", picture(1))
    iterator = ImageFolderIterator(tmp_path, 9, (6, 5), class_names=["dog", "fox", "cat"])
    assert iterator.class_names == ("dog", "fox", "cat")
    assert {pathlib.Path(path).parent.name: label for path, (_, label) in rows(iterator).items()} == {
        "dog": 0,
        "cat": 2,
    }
    everything = ImageFolderIterator(tmp_path, 9, 3, labels=False)
    assert len(everything.paths) == len(pixels) + 2
    assert everything.class_names is None
    assert everything.next().labels is None


def test_a_folder_without_folders_has_no_labels(tmp_path):
    for number in range(3):
        save(tmp_path / f"{number}.png", picture(number))
    iterator = ImageFolderIterator(tmp_path, 2, (6, 5), shuffle=False)
    assert [data_set.labels for data_set in iterator] == [None, None]
    assert iterator.batch_paths == iterator.paths[2:] == [str(tmp_path / "2.png")]
    with pytest.raises(nd.DataError, match=r"total_outcomes: expected an iterator that knows it"):
        iterator.total_outcomes()
    with pytest.raises(nd.DataError, match=r"in the folders of their classes, got '0\.png' beside them"):
        ImageFolderIterator(tmp_path, 2, 5, labels=True)


def test_parts_to_train_and_to_validate_with_share_nothing(tmp_path):
    pets(tmp_path, 20, 11, (2, 2))

    def names(subset, fraction=0.3, **options):
        iterator = ImageFolderIterator(tmp_path, 9, 2, subset=subset, validation_fraction=fraction, **options)
        return [str(pathlib.Path(path).relative_to(tmp_path)) for path in iterator.paths]

    train, held_out = names("train"), names("validation", seed=5, shuffle=False)
    assert sorted(train + held_out) == sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.png"))
    assert [sum(name.startswith(kind) for name in held_out) for kind in ("cat", "dog")] == [6, 3]
    save(tmp_path / "cat" / "new.png", picture(1, 2, 2))
    assert len(set(held_out) ^ (set(names("validation")) - {"cat/new.png"})) <= 1
    with pytest.raises(nd.DataError, match=r"subset 'validation' must have pictures, got none of 32 with .* 0\.01"):
        names("validation", 0.01)


def test_few_of_them(tmp_path):
    pets(tmp_path, 20, 20, (2, 2))
    assert ImageFolderIterator(tmp_path, 9, 2, num_examples=3, shuffle=False).paths == [
        str(tmp_path / "cat" / name) for name in ("0.png", "1.png", "10.png")
    ]
    some = [ImageFolderIterator(tmp_path, 9, 2, num_examples=10, seed=seed).paths for seed in (1, 1, 2)]
    assert some[0] == some[1] != some[2]
    assert len(set(some[0])) == 10
    with pytest.raises(nd.DataError, match="num_examples must be 1 to 40, got 41"):
        ImageFolderIterator(tmp_path, 9, 2, num_examples=41)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"channels": 2}, nd.ArgumentError, "channels must be 1 or 3 or 4, got 2"),
        ({"size": (3, 0)}, nd.ArgumentError, "size must be"),
        ({"size": 2.5}, nd.ArgumentError, "size must be"),
        ({"batch": 0}, nd.ArgumentError, "batch must be an integer >= 1, got 0"),
        ({"resize": "squeeze"}, nd.ChoiceError, "unknown resize 'squeeze', expected one of crop, pad, stretch"),
        ({"interpolation": "linear"}, nd.ChoiceError, "unknown interpolation 'linear'"),
        ({"channel_order": "RGB"}, nd.ChoiceError, "unknown channel_order 'RGB'"),
        ({"damaged": "ignore"}, nd.ChoiceError, "unknown damaged 'ignore', expected one of raise, skip"),
        ({"subset": "test", "validation_fraction": 0.5}, nd.ChoiceError, "unknown subset 'test'"),
        ({"subset": "train"}, nd.ConfigurationError, "subset needs a validation_fraction between 0 and 1, got 0.0"),
        ({"validation_fraction": 0.1}, nd.ConfigurationError, "validation_fraction must come with subset='train'"),
        ({"class_names": ["cat", "cow"]}, nd.DataError, r"class_names must be .*'cat', 'dog', got 'cow'"),
        ({"class_names": []}, nd.ConfigurationError, "class_names must be folders in .*, got none"),
        ({"class_names": ["cat", "cat"]}, nd.ConfigurationError, "class_names must be different folders"),
        ({"class_names": ["cat"], "labels": False}, nd.ConfigurationError, "class_names are for labels, got labels=F"),
        ({"workers": -1}, nd.ArgumentError, "workers must be an integer >= 0, got -1"),
    ],
)
def test_what_is_refused(options, error, message, tmp_path):
    pets(tmp_path, 1, 1)
    with pytest.raises(error, match=message):
        ImageFolderIterator(**{"folder": tmp_path, "batch": 2, "size": 3, **options})


def test_folders_that_are_none(tmp_path):
    with pytest.raises(nd.DataError, match=r"ImageFolderIterator: '.*' must have pictures, got no file that ends in"):
        ImageFolderIterator(tmp_path, 1, 3)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        ImageFolderIterator(tmp_path / "nowhere", 1, 3)
    pets(tmp_path, 1, 1)
    (tmp_path / "emu").mkdir()
    with pytest.raises(nd.DataError, match=r"every folder is a class and must have pictures, got none in 'emu'"):
        ImageFolderIterator(tmp_path, 1, 3)
    save(tmp_path / "a.jpg", picture(1))
    with pytest.raises(nd.DataError, match=r"must lie in the folders of their classes, got 'a\.jpg' beside them"):
        ImageFolderIterator(tmp_path, 1, 3)
    with pytest.raises(NotADirectoryError, match=r"a\.jpg"):
        ImageFolderIterator(tmp_path / "a.jpg", 1, 3)


def test_a_pre_processor_runs_in_the_thread_that_asks(tmp_path):
    import threading

    pets(tmp_path)
    threads = set()

    def note(data_set):
        threads.add(threading.current_thread().name)
        return data_set

    iterator = ImageFolderIterator(tmp_path, 4, 3, scale=False)
    iterator.set_pre_processor(note)
    assert len(list(iterator)) == 3
    assert threads == {threading.current_thread().name}
    iterator.set_pre_processor(ImagePreProcessingScaler())
    scaled = ImageFolderIterator(tmp_path, 9, 3, shuffle=False).next()
    iterator = ImageFolderIterator(tmp_path, 9, 3, shuffle=False, scale=False)
    iterator.set_pre_processor(ImagePreProcessingScaler())
    np.testing.assert_allclose(iterator.next().features, scaled.features, rtol=1e-6)


def test_a_minibatch_belongs_to_whoever_has_it(tmp_path):
    pets(tmp_path)
    iterator = ImageFolderIterator(tmp_path, 2, 3)
    kept = [data_set for _ in range(3) for data_set in iterator]
    copies = [data_set.features.copy() for data_set in kept]
    for _ in iterator:
        pass
    for data_set, copy in zip(kept, copies, strict=True):
        np.testing.assert_array_equal(data_set.features, copy)
    assert iterator.next.__self__ is iterator
    other = ImageFolderIterator(tmp_path, 2, 3)
    assert [other.next(num).num_examples() for num in (3, 1, None, 5)] == [3, 1, 2, 3]
    with pytest.raises(nd.DataError, match=r"ImageFolderIterator\.next: expected a minibatch, got the end of the data"):
        other.next()
