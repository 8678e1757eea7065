"""Iterators that stand where another one stood."""

import atexit
import importlib.util
import json
import pathlib
import shutil
import tempfile
import time

import numpy as np
import pytest

from nd import DataError
from nd.dataset import (
    AsyncDataSetIterator,
    AsyncMultiDataSetIterator,
    CharacterIterator,
    CsvDataSetIterator,
    CSVSequenceRecordReader,
    DataSet,
    DataSetIterator,
    DigitsDataSetIterator,
    EarlyTerminationDataSetIterator,
    EarlyTerminationMultiDataSetIterator,
    ExistingDataSetIterator,
    ExistingMultiDataSetIterator,
    GeneratorDataSetIterator,
    ImageFolderIterator,
    KFoldIterator,
    ListDataSetIterator,
    ListMultiDataSetIterator,
    MnistDataSetIterator,
    MultiDataSet,
    MultiDataSetIteratorAdapter,
    MultiDataSetWrapperIterator,
    MultipleEpochsIterator,
    NpzDataSetIterator,
    NumpyDataSetIterator,
    NumpyMultiDataSetIterator,
    RecordReaderMultiDataSetIterator,
    SamplingDataSetIterator,
    SequenceRecordReaderDataSetIterator,
    SeriesColumns,
    SingletonDataSetIterator,
    SingletonMultiDataSetIterator,
    SlidingWindowDataSetIterator,
)
from nd.dataset.java_random import JavaRandom
from tests.cells import every_row

X = np.arange(11.0, dtype=np.float32)[:, None]
FEW = (0, 2), (3, 20), (5, 0), (13, 2)
"""Minibatches that were read of the one, and of the other, that are tried always."""
SETS = [DataSet(X[n : n + 2], X[n : n + 2]) for n in range(0, 10, 2)]

WHOLE = DataSet(X, X)

PICTURES = pathlib.Path(__file__).parents[2] / "cases" / "java_pictures"
FOLDER = pathlib.Path(tempfile.mkdtemp())
atexit.register(shutil.rmtree, FOLDER)
(FOLDER / "rows.csv").write_text("".join(f'{n},"{n}"\n\n' for n in range(11)))
for number, size in enumerate((4, 1, 6)):
    np.savez(FOLDER / f"{number}.npz", features=X[:size] + 100 * number, labels=X[:size])
FILES = [FOLDER / f"{number}.npz" for number in range(3)]


for number in range(11):
    (FOLDER / f"{number}.csv").write_text("".join(f"{number},{step}\n" for step in range(number % 3 + 1)))
SERIES = CSVSequenceRecordReader().initialize([FOLDER / f"{number}.csv" for number in range(11)])


def shuffled():
    return NumpyDataSetIterator(X, X, 4, shuffle=True, seed=5)


def shuffled_multi():
    return NumpyMultiDataSetIterator([X, X], [X, X], 4, shuffle=True, seed=5)


KINDS = {
    "characters": lambda: CharacterIterator("to be or not to be" * 6, 4, 7),
    "csv": lambda: CsvDataSetIterator(FOLDER / "rows.csv", 3, 0, regression=True),
    "csv, ahead": lambda: AsyncDataSetIterator(CsvDataSetIterator(FOLDER / "rows.csv", 3, 0, regression=True)),
    "epochs": lambda: MultipleEpochsIterator(3, shuffled()),
    "folds": lambda: KFoldIterator(4, WHOLE, seed=1),
    "generator": lambda: GeneratorDataSetIterator(lambda: ((X[n : n + 3], X[n : n + 3]) for n in range(0, 9, 3))),
    "npz": lambda: NpzDataSetIterator(FILES, 3),
    "npz, shuffled": lambda: NpzDataSetIterator(FILES, 3, shuffle=True, seed=2),
    "numpy": lambda: NumpyDataSetIterator(X, X, 4),
    "numpy, shuffled": shuffled,
    "sampling": lambda: SamplingDataSetIterator(WHOLE, 4, 9, seed=7),
    "sampling, each once": lambda: SamplingDataSetIterator(WHOLE, 4, 9, seed=7, replace=False),
    "series": lambda: SequenceRecordReaderDataSetIterator(SERIES, None, 4, 3, label_index=1),
    "series, shuffled": lambda: SequenceRecordReaderDataSetIterator(
        SERIES, None, 4, regression=True, label_index=1, shuffle=True
    ),
    "singleton": lambda: SingletonDataSetIterator(WHOLE),
    "async": lambda: AsyncDataSetIterator(ListDataSetIterator(DataSet(X, X), 2), 3),
    "digits": lambda: DigitsDataSetIterator(300),
    "digits to test on": lambda: DigitsDataSetIterator(100, train=False),
    "early": lambda: EarlyTerminationDataSetIterator(DigitsDataSetIterator(100), 3),
    "existing": lambda: ExistingDataSetIterator(SETS),
    "list": lambda: ListDataSetIterator(SETS),
    "multi, adapter": lambda: MultiDataSetIteratorAdapter(shuffled()),
    "multi, ahead": lambda: AsyncMultiDataSetIterator(shuffled_multi(), 3),
    "multi, back": lambda: MultiDataSetWrapperIterator(MultiDataSetIteratorAdapter(shuffled())),
    "multi, early": lambda: EarlyTerminationMultiDataSetIterator(shuffled_multi(), 2),
    "multi, existing": lambda: ExistingMultiDataSetIterator([each.to_multi_data_set() for each in SETS]),
    "multi, list": lambda: ListMultiDataSetIterator(MultiDataSet([X, X], [X, X]), 3),
    "multi, numpy": lambda: NumpyMultiDataSetIterator([X, X], [X, X], 4),
    "multi, series": lambda: RecordReaderMultiDataSetIterator(
        3, {"a": SERIES}, [SeriesColumns("a", [0])], [SeriesColumns("a", [1])]
    ),
    "multi, shuffled": shuffled_multi,
    "multi, singleton": lambda: SingletonMultiDataSetIterator(MultiDataSet([X, X], [X])),
    "windows": lambda: SlidingWindowDataSetIterator(X, 2, 3, shuffle=True),
    "list, regrouped": lambda: ListDataSetIterator(SETS, 3),
}
if importlib.util.find_spec("PIL"):
    KINDS |= {
        "pictures": lambda: ImageFolderIterator(PICTURES, 3, (5, 4), seed=7),
        "pictures, in order": lambda: ImageFolderIterator(PICTURES, 4, 6, shuffle=False, workers=0),
    }


class Nowhere(DataSetIterator):
    """Defines only what it must."""

    def has_next(self):
        return False

    def next(self, num=None):
        raise NotImplementedError

    def reset(self):
        pass

    def batch(self):
        return 1


def take(iterator, count):
    """Return what the next minibatches hold, over the ends of epochs."""
    found = []
    for _ in range(count):
        if not iterator.has_next():
            iterator.reset()
        data_set = iterator.next()
        found.append((np.array(data_set.features).tobytes("A"), np.array(data_set.labels).tobytes("A")))
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("before", "used"),
    [
        pytest.param(before, used, marks=[pytest.mark.slow] * ((before, used) not in FEW))
        for before in (0, 1, 3, 4, 5, 13)
        for used in (0, 2, 20)
    ],
)
@pytest.mark.quick_rows(every=2)
def test_the_next_minibatches_are_the_same(kind, before, used):
    """Whatever the iterator that is restored has read, and however long the file lay."""
    iterator, other = KINDS[kind](), KINDS[kind]()
    take(iterator, before)
    state = json.loads(json.dumps(iterator.state()))
    take(other, used)
    other.restore(state)
    assert other.state() == state
    assert take(other, 9) == take(iterator, 9)


@pytest.mark.usefixtures("mnist_folder")
def test_mnist_is_shuffled_alike():
    iterator, other = MnistDataSetIterator(30000, seed=3), MnistDataSetIterator(30000, seed=4)
    take(iterator, 3)
    other.restore(iterator.state())
    np.testing.assert_array_equal(other.next().labels, iterator.next().labels)


def test_the_state_is_of_what_was_handed_out_not_of_what_was_read_ahead():
    base = ListDataSetIterator(DataSet(X, X), 2)
    with AsyncDataSetIterator(base, 4) as iterator:
        for count in range(1, 4):
            iterator.next()
            deadline = time.monotonic() + 10
            while base.state()["cursor"] < min(2 * count + 8, 11) and time.monotonic() < deadline:
                time.sleep(0.001)
            assert base.state()["cursor"] > 2 * count
            assert iterator.state()["cursor"] == 2 * count
    assert iterator.state()["cursor"] == 6
    iterator.reset()
    assert iterator.state()["cursor"] == 0


@pytest.mark.parametrize("method", ["state", "restore"])
def test_an_iterator_without(method):
    arguments = [{}] if method == "restore" else []
    with pytest.raises(DataError, match=rf"Nowhere\.{method}: .*Define state\(\) and restore\(state\)"):
        getattr(Nowhere(), method)(*arguments)


def test_reading_ahead_does_not_mind_an_iterator_without():
    class Some(Nowhere):
        left = 3

        def has_next(self):
            return self.left > 0

        def next(self, num=None):
            self.left -= 1
            return SETS[0]

    with AsyncDataSetIterator(Some()) as iterator:
        assert len(take(iterator, 3)) == 3
        with pytest.raises(DataError, match=r"Some\.state: "):
            iterator.state()


def test_iterables_whose_order_is_not_known():
    for iterable in (iter(SETS), {1: SETS[0]}.values()):
        with pytest.raises(
            DataError, match=rf"ExistingDataSetIterator\.state: .*got {type(iterable).__name__}\. Write"
        ):
            ExistingDataSetIterator(iterable).state()


@every_row(
    ("kind", "state", "message"),
    [
        ("digits", {"cursor": 0}, r"DigitsDataSetIterator\.restore: examples must be 1438, got None\. Is the state"),
        ("digits", None, "examples must be 1438, got None"),
        ("early", {"count": 4}, "EarlyTerminationDataSetIterator.restore: count must be 0 to 3, got 4"),
        ("existing", {"count": 6}, "count must be 0 to 5, got 6"),
        ("existing", {"cursor": 1}, "count must be 0 to 5, got None"),
        ("list", {"cursor": 1, "total": 4}, "ListDataSetIterator.restore: total must be 5, got 4. .* other data"),
        ("list", {"cursor": -1, "total": 5}, "cursor must be 0 to 5, got -1"),
        ("list", {"cursor": True, "total": 5}, "cursor must be 0 to 5, got True"),
        ("csv", {"size": 3}, r"CsvDataSetIterator\.restore: size must be \d+, got 3\. Is the state"),
        ("epochs", {"epochs": 2}, "MultipleEpochsIterator.restore: epochs must be 3, got 2"),
        ("folds", {"examples": 11, "k": 5}, "KFoldIterator.restore: k must be 4, got 5"),
        ("generator", {"count": 4}, "count must be at most 3, the number of minibatches that came, got 4"),
        ("npz", {"lengths": [4, 1]}, r"NpzDataSetIterator.restore: lengths must be \[4, 1, 6\], got \[4, 1\]"),
        ("numpy", {"cursor": 12, "examples": 11}, "cursor must be 0 to 11, got 12"),
        ("numpy", {"cursor": 0, "examples": 11, "order": 5}, "expected no shuffle, got the state 5. Pass shuffle=True"),
        (
            "numpy, shuffled",
            {"cursor": 0, "examples": 11, "order": "5"},
            "state must be a whole number below 2",
        ),
        (
            "sampling",
            {"cursor": 0, "examples": 11, "total": 9, "replace": True, "random": None},
            "SamplingDataSetIterator.restore: random must be a whole number, got None",
        ),
    ],
)
def test_states_of_other_iterators(kind, state, message):
    iterator = KINDS[kind]()
    with pytest.raises(DataError, match=message):
        iterator.restore(state)
    assert take(iterator, 2) == take(KINDS[kind](), 2)


# ---- what was made to do harm


HOSTILE = (-1, -(2**40), 1 << 31, 1 << 70, 1e18, float("nan"), True, None, "7", [], [1], {}, {"cursor": 0})


def places(state, path=()):
    """Yield the way to every value of a state."""
    for key, value in state.items():
        yield (*path, key)
        if isinstance(value, dict):
            yield from places(value, (*path, key))


def changed(state, path, value):
    copy = json.loads(json.dumps(state))
    inner = copy
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return copy


@every_row("kind", KINDS)
def test_no_value_of_a_state_hangs_or_passes_for_another(kind):
    """Each is refused at once, and the iterator then stands where it stood."""
    source = KINDS[kind]()
    source.next()
    before = source.state()
    for path in places(before):
        for value in HOSTILE:
            if path[-1] == "seed" and (value is None or type(value) is int):
                continue  # every seed has an order
            inner = before
            for key in path:
                inner = inner[key]
            if path[-1] in ("order", "random") and inner is not None and type(value) is int and 0 <= value < 1 << 48:
                continue  # and every such number is a generator's
            if type(inner) is type(value) and (inner == value or path[-1] == "shuffled"):
                continue
            with pytest.raises(DataError, match=r"\w+\.(restore|set_state): "):
                source.restore(changed(before, path, value))
            if kind != "generator":  # which has to be read to find that it ends
                assert source.state() == before, (path, value)


@every_row("state", [None, [], 7, "state", {}])
@every_row("kind", KINDS)
def test_what_is_no_state(kind, state):
    with pytest.raises(DataError, match=r"\w+\.(restore|set_state): "):
        KINDS[kind]().restore(state)


# ---- Ctrl-C


@pytest.mark.parametrize("kind", sorted({"numpy, shuffled", "npz, shuffled", "pictures"} & KINDS.keys()))
def test_an_order_that_ctrl_c_cuts_short_is_the_one_before(kind, monkeypatch):
    """So that what is read then, and in all later epochs, is what the state says."""

    def interrupted(random, *arguments):
        whole(random, *arguments)
        raise KeyboardInterrupt

    iterator, other = KINDS[kind](), KINDS[kind]()
    take(iterator, 2)
    for name in ("permutation", "next_int"):
        whole = getattr(JavaRandom, name)
        with monkeypatch.context() as patched:
            patched.setattr(JavaRandom, name, interrupted)
            with pytest.raises(KeyboardInterrupt, match=r"^$"):
                iterator.reset()
        other.restore(iterator.state())
        assert take(other, 9) == take(iterator, 9)
