"""The dispatcher as a process: killed, stopped, replaced."""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from msgx.domain.delivery import Target
from services.dispatcher.settings import DispatcherSettings
from tests.support.dispatcher import add, changed, consume, once, states, versions
from tests.support.dispatcher_process import lines, running, started
from tests.support.waiting import PATIENCE_SECONDS, until

pytestmark = [pytest.mark.pg, pytest.mark.kafka, pytest.mark.system]


def sent(pg: "psycopg.Connection[Any]") -> int:
    return list(states(pg).values()).count("SENT")


def leader(pg: "psycopg.Connection[Any]") -> str:
    """Return the instance that leads, by its own words."""
    row = pg.execute(
        "SELECT instance FROM service_term WHERE service = 'dispatcher'"
    ).fetchone()
    assert row is not None
    return str(row[0])


@contextmanager
def marks_held(dsn: str) -> Iterator["psycopg.Connection[Any]"]:
    """Keep the service's term row, so that nobody can mark: each topic's wave is committed, and
    waits."""
    with psycopg.connect(dsn) as holder:
        holder.execute("SELECT FROM service_term WHERE service = 'dispatcher' FOR UPDATE")
        yield holder


@pytest.mark.covers("B65", "B71", "B40", "R29")
def test_killed_between_the_commit_and_the_mark_it_sends_again_under_the_same_ids(
    pg: "psycopg.Connection[Any]", pg_dsn: str, given: DispatcherSettings, tmp_path: Path
) -> None:
    with running(given, tmp_path / "log") as first:
        until(lambda: f":{first.pid}:" in leader(pg), "the first instance leads")
        with marks_held(pg_dsn):
            with pg.transaction():  # they are there at once, for one wave
                added = [add(pg, "7", version) for version in (1, 2, 3)]
                added += [add(pg, "7", 4, tombstone=True), add(pg, "8", 1)]
                state = add(pg, "7", 4, target=Target.SCHD, tombstone=True)
            until(lambda: len({one.event_id for one in consume(given)}) == 5, "msg committed")
            until(lambda: len(consume(given, Target.SCHD)) > 0, "schd committed")
            assert sent(pg) == 0
            first.kill()
            first.wait()
    with running(given, tmp_path / "log"):
        until(lambda: sent(pg) == 6, "all events marked")

    seen = consume(given)
    assert len(seen) > len(added)
    assert {one.event_id for one in seen} == set(added)
    assert len({(one.event_id, one.key, one.version, one.value) for one in seen}) == 5
    assert versions(seen, "7")[-4:] == [1, 2, 3, 4]
    assert {one.event_id for one in consume(given, Target.SCHD)} == {state}


@pytest.mark.covers("B40", "B03")
def test_killed_in_the_middle_of_a_backlog_the_next_one_sends_the_rest_in_order_and_in_time(
    pg: "psycopg.Connection[Any]", given: DispatcherSettings, tmp_path: Path
) -> None:
    backlog(pg, flights=50, each=20)
    # However late the kill comes, the first instance cannot come to the end.
    pg.execute("UPDATE msg_event SET released_at = NULL WHERE state_version > 15")
    with running(changed(given, batch=50), tmp_path / "first") as first:
        until(lambda: sent(pg) >= 500, "a part sent")
        first.kill()
        first.wait()
    pg.execute("UPDATE msg_event SET released_at = msgx_now() WHERE released_at IS NULL")
    with running(given, tmp_path / "again"):
        started(tmp_path / "again")
        until(lambda: sent(pg) == 1000, "the rest sent, long before a time-out of the first")

    seen = consume(given)
    assert len({one.event_id for one in seen}) == 1000
    for flid in range(1, 51):
        assert once(seen, str(flid)) == list(range(1, 21))


@pytest.mark.covers("B68", "B112")
def test_sigterm_marks_what_was_acknowledged_and_nothing_else(
    pg: "psycopg.Connection[Any]", pg_dsn: str, given: DispatcherSettings, tmp_path: Path
) -> None:
    with running(changed(given, batch=20), tmp_path / "log") as service:
        until(lambda: f":{service.pid}:" in leader(pg), "it leads")
        with marks_held(pg_dsn):
            backlog(pg, flights=100, each=60)
            until(lambda: len(consume(given)) == 20, "the first wave acknowledged")
            service.send_signal(signal.SIGTERM)
        status = service.wait(timeout=PATIENCE_SECONDS)

    told = states(pg)
    marked = sorted(event for event, state in told.items() if state == "SENT")
    assert status == 0
    assert len(marked) >= 20
    assert set(told.values()) == {"SENT", "PENDING"}
    assert sorted(one.event_id for one in consume(given)) == marked


@pytest.mark.covers("R14", "R13")
def test_a_standby_takes_over_when_the_leader_dies(
    pg: "psycopg.Connection[Any]", given: DispatcherSettings, tmp_path: Path
) -> None:
    with running(given, tmp_path / "first") as first:
        until(lambda: f":{first.pid}:" in leader(pg), "the first instance leads")
        with running(given, tmp_path / "second") as second:
            until(lambda: "another dispatcher leads" in log(tmp_path / "second"), "a standby")
            add(pg, "7", 1)
            until(lambda: sent(pg) == 1, "the leader sends")
            assert "delivered" not in log(tmp_path / "second")
            first.kill()
            until(lambda: f":{second.pid}:" in leader(pg), "the standby leads")
            add(pg, "7", 2)
            until(lambda: sent(pg) == 2, "the standby sends")

    assert versions(consume(given), "7") == [1, 2]


@pytest.mark.covers("R13", "R29")
@pytest.mark.slow
def test_an_instance_stopped_past_the_take_over_writes_nothing_afterwards(
    pg: "psycopg.Connection[Any]", pg_dsn: str, given: DispatcherSettings, tmp_path: Path
) -> None:
    short = {"MSGX_LEADERSHIP__TIMEOUT": "PT3S", "MSGX_KAFKA__PRODUCE_TIMEOUT": "PT2S"}
    with running(given, tmp_path / "first", **short) as first:
        until(lambda: f":{first.pid}:" in leader(pg), "the first instance leads")
        add(pg, "7", 1)
        until(lambda: sent(pg) == 1, "the first event sent")
        with marks_held(pg_dsn):
            add(pg, "7", 2)
            until(lambda: versions(consume(given), "7") == [1, 2], "the second committed")
            first.send_signal(signal.SIGSTOP)
        with running(given, tmp_path / "second", **short) as second:
            until(lambda: f":{second.pid}:" in leader(pg), "the second instance leads")
            add(pg, "7", 3)
            until(lambda: sent(pg) == 3, "the second instance sends")
            first.send_signal(signal.SIGCONT)
            until(lambda: "leads no more" in log(tmp_path / "first"), "the first steps down")
            add(pg, "7", 4)
            until(lambda: sent(pg) == 4, "the second instance still sends")
            ended(second)

    seen = consume(given)
    assert {one.event_id for one in seen} == set(states(pg))
    told = versions(seen, "7")
    assert set(told[told.index(3) :]) == {3, 4}


def ended(service: "subprocess.Popen[bytes]") -> None:
    """End the service in order."""
    service.send_signal(signal.SIGTERM)
    assert service.wait(timeout=PATIENCE_SECONDS) == 0


def log(path: Path) -> str:
    return "\n".join(lines(path))


def backlog(pg: "psycopg.Connection[Any]", *, flights: int, each: int) -> None:
    """Insert released events of many flights, in turn."""
    pg.execute(
        "INSERT INTO msg_event (target, partition_key, event_type, payload, state_version,"
        " msg_id, created_at, released_at)"
        " SELECT 'KAFKA:msg', (n %% %(flights)s + 1)::text, 'UPSERT', '{}',"
        "        n / %(flights)s + 1, n, msgx_now(), msgx_now()"
        " FROM generate_series(0, %(flights)s * %(each)s - 1) n ORDER BY n",
        {"flights": flights, "each": each},
    )
