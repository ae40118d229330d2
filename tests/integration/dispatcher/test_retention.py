"""Delivered events leave after their time; nothing else does."""

import json
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from msgx.domain.delivery import Target
from msgx.runtime.leadership import Standby
from msgx.runtime.session import Session
from msgx.store import dead_event, delivery, event_retention, service_term
from msgx.store.service_term import Service
from services.dispatcher.retention import BATCH, Retention
from services.dispatcher.settings import DispatcherSettings
from tests.support.asked import asked
from tests.support.dispatcher import add, leading, ours, settings, states

pytestmark = [pytest.mark.pg]
WEEK = timedelta(days=7)
AGED = """
    UPDATE msg_event SET sent_at = sent_at - interval '8 days',
           discarded_at = discarded_at - interval '8 days', created_at = created_at
           - interval '9 days', released_at = released_at - interval '8 days'
"""
REGISTER = """
    INSERT INTO proc_state (msg_id, state, enqueued_at, updated_at, finished_at,
                            backfill_next_at)
    VALUES (%s, %s, msgx_now(), msgx_now(), CASE WHEN %s THEN msgx_now() END,
            CASE WHEN %s THEN msgx_now() END)
"""


@pytest.fixture
def unsent(pg_dsn: str) -> DispatcherSettings:
    """The service's settings; nothing here reaches a broker."""
    return settings(pg_dsn, "127.0.0.1:1", "")


@pytest.fixture
def retention(unsent: DispatcherSettings) -> Iterator[Retention]:
    session = Session(unsent.database, "dispatcher-retention", by_key=True)
    with (
        leading(unsent) as leadership,
        closing(Retention(leadership, session, events=WEEK, requests=WEEK)) as one,
    ):
        yield one


def discarded(pg: "psycopg.Connection[Any]", flid: str, version: int, **more: Any) -> int:
    """Insert an event that is dead, and give it up."""
    event = add(pg, flid, version, state="DEAD", **more)
    assert dead_event.discard(pg, dead_event.Choice(event_id=event), limit=1) == 1
    return event


def register(pg: "psycopg.Connection[Any]", msg_id: int, state: str) -> None:
    finished = state not in ("PENDING", "FAILED")
    pg.execute(REGISTER, (msg_id, state, finished, finished))


@pytest.mark.covers("B62", "B08", "R37")
def test_only_delivered_events_past_their_time_leave(
    pg: "psycopg.Connection[Any]", retention: Retention
) -> None:
    register(pg, 1, "SUCCEEDED")
    gone = [
        add(pg, "1", 1, state="SENT"),
        add(pg, "2", 1, state="SENT", msg_id=None),
        add(pg, "3", 1, state="SENT", msg_id=99),  # its message has left before it
        add(pg, "4", 2, state="SENT", target=Target.SCHD, tombstone=True),
        discarded(pg, "1", 4),
        discarded(pg, "5", 1, target=Target.SCHD, tombstone=True),
    ]
    kept = [
        add(pg, "1", 2),
        add(pg, "1", 3, state="DEAD"),
        add(pg, "1", 4, state="SENT", target=Target.SCHD),  # the state of a living flight
        discarded(pg, "2", 4, target=Target.SCHD),
    ]
    pg.execute(AGED)
    young = [add(pg, "1", 5, state="SENT"), discarded(pg, "1", 6)]

    retention.step()

    assert sorted(states(pg)) == sorted([*kept, *young])
    assert not set(gone) & set(states(pg))


@pytest.mark.covers("B08")
@pytest.mark.parametrize("state", ["PENDING", "FAILED"])
def test_what_a_message_made_stays_while_it_is_open_again(
    pg: "psycopg.Connection[Any]", retention: Retention, state: str
) -> None:
    register(pg, 7, state)
    event = add(pg, "1", 1, state="SENT", msg_id=7)
    pg.execute(AGED)

    retention.step()

    assert list(states(pg)) == [event]


@pytest.mark.covers("B62")
def test_a_batch_is_small_and_a_full_one_is_followed_soon(
    pg: "psycopg.Connection[Any]", retention: Retention
) -> None:
    fill(pg, BATCH + 20, days=8)

    first = retention.step()
    left = len(states(pg))
    second = retention.step()

    assert (left, len(states(pg))) == (20, 0)
    assert timedelta() < first < second


@pytest.mark.covers("US-09", "B62", "G-REQ-TRACK-RETENTION")
def test_only_closed_requests_past_their_time_leave(
    pg: "psycopg.Connection[Any]", retention: Retention
) -> None:
    old, young = (asked(pg, state="EXPIRED") for _ in range(2))
    unknown = asked(pg, state="UNKNOWN", left=-2 * WEEK)
    aged = "UPDATE req_track SET closed_at = closed_at - interval '8 days' WHERE req_id = %s"
    pg.execute(aged, (old,))

    retention.step()

    left = pg.execute("SELECT req_id FROM req_track ORDER BY req_id").fetchall()
    assert left == [(young,), (unknown,)]


@pytest.mark.covers("R13")
def test_a_deposed_instance_deletes_nothing(
    pg: "psycopg.Connection[Any]", retention: Retention
) -> None:
    fill(pg, 3, days=8)
    pg.execute("UPDATE service_term SET term = term + 1 WHERE service = 'dispatcher'")

    with pytest.raises(Standby):
        retention.step()

    assert len(states(pg)) == 3


@pytest.mark.covers("B62", "R13")
def test_a_batch_that_is_deleted_holds_up_neither_claim_nor_mark(
    pg: "psycopg.Connection[Any]", pg_dsn: str
) -> None:
    fill(pg, BATCH, days=8)
    event = add(pg, "7", 1)
    with (
        psycopg.connect(ours(pg_dsn)) as deleting,  # and not committed
        psycopg.connect(ours(pg_dsn), options="-c lock_timeout=100") as delivering,
    ):
        service_term.share(deleting, Service.DISPATCHER, 0)
        assert event_retention.delete(deleting, keep=WEEK, limit=BATCH) == BATCH

        service_term.share(delivering, Service.DISPATCHER, 0)
        claimed = delivery.claim(
            delivering, Target.MSG,
            limit=9, max_bytes=99, wave_bytes=99, hold=True, part=9,
        )  # fmt: skip
        assert [one.event_id for one in claimed] == [event]
        assert delivery.mark_sent(delivering, Target.MSG, claimed) == 1


@pytest.mark.covers("B62")
def test_a_batch_reads_the_index_of_what_was_sent_and_little_else(
    pg: "psycopg.Connection[Any]", pg_dsn: str
) -> None:
    fill(pg, 20_000, days=1)
    fill(pg, 30, days=8)
    fill(pg, 20_000, days=9, target=Target.SCHD)  # flights that did not change for long
    pg.execute("ANALYZE msg_event")
    statement = event_retention._DELETE.replace("%(keep)s", "'P7D'").replace("%(limit)s", "9")
    with psycopg.connect(ours(pg_dsn), autocommit=True) as conn:
        conn.execute("SET enable_seqscan = off")  # as a session `by_key` has it
        row = conn.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}".encode()).fetchone()

    assert row is not None
    (scan,) = (one for one in nodes(row[0][0]["Plan"]) if one.get("Alias") == "e")
    assert scan["Index Name"] == "msg_event_over"
    assert scan["Actual Rows"] + scan.get("Rows Removed by Filter", 0) == 9
    assert '"Seq Scan"' not in json.dumps(row[0])
    assert len(states(pg)) == 40_021


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield every node of a plan."""
    yield plan
    for child in plan.get("Plans", []):
        yield from nodes(child)


def fill(
    pg: "psycopg.Connection[Any]", count: int, *, days: int, target: Target = Target.MSG
) -> None:
    """Insert events that were sent so long ago."""
    pg.execute(
        "INSERT INTO msg_event (target, partition_key, event_type, payload, state_version,"
        " created_at, released_at, state, sent_at)"
        " SELECT %s, n::text, 'UPSERT', '{}', n, at, at, 'SENT', at"
        "   FROM generate_series(1, %s) n, (SELECT msgx_now() - %s AS at) sent",
        (target, count, timedelta(days=days)),
    )
