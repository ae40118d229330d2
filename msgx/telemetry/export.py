"""The ways out: Prometheus text over HTTP and OTLP, both from one board through the
OpenTelemetry SDK. A reading takes what the board holds; it asks no server."""

from collections.abc import Callable, Iterable
from typing import Final

from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.metrics import CallbackOptions, Observation
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricReader, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from prometheus_client import CollectorRegistry, generate_latest

from msgx.telemetry.board import Board
from msgx.telemetry.metric import Counter, Metric

_OTLP_TIMEOUT_SECONDS: Final = 5.0
_LAST_EXPORT_MS: Final = 1000.0
_METER: Final = "msgx"


class Exports:
    """The exporters of one board. Nothing of it is global to the process."""

    def __init__(
        self, board: Board, *, environment: str, otlp_endpoint: str | None, period: float
    ) -> None:
        self._registry = CollectorRegistry()
        readers: list[MetricReader] = [
            PrometheusMetricReader(
                scope_info_enabled=False, disable_target_info=True, registry=self._registry
            )
        ]
        if otlp_endpoint is not None:
            exporter = OTLPMetricExporter(
                endpoint=otlp_endpoint,
                insecure=otlp_endpoint.startswith("http://"),
                timeout=_OTLP_TIMEOUT_SECONDS,
            )
            readers.append(PeriodicExportingMetricReader(exporter, period * 1000))
        resource = Resource(
            {
                "service.namespace": "msgx",
                "service.name": board.service,
                "deployment.environment.name": environment,
            }
        )
        self._provider = MeterProvider(readers, resource, shutdown_on_exit=False)
        meter = self._provider.get_meter(_METER)
        for metric in board.metrics:
            create = (
                meter.create_observable_counter
                if isinstance(metric, Counter)
                else meter.create_observable_gauge
            )
            create(metric.name, [_observing(board, metric)], metric.unit, metric.meaning)

    def text(self) -> bytes:
        """Return every figure as Prometheus reads it."""
        return generate_latest(self._registry)

    def close(self) -> None:
        """End the exporters; a collector that is away delays it by a moment only."""
        self._provider.shutdown(_LAST_EXPORT_MS)


def _observing(
    board: Board, metric: Metric
) -> Callable[[CallbackOptions], Iterable[Observation]]:
    def observe(_: CallbackOptions) -> Iterable[Observation]:
        names = tuple(metric.labels)
        return [
            Observation(value, dict(zip(names, key, strict=True)))
            for key, value in board.read(metric).items()
        ]

    return observe
