"""The gauges of the marks say what the table holds; counters what the rounds saw."""

from typing import Any

import psycopg
import pytest

from msgx.runtime.leadership import Standby
from msgx.telemetry import metrics
from msgx.telemetry.board import Board
from services.intake.figures import figures
from tests.support.intake import AT_ONCE, land, land_many, lead, polling, run

pytestmark = [pytest.mark.pg, pytest.mark.mysql]

Pg = psycopg.Connection[Any]

_MARKS = """
    INSERT INTO proc_state (msg_id, state, enqueued_at, updated_at, finished_at,
                            backfill_next_at, backfill_attempts, backfill_at,
                            backfill_abandoned_at, backfill_abandoned_reason)
    SELECT n, 'SKIPPED', now() - interval '1 hour', now(), now() - make_interval(mins => n),
           CASE WHEN n <= 5 THEN now() END, CASE WHEN n <= 2 THEN 10 ELSE 1 END,
           CASE WHEN n BETWEEN 6 AND 7 THEN now() END,
           CASE WHEN n >= 8 THEN now() END,
           CASE WHEN n = 8 THEN 'MISSING_ROW' WHEN n > 8 THEN 'TRANSIENT_DEADLINE' END
      FROM generate_series(1, 10) n
"""


@pytest.mark.covers("B114", "US-10", "R55")
def test_marks_are_told_as_owed_failing_and_given_up(pg: Pg, pg_dsn: str) -> None:
    pg.execute(_MARKS)

    with psycopg.connect(pg_dsn, autocommit=True, user="msgx_intake") as conn:
        told = {gauge.name: dict(values) for gauge, values in figures(conn, stubborn=10)}

    assert told["msgx.pipeline.backfill.owed"] == {(): 5}
    assert told["msgx.pipeline.backfill.failing"] == {(): 2}
    assert 300 <= told["msgx.pipeline.backfill.oldest_owed_seconds"][()] < 360
    assert told["msgx.pipeline.backfill.abandoned"] == {
        ("MISSING_ROW",): 1,
        ("TRANSIENT_DEADLINE",): 2,
    }


@pytest.mark.covers("R10", "R11", "R52", "B13", "B54")
def test_rounds_late_arrivals_and_marks_that_came_back_are_counted(
    pg: Pg, pg_dsn: str, mailbox_url: str, adapter: Any
) -> None:
    land_many(adapter, range(10, 20))
    run(adapter, "SET SESSION sql_mode = ''")
    run(
        adapter,
        "UPDATE CMINMSGS SET CMINMSGS_DATE_PROCESSED = '0000-00-00' WHERE CMINMSGS_ID = 19",
    )
    board = Board("intake")
    term = lead(pg)
    leads = True

    def require() -> int:
        if not leads:
            raise Standby("another intake leads")
        return term()

    with polling(
        pg_dsn, mailbox_url, require, board=board, near_interval=AT_ONCE, full_scan_duty=1.0
    ) as poller:
        poller.step()
        assert board.read(metrics.REGISTERED) == {(): 10}
        assert board.read(metrics.ROUNDS) == {("full",): 1, ("near",): 0}
        assert board.read(metrics.SCANNED)["full",] == 10
        assert board.read(metrics.FULL_INTERVAL) == {}
        assert board.read(metrics.RETURNED_MARKS) == {(): 0}
        assert board.read(metrics.ZERO_MARKS) == {(): 1}

        land(adapter, 7)
        pg.execute(
            "UPDATE proc_state SET state = 'SKIPPED', finished_at = now(), backfill_at = now()"
            " WHERE msg_id IN (11, 12)"
        )
        for _ in range(3):
            poller.step()

        assert board.read(metrics.LATE_ARRIVALS) == {(): 1}
        assert board.read(metrics.RETURNED_MARKS) == {(): 2}
        assert board.read(metrics.FULL_INTERVAL)[()] > 0
        assert board.read(metrics.ROUNDS) == {("full",): 4, ("near",): 3}
        assert board.read(metrics.SCANNED)["full",] == 10 + 3 * 11

        leads = False
        with pytest.raises(Standby):
            poller.step()
        assert board.read(metrics.RETURNED_MARKS) == {}
