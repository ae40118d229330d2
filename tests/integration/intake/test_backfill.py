"""Writing the owed marks back, step by step, on real servers."""

import logging
import threading
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import psycopg
import pytest

from msgx import clock
from msgx.domain.failure import Away
from msgx.runtime.leadership import Standby
from tests.support.intake import (
    Debt,
    backfilling,
    debt,
    land,
    land_many,
    lead,
    mark_of,
    move_time,
    owe,
    run,
    upstream,
    waits_for_a_table,
)
from tests.support.relay import relayed
from tests.support.waiting import PATIENCE_SECONDS, until

pytestmark = [pytest.mark.pg, pytest.mark.mysql]

Pg = psycopg.Connection[Any]

HOUR = timedelta(hours=1)
NOON = datetime(2026, 6, 15, 4, 0, 0, 987_000, tzinfo=UTC)
LOCAL_NOON = datetime(2026, 6, 15, 12, 0)  # noqa: DTZ001 - as the mailbox stores it
SETTLED = Debt(confirmed=True, abandoned=None, attempts=0, next_at=None)


def confirmed(pg: Pg) -> list[int]:
    query = "SELECT msg_id FROM proc_state WHERE backfill_at IS NOT NULL ORDER BY msg_id"
    return [row[0] for row in pg.execute(query).fetchall()]


def recently() -> datetime:
    return clock.now() - timedelta(minutes=1)


@pytest.mark.covers("INV-8", "INV-7", "R52")
def test_a_finished_message_gets_its_mark_and_an_open_one_does_not(
    pg: Pg, pg_dsn: str, mailbox_url: str, adapter: Any
) -> None:
    land_many(adapter, range(1, 3))
    owe(pg, 1, finished_at=NOON)
    pg.execute(
        "INSERT INTO proc_state (msg_id, enqueued_at, updated_at) VALUES (2, now(), now())"
    )

    with backfilling(pg_dsn, mailbox_url, lead(pg)) as backfiller:
        backfiller.step()

    assert [mark_of(adapter, msg_id) for msg_id in (1, 2)] == [LOCAL_NOON, None]
    assert debt(pg, 1) == SETTLED
    assert not debt(pg, 2).confirmed


@pytest.mark.covers("INV-7")
def test_a_mark_that_somebody_else_wrote_stays_and_settles_the_debt(
    pg: Pg, pg_dsn: str, mailbox_url: str, adapter: Any
) -> None:
    theirs = LOCAL_NOON - timedelta(days=1)
    land(adapter, 1, date_processed=theirs)
    owe(pg, 1, finished_at=NOON)

    with backfilling(pg_dsn, mailbox_url, lead(pg)) as backfiller:
        backfiller.step()

    assert mark_of(adapter, 1) == theirs
    assert debt(pg, 1) == SETTLED


@pytest.mark.covers("INV-8", "B54")
def test_a_row_deleted_before_its_mark_is_given_up_at_once_and_not_confirmed(
    pg: Pg,
    pg_dsn: str,
    mailbox_url: str,
    adapter: Any,
    caplog: pytest.LogCaptureFixture,
) -> None:
    land(adapter, 2)
    for msg_id in (1, 2):
        owe(pg, msg_id, finished_at=recently())

    with backfilling(pg_dsn, mailbox_url, lead(pg)) as backfiller:
        backfiller.step()
        backfiller.step()

    assert debt(pg, 1) == Debt(
        confirmed=False, abandoned="MISSING_ROW", attempts=1, next_at=None
    )
    assert debt(pg, 2) == SETTLED
    said = [record for record in caplog.records if record.message == "marks abandoned"]
    assert [(one.levelno, vars(one)["first"]) for one in said] == [
        (logging.WARNING, {1: "MISSING_ROW"})
    ]


@pytest.mark.covers("B21")
def test_abandoned_and_waiting_rows_do_not_occupy_the_page(
    pg: Pg, pg_dsn: str, mailbox_url: str, adapter: Any
) -> None:
    land_many(adapter, range(1, 52))
    now = clock.now()
    for msg_id in range(1, 26):
        owe(pg, msg_id, finished_at=now - 9 * HOUR, abandoned_at=now, attempts=3)
    for msg_id in range(26, 51):
        owe(pg, msg_id, finished_at=recently(), next_at=now + HOUR)
    owe(pg, 51, finished_at=recently(), attempts=1)

    with backfilling(pg_dsn, mailbox_url, lead(pg), backfill_batch=20) as backfiller:
        backfiller.step()

    assert confirmed(pg) == [51]


@pytest.mark.covers("B21", "R43")
def test_rows_that_always_fail_take_turns_with_the_healthy_ones(
    pg: Pg, pg_dsn: str, mailbox_url: str, adapter: Any
) -> None:
    land_many(adapter, range(1, 27))
    for msg_id in range(1, 27):
        owe(pg, msg_id, finished_at=recently())

    with (
        upstream(mailbox_url) as holder,
        backfilling(pg_dsn, mailbox_url, lead(pg), backfill_batch=20) as backfiller,
    ):
        holder.begin()
        for msg_id in range(1, 26):  # one by one: a range would lock its neighbour too
            run(holder, "SELECT 1 FROM CMINMSGS WHERE CMINMSGS_ID = %s FOR UPDATE", msg_id)
        move_time(pg, timedelta(minutes=1))
        backfiller.step()
        move_time(pg, timedelta(minutes=2))  # all that failed is due again
        backfiller.step()
        healthy = confirmed(pg)
        holder.rollback()
        for _ in range(2):
            move_time(pg, timedelta(minutes=10))
            backfiller.step()

    assert healthy == [26]
    assert confirmed(pg) == list(range(1, 27))


@pytest.mark.covers("R04", "B12", "INV-16", "US-10")
def test_a_mailbox_that_is_away_postpones_longer_each_time_and_gives_up_only_after_r(
    pg: Pg, pg_dsn: str, mailbox_url: str, adapter: Any
) -> None:
    land(adapter, 1)
    owe(pg, 1, finished_at=clock.now())
    waits = []
    with (
        relayed(mailbox_url) as (relay, url),
        backfilling(pg_dsn, url, lead(pg)) as backfiller,
    ):
        relay.cut()
        for attempt in range(1, 13):
            move_time(pg, attempt * timedelta(minutes=6))
            with pytest.raises(Away):
                backfiller.step()
            (wait,) = pg.execute("SELECT backfill_next_at - updated_at FROM proc_state")
            waits.append(wait[0].total_seconds())
        before = debt(pg, 1)
        move_time(pg, 6 * HOUR + timedelta(minutes=1))
        with pytest.raises(Away):
            backfiller.step()
        relay.restore()
        backfiller.step()

    assert waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]
    assert (before.abandoned, before.attempts) == (None, 12)
    assert debt(pg, 1).abandoned == "TRANSIENT_DEADLINE"
    assert not debt(pg, 1).confirmed
    assert mark_of(adapter, 1) is None


@pytest.mark.covers("R44")
@pytest.mark.parametrize("latest", ["finished_at", "reopened_at"])
def test_r_counts_from_the_latest_of_registration_finish_and_reopening(
    pg: Pg, pg_dsn: str, mailbox_url: str, latest: str
) -> None:
    now = clock.now()
    owe(pg, 1, finished_at=now - 8 * HOUR, enqueued_at=now - 9 * HOUR)
    owe(pg, 2, finished_at=now - 8 * HOUR, enqueued_at=now - 9 * HOUR)
    pg.execute(f"UPDATE proc_state SET {latest} = now() - interval '1 minute' WHERE msg_id = 2")

    with (
        relayed(mailbox_url) as (relay, url),
        backfilling(pg_dsn, url, lead(pg)) as backfiller,
    ):
        relay.cut()
        with pytest.raises(Away):
            backfiller.step()

    assert [debt(pg, msg_id).abandoned for msg_id in (1, 2)] == ["TRANSIENT_DEADLINE", None]


@pytest.mark.covers("INV-8")
def test_after_r_a_mark_is_tried_without_waiting_for_its_backoff(
    pg: Pg, pg_dsn: str, mailbox_url: str, adapter: Any
) -> None:
    land_many(adapter, range(1, 3))
    now = clock.now()
    owe(pg, 1, finished_at=now - 7 * HOUR, next_at=now + HOUR)
    owe(pg, 2, finished_at=now - 5 * HOUR, next_at=now + HOUR)

    with backfilling(pg_dsn, mailbox_url, lead(pg)) as backfiller:
        backfiller.step()

    assert confirmed(pg) == [1]


@pytest.mark.covers("R43", "INV-7")
@pytest.mark.parametrize(
    ("lost", "landed"),
    [
        (b"BEGIN", False),
        (b"SELECT CMINMSGS_ID", False),
        (b"SKIP LOCKED", False),
        (b"UPDATE CMINMSGS", False),
        (b"COMMIT", True),
    ],
)
def test_a_lost_answer_to_any_statement_ends_in_one_confirmed_mark(
    pg: Pg, pg_dsn: str, mailbox_url: str, adapter: Any, lost: bytes, landed: bool
) -> None:
    land_many(adapter, range(1, 3))
    owe(pg, 2, finished_at=recently())
    with (
        relayed(mailbox_url) as (relay, url),
        backfilling(pg_dsn, url, lead(pg)) as backfiller,
    ):
        backfiller.step()  # opens the connection
        owe(pg, 1, finished_at=(finished := recently()))
        relay.lose_answer(lost)
        with pytest.raises(Away):
            backfiller.step()
        first = mark_of(adapter, 1)
        settled_too_early = debt(pg, 1).confirmed
        move_time(pg, HOUR)

        backfiller.step()

    assert (first is not None) is landed
    assert not settled_too_early
    assert debt(pg, 1).confirmed
    stands = finished.astimezone(ZoneInfo("Asia/Shanghai")).replace(tzinfo=None, microsecond=0)
    assert mark_of(adapter, 1) == stands


@pytest.mark.covers("R43")
def test_a_row_under_replay_is_left_to_it(
    pg: Pg, pg_dsn: str, mailbox_url: str, adapter: Any
) -> None:
    land_many(adapter, range(1, 3))
    for msg_id in (1, 2):
        owe(pg, msg_id, finished_at=NOON)

    with psycopg.connect(pg_dsn) as replay:
        replay.execute("SELECT FROM proc_state WHERE msg_id = 1 FOR UPDATE")
        with backfilling(pg_dsn, mailbox_url, lead(pg)) as backfiller:
            backfiller.step()

    assert confirmed(pg) == [2]
    assert mark_of(adapter, 1) is None


@pytest.mark.covers("R43")
def test_a_replay_cannot_take_a_row_between_the_check_and_the_confirmation(
    pg: Pg, pg_dsn: str, mailbox_url: str, adapter: Any
) -> None:
    land(adapter, 1)
    owe(pg, 1, finished_at=NOON)
    take = "SELECT msg_id FROM proc_state FOR UPDATE SKIP LOCKED"

    with (
        upstream(mailbox_url) as holder,
        backfilling(pg_dsn, mailbox_url, lead(pg)) as backfiller,
    ):
        run(holder, "LOCK TABLES CMINMSGS WRITE")
        stepping = threading.Thread(target=backfiller.step)
        stepping.start()
        # Asked of the mailbox: whoever asks for the row takes it, and it would be left out.
        until(lambda: waits_for_a_table(adapter), "the write waits")
        assert pg.execute(take).fetchall() == []
        run(holder, "UNLOCK TABLES")
        stepping.join(PATIENCE_SECONDS)

    assert debt(pg, 1) == SETTLED
    assert mark_of(adapter, 1) == LOCAL_NOON


@pytest.mark.covers("R13")
def test_a_deposed_instance_writes_no_mark(
    pg: Pg, pg_dsn: str, mailbox_url: str, adapter: Any
) -> None:
    land(adapter, 1)
    owe(pg, 1, finished_at=NOON)
    old = lead(pg)
    lead(pg)

    with backfilling(pg_dsn, mailbox_url, old) as backfiller, pytest.raises(Standby):
        backfiller.step()

    assert mark_of(adapter, 1) is None
    assert not debt(pg, 1).confirmed


@pytest.mark.covers("B21")
def test_a_full_batch_is_followed_at_once_and_an_empty_one_rests(
    pg: Pg, pg_dsn: str, mailbox_url: str, adapter: Any
) -> None:
    land_many(adapter, range(1, 6))
    for msg_id in range(1, 6):
        owe(pg, msg_id, finished_at=NOON)

    with backfilling(pg_dsn, mailbox_url, lead(pg), backfill_batch=2) as backfiller:
        rests = [bool(backfiller.step()) for _ in range(4)]

    assert rests == [False, False, True, True]
    assert confirmed(pg) == [1, 2, 3, 4, 5]


@pytest.mark.covers("INV-8")
def test_an_alarm_says_when_marks_keep_failing(
    pg: Pg,
    pg_dsn: str,
    mailbox_url: str,
    adapter: Any,
    caplog: pytest.LogCaptureFixture,
) -> None:
    land(adapter, 1)
    owe(pg, 1, finished_at=clock.now(), attempts=8)

    with (
        upstream(mailbox_url) as holder,
        backfilling(pg_dsn, mailbox_url, lead(pg)) as backfiller,
    ):
        holder.begin()
        run(holder, "SELECT 1 FROM CMINMSGS FOR UPDATE")
        for minutes in (1, 20, 40):
            move_time(pg, timedelta(minutes=minutes))
            backfiller.step()

    said = [record for record in caplog.records if record.message == "marks keep failing"]
    assert [vars(one)["first"] for one in said] == [[1]]
    assert debt(pg, 1).attempts == 11
