"""CharacterIterator: pieces of a text, in which every character predicts the next."""

from __future__ import annotations

import math
import string
from collections.abc import Sequence

import numpy as np

from backends.errors import ConfigurationError, DataError, describe_shape
from nd.arguments import Count, Natural, checked
from nd.checks import check_memory
from nd.dataset.checks import from_list
from nd.dataset.dataset import DataSet
from nd.dataset.iterator import DataSetIterator, State
from nd.dataset.order import EpochOrder
from nd.dataset.ordered import OrderedIterator
from nd.state import default_dtype

_MINIMAL = string.ascii_lowercase + string.ascii_uppercase + string.digits + "!&()?-'\",.:; \n\t"
_MORE = "@#$%^*{}[]/+_\\|<>"
_SHOWN = 16  # letters of a text, in messages


class CharacterIterator(OrderedIterator[DataSet], DataSetIterator):
    """Iterate over a text in pieces of equal length, as one-hot characters with the next ones as labels.

    Parameters
    ----------
    text : str
        Other characters than `characters` are left out.
    batch : int
        Pieces in a minibatch; the last one has the rest.
    example_length : int
        Time steps T of a piece.
    characters : str, optional
        Characters, in the order of their numbers; without it the 77 of `get_minimal_character_set`.
    comment : str, optional
        Lines that begin so are left out.
    shuffle, seed
        As of `NumpyDataSetIterator`, of the pieces.
    every_step : bool
        Fill the last time step of the pieces too, and use all pieces that are full; Java does neither, see Notes.

    Raises
    ------
    ArgumentError
        An argument is of another type, or `batch` or `example_length` is less than 1.
    ConfigurationError
        There are no `characters`, or one of them twice; or `example_length` is 1 without `every_step`.
    DataError
        The text is too short for a piece.

    Notes
    -----
    Features and labels [N, characters, T] in the default dtype, with the batch innermost in memory (Fortran order), and
    no masks. What stays in memory is a byte for each character of the text. Line ends become ``\\n``, and the last
    line has one too.

    Pieces begin at multiples of T, in the order of ``Collections.shuffle`` with one continuing ``new Random(seed)``. As
    in Java their last time step is 0 in features and labels, and the last two pieces are left out: where the text has n
    characters, (n - 1) / T - 2 pieces, rounded down, stay.

    Source: org.deeplearning4j.examples...CharacterIterator of dl4j-examples. Differs: it takes the text, not its file.

    Examples
    --------
    >>> iterator = CharacterIterator("To be, or not to be: that is the question.", 2, 6, every_step=True, shuffle=False)
    >>> data_set = iterator.next()
    >>> data_set
    DataSet(features=[2, 77, 6] float32, labels=[2, 77, 6] float32)
    >>> [iterator.decode(piece.argmax(axis=0)) for piece in (*data_set.features, *data_set.labels)]
    ['To be,', ' or no', 'o be, ', 'or not']
    """

    @checked
    def __init__(
        self,
        text: str,
        batch: Count = 32,
        example_length: Count = 200,
        characters: str | None = None,
        comment: str | None = None,
        *,
        shuffle: bool = True,
        seed: int = 12345,
        every_step: bool = False,
    ) -> None:
        who = type(self).__name__
        self.characters = self.get_minimal_character_set() if characters is None else characters
        if not self.characters or len(set(self.characters)) < len(self.characters):
            raise ConfigurationError(f"{who}: characters must be different ones, got {self.characters[:_SHOWN]!r}.")
        self._dtype = np.dtype(default_dtype())
        self._codes = self._encoded(_lines(text, comment))[0]
        self._length, self._filled = example_length, example_length - (not every_step)
        total = (len(self._codes) - 1) // example_length - (0 if every_step else 2)
        if not self._filled:
            raise ConfigurationError(f"{who}: example_length must be at least 2, or pass every_step=True, got 1.")
        if total < 1:
            least = (1 if every_step else 3) * example_length + 1
            raise DataError(
                f"{who}: expected a text with at least {least} of the characters, got {len(self._codes)}. Take "
                f"{'' if every_step else 'every_step=True, or '}a shorter example_length."
            )
        super().__init__(total, batch, EpochOrder(total, seed if shuffle else None), len(self.characters))

    @staticmethod
    def get_minimal_character_set() -> str:
        """Return 77 characters: letters, digits, common punctuation, space, line end and tabulator."""
        return _MINIMAL

    @staticmethod
    def get_default_character_set() -> str:
        """Return 94 characters: the minimal set and those of programs."""
        return _MINIMAL + _MORE

    @checked
    def convert_index_to_character(self, index: Natural) -> str:
        """Return the character of a number. DataError if there is none."""
        return self.decode([index])

    @checked
    def convert_character_to_index(self, character: str) -> int:
        """Return the number of a character. DataError if it has none."""
        if len(character) != 1:
            raise DataError(f"convert_character_to_index: expected one character, got {character[:_SHOWN]!r}.")
        return int(self.encode(character)[0])

    @checked
    def encode(self, text: str) -> np.ndarray:
        """Return the numbers [T] of characters, integers.

        Raises
        ------
        DataError
            One has none.
        """
        codes, known = self._encoded(text)
        if not known.all():
            unknown = text[int(np.argmin(known))]
            raise DataError(
                f"{type(self).__name__}.encode: expected characters that have numbers, got {unknown!r}. Leave it out, "
                "or pass all characters to the constructor."
            )
        return codes.astype(np.int64)

    def decode(self, numbers: Sequence[int] | np.ndarray) -> str:
        """Return the text of numbers [T].

        Raises
        ------
        DataError
            They are no list of numbers of characters.
        """
        codes = from_list(f"{type(self).__name__}.decode", numbers)
        fits = codes.ndim == 1 and (codes.dtype.kind in "iu" or not codes.size)
        if not fits or ((codes < 0) | (codes >= len(self.characters))).any():
            raise DataError(
                f"{type(self).__name__}.decode: expected a list of numbers from 0 to {len(self.characters) - 1}, got "
                f"{numbers!r}."
            )
        return "".join(self.characters[code] for code in codes.tolist())

    def _encoded(self, text: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers of the characters that have one, and which of all have one."""
        known = np.array([ord(character) for character in self.characters], np.uint32)
        order = np.argsort(known)
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        places = np.minimum(np.searchsorted(known, points, sorter=order), len(known) - 1)
        numbers = order[places]
        is_known = known[numbers] == points
        return numbers[is_known].astype(np.min_scalar_type(len(known))), is_known

    def _examples(self, start: int, stop: int) -> DataSet:
        begins = self.order.numbers(start, stop) * self._length
        codes = self._codes[begins + np.arange(self._filled + 1)[:, None]]  # [T + 1, N]
        return DataSet(self._one_hot(codes[:-1]), self._one_hot(codes[1:]))

    def _one_hot(self, codes: np.ndarray) -> np.ndarray:
        """Return [N, characters, T] of numbers [filled steps, N]."""
        steps, examples = codes.shape
        shape = (self._length, len(self.characters), examples)
        needed = math.prod(shape) * np.dtype(self._dtype).itemsize
        remedy = "Take a smaller minibatch, or shorter examples."
        check_memory(type(self).__name__, needed, f"series {describe_shape(shape[::-1])}", remedy)
        encoded = np.zeros(shape, self._dtype)
        encoded[np.arange(steps)[:, None], codes, np.arange(examples)] = 1
        return encoded.T

    def _signature(self) -> State:
        return {"examples": self.total, "example_length": self._length, "characters": len(self._codes)}

    def column_counts(self) -> tuple[int | None, int | None]:
        return len(self.characters), len(self.characters)


def _lines(text: str, comment: str | None) -> str:
    """Return a text with ``\\n`` behind every line, without those that are comments."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n") if text else []
    return "".join(f"{line}\n" for line in lines if comment is None or not line.startswith(comment))
