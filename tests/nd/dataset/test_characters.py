"""Texts by characters, against minibatches that Java's CharacterIterator of dl4j-examples made."""

import json
import zlib

import numpy as np
import pytest

import nn.dl4j  # noqa: F401  whose names are asked for here
from nd import ArgumentError, ConfigurationError, DataError
from nd.dataset import AsyncDataSetIterator, CharacterIterator, shakespeare_sonnets
from tests import java_series

JAVAS = java_series.cases("characters.json")


def numbers(one_hot):
    """Return the place of the 1 of every step [N, T], -1 where all are 0."""
    assert set(np.unique(one_hot)) <= {0.0, 1.0}
    assert one_hot.sum(axis=1).max() <= 1
    return np.where(one_hot.any(axis=1), one_hot.argmax(axis=1), -1)


def rows(data_set):
    return [*numbers(data_set.features).tolist(), *numbers(data_set.labels).tolist()]


def test_the_sonnets_in_javas_order():
    """The first two minibatches and the last of one epoch, and the first of the next."""
    iterator = CharacterIterator(shakespeare_sonnets(), 3, 60)
    assert len(iterator) == 531
    for number in range(532):
        if not iterator.has_next():
            iterator.reset()
        data_set = iterator.next()
        if str(number) in JAVAS["sonnets"]:
            assert rows(data_set) == JAVAS["sonnets"][str(number)]


def test_lines_characters_and_comments_as_in_java():
    """The text has line ends of three kinds, characters that are left out, and comments."""
    kind = CharacterIterator
    iterator = kind(JAVAS["odd"]["text"], 2, 20, kind.get_default_character_set(), "#")
    found = []
    for _ in range(2):
        found += [rows(data_set) for data_set in iterator]
        iterator.reset()
    assert found[: len(JAVAS["odd"]["minibatches"])] == JAVAS["odd"]["minibatches"]


def test_a_minibatch_of_javas_run(reference):
    """Its corpus is not there: its pieces are put where Java's order takes them from."""
    codes, last = (np.load(reference / "text" / f"rnnchar_{name}.npy") for name in ("idx", "last"))
    kind = CharacterIterator
    order = kind("a" * 200 * 34 + "a", 32, 200).order.select(0, 32)
    text = np.zeros((34, 200), int)
    text[order, :199], text[order, 199] = codes[:, :-1], last
    characters = kind.get_minimal_character_set()
    iterator = kind("".join(characters[code] for code in text.ravel()) + "a", 32, 200)
    data_set = iterator.next()
    np.testing.assert_array_equal(numbers(data_set.features), codes)
    np.testing.assert_array_equal(numbers(data_set.labels)[:, :-1], np.c_[codes[:, 1:-1], last])


def test_every_step_and_piece():
    text = shakespeare_sonnets()[:1000]
    iterator = CharacterIterator(text, 4, 50, every_step=True, shuffle=False)
    pieces = [piece for data_set in iterator for piece in rows(data_set)[: data_set.num_examples()]]
    assert len(pieces) == 20  # 1001 characters with the last line's end
    assert "".join(map(iterator.decode, pieces)) == text
    iterator.reset()
    data_set = iterator.next()
    labels = rows(data_set)[4:]
    assert "".join(map(iterator.decode, labels)) == text[1:201]
    shuffled = CharacterIterator(text, 20, 50, every_step=True)
    order = np.array(shuffled.order.select(0, 20))
    assert rows(shuffled.next())[:20] == [pieces[number] for number in order]


def test_arrays_and_sizes():
    iterator = CharacterIterator("ab" * 40, 5, 8, "ab")
    data_set = iterator.next()
    assert data_set.features.shape == data_set.labels.shape == (5, 2, 8)
    assert all(array.flags.f_contiguous and array.dtype == np.float32 for array in (data_set.features, data_set.labels))
    assert (iterator.input_columns(), iterator.total_outcomes(), iterator.batch(), len(iterator)) == (2, 2, 5, 2)
    assert not data_set.has_mask_arrays()


def test_memory_is_a_byte_a_character():
    iterator = CharacterIterator("abc" * 100_000)
    held = sum(array.nbytes for array in vars(iterator).values() if isinstance(array, np.ndarray))
    assert held == 300_001


def test_restored_and_read_ahead():
    def made():
        return CharacterIterator(shakespeare_sonnets()[:3000], 4, 40)

    iterator, other = made(), made()
    for _ in range(20):
        iterator.next() if iterator.has_next() else iterator.reset()
    other.restore(json.loads(json.dumps(iterator.state())))
    assert [rows(data_set) for data_set in other] == [rows(data_set) for data_set in iterator]
    with AsyncDataSetIterator(made()) as ahead:
        assert [rows(data_set) for data_set in ahead] == [rows(data_set) for data_set in made()]
    with pytest.raises(DataError, match=r"restore: example_length must be 30, got 40"):
        CharacterIterator(shakespeare_sonnets()[:2253], 4, 30).restore(iterator.state())


def test_numbers_of_characters():
    iterator = CharacterIterator("a" * 700)
    assert len(iterator.characters) == 77
    assert len(CharacterIterator.get_default_character_set()) == 94
    assert iterator.encode("aZ9\t").tolist() == [0, 51, 61, 76]
    assert iterator.decode([0, 51, 61, 76]) == "aZ9\t"
    assert iterator.convert_index_to_character(26) == iterator.convertIndexToCharacter(26) == "A"
    assert iterator.convert_character_to_index("A") == 26
    with pytest.raises(DataError, match=r"encode: expected characters that have numbers, got 'é'"):
        iterator.encode("caf\u00e9")
    with pytest.raises(DataError, match=r"decode: expected a list of numbers from 0 to 76, got \[77\]"):
        iterator.decode([77])
    with pytest.raises(DataError, match=r"expected one character, got 'ab'"):
        iterator.convert_character_to_index("ab")


def test_settings_that_are_refused():
    with pytest.raises(
        DataError, match=r"with at least 601 of the characters, got 501. Take every_step=True, or a sho"
    ):
        CharacterIterator("a" * 500)
    with pytest.raises(DataError, match=r"with at least 201 of the characters, got 1. Take a shorter example_length"):
        CharacterIterator("\u00e9", every_step=True)
    with pytest.raises(ConfigurationError, match=r"example_length must be at least 2, or pass every_step=True, got 1"):
        CharacterIterator("a" * 500, 2, 1)
    with pytest.raises(ConfigurationError, match=r"characters must be different ones, got 'aba'"):
        CharacterIterator("a" * 500, 2, 2, "aba")
    with pytest.raises(ArgumentError, match=r"text must be text, got 5"):
        CharacterIterator(5)


def test_the_bundled_sonnets():
    """154 poems, each with its number; the bytes are those that were packed, and their origin is said beside them."""
    from importlib.resources import files

    text = shakespeare_sonnets()
    assert (len(text), len(text.splitlines()), zlib.crc32(text.encode())) == (95728, 2624, 4043559860)
    numbered = [line for line in text.splitlines() if line and not line.strip("IVXLC")]
    assert len(numbered) == 154
    assert (numbered[0], numbered[-1]) == ("I", "CLIV")
    assert text.endswith("Love's fire heats water, water cools not love.")
    note = files("nd.dataset").joinpath("data", "SONNETS.md").read_text("utf-8")
    assert "public domain" in note
    assert f"{len(text):,} characters" in note
