"""What operators see and decide about marks that were given up."""

from contextlib import closing
from typing import Any

import grpc
import psycopg
import pytest
from psycopg.rows import dict_row

from msgx import clock
from msgx.domain.marking import Abandonment, MarkState
from msgx.rpc.v1 import mailbox_pb2 as pb
from msgx.rpc.v1.admin_pb2 import Admin
from msgx.runtime.leadership import Leadership
from msgx.store import abandoned
from tests.support.calls import WHO
from tests.support.intake import (
    HOUR,
    Marking,
    answering,
    backfilling,
    debt,
    give_up,
    land_many,
    mark_of,
    move_time,
    owe,
    run,
)

pytestmark = [pytest.mark.pg]

Pg = psycopg.Connection[Any]


def audit(pg: Pg) -> list[dict[str, Any]]:
    with pg.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(
            "SELECT service, operator, reason, action, target, affected FROM admin_audit"
            " ORDER BY audit_id"
        ).fetchall()


def chosen(**fields: Any) -> pb.AbandonedFilter:
    return pb.AbandonedFilter(**fields)


@pytest.mark.covers("R55", "B21")
def test_pages_put_together_are_what_the_table_holds_and_so_is_the_total(
    pg: Pg, operator: Marking
) -> None:
    give_up(pg, range(1, 26))
    give_up(pg, range(26, 31), Abandonment.MISSING_ROW)
    owe(pg, 31, finished_at=clock.now())

    first = operator.call("ListAbandoned", pb.ListAbandonedRequest(limit=20))
    after = first.marks[-1].msg_id
    second = operator.call(
        "ListAbandoned", pb.ListAbandonedRequest(limit=20, after_msg_id=after)
    )

    assert [one.msg_id for one in (*first.marks, *second.marks)] == list(range(1, 31))
    assert (first.total, second.total) == (30, 30)
    one = first.marks[0]
    assert (one.reason, one.state) == (pb.ABANDON_REASON_TRANSIENT_DEADLINE, "SUCCEEDED")
    assert (one.type, one.styp, one.attempts) == ("FLOP", "ESTT", 7)
    assert one.abandoned_at.seconds > one.finished_at.seconds
    assert not one.HasField("reopened_at")


@pytest.mark.covers("R55")
@pytest.mark.parametrize(
    ("filter_", "ids"),
    [
        (chosen(reason=pb.ABANDON_REASON_MISSING_ROW), [4, 5]),
        (chosen(first_msg_id=2, last_msg_id=4), [2, 3, 4]),
        (chosen(reason=pb.ABANDON_REASON_TRANSIENT_DEADLINE, first_msg_id=3), [3]),
    ],
)
def test_a_filter_picks_the_same_for_list_count_and_reopening(
    pg: Pg, operator: Marking, filter_: pb.AbandonedFilter, ids: list[int]
) -> None:
    give_up(pg, range(1, 4))
    give_up(pg, range(4, 6), Abandonment.MISSING_ROW)

    listed = operator.call("ListAbandoned", pb.ListAbandonedRequest(filter=filter_))
    counted = operator.call("CountAbandoned", pb.CountAbandonedRequest(filter=filter_))
    done = operator.reopen(filter=filter_, limit=100)

    assert [one.msg_id for one in listed.marks] == ids
    assert (listed.total, counted.total, done.affected) == (len(ids),) * 3
    assert done.remaining == 0
    left = {
        row[0]
        for row in pg.execute(
            "SELECT msg_id FROM proc_state WHERE backfill_abandoned_at IS NOT NULL"
        )
    }
    assert left == {1, 2, 3, 4, 5} - set(ids)


@pytest.mark.covers("R55")
def test_counts_are_by_reason_the_most_frequent_first(pg: Pg, operator: Marking) -> None:
    give_up(pg, range(1, 3), Abandonment.MISSING_ROW)
    give_up(pg, range(3, 8))

    counted = operator.call("CountAbandoned", pb.CountAbandonedRequest())

    assert [(one.reason, one.count) for one in counted.counts] == [
        (pb.ABANDON_REASON_TRANSIENT_DEADLINE, 5),
        (pb.ABANDON_REASON_MISSING_ROW, 2),
    ]
    assert counted.total == 7
    assert counted.counts[0].latest_at.seconds >= counted.counts[0].oldest_at.seconds > 0


@pytest.mark.mysql
@pytest.mark.covers("R44", "R52", "R55", "US-10")
def test_a_reopened_mark_is_written_with_the_time_of_its_end_and_r_counts_anew(
    pg: Pg,
    pg_dsn: str,
    mailbox_url: str,
    adapter: Any,
    leadership: Leadership,
    operator: Marking,
) -> None:
    land_many(adapter, range(1, 3))
    give_up(pg, range(1, 3))
    pg.execute("UPDATE proc_state SET enqueued_at = finished_at - interval '1 day'")

    done = operator.reopen(ids=pb.MsgIds(ids=[1]))
    owed = debt(pg, 1)
    with backfilling(pg_dsn, mailbox_url, leadership.require) as backfiller:
        backfiller.step()

    assert done.affected == 1
    assert (owed.confirmed, owed.abandoned, owed.attempts) == (False, None, 0)
    assert owed.next_at is not None
    assert debt(pg, 1).confirmed
    assert mark_of(adapter, 1) is not None
    assert mark_of(adapter, 2) is None
    assert audit(pg) == [
        {
            "service": "intake",
            "operator": "ops",
            "reason": "a test",
            "action": "reopen",
            "target": {"ids": [1]},
            "affected": 1,
        }
    ]


@pytest.mark.mysql
@pytest.mark.covers("R44", "INV-8")
def test_a_mark_reopened_without_its_row_is_given_up_again(
    pg: Pg, pg_dsn: str, mailbox_url: str, leadership: Leadership, operator: Marking
) -> None:
    give_up(pg, range(1, 2), Abandonment.MISSING_ROW)

    operator.reopen(ids=pb.MsgIds(ids=[1]))
    with backfilling(pg_dsn, mailbox_url, leadership.require) as backfiller:
        backfiller.step()

    (one,) = operator.call("ListAbandoned", pb.ListAbandonedRequest()).marks
    assert (one.reason, one.attempts) == (pb.ABANDON_REASON_MISSING_ROW, 1)
    assert one.HasField("reopened_at")


@pytest.mark.covers("R43", "R44")
def test_a_record_that_a_replay_holds_is_left_to_it(
    pg: Pg, pg_dsn: str, operator: Marking
) -> None:
    give_up(pg, range(1, 4))

    with psycopg.connect(pg_dsn) as replay:
        replay.execute("SELECT 1 FROM proc_state WHERE msg_id = 2 FOR UPDATE")
        by_filter = operator.reopen(filter=chosen(), limit=100)
        by_id = operator.reopen(ids=pb.MsgIds(ids=[2]))
        replay.execute(
            "UPDATE proc_state SET state = 'PENDING', finished_at = NULL,"
            " backfill_abandoned_at = NULL, backfill_abandoned_reason = NULL WHERE msg_id = 2"
        )
    afterwards = operator.reopen(ids=pb.MsgIds(ids=[2]))

    assert (by_filter.affected, by_filter.remaining) == (2, 1)
    assert [one.standing for one in by_id.not_reopened] == [pb.STANDING_ABANDONED]
    assert [one.standing for one in afterwards.not_reopened] == [pb.STANDING_OPEN]
    assert [one["affected"] for one in audit(pg)] == [2, 0, 0]


@pytest.mark.covers("R55")
def test_a_filter_reopens_the_lowest_ids_up_to_the_limit(pg: Pg, operator: Marking) -> None:
    give_up(pg, range(1, 8))

    done = operator.reopen(filter=chosen(), limit=5)

    assert (done.affected, done.remaining) == (5, 2)
    listed = operator.call("ListAbandoned", pb.ListAbandonedRequest())
    assert [one.msg_id for one in listed.marks] == [6, 7]


@pytest.mark.covers("R55", "R35")
@pytest.mark.parametrize(
    ("name", "request_", "words"),
    [
        ("ReopenAbandoned", pb.ReopenAbandonedRequest(filter=chosen(), limit=1), "who acts"),
        ("ReopenAbandoned", pb.ReopenAbandonedRequest(admin=WHO, limit=1), "either ids or"),
        ("ReopenAbandoned", pb.ReopenAbandonedRequest(admin=WHO, filter=chosen()), "limit"),
        (
            "ReopenAbandoned",
            pb.ReopenAbandonedRequest(admin=WHO, filter=chosen(), limit=10_001),
            "limit must be",
        ),
        (
            "ReopenAbandoned",
            pb.ReopenAbandonedRequest(admin=WHO, ids=pb.MsgIds(ids=[])),
            "ids must be",
        ),
        (
            "ReopenAbandoned",
            pb.ReopenAbandonedRequest(admin=WHO, ids=pb.MsgIds(ids=range(1001))),
            "ids must be",
        ),
        (
            "ReopenAbandoned",
            pb.ReopenAbandonedRequest(admin=WHO, filter=chosen(reason=9), limit=1),
            "none that this version knows",
        ),
        ("ListAbandoned", pb.ListAbandonedRequest(limit=1001), "limit must be"),
        ("ListAbandoned", pb.ListAbandonedRequest(limit=-1), "limit must be"),
    ],
)
def test_what_is_not_asked_properly_is_refused_and_changes_nothing(
    pg: Pg, operator: Marking, name: str, request_: Any, words: str
) -> None:
    give_up(pg, range(1, 2))

    with pytest.raises(grpc.RpcError) as refusal:
        operator.call(name, request_)

    assert refusal.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert words in str(refusal.value.details())
    assert abandoned.standings(pg, [1]) == {1: MarkState.ABANDONED}
    assert audit(pg) == []


@pytest.mark.covers("R13", "R14", "R55")
def test_only_the_leader_reopens_and_everybody_may_look(
    pg: Pg, leadership: Leadership, operator: Marking
) -> None:
    give_up(pg, range(1, 2))
    reopen = pb.ReopenAbandonedRequest(admin=WHO, filter=chosen(), limit=9)

    pg.execute("UPDATE service_term SET term = term + 1 WHERE service = 'intake'")
    with pytest.raises(grpc.RpcError) as deposed:
        operator.call("ReopenAbandoned", reopen)
    leadership.lose()
    with pytest.raises(grpc.RpcError) as standby:
        operator.call("ReopenAbandoned", reopen)

    codes = {error.value.code() for error in (deposed, standby)}
    assert codes == {grpc.StatusCode.FAILED_PRECONDITION}
    assert audit(pg) == []
    assert operator.call("ListAbandoned", pb.ListAbandonedRequest()).total == 1


@pytest.mark.covers("R36", "R44", "INV-8")
@pytest.mark.mysql
def test_after_r_has_passed_once_more_a_reopened_mark_is_given_up_once_more(
    pg: Pg,
    pg_dsn: str,
    mailbox_url: str,
    adapter: Any,
    leadership: Leadership,
    operator: Marking,
) -> None:
    """Reopened while the cause stands, it is tried for R and not without an end."""
    land_many(adapter, range(1, 2))
    give_up(pg, range(1, 2))
    operator.reopen(ids=pb.MsgIds(ids=[1]))
    adapter.begin()
    with adapter.cursor() as cursor:
        cursor.execute("SELECT 1 FROM CMINMSGS WHERE CMINMSGS_ID = 1 FOR UPDATE")

    with backfilling(pg_dsn, mailbox_url, leadership.require) as backfiller:
        backfiller.step()
        before = debt(pg, 1)
        move_time(pg, 7 * HOUR)
        backfiller.step()
    adapter.rollback()

    assert (before.abandoned, before.attempts) == (None, 1)
    assert debt(pg, 1).abandoned == "TRANSIENT_DEADLINE"


def test_hostile_words_are_kept_harmless(pg: Pg, operator: Marking) -> None:
    give_up(pg, range(1, 2))
    hostile = Admin(operator="o\x1b[31m", reason="w\x00'; DROP TABLE proc_state; --")

    operator.call(
        "ReopenAbandoned", pb.ReopenAbandonedRequest(admin=hostile, filter=chosen(), limit=1)
    )

    (kept,) = audit(pg)
    assert (kept["operator"], kept["reason"]) == ("o [31m", "w '; DROP TABLE proc_state; --")


@pytest.mark.mysql
@pytest.mark.covers("R52", "B54")
def test_confirmed_marks_that_are_gone_are_listed_part_by_part(
    pg: Pg, pg_dsn: str, mailbox_url: str, adapter: Any, leadership: Leadership
) -> None:
    """Marks 2 and 31 are gone; 3 is owed, 4 was never finished, 5 is not even registered."""
    land_many(adapter, range(1, 41))
    now = clock.now()
    for msg_id in (1, 2, 31):
        owe(pg, msg_id, finished_at=now)
    with backfilling(pg_dsn, mailbox_url, leadership.require) as backfiller:
        backfiller.step()
    run(
        adapter,
        "UPDATE CMINMSGS SET CMINMSGS_DATE_PROCESSED = NULL WHERE CMINMSGS_ID IN (2, 31)",
    )
    owe(pg, 3, finished_at=now)
    pg.execute(
        "INSERT INTO proc_state (msg_id, enqueued_at, updated_at) VALUES (4, now(), now())"
    )

    found, looks, after = [], 0, 0
    with (
        answering(pg_dsn, leadership, mailbox_url, window=10) as port,
        closing(Marking(port)) as operator,
    ):
        while True:
            answer = operator.call(
                "ListReturned", pb.ListReturnedRequest(after_msg_id=after, limit=7)
            )
            found += list(answer.marks)
            if answer.done:
                break
            assert answer.reached_msg_id > after
            looks, after = looks + 1, answer.reached_msg_id

    assert [one.msg_id for one in found] == [2, 31]
    assert found[0].state == "SUCCEEDED"
    assert found[0].confirmed_at.seconds > 0
    assert (after, looks) == (40, 6)  # each ends at its seventh unmarked row


@pytest.mark.covers("R52")
def test_a_mailbox_that_is_away_is_told(operator: Marking) -> None:
    with pytest.raises(grpc.RpcError) as away:
        operator.call("ListReturned", pb.ListReturnedRequest())

    assert away.value.code() is grpc.StatusCode.UNAVAILABLE
