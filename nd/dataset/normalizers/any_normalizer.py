"""AnyNormalizer: shared by normalizers of DataSets and of MultiDataSets; Learner: by those that learn from data."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar

from backends.errors import DataError, DTypeError
from nd.arguments import checked, shown
from nd.dataset.iterator import Batch, MinibatchIterator, is_features, is_pair
from nd.java_names import JavaNamedABC, JavaNames
from nd.typing import Array

if TYPE_CHECKING:
    from nd.files.writing import Target


class AnyNormalizer(JavaNames, metaclass=JavaNamedABC):
    """What is said of every normalizer: its kind, whether it changes labels, its file."""

    kind: ClassVar[str]
    """ND4J's NormalizerType, in a file."""

    fits_labels = False
    """Whether labels are changed too."""

    called: str | None = None
    """Name in messages, where it is another than the class's."""

    @checked
    def fit_label(self, fit: bool = True) -> None:
        """Say whether labels are changed too; before `fit`.

        Raises
        ------
        ArgumentError
            `fit` is not True or False.
        """
        self.fits_labels = fit

    def is_fit_label(self) -> bool:
        """Tell whether labels are changed too."""
        return self.fits_labels

    def save(self, path: Target) -> None:
        """Write the file that Java's ``NormalizerSerializer.getDefault().restore`` reads; it is there whole or not.

        Parameters
        ----------
        path : path or binary file object

        Raises
        ------
        DataError
            Nothing was fitted.
        OSError
            The file cannot be written.
        """
        from nd.dataset.normalizers.files import save_normalizer

        save_normalizer(self, path)

    @abstractmethod
    def write_body(self, stream: BinaryIO) -> None:
        """Write the body, after the header, in ND4J's form."""

    @classmethod
    @abstractmethod
    def read_body(cls, stream: BinaryIO) -> AnyNormalizer:
        """Read a body that `write_body` wrote."""

    def written(self, method: str, array: Any, numbers: Array) -> Array:
        """Write numbers into the array that they were computed from; return it."""
        if not hasattr(array, "dtype") or array.dtype.kind != "f":
            raise DTypeError(
                f"{self.who(method)}: expected a DataSet or an array of floats to write into, got {shown(array)}. "
                "transform_features and the like return new arrays."
            )
        if not getattr(getattr(array, "flags", None), "writeable", True):
            raise DataError(f"{self.who(method)}: expected an array that can be written, got one for reading. Copy it.")
        array[...] = numbers
        return array

    def who(self, method: str) -> str:
        """Return the name of a method for messages."""
        return f"{self.called or type(self).__name__}.{method}"


class Learner(AnyNormalizer):
    """A normalizer that learns from data in one pass."""

    _learning = False

    def passing(self, data: Any, kind: Any, existing: Callable[[Any], MinibatchIterator[Batch]]) -> Iterator[Batch]:
        """Yield all minibatches of data: features, a minibatch, an iterator of the class `kind`, one for `existing`.

        An iterator that can be reset is, before and after. Meanwhile `check_not_learning` raises.
        """
        if is_pair(data):
            data = kind.kind(*data)
        elif is_features(data, kind.kind):
            data = kind.kind(data)
        if isinstance(data, kind.kind):
            yield data
            return
        iterator: MinibatchIterator[Batch] = data if isinstance(data, kind) else existing(data)
        current: Any = iterator.pre_processor
        if current is self:
            raise self._at_work()
        if iterator.reset_supported():
            iterator.reset()
        self._learning = True
        try:
            while iterator.has_next():
                yield iterator.next()
        finally:
            self._learning = False
        if iterator.reset_supported():
            iterator.reset()

    def check_not_learning(self) -> None:
        """Raise DataError while data pass by: this normalizer is in an iterator under the one that is read."""
        if self._learning:
            raise self._at_work()

    def _at_work(self) -> DataError:
        return DataError(
            f"{self.who('fit')}: expected data as they are, got an iterator that this normalizer changes already. "
            "Fit first, then set_pre_processor."
        )
