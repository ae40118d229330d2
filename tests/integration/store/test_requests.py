"""REQ_TRACK: what the database itself refuses, and how an answer finds and closes its
request."""

from datetime import timedelta
from typing import Any

import psycopg
import pytest

from msgx.domain import requests
from msgx.domain.requests import (
    Match,
    MatchedBy,
    RequestState,
    RequestType,
    Wish,
)
from msgx.store import req_register, req_sending, req_track
from msgx.store.connect import Connection

pytestmark = [pytest.mark.pg]

GLST = (RequestType.RQRD, "GLST")
LAG = timedelta(seconds=3)


def registered(conn: Connection) -> int:
    req_id = req_register.register(conn, Wish.reference("GLST"), by="test", limit=100)
    assert req_id is not None
    return req_id


def sent(conn: Connection, state: RequestState = RequestState.SENT) -> int:
    """Register a request and put it where the dispatcher would have put it."""
    req_id = registered(conn)
    conn.execute(
        "UPDATE req_track SET state = %(state)s, seqn = '000001', sending_at = msgx_now(),"
        " out_id_floor = 0, expires_at = msgx_now() + interval '10 min',"
        " out_id = CASE WHEN %(state)s IN ('SENT', 'EXPIRED') THEN 5 END,"
        " sent_at = CASE WHEN %(state)s IN ('SENT', 'EXPIRED') THEN msgx_now() END,"
        " closed_at = CASE WHEN %(state)s = 'EXPIRED' THEN msgx_now() END"
        " WHERE req_id = %(req_id)s",
        {"state": state, "req_id": req_id},
    )
    return req_id


def message(conn: Connection, msg_id: int) -> int:
    conn.execute(
        "INSERT INTO proc_state (msg_id, enqueued_at, updated_at)"
        " VALUES (%s, msgx_now(), msgx_now())",
        (msg_id,),
    )
    return msg_id


def finish(conn: Connection, msg_id: int) -> None:
    conn.execute(
        "UPDATE proc_state SET state = 'DEAD', finished_at = msgx_now(),"
        " backfill_next_at = msgx_now() WHERE msg_id = %s",
        (msg_id,),
    )


def found(conn: Connection, msg_id: int) -> Match:
    tracked = req_track.find(conn, GLST, msg_id)
    assert tracked is not None
    return Match(request=tracked, msg_id=msg_id, by=MatchedBy.TYPE, lag=LAG)


def row(conn: Connection, req_id: int, columns: str) -> Any:
    return conn.execute(
        f"SELECT {columns} FROM req_track WHERE req_id = %s", (req_id,)
    ).fetchone()


@pytest.mark.covers("US-09", "R08", "G-REQ-OPEN-UNIQUE")
@pytest.mark.parametrize("one", requests.OPEN)
@pytest.mark.parametrize("other", requests.OPEN)
def test_a_second_open_request_of_a_kind_is_refused_by_the_database(
    db: Connection, one: RequestState, other: RequestState
) -> None:
    sent(db, one)

    with pytest.raises(psycopg.errors.UniqueViolation):
        sent(db, other)


@pytest.mark.covers("US-09", "R08")
def test_what_only_waits_and_what_is_closed_takes_no_place(db: Connection) -> None:
    sent(db, RequestState.EXPIRED)
    sent(db, RequestState.EXPIRED)
    registered(db)
    registered(db)

    sent(db)

    states = [one.state for one in req_register.latest(db, before=None, limit=10)]
    assert [state.value for state in states] == [
        "SENT", "PENDING", "PENDING", "EXPIRED", "EXPIRED",
    ]  # fmt: skip


def test_the_check_knows_the_states_of_the_table_and_no_others(db: Connection) -> None:
    (check,) = db.execute(
        "SELECT pg_get_constraintdef(oid) FROM pg_constraint"
        " WHERE conname = 'req_track_state_check'"
    ).fetchone() or ("",)

    assert {state.value for state in RequestState} == {
        word.split("'")[0] for word in str(check).split("'") if word.isupper()
    }


@pytest.mark.covers("US-09", "R56")
@pytest.mark.parametrize("state", requests.OPEN)
def test_an_answer_closes_the_open_request_and_is_kept_with_it(
    db: Connection, state: RequestState
) -> None:
    req_id = sent(db, state)
    answer = found(db, message(db, 9))

    assert req_track.match(db, answer)
    assert row(db, req_id, "state, matched_msg_id, matched_by, matched_lag") == (
        state.value, 9, "TYPE", LAG,
    )  # fmt: skip
    db.execute("UPDATE req_track SET matched_at = matched_at - interval '1 minute'")
    assert req_track.close(db, answer)

    assert row(db, req_id, "state, matched_msg_id, closed_at - matched_at") == (
        "DONE", 9, timedelta(minutes=1),
    )  # fmt: skip
    again = req_track.matched(db, 9)
    assert again is not None
    assert (again.request.req_id, again.by, again.lag) == (req_id, MatchedBy.TYPE, LAG)


@pytest.mark.covers("US-09", "R56")
def test_an_answer_that_writes_nothing_is_kept_by_its_end_alone(db: Connection) -> None:
    req_id = sent(db)

    assert req_track.close(db, found(db, message(db, 9)))

    assert row(db, req_id, "state, matched_msg_id, matched_by") == ("DONE", 9, "TYPE")


@pytest.mark.covers("US-09")
def test_a_closed_request_is_changed_by_no_answer(db: Connection) -> None:
    req_id = sent(db)
    late = found(db, message(db, 9))
    db.execute("UPDATE req_track SET state = 'EXPIRED', closed_at = msgx_now()")
    before = row(db, req_id, "req_track")

    assert not req_track.match(db, late)
    assert not req_track.close(db, late)

    assert row(db, req_id, "req_track") == before
    tracked = req_track.find(db, GLST, 9)
    assert tracked is not None
    assert tracked.state is RequestState.EXPIRED


@pytest.mark.covers("US-09")
def test_an_answer_in_work_keeps_its_request_and_a_dead_one_does_not(db: Connection) -> None:
    sent(db)
    first, second = message(db, 8), message(db, 9)
    assert req_track.match(db, found(db, first))
    assert found(db, second).request.answer_in_work
    assert not found(db, first).request.answer_in_work

    finish(db, first)

    answer = found(db, second)
    assert not answer.request.answer_in_work
    assert req_track.close(db, answer)


@pytest.mark.covers("US-09", "R08")
def test_of_two_answers_that_found_one_request_the_first_to_write_has_it(
    db: Connection,
) -> None:
    req_id = sent(db)
    first, second = (found(db, message(db, msg_id)) for msg_id in (8, 9))
    assert req_track.match(db, first)

    assert not req_track.match(db, second)
    assert not req_track.close(db, second)

    assert row(db, req_id, "state, matched_msg_id") == ("SENT", 8)


@pytest.mark.covers("R08")
def test_a_row_that_is_known_of_a_closed_request_stays(db: Connection) -> None:
    req_id = sent(db, RequestState.SENDING)
    assert req_track.close(db, found(db, message(db, 9)))

    told = [req_sending.confirm(db, req_id, row_id) for row_id in (71, 72)]

    assert told == [True, False]
    assert row(db, req_id, "state, out_id") == ("DONE", 71)


def test_the_open_request_is_found_before_closed_and_waiting_ones(db: Connection) -> None:
    """One that was sent again on an operator's word is older than the one it closed."""
    open_id = sent(db)
    sent(db, RequestState.EXPIRED)
    registered(db)

    tracked = req_track.find(db, GLST, message(db, 9))

    assert tracked is not None
    assert (tracked.req_id, tracked.state) == (open_id, RequestState.SENT)
    assert req_track.find(db, (RequestType.RQRD, "BLST"), 9) is None


def test_waiting_requests_are_bounded(db: Connection) -> None:
    wish = Wish.reference("GLST")

    taken = [req_register.register(db, wish, by="test", limit=2) for _ in range(3)]

    assert [one is None for one in taken] == [False, False, True]
