"""What a metric is: a name, a unit, a meaning, and labels whose values are known beforehand."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from types import MappingProxyType
from typing import Final, TypeAlias

OTHER: Final = "other"
"""What a label says of a value that its metric does not know: series stay bounded."""

Values: TypeAlias = Mapping[tuple[str, ...], float]
"""A value for each combination of label values, in the order of the metric's labels."""


def _no_labels() -> Mapping[str, tuple[str, ...]]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True, eq=False)  # there is one of each
class Metric:
    """One figure of one or more services."""

    name: str
    unit: str  # UCUM; things are counted in braces
    services: tuple[str, ...] = field(kw_only=True)  # that export it
    meaning: str = field(kw_only=True)
    labels: Mapping[str, tuple[str, ...]] = field(kw_only=True, default_factory=_no_labels)

    @property
    def prometheus(self) -> str:
        """Return the name in Prometheus."""
        return self.name.replace(".", "_")

    def series(self) -> Iterator[tuple[str, ...]]:
        """Yield every combination of label values that is known beforehand."""
        return product(*self.labels.values())

    def key(self, labels: Mapping[str, str]) -> tuple[str, ...]:
        """Return the series of `labels`; a value that is not known counts as OTHER.

        Raises:
            ValueError: these are not the labels of this metric.
        """
        if labels.keys() != self.labels.keys():
            raise ValueError(f"{self.name} has the labels {', '.join(self.labels) or 'none'}")
        return self.bounded(labels[name] for name in self.labels)

    def bounded(self, key: Iterable[str]) -> tuple[str, ...]:
        """Return `key` with OTHER in place of what is not known."""
        known = self.labels.values()
        return tuple(
            one if one in all_ else OTHER for one, all_ in zip(key, known, strict=True)
        )


class Gauge(Metric):
    """What is now; read from a table or from the process itself."""

    __slots__ = ()


class Counter(Metric):
    """How often something happened since the process began; only what no table says."""

    __slots__ = ()

    @property
    def prometheus(self) -> str:
        """Return the name in Prometheus."""
        return f"{self.name.replace('.', '_')}_total"
