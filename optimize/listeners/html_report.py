"""HtmlReportListener: a report on the training, as one file to look at."""

from __future__ import annotations

import base64
import html
import io
import math
import pathlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import nd
from nd.arguments import Count, Path, checked, shown
from nd.dataset import DataSet, MultiDataSet
from nd.evaluation import Evaluation, plot_confusion_matrix
from nd.extras import optional
from nd.files.writing import FileKind, check_ending, replacing

from .collect_scores import CollectScoresListener
from .evaluative import evaluated

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..api import Model


MOST_FILTERS = 64
_STYLE = "body{font-family:sans-serif;max-width:60em;margin:2em auto}img{max-width:100%}pre{overflow:auto}"

_KIND = FileKind("a web page", (".html", ".htm"))


class HtmlReportListener(CollectScoresListener):
    """Writes one HTML file with the score's curve, the confusion matrix and the first layer's filters.

    Needs matplotlib (the extra ``report``).

    Parameters
    ----------
    path : path
        Of the HTML file; everything is in it, nothing is loaded from elsewhere. Written when `fit` ends.
    data : DataSetIterator, DataSet, (features, labels), or iterable of those, optional
        Data to evaluate on, not to train on; without it there is no confusion matrix.
    frequency : int
        Iterations between two scores; every score waits for a device.
    every_n_epochs : int, optional
        Also write at the end of so many epochs.
    title : str

    Attributes
    ----------
    iterations : list of int
    scores : list of float

    Raises
    ------
    ConfigurationError
        matplotlib is not installed, a number is less than 1, or `path` is the name of another kind of file.
    OSError
        On writing; a file that was there before is untouched.

    Notes
    -----
    Filters are shown of a convolution, and of a dense layer whose number of inputs is a square (images in a row).
    """

    @checked
    def __init__(
        self,
        path: Path,
        data: DataSet | MultiDataSet | Iterable[object] | None = None,
        frequency: Count = 10,
        every_n_epochs: Count | None = None,
        title: str = "Training",
        *,
        output: object = 0,
    ) -> None:
        super().__init__(frequency)
        self._figures = optional("HtmlReportListener", "matplotlib.figure", "matplotlib", "report")
        self.path, self.data, self.title, self.every_n_epochs = pathlib.Path(path), data, title, every_n_epochs
        self.output = output
        check_ending("HtmlReportListener", path, _KIND)  # now, not when the training is over

    def on_epoch_end(self, model: Model) -> None:
        if self.every_n_epochs is not None and (model.epoch_count + 1) % self.every_n_epochs == 0:
            self.write(model)

    def on_fit_end(self, model: object) -> None:
        self.write(model)

    def write(self, model: object) -> None:
        """Write the file as of now; raise DTypeError where `model` is no network."""
        if not callable(getattr(model, "param_table", None)) or isinstance(model, type):
            raise nd.DTypeError(f"HtmlReportListener.write: model must be a network, got {shown(model)}.")
        last = f"{self.scores[-1]:.6g} at iteration {self.iterations[-1]}" if self.scores else "none"
        sections = [("Score", self._score_curve(), f"{len(self.scores)} scores, last {last}")]
        if self.data is not None:
            evaluation = evaluated("HtmlReportListener", model, self.data, [Evaluation()], self.output)[0]
            sections.append(
                (
                    "Confusion matrix",
                    plot_confusion_matrix(evaluation.confusion, evaluation.labels_list),
                    evaluation.stats(),
                )
            )
        filters = first_filters(model)
        if filters:
            sections.append(("Filters of the first layer", self._grid(filters), f"{len(filters)} shown"))
        text = page(self.title, [(heading, _png(figure), words) for heading, figure, words in sections])
        with replacing("HtmlReportListener", self.path, _KIND) as file:
            file.write(text.encode())

    def _score_curve(self) -> Figure:
        figure = self._figures.Figure(figsize=(8, 4), layout="constrained")
        axes = figure.add_subplot(xlabel="iteration", ylabel="score")
        axes.plot(self.iterations, self.scores)
        axes.grid(alpha=0.3)
        if self.scores and min(self.scores) > 0 and max(self.scores) > 20 * min(self.scores):
            axes.set_yscale("log")
        return figure

    def _grid(self, filters: list[object]) -> Figure:
        width = math.ceil(math.sqrt(len(filters)))
        height = math.ceil(len(filters) / width)
        figure = self._figures.Figure(figsize=(width, height), layout="constrained")
        for number, pixels in enumerate(filters, 1):
            axes = figure.add_subplot(height, width, number)
            axes.imshow(pixels, cmap="gray")
            axes.set_axis_off()
        return figure


def first_filters(model: Any) -> list[Any]:
    """Return the first layer's weights as images ``[h, w]``, at most 64; none where they are none."""
    table = model.param_table()
    first = (f"{node.name}_W" for node in model.conf.nodes if node.inputs[0].node < 0)  # which read the features
    W = next((table[key] for key in first if key in table), None)
    if W is None:
        return []
    host = nd.to_host(W)
    if host.ndim == 4:  # [n_out, n_in, h, w]
        return [host[n].mean(0) for n in range(min(MOST_FILTERS, host.shape[0]))]
    side = math.isqrt(host.shape[0])
    if host.ndim != 2 or side < 2 or side * side != host.shape[0]:
        return []
    return [host[:, n].reshape(side, side) for n in range(min(MOST_FILTERS, host.shape[1]))]


def page(title: str, sections: list[tuple[str, bytes, str]]) -> str:
    """Return an HTML page of sections: a heading, the bytes of a PNG image, and text."""
    body = "".join(
        f"<h2>{html.escape(heading)}</h2>\n"
        f'<img alt="{html.escape(heading)}" src="data:image/png;base64,{base64.b64encode(image).decode()}">\n'
        f"<pre>{html.escape(words)}</pre>\n"
        for heading, image, words in sections
    )
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{html.escape(title)}</title>\n'
        f"<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{html.escape(title)}</h1>\n{body}</body>\n</html>\n"
    )


def _png(figure: Figure) -> bytes:
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=100, metadata={"Software": None})  # which has an address in it
    return stream.getvalue()
