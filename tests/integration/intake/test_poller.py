"""Scanning and registering, step by step, on real servers."""

import logging
import re
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from msgx.runtime.leadership import Standby
from tests.support.intake import (
    AT_ONCE,
    HARDLY_EVER,
    NEVER,
    catch_up,
    land,
    land_many,
    lead,
    mark_of,
    move_time,
    owe,
    polling,
    run,
    upstream,
)
from tests.support.waiting import PATIENCE_SECONDS

pytestmark = [pytest.mark.pg, pytest.mark.mysql]

LOCAL_NOON = datetime(2026, 6, 15, 12, 0)  # noqa: DTZ001 - as the mailbox stores it
NOON = datetime(2026, 6, 15, 4, 0, tzinfo=UTC)

Pg = psycopg.Connection[Any]
Registered = Callable[[], list[int]]


@pytest.mark.covers("INV-2b", "R11", "R36", "US-01")
def test_a_backlog_is_registered_in_order_and_once(
    pg: Pg, pg_dsn: str, mailbox_url: str, adapter: Any, registered: Registered
) -> None:
    land_many(adapter, range(1, 46))
    move_time(pg, timedelta(days=30))
    firsts = []
    with polling(pg_dsn, mailbox_url, lead(pg), batch=10) as poller:
        while not poller.step():
            firsts.append(registered())

        catch_up(poller)

    assert registered() == list(range(1, 46))
    assert all(seen == list(range(1, len(seen) + 1)) for seen in firsts)
    assert [len(seen) for seen in firsts][:4] == [10, 20, 30, 40]
    rows = pg.execute(
        "SELECT state, late_after, enqueued_at > now() + interval '29 days',"
        " enqueued_at = updated_at, traceparent FROM proc_state"
    ).fetchall()
    assert {row[:4] for row in rows} == {("PENDING", None, True, True)}
    assert len({row[4] for row in rows}) == 45
    assert all(re.fullmatch(r"00-[0-9a-f]{32}-[0-9a-f]{16}-01", row[4]) for row in rows)


@pytest.mark.covers("B20", "R10", "INV-2b")
def test_a_thousand_rows_that_can_never_be_marked_do_not_hide_the_next(
    pg: Pg, pg_dsn: str, mailbox_url: str, adapter: Any, registered: Registered
) -> None:
    land_many(adapter, range(1, 1001))
    with polling(pg_dsn, mailbox_url, lead(pg), batch=50) as poller:
        catch_up(poller)
        before = registered()
        land(adapter, 1001)

        poller.step()

    assert len(before) == 1000
    assert registered() == list(range(1, 1002))


@pytest.mark.covers("B20", "R10")
def test_a_restart_pages_through_a_thousand_unmarked_rows_to_the_next(
    pg: Pg, pg_dsn: str, mailbox_url: str, adapter: Any, registered: Registered
) -> None:
    land_many(adapter, range(1, 1001))
    with polling(pg_dsn, mailbox_url, lead(pg), batch=50) as poller:
        catch_up(poller)
    land(adapter, 1001)

    with polling(
        pg_dsn,
        mailbox_url,
        lead(pg),
        batch=50,
        near_interval=NEVER,
        full_scan_duty=HARDLY_EVER,
    ) as restarted:
        steps = catch_up(restarted)

    assert registered() == list(range(1, 1002))
    assert steps <= 1001 // 50 * 2 + 3  # the start-up's round, and the first near one


@pytest.mark.covers("R10")
def test_a_burst_larger_than_a_page_is_registered_by_the_fast_round_alone(
    pg: Pg, pg_dsn: str, mailbox_url: str, adapter: Any, registered: Registered
) -> None:
    with polling(
        pg_dsn,
        mailbox_url,
        lead(pg),
        batch=10,
        near_interval=NEVER,
        full_scan_duty=HARDLY_EVER,
    ) as poller:
        catch_up(poller)
        poller.step()  # the first near and full rounds beside it; the next are far away
        land_many(adapter, range(1, 96))

        catch_up(poller)

    assert registered() == list(range(1, 96))


@pytest.mark.covers("R10")
def test_rows_marked_by_others_are_walked_past_in_bounded_pages(
    pg: Pg, pg_dsn: str, mailbox_url: str, adapter: Any, registered: Registered
) -> None:
    land_many(adapter, range(1, 101))
    run(adapter, "UPDATE CMINMSGS SET CMINMSGS_DATE_PROCESSED = %s", LOCAL_NOON)
    land(adapter, 4_000_000_000)

    with polling(pg_dsn, mailbox_url, lead(pg), near_window=10) as poller:
        steps = catch_up(poller)

    assert registered() == [4_000_000_000]
    assert steps >= 10


@pytest.mark.covers("B13", "R11")
def test_a_row_that_commits_late_is_registered_within_one_near_scan(
    pg: Pg, pg_dsn: str, mailbox_url: str, adapter: Any, registered: Registered
) -> None:
    with (
        upstream(mailbox_url) as slow,
        polling(
            pg_dsn, mailbox_url, lead(pg), near_interval=AT_ONCE, full_scan_duty=HARDLY_EVER
        ) as poller,
    ):
        land(adapter, 1)
        catch_up(poller)
        poller.step()  # the first full round beside the others; the next is far away
        slow.begin()
        land(slow, 5)
        land(adapter, 6)
        poller.step()
        before = registered()
        slow.commit()

        poller.step()

    late = pg.execute("SELECT msg_id, late_after FROM proc_state ORDER BY 1").fetchall()
    assert before == [1, 6]
    assert late == [(1, None), (5, 6), (6, None)]


@pytest.mark.covers("B14", "R10", "R11")
def test_a_late_row_older_than_the_near_window_is_registered_within_one_full_scan(
    pg: Pg, pg_dsn: str, mailbox_url: str, adapter: Any, registered: Registered
) -> None:
    with (
        upstream(mailbox_url) as slow,
        polling(
            pg_dsn,
            mailbox_url,
            lead(pg),
            batch=10,
            near_window=10,
            near_interval=AT_ONCE,
            full_scan_duty=1.0,
        ) as poller,
    ):
        slow.begin()
        land(slow, 3)
        land_many(adapter, range(10, 100))  # 4 to 9 are holes for ever
        catch_up(poller)
        before = registered()
        slow.commit()

        for _ in range(2 * (90 // 10 + 2)):  # a round under way is finished, then a whole one
            poller.step()

    late = pg.execute("SELECT late_after FROM proc_state WHERE msg_id = 3").fetchone()
    assert before == list(range(10, 100))
    assert registered() == [3, *range(10, 100)]
    assert late == (99,)


@pytest.mark.covers("B54", "B50")
def test_a_time_of_receipt_that_is_no_time_is_unknown(
    pg: Pg, pg_dsn: str, mailbox_url: str, adapter: Any
) -> None:
    run(adapter, "SET SESSION sql_mode = ''")
    land(adapter, 1, date_received=LOCAL_NOON)
    land(adapter, 2)
    land(adapter, 3, date_received="0000-00-00 00:00:00")
    land(adapter, 4, date_received="2026-00-00 00:00:00")
    land(adapter, 5, date_received=LOCAL_NOON.replace(year=2099))  # clocks need not agree

    with polling(pg_dsn, mailbox_url, lead(pg)) as poller:
        catch_up(poller)

    rows = pg.execute("SELECT msg_id, received_at FROM proc_state ORDER BY 1").fetchall()
    assert rows == [(1, NOON), (2, None), (3, None), (4, None), (5, NOON.replace(year=2099))]


@pytest.mark.covers("B54")
def test_a_zero_mark_is_not_processed_and_is_reported_once(
    pg: Pg,
    pg_dsn: str,
    mailbox_url: str,
    adapter: Any,
    registered: Registered,
    caplog: pytest.LogCaptureFixture,
) -> None:
    run(adapter, "SET SESSION sql_mode = ''")
    land(adapter, 1, date_processed="0000-00-00 00:00:00")
    land(adapter, 2, date_processed=LOCAL_NOON)

    with polling(
        pg_dsn, mailbox_url, lead(pg), near_interval=AT_ONCE, full_scan_duty=1.0
    ) as poller:
        for _ in range(10):
            poller.step()

    said = [record for record in caplog.records if "zero dates as marks" in record.message]
    assert registered() == [1]
    assert [(vars(one)["count"], vars(one)["first"]) for one in said] == [(1, [1])]


@pytest.mark.covers("R52", "INV-7", "B109")
def test_a_mark_that_disappeared_is_reported_and_neither_registered_nor_written_again(
    pg: Pg,
    pg_dsn: str,
    mailbox_url: str,
    adapter: Any,
    caplog: pytest.LogCaptureFixture,
) -> None:
    land(adapter, 1)
    owe(pg, 1, finished_at=NOON)
    pg.execute("UPDATE proc_state SET backfill_at = now(), backfill_next_at = NULL")
    before = pg.execute("SELECT * FROM proc_state").fetchall()

    with polling(
        pg_dsn, mailbox_url, lead(pg), near_interval=AT_ONCE, full_scan_duty=1.0
    ) as poller:
        for _ in range(10):
            poller.step()

    said = [record for record in caplog.records if "confirmed marks are gone" in record.message]
    assert [(one.levelno, vars(one)["count"]) for one in said] == [(logging.WARNING, 1)]
    assert mark_of(adapter, 1) is None
    assert pg.execute("SELECT * FROM proc_state").fetchall() == before


@pytest.mark.covers("INV-2b", "B47")
def test_two_pollers_at_once_register_every_row_once(
    pg: Pg, pg_dsn: str, mailbox_url: str, adapter: Any, registered: Registered
) -> None:
    """Leadership prevents it; the key would hold all the same."""
    land_many(adapter, range(1, 501))
    term = lead(pg)
    faults: list[BaseException] = []

    def poll() -> None:
        try:
            with polling(pg_dsn, mailbox_url, term, batch=7) as poller:
                catch_up(poller)
        except BaseException as fault:  # noqa: BLE001 - handed to the test
            faults.append(fault)

    threads = [threading.Thread(target=poll) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_SECONDS)

    assert faults == []
    assert registered() == list(range(1, 501))


@pytest.mark.covers("R13")
def test_a_deposed_instance_registers_nothing(
    pg: Pg, pg_dsn: str, mailbox_url: str, adapter: Any, registered: Registered
) -> None:
    old = lead(pg)
    new = lead(pg)
    land(adapter, 1)

    with polling(pg_dsn, mailbox_url, old) as poller, pytest.raises(Standby):
        catch_up(poller)
    before = registered()
    with polling(pg_dsn, mailbox_url, new) as poller:
        catch_up(poller)

    assert (before, registered()) == ([], [1])


@pytest.mark.covers("R13", "R10")
def test_a_new_term_begins_with_a_full_round_again(
    pg: Pg, pg_dsn: str, mailbox_url: str, adapter: Any, registered: Registered
) -> None:
    terms = [lead(pg)]
    with (
        upstream(mailbox_url) as slow,
        polling(
            pg_dsn,
            mailbox_url,
            lambda: terms[-1](),
            near_window=1,
            near_interval=NEVER,
            full_scan_duty=HARDLY_EVER,
        ) as poller,
    ):
        slow.begin()
        land(slow, 1)
        land_many(adapter, range(10, 15))
        for _ in range(20):
            poller.step()
        slow.commit()
        for _ in range(20):
            poller.step()
        before = registered()
        terms.append(lead(pg))

        catch_up(poller)

    assert before == [10, 11, 12, 13, 14]
    assert registered() == [1, 10, 11, 12, 13, 14]


def test_the_processor_is_woken(pg: Pg, pg_dsn: str, mailbox_url: str, adapter: Any) -> None:
    land(adapter, 1)
    pg.execute("LISTEN msgx_registered")

    with polling(pg_dsn, mailbox_url, lead(pg)) as poller:
        catch_up(poller)

    heard = list(pg.notifies(timeout=PATIENCE_SECONDS, stop_after=1))
    assert [note.channel for note in heard] == ["msgx_registered"]
