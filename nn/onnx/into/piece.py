"""One node of a file on its way into a graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from nd.typing import HostArray

from ...terms.data_formats import channels_last, same_kind
from ...vertices import SubsetVertex
from ..vertices import OnnxVertex
from .draft import Arrays, NotSaid
from .known import Size
from .layout import Axes, Value
from .ops import Op

if TYPE_CHECKING:
    from .recognition import Recognition


class Piece:
    """A node, as the function that recognises its operator sees it.

    Parameters
    ----------
    recognition : Recognition
    op : Op
    """

    def __init__(self, recognition: Recognition, op: Op) -> None:
        self.op, self.recognition = op, recognition
        self.known, self.draft, self.factors = recognition.known, recognition.draft, recognition.draft.factors
        self.opset = self.known.file.opset

    def refuse(self, why: str) -> NoReturn:
        """Raise NotSaid: no layer says this node."""
        raise NotSaid(why)

    def need(self, holds: object, why: str = "") -> None:
        """Raise NotSaid unless something holds."""
        if not holds:
            self.refuse(why)

    # ---- what goes in

    def value(self, position: int = 0) -> Value:
        """Return an input that is no constant."""
        name = self.op.input(position)
        self.need(name in self.recognition.values, f"input {position} is a constant")
        return self.recognition.values[name]

    def is_value(self, position: int) -> bool:
        """Tell whether an input is there and no constant."""
        return self.op.input(position) in self.recognition.values

    def constant(self, position: int) -> HostArray:
        """Return an input that must be a constant."""
        array = self.known.array(self.op.input(position))
        self.need(array is not None, f"input {position} is no constant")
        return array  # type: ignore[return-value]

    def optional(self, position: int) -> HostArray | None:
        """Return an input that is a constant, or left out."""
        return self.constant(position) if self.op.input(position) else None

    def scalar(self, position: int) -> float | None:
        """Return an input that is one number, in whatever shape; None for anything else."""
        name = self.op.input(position)
        shape = self.known.shape(name) if name else None
        if shape is None or any(size != (1, 1) for size in shape):
            return None
        return self.known.uniform(name)

    def ints(self, attribute: str, position: int | None = None) -> list[int] | None:
        """Return whole numbers: an attribute, or in newer opsets a constant input; None where they are left out."""
        if attribute in self.op.attributes:
            given = self.op.attributes[attribute]
            return list(given) if isinstance(given, list) else [given]
        if position is None or not self.op.input(position):
            return None
        return [int(number) for number in self.constant(position).reshape(-1).tolist()]

    def ends(self, attribute: str, position: int) -> list[int] | None:
        """Return the ends of a Slice, which may depend on open sizes: those of the first filling-in."""
        if attribute in self.op.attributes:
            return list(self.op.attributes[attribute])
        sizes = self.known.sizes(self.op.input(position))
        return None if sizes is None else [size[0] for size in sizes]

    def any_input(self) -> str:
        """Return the name of an input of the network, which has no mask."""
        return next(iter(self.draft.inputs))

    def usual_series(self, value: Value) -> str:
        """Return the format of series in which an array looks as it does in the file."""
        return self._usual(("NCW", "NWC"), value)

    def shape(self, name: str | None = None) -> tuple[Size, ...]:
        """Return the shape of a tensor, by default of the first output."""
        shape = self.known.shape(self.op.output if name is None else name)
        self.need(shape is not None, "its shape is not known")
        return shape  # type: ignore[return-value]

    def sizes(self, name: str | None = None) -> list[int]:
        """Return the lengths of all axes but the examples', all of which must be known."""
        shape = self.shape(name)[1:]
        self.need(all(size[0] == size[1] for size in shape), "its sizes are open")
        return [size[0] for size in shape]

    # ---- what comes out

    def add(self, conf: Any, nodes: Sequence[str] | str, arrays: Arrays | None = None, part: str = "") -> str:
        """Add a vertex under the name of the first output, or of a part of it."""
        name = f"{self.op.output}/{part}" if part else self.op.output
        return self.draft.add(name, conf, [nodes] if isinstance(nodes, str) else nodes, arrays)

    def layer(
        self, kind: Any, value: Value, arrays: Arrays | None = None, part: str = "", **settings: Any
    ) -> tuple[str, str | None]:
        """Add a layer behind a tensor, in that one's format where the layer has such; return its name, and its format.

        Parameters
        ----------
        kind : class of layers
        value : Value
            Arranged already.
        arrays : Arrays, optional
        part : str
        **settings
            Of the layer.
        """
        formats, tag, node = kind.formats, value.tag, value.node
        if formats and (tag is None or same_kind(tag, formats[0])):
            if tag is not None and tag not in formats:
                node, tag = self.add(OnnxVertex("Identity"), node, part=f"{part}open"), None
            tag = tag or self._usual(formats, value)
            if "data_format" in kind.__dataclass_fields__:
                settings["data_format"] = tag
        return self.add(kind(**settings), node, arrays, part), tag

    def _usual(self, formats: Sequence[str], value: Value) -> str:
        """Return the format in which the array looks as it does in the file."""
        if len(value.inner) < 3:
            return formats[-1] if formats == ("NCW", "NWC") else formats[0]  # behind rows are steps, then channels
        last = len(formats) > 1 and value.axes == (value.inner[0], *value.inner[2:], value.inner[1])
        return formats[1] if last else formats[0]

    def taken(self, value: Value, start: int, stop: int, part: str = "") -> tuple[str, str | None]:
        """Add a vertex with a stretch of the channels; return its name, and its format."""
        if not self.is_last(value):
            return self.add(SubsetVertex(start, stop - 1), value.node, part=part), value.tag
        conf = OnnxVertex("Slice", {}, {1: [start], 2: [stop], 3: [1]})  # Java's takes the second axis that users see
        return self.add(conf, value.node, part=part), None

    def behind(self, value: Value, node: str, tag: str | None, sizes: dict[int, Size] | None = None) -> Value:
        """Return the tensor behind a layer that keeps the axes, with other lengths of some of the array's axes.

        Parameters
        ----------
        value : Value
            That goes in.
        node : str
        tag : str or None
        sizes : dict of int -> Size
            Axis of the array -> its length.
        """
        inner, axes = list(value.inner), list(value.axes)
        for at, size in (sizes or {}).items():
            new = (self.factors.new(size),)
            places = [axis for axis, group in enumerate(value.axes) if group == value.inner[at]]
            self.need(places, "its axes are parts of others")
            axes[places[0]], inner[at] = new, new
        return Value(node, tuple(axes), tuple(inner), tag)

    def same(self, value: Value, node: str, tag: str | None = None) -> Value:
        """Return the tensor behind a vertex that keeps the array's axes and lengths."""
        return value._replace(node=node, tag=tag if tag is not None else value.tag)

    def arranged(self, value: Value, groups: Axes) -> Value:
        """As `GraphDraft.arranged`."""
        return self.draft.arranged(value, groups)

    def closed(self, node: str) -> Value:
        """Return the tensor of the first output, whose array has the file's axes."""
        return self.factors.fresh(node, self.shape())

    def is_last(self, value: Value) -> bool:
        """Tell whether users see a tensor with the channels last."""
        return channels_last(value.tag)
