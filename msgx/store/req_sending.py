"""REQ_TRACK as the dispatcher moves it: claim, confirm, give back, lose, expire, settle, delete
(R08, R34). Owner: dispatcher.

Every function runs on the caller's connection, in a transaction that begins with the term, and
never commits. What an answer does stands in `req_track`.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from msgx.domain.failure import clean
from msgx.domain.requests import (
    OPEN,
    REQUESTS,
    RequestState,
    RequestTrigger,
    RequestType,
    Wish,
)
from msgx.store.connect import Connection

_IN_WORK: Final = """
    EXISTS (SELECT FROM proc_state p
             WHERE p.msg_id = r.matched_msg_id AND p.state IN ('PENDING', 'FAILED'))
"""
_EXPIRE: Final = """
    UPDATE req_track r
       SET state = %(to)s, state_since = msgx_now(), closed_at = msgx_now()
"""
_OVERDUE: Final = f"""
    {_EXPIRE}
     WHERE req_id = ANY (ARRAY(
        SELECT req_id FROM req_track r
         WHERE state = 'SENT' AND expires_at <= msgx_now() AND NOT {_IN_WORK}
         ORDER BY req_id LIMIT %(limit)s FOR UPDATE SKIP LOCKED))
 RETURNING req_id
"""
_OLDER: Final = f"""
    {_EXPIRE}
     WHERE req_type = %(type)s AND req_styp = %(styp)s AND state = ANY(%(sources)s)
       AND NOT {_IN_WORK}
 RETURNING req_id
"""
# The first of its kind that waits, if the place is free or can be made free: what is being
# written, or answered by a message in work, keeps it. What failed lets other kinds go first.
_NEXT: Final = f"""
    SELECT req_id, req_type, req_styp
      FROM req_track w
     WHERE state = 'PENDING'
       AND NOT EXISTS (SELECT FROM req_track r
                        WHERE r.req_type = w.req_type AND r.req_styp = w.req_styp
                          AND r.state = 'PENDING' AND r.req_id < w.req_id)
       AND NOT EXISTS (SELECT FROM req_track r
                        WHERE r.req_type = w.req_type AND r.req_styp = w.req_styp
                          AND (r.state = 'SENDING'
                               OR (r.state IN ('SENT', 'UNKNOWN') AND {_IN_WORK})))
     ORDER BY attempts, req_id
     LIMIT 1
"""
_CLAIM: Final = """
    UPDATE req_track w
       SET state = %(to)s, state_since = msgx_now(), sending_at = msgx_now(),
           expires_at = msgx_now() + %(timeout)s, out_id_floor = %(floor)s,
           seqn = lpad(nextval('req_seqn_seq')::text, 6, '0'), attempts = attempts + 1
     WHERE req_id = %(req_id)s AND state = ANY(%(sources)s)
       AND NOT EXISTS (SELECT FROM req_track r
                        WHERE r.req_type = w.req_type AND r.req_styp = w.req_styp
                          AND r.state = ANY(%(open)s))
 RETURNING req_id, req_type, req_styp, rtyp, begin_at, end_at, seqn, sending_at
"""
_CONFIRM: Final = """
    UPDATE req_track
       SET state = %(to)s, state_since = msgx_now(), out_id = %(out_id)s,
           sent_at = msgx_now(), last_error = NULL,
           expires_at = COALESCE(msgx_now() + %(timeout)s::interval, expires_at)
     WHERE req_id = %(req_id)s AND state = ANY(%(sources)s)
"""
# An answer was quicker than we were, or the time was: only the id is missing.
_ADD_ROW: Final = """
    UPDATE req_track SET out_id = %(out_id)s, sent_at = msgx_now(), last_error = NULL
     WHERE req_id = %(req_id)s AND closed_at IS NOT NULL AND out_id IS NULL
"""
_BACK: Final = """
    UPDATE req_track
       SET state = %(to)s, state_since = msgx_now(), last_error = %(error)s, seqn = NULL,
           sending_at = NULL, expires_at = NULL, out_id_floor = NULL
     WHERE req_id = %(req_id)s AND state = ANY(%(sources)s) AND matched_msg_id IS NULL
"""
_LOSE: Final = """
    UPDATE req_track SET state = %(to)s, state_since = msgx_now(), last_error = %(error)s
     WHERE req_id = %(req_id)s AND state = ANY(%(sources)s)
"""
_EXPLAIN: Final = """
    UPDATE req_track SET last_error = %(error)s
     WHERE state = 'PENDING' AND last_error IS DISTINCT FROM %(error)s
"""
_QUIET: Final = """
    SELECT NOT EXISTS (SELECT FROM req_track WHERE state = 'SENDING')
       AND NOT EXISTS (SELECT FROM req_track WHERE state = 'SENT' AND expires_at <= msgx_now())
"""
_UNSETTLED: Final = """
    SELECT req_id, req_type, req_styp, seqn, sending_at, out_id_floor,
           sending_at + %(settles)s <= msgx_now()
      FROM req_track
     WHERE state = 'SENDING'
     ORDER BY req_id
     LIMIT %(limit)s
"""
_DELETE: Final = """
    DELETE FROM req_track
     WHERE req_id = ANY (ARRAY(
        SELECT req_id FROM req_track
         WHERE closed_at < msgx_now() - %(keep)s
         ORDER BY closed_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED))
"""


@dataclass(frozen=True, slots=True)
class Waiting:
    """The next request to write."""

    req_id: int
    type: RequestType
    styp: str


@dataclass(frozen=True, slots=True)
class Claimed:
    """A request that is being written: what it says, its number and its time."""

    req_id: int
    wish: Wish
    seqn: str
    sending_at: datetime


@dataclass(frozen=True, slots=True)
class Unsettled:
    """A request in SENDING that nobody writes now; `quiet`: nothing of it can land any more."""

    req_id: int
    type: RequestType
    styp: str
    seqn: str
    sending_at: datetime
    floor: int
    quiet: bool


def quiet(conn: Connection) -> bool:
    """Tell whether no write is broken and nothing is overdue; it only reads."""
    row: Any = conn.execute(_QUIET).fetchone()
    return bool(row[0])


def expire_overdue(conn: Connection, *, limit: int) -> list[int]:
    """Close SENT requests whose time is over; return which."""
    given = {"to": REQUESTS.target(RequestTrigger.EXPIRE), "limit": limit}
    rows: list[Any] = conn.execute(_OVERDUE, given).fetchall()
    return [req_id for (req_id,) in rows]


def next_waiting(conn: Connection) -> Waiting | None:
    """Return the request to write next."""
    row: Any = conn.execute(_NEXT).fetchone()
    return None if row is None else Waiting(row[0], RequestType(row[1]), row[2])


def claim(
    conn: Connection, waiting: Waiting, *, floor: int, timeout: timedelta
) -> tuple[Claimed, list[int]] | None:
    """Begin to write the request, and expire the older one of its kind; return also which.

    None: its place is not free any more, so nothing was claimed.
    """
    older = {
        "to": REQUESTS.target(RequestTrigger.EXPIRE),
        "sources": REQUESTS.sources(RequestTrigger.EXPIRE),
        "type": waiting.type,
        "styp": waiting.styp,
    }
    expired: list[Any] = conn.execute(_OLDER, older).fetchall()
    row: Any = conn.execute(
        _CLAIM,
        {
            "to": REQUESTS.target(RequestTrigger.CLAIM),
            "sources": REQUESTS.sources(RequestTrigger.CLAIM),
            "open": [state.value for state in OPEN],
            "req_id": waiting.req_id,
            "floor": floor,
            "timeout": timeout,
        },
    ).fetchone()
    if row is None:
        return None
    req_id, type_, styp, rtyp, begin, end, seqn, sending_at = row
    wish = Wish(type=RequestType(type_), styp=styp, rtyp=rtyp, begin=begin, end=end)
    return Claimed(req_id, wish, seqn, sending_at), [one for (one,) in expired]


def confirm(
    conn: Connection,
    req_id: int,
    out_id: int,
    *,
    by: RequestState = RequestState.SENDING,
    timeout: timedelta | None = None,
) -> bool:
    """Say that the request stands in COUTMSGS as `out_id`; a closed one only gets the id.

    `by` is the state that it leaves; `timeout` begins to count anew if it is given. False: it
    is neither.
    """
    given = {
        "to": REQUESTS.target(RequestTrigger.CONFIRM),
        "sources": [by.value],
        "req_id": req_id,
        "out_id": out_id,
        "timeout": timeout,
    }
    if conn.execute(_CONFIRM, given).rowcount == 1:
        return True
    return conn.execute(_ADD_ROW, given).rowcount == 1


def give_back(conn: Connection, req_id: int, error: str) -> bool:
    """Let a request that was certainly not written wait again; `error` says why."""
    given = _moving(RequestTrigger.GIVE_BACK, req_id, error)
    return conn.execute(_BACK, given).rowcount == 1


def lose(conn: Connection, req_id: int, error: str) -> bool:
    """Say that nobody knows whether the request was written."""
    given = _moving(RequestTrigger.LOSE, req_id, error)
    return conn.execute(_LOSE, given).rowcount == 1


def resend(conn: Connection, req_id: int) -> bool:
    """Let an UNKNOWN request wait again, on an operator's word; not if an answer matched it."""
    given = _moving(RequestTrigger.RESEND, req_id, None)
    return conn.execute(_BACK, given).rowcount == 1


def explain(conn: Connection, error: str) -> None:
    """Say at every waiting request why none is written."""
    conn.execute(_EXPLAIN, {"error": clean(error)})


def unsettled(conn: Connection, *, settles: timedelta, limit: int) -> list[Unsettled]:
    """Return the requests in SENDING; `settles` is how long a write may take to land."""
    rows: list[Any] = conn.execute(_UNSETTLED, {"settles": settles, "limit": limit}).fetchall()
    return [Unsettled(row[0], RequestType(row[1]), *row[2:]) for row in rows]


def delete(conn: Connection, *, keep: timedelta, limit: int) -> int:
    """Delete at most `limit` requests that were closed longer than `keep` ago; return how
    many."""
    return conn.execute(_DELETE, {"keep": keep, "limit": limit}).rowcount


def _moving(trigger: RequestTrigger, req_id: int, error: str | None) -> dict[str, Any]:
    return {
        "to": REQUESTS.target(trigger),
        "sources": REQUESTS.sources(trigger),
        "req_id": req_id,
        "error": None if error is None else clean(error),
    }
