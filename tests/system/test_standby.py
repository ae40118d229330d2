"""One processor leads; a second one waits, takes over, and the first one never writes again."""

import signal
import threading
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from tests.support.messages import adft, fltr, stand
from tests.support.process import Process
from tests.support.processor import Line
from tests.support.processor_process import (
    SOON_LOST,
    held,
    processing,
    wait_for_end,
    wait_for_lock,
)
from tests.support.waiting import PATIENCE_SECONDS, until

pytestmark = [pytest.mark.system, pytest.mark.pg, pytest.mark.mysql, pytest.mark.redis]

TERM = "SELECT term FROM service_term WHERE service = 'processor'"
INSTANCE = "SELECT instance FROM service_term WHERE service = 'processor'"


class Watch:
    """An open health Watch that remembers what it was told, until the server ends it."""

    def __init__(self, process: Process) -> None:
        port = process.logged("started")[0]["port"]
        self._channel = grpc.insecure_channel(f"127.0.0.1:{port}")
        stub: Any = health_pb2_grpc.HealthStub(self._channel)
        self._stream = stub.Watch(health_pb2.HealthCheckRequest(service=""))
        self.told: list[str] = []
        self._thread = threading.Thread(target=self._collect)
        self._thread.start()

    def completed(self) -> list[str]:
        """Return what was told once the server has ended the Watch."""
        self._thread.join(PATIENCE_SECONDS)
        assert not self._thread.is_alive(), "the Watch is still open"
        self._channel.close()
        return self.told

    def _collect(self) -> None:
        names = health_pb2.HealthCheckResponse.ServingStatus
        try:
            for answer in self._stream:
                self.told.append(names.Name(answer.status))
        except grpc.RpcError:
            pass


@pytest.mark.covers("B104", "B105", "OPS-1")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_says_not_serving_first_and_ends_cleanly_with_an_open_watch(
    line: Line, number: int
) -> None:
    with processing(line) as process:
        process.wait_for_health("SERVING")
        watch = Watch(process)
        until(lambda: watch.told, "the Watch is open")

        process.child.send_signal(number)

        assert process.ended() == 0
        assert watch.completed() == ["SERVING", "NOT_SERVING"]
    assert process.logged("stopped")
    assert not process.logged("loop fault")


@pytest.mark.covers("R14", "B48", "INV-20b")
def test_a_standby_waits_and_takes_over_when_the_leader_is_killed(line: Line) -> None:
    with processing(line) as first:
        first.wait_for_health("SERVING")
        leader, term = line.one(INSTANCE), line.one(TERM)
        with processing(line) as second:
            until(lambda: second.logged("waits"), "the second one waits")
            wait_for_end(line, line.land(adft(fltr("1"))))
            assert second.health() == "NOT_SERVING"
            assert line.one(TERM) == term
            first.kill()

            second.wait_for_health("SERVING")
            wait_for_end(line, line.land(stand("7", "1")))

            assert line.one(TERM) == term + 1
            assert line.one(INSTANCE) != leader
            line.agree()


@pytest.mark.covers("R14", "B104")
def test_a_standby_takes_over_when_the_leader_stops(line: Line) -> None:
    with processing(line) as first:
        first.wait_for_health("SERVING")
        with processing(line) as second:
            until(lambda: second.logged("waits"), "the second one waits")

            assert first.terminate() == 0

            second.wait_for_health("SERVING")


@pytest.mark.covers("B42", "R13", "INV-20b")
def test_a_leader_that_stands_still_is_replaced_and_writes_nothing_when_it_wakes(
    line: Line,
) -> None:
    with (
        processing(line, **SOON_LOST) as old,
        processing(line, **SOON_LOST, MSGX_PIPELINE__PREFETCH="1") as new,
    ):
        until(lambda: old.logged("leads") or new.logged("leads"), "one leads")
        if new.logged("leads"):
            old, new = new, old
        wait_for_end(line, line.land(adft(fltr("1"))))
        term = line.one(TERM)
        with held(line, "SELECT 1 FROM flight_schd WHERE flid = '1'"):
            head = line.land(stand("7", "1"))
            wait_for_lock(line)
            old.child.send_signal(signal.SIGSTOP)
        after = line.land(stand("8", "1"))

        wait_for_end(line, after)
        new.wait_for_health("SERVING")
        frozen = state_of(line)
        old.child.send_signal(signal.SIGCONT)
        until(lambda: old.logged("leads no more"), "the old one steps down")
        until(
            lambda: [one for one in old.logged("waits") if "leads" in one["reason"]],
            "the old one waits",
        )

        assert old.health() == "NOT_SERVING"
        assert state_of(line) == frozen
        assert line.one(TERM) == term + 1
        assert line.end(head)[0] == line.end(after)[0] == "SUCCEEDED"
        assert line.flight().state_version == 3
        line.agree()


def state_of(line: Line) -> list[Any]:
    """Everything that a stale writer could touch."""
    tables = ("proc_state", "flight_schd", "flight_journal", "msg_event", "service_term")
    shown = line.redis.hgetall(line.keys.flights)
    return [shown, *(line.rows(f"SELECT * FROM {table} ORDER BY 1") for table in tables)]
