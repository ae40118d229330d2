"""Records leave when their message is finished now, marked, and old; nothing else does."""

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from pydantic import SecretStr, ValidationError

from msgx.runtime.leadership import Standby
from msgx.runtime.session import Session
from msgx.settings import Database, Proc
from msgx.store import proc_retention, service_term
from msgx.store.service_term import Service
from services.intake.retention import BATCH, Retention
from tests.support.intake import lead, move_time

pytestmark = [pytest.mark.pg]

Pg = psycopg.Connection[Any]
MONTH = timedelta(days=30)
HALF_A_YEAR = timedelta(days=180)
_ADD = """
    INSERT INTO proc_state (msg_id, state, enqueued_at, updated_at, finished_at, backfill_at,
                            backfill_next_at, backfill_abandoned_at)
    SELECT id, %(state)s, at, at, CASE WHEN %(state)s NOT IN ('PENDING', 'FAILED') THEN at END,
           CASE %(mark)s WHEN 'confirmed' THEN at END, CASE %(mark)s WHEN 'owed' THEN at END,
           CASE %(mark)s WHEN 'given up' THEN at END
      FROM generate_series(%(first)s::bigint, %(last)s) AS id,
           (SELECT msgx_now() - %(age)s AS at) AS finished
"""
_EVENT = """
    INSERT INTO msg_event (target, partition_key, event_type, payload, state_version, msg_id,
                           created_at, released_at, state, sent_at)
    SELECT 'KAFKA:msg', '1', 'UPSERT', '{}', 1, %s, at, at, %s, CASE %s WHEN 'SENT' THEN at END
      FROM (SELECT msgx_now() - interval '31 days' AS at) AS made
"""


def add(
    pg: Pg,
    first: int,
    last: int | None = None,
    *,
    state: str = "SUCCEEDED",
    mark: str = "confirmed",
    days: int = 31,
) -> None:
    """Insert records that were last touched so long ago."""
    age = timedelta(days=days)
    last = last or first
    pg.execute(_ADD, {"first": first, "last": last, "state": state, "mark": mark, "age": age})


def ours(dsn: str) -> str:
    return make_conninfo(dsn, user="msgx_intake", password="msgx")


@pytest.fixture
def highest(pg: Pg) -> int:
    """A young record above all others: the highest one always stays."""
    add(pg, 1_000_000, days=0)
    return 1_000_000


@pytest.fixture
def retention(pg: Pg, pg_dsn: str) -> Iterator[Retention]:
    with closing(Session(Database(dsn=SecretStr(ours(pg_dsn))), "intake-retention")) as one:
        yield Retention(one, lead(pg), records=MONTH, dead=HALF_A_YEAR)


@pytest.mark.covers("US-11", "INV-25", "R37", "R38", "R44", "G-PROC-CLEANUP")
def test_what_is_finished_marked_and_old_leaves_and_all_else_stays(
    pg: Pg, retention: Retention, registered: Callable[[], list[int]], highest: int
) -> None:
    add(pg, 1)
    add(pg, 2, state="SKIPPED")
    add(pg, 3, state="DEAD")  # its text is there for half a year
    add(pg, 4, state="DEAD", days=181)
    add(pg, 5, mark="owed", days=900)
    add(pg, 6, mark="given up", days=900)
    add(pg, 7, state="PENDING", mark="none", days=900)
    add(pg, 8, state="FAILED", days=900)  # put back, and marked in an earlier life
    add(pg, 9, days=29)

    rest = retention.step()
    left = registered()
    move_time(pg, timedelta(days=160))
    retention.step()
    retention.step()

    assert left == [3, 5, 6, 7, 8, 9, highest]
    assert registered() == [5, 6, 7, 8, highest]
    assert rest > timedelta()


@pytest.mark.covers("US-11", "R11")
def test_the_highest_record_stays_so_that_what_comes_late_is_known(
    pg: Pg, retention: Retention, registered: Callable[[], list[int]]
) -> None:
    add(pg, 1, 3)

    retention.step()

    assert registered() == [3]


@pytest.mark.covers("US-11", "US-08")
def test_a_record_stays_until_its_events_are_delivered_or_given_up(
    pg: Pg, retention: Retention, registered: Callable[[], list[int]], highest: int
) -> None:
    add(pg, 1, 4)
    for msg_id, state in enumerate(("PENDING", "DEAD", "SENT", "DISCARDED"), start=1):
        pg.execute(_EVENT, (msg_id, state, state))

    retention.step()

    assert registered() == [1, 2, highest]


@pytest.mark.covers("US-11")
def test_nothing_leaves_while_much_waits_for_delivery(
    pg: Pg,
    retention: Retention,
    registered: Callable[[], list[int]],
    highest: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    add(pg, 1)
    for _ in range(3):
        pg.execute(_EVENT, (None, "PENDING", "PENDING"))

    monkeypatch.setattr(proc_retention, "MOST_WAITING", 2)
    retention.step()
    before = registered()
    monkeypatch.setattr(proc_retention, "MOST_WAITING", 3)
    retention.step()
    retention.step()

    assert before == [1, highest]
    assert registered() == [highest]


@pytest.mark.covers("US-11", "R05")
def test_the_tries_of_a_record_leave_with_it(
    pg: Pg, retention: Retention, highest: int
) -> None:
    add(pg, 1)
    add(pg, 2, days=1)
    pg.execute(
        "INSERT INTO proc_attempt SELECT id, try, msgx_now(), 'INFRA', 'away'"
        "  FROM generate_series(1, 2) AS id, generate_series(1, 3) AS try"
    )

    retention.step()

    rows = pg.execute("SELECT DISTINCT msg_id FROM proc_attempt").fetchall()
    assert rows == [(2,)]


@pytest.mark.covers("INV-25", "R43", "R44")
def test_a_replay_that_is_first_keeps_its_record(
    pg: Pg, pg_dsn: str, retention: Retention, registered: Callable[[], list[int]], highest: int
) -> None:
    add(pg, 1, 2, state="DEAD", days=200)
    with psycopg.connect(pg_dsn) as replay:
        replay.execute(
            "UPDATE proc_state SET state = 'PENDING', finished_at = NULL,"
            " updated_at = msgx_now() WHERE msg_id = 1"
        )
        retention.step()
        while_it_is_held = registered()
        replay.commit()
    retention.step()
    retention.step()

    assert while_it_is_held == [1, highest]
    assert registered() == [1, highest]


@pytest.mark.covers("US-11", "R13")
def test_a_page_is_small_and_the_walk_goes_on_from_it_also_after_a_crash(
    pg: Pg, pg_dsn: str, retention: Retention, registered: Callable[[], list[int]], highest: int
) -> None:
    add(pg, 1, BATCH, mark="given up")  # a page of which nothing leaves
    add(pg, BATCH + 1, 2 * BATCH + 20)

    rests = [retention.step(), retention.step()]
    after_two = len(registered())
    with closing(Session(Database(dsn=SecretStr(ours(pg_dsn))), "intake-retention")) as one:
        anew = Retention(one, lead(pg), records=MONTH, dead=HALF_A_YEAR)
        rests += [anew.step(), anew.step(), anew.step()]

    assert after_two == BATCH + 20 + 1
    assert registered() == [*range(1, BATCH + 1), highest]
    assert rests[0] == rests[1] < rests[-1]


@pytest.mark.covers("R13", "R14")
def test_a_deposed_instance_deletes_no_record(
    pg: Pg, retention: Retention, registered: Callable[[], list[int]], highest: int
) -> None:
    add(pg, 1)
    service_term.take_over(pg, Service.INTAKE, "another")

    with pytest.raises(Standby):
        retention.step()

    assert registered() == [1, highest]


@pytest.mark.covers("US-11", "B62")
def test_a_page_reads_by_key_and_little_else(pg: Pg, pg_dsn: str, highest: int) -> None:
    add(pg, 1, 20_000, days=1)
    pg.execute("ANALYZE proc_state")
    statement = proc_retention._PAGE
    for name, value in {
        "after": "100",
        "keep": "'P30D'",
        "dead": "'P180D'",
        "limit": "500",
        "most": "10000",
    }.items():
        statement = statement.replace(f"%({name})s", value)
    with psycopg.connect(ours(pg_dsn), autocommit=True) as conn:
        conn.execute("SET enable_seqscan = off")  # as a session `by_key` has it
        row = conn.execute(f"EXPLAIN (FORMAT JSON) {statement}".encode()).fetchone()

    assert row is not None
    plan = json.dumps(row[0])
    assert "proc_state_pkey" in plan
    assert '"Seq Scan"' not in plan


@pytest.mark.covers("CLM-6", "US-11")
@pytest.mark.parametrize("role", ["processor", "refdata", "dispatcher", "api", "admin_api"])
@pytest.mark.parametrize("table", ["proc_state", "proc_attempt"])
def test_only_intake_may_delete_records(pg: Pg, role: str, table: str) -> None:
    may = "SELECT has_table_privilege(%s, %s, 'DELETE')"

    assert pg.execute(may, (f"msgx_{role}", table)).fetchone() == (False,)
    assert pg.execute(may, ("msgx_intake", table)).fetchone() == (True,)


@pytest.mark.covers("R02", "R37")
def test_a_record_is_kept_for_a_day_at_least() -> None:
    """By less, a mailbox row that comes back could not be told from a new one."""
    with pytest.raises(ValidationError):
        Proc(retention=timedelta(hours=23))

    assert Proc(retention=timedelta(days=1)).retention == timedelta(days=1)
