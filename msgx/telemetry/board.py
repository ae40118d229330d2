"""The board: the values of a process's metrics now. Any thread writes, exporters read."""

import threading
from collections.abc import Callable, Mapping

from msgx.telemetry import metrics
from msgx.telemetry.metric import Counter, Gauge, Metric, Values


class Board:
    """The figures of one service.

    A gauge has no series until it was read, and then one for every combination of its labels; a
    counter has them from the beginning, so that its first step is seen.
    """

    def __init__(self, service: str) -> None:
        self.service = service
        self.metrics = tuple(one for one in metrics.ALL if service in one.services)
        self._guard = threading.Lock()
        self._asked: dict[str, Callable[[], float | None]] = {}
        self._values: dict[str, dict[tuple[str, ...], float]] = {
            one.name: dict.fromkeys(one.series(), 0.0)
            for one in self.metrics
            if isinstance(one, Counter)
        }

    def add(self, counter: Counter, amount: float = 1, **labels: str) -> None:
        """Count.

        Raises:
            ValueError: the labels are not those of the counter, or it is another service's.
        """
        self._check(counter)
        key = counter.key(labels)
        with self._guard:
            series = self._values[counter.name]
            series[key] = series.get(key, 0.0) + amount

    def put(self, gauge: Gauge, values: Values) -> None:
        """Say what a gauge is now; a combination of labels that `values` lacks is zero.

        Raises:
            ValueError: a key has another number of labels, or it is another service's.
        """
        self._check(gauge)
        series = dict.fromkeys(gauge.series(), 0.0)
        for key, value in values.items():
            known = gauge.bounded(key)
            series[known] = series.get(known, 0.0) + value
        with self._guard:
            self._values[gauge.name] = series

    def set(self, gauge: Gauge, value: float) -> None:
        """Say what a gauge without labels is now."""
        self.put(gauge, {(): value})

    def ask(self, gauge: Gauge, question: Callable[[], float | None]) -> None:
        """Ask `question` whenever a gauge without labels is read: it must answer at once, and
        None means that it does not know."""
        self._check(gauge)
        self._asked[gauge.name] = question

    def withdraw(self, *gauges: Gauge) -> None:
        """Say nothing of these gauges any more: this instance does not know."""
        with self._guard:
            for gauge in gauges:
                self._values.pop(gauge.name, None)

    def read(self, metric: Metric) -> Mapping[tuple[str, ...], float]:
        """Return the series of a metric; none: it is not known."""
        if (question := self._asked.get(metric.name)) is not None:
            answer = question()
            return {} if answer is None else {(): answer}
        with self._guard:
            return dict(self._values.get(metric.name, {}))

    def _check(self, metric: Metric) -> None:
        if self.service not in metric.services:
            raise ValueError(f"{metric.name} is not a figure of {self.service}")
