"""The registry, the board, and what Prometheus reads of it."""

import queue
import re
import socket
import threading
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from urllib.error import HTTPError

import grpc
import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2_grpc import (
    MetricsServiceServicer,
    add_MetricsServiceServicer_to_server,
)

from msgx.telemetry import metrics
from msgx.telemetry.board import Board
from msgx.telemetry.export import Exports
from msgx.telemetry.listener import Listener
from msgx.telemetry.metric import Gauge
from tests.support.waiting import PATIENCE_SECONDS


def exports(board: Board) -> Exports:
    return Exports(board, environment="test", otlp_endpoint=None, period=15)


def test_names_are_unique_and_end_in_the_unit_of_a_time() -> None:
    names = [one.name for one in metrics.ALL]

    assert len(set(names)) == len(names)
    for one in metrics.ALL:
        assert re.fullmatch(r"msgx(\.[a-z]+(_[a-z]+)*)+", one.name), one.name
        assert (one.unit == "s") == one.name.endswith("_seconds"), one.name
        assert (one.unit == "By") == one.name.endswith("_bytes"), one.name
        assert one.meaning


@pytest.mark.parametrize("service", ["intake", "processor", "dispatcher", "api"])
def test_prometheus_reads_every_figure_under_the_name_that_the_registry_says(
    service: str,
) -> None:
    board = Board(service)
    for one in board.metrics:
        if isinstance(one, Gauge) and one is not metrics.GAUGES_AGE:
            board.put(one, {})
    if metrics.GAUGES_AGE in board.metrics:
        board.ask(metrics.GAUGES_AGE, lambda: 1.5)

    text = exports(board).text().decode()

    said = {line.split("{")[0].split(" ")[0] for line in text.splitlines() if line[0] != "#"}
    assert said == {one.prometheus for one in board.metrics}


def test_a_counter_is_there_from_the_beginning_and_a_gauge_once_it_was_read() -> None:
    board = Board("dispatcher")
    board.add(metrics.DELIVERED, 3, topic="msg")

    assert board.read(metrics.DELIVERED) == {("msg",): 3, ("schd",): 0}
    assert board.read(metrics.PENDING) == {}

    board.put(metrics.PENDING, {("schd",): 7})
    assert board.read(metrics.PENDING) == {("msg",): 0, ("schd",): 7}

    board.put(metrics.PENDING, {})
    assert board.read(metrics.PENDING) == {("msg",): 0, ("schd",): 0}

    board.withdraw(metrics.PENDING)
    assert board.read(metrics.PENDING) == {}


def test_values_of_labels_are_bounded() -> None:
    board = Board("dispatcher")
    for number in range(100):
        board.add(metrics.REFUSED, topic="msg", error_class=f"E{number}")
    board.put(metrics.DEAD_EVENTS, {("msg", f"E{number}"): 1 for number in range(100)})

    assert board.read(metrics.REFUSED)["msg", "other"] == 100
    assert board.read(metrics.DEAD_EVENTS)["msg", "other"] == 100
    assert len(board.read(metrics.REFUSED)) == len(list(metrics.REFUSED.series())) + 1


def test_what_another_service_says_or_a_label_that_is_not_declared_is_refused() -> None:
    board = Board("intake")

    with pytest.raises(ValueError, match="not a figure of intake"):
        board.add(metrics.DELIVERED, topic="msg")
    with pytest.raises(ValueError, match="has the labels round"):
        board.add(metrics.ROUNDS, topic="msg")


def test_metrics_are_answered_on_their_own_address_and_nothing_else_is() -> None:
    board = Board("dispatcher")
    board.set(metrics.READY, 1)
    with closing(Listener("127.0.0.1:0", exports(board).text)) as listener:
        where = f"http://127.0.0.1:{listener.port}"

        with urllib.request.urlopen(f"{where}/metrics", timeout=PATIENCE_SECONDS) as answer:  # noqa: S310
            kind, text = answer.headers["content-type"], answer.read().decode()
        with pytest.raises(HTTPError, match="404"):
            urllib.request.urlopen(f"{where}/", timeout=PATIENCE_SECONDS)  # noqa: S310

    assert kind.startswith("text/plain")
    assert "\nmsgx_service_ready 1.0\n" in text


class Collector(MetricsServiceServicer):
    """A collector that keeps what it was sent."""

    def __init__(self) -> None:
        self.seen: queue.Queue[ExportMetricsServiceRequest] = queue.Queue()

    def Export(
        self, request: ExportMetricsServiceRequest, context: object
    ) -> ExportMetricsServiceResponse:
        """Take one export."""
        self.seen.put(request)
        return ExportMetricsServiceResponse()


def test_figures_go_to_a_collector_by_otlp_with_the_name_of_their_service() -> None:
    collector = Collector()
    server = grpc.server(ThreadPoolExecutor(1))
    add_MetricsServiceServicer_to_server(collector, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    board = Board("dispatcher")
    board.add(metrics.DELIVERED, 3, topic="msg")

    with closing(
        Exports(
            board, environment="test", otlp_endpoint=f"http://127.0.0.1:{port}", period=0.05
        )
    ):
        request = collector.seen.get(timeout=PATIENCE_SECONDS)

    server.stop(0)
    (told,) = request.resource_metrics
    names = {one.key: one.value.string_value for one in told.resource.attributes}
    assert names["service.name"] == "dispatcher"
    assert names["deployment.environment.name"] == "test"
    sent = {one.name: one for scope in told.scope_metrics for one in scope.metrics}
    points = sent["msgx.dispatch.delivered"].sum.data_points
    assert {one.attributes[0].value.string_value: one.as_double for one in points} == {
        "msg": 3,
        "schd": 0,
    }


def test_a_collector_that_is_away_does_not_hold_up_the_end() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        where = f"http://127.0.0.1:{silent.getsockname()[1]}"
        exports = Exports(
            Board("dispatcher"), environment="test", otlp_endpoint=where, period=3600
        )
        ended = threading.Thread(target=exports.close)
        ended.start()
        ended.join(timeout=PATIENCE_SECONDS)

    assert not ended.is_alive()


def test_an_address_that_is_taken_says_which_parameter_names_it() -> None:
    with (
        closing(Listener("127.0.0.1:0", bytes)) as first,
        pytest.raises(SystemExit, match="MSGX_TELEMETRY__METRICS_BIND"),
    ):
        Listener(f"127.0.0.1:{first.port}", bytes)
