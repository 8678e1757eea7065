"""StatsListener and the storage that it writes to."""

from __future__ import annotations

from nd.arguments import Count, checked
from nd.classes import ExplainedType
from optimize.listeners import StatisticsListener
from optimize.listeners.statistics import StatisticsRecord


class InMemoryStatsStorage(metaclass=ExplainedType):
    """Holds the records of a StatsListener.

    Attributes
    ----------
    records : list of StatisticsRecord
    """

    def __init__(self) -> None:
        self.records: list[StatisticsRecord] = []


class StatsListener(StatisticsListener):
    """Keeps statistics of every iteration in a storage.

    Parameters
    ----------
    storage : InMemoryStatsStorage, optional
    frequency : int

    Notes
    -----
    Source: DL4J ``StatsListener``. Differs: there is no web page; HtmlReportListener writes one into a file.
    """

    @checked
    def __init__(self, storage: InMemoryStatsStorage | None = None, frequency: Count = 1) -> None:
        super().__init__(frequency)
        if storage is not None:
            self.records = storage.records
