"""REQ_TRACK as those who ask see it: register, show, list. Writers: api and dispatcher.

Every function runs on the caller's connection and never commits.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from psycopg.rows import kwargs_row

from msgx.domain.failure import clean
from msgx.domain.requests import MatchedBy, RequestState, RequestType, Wish
from msgx.store.connect import Connection

_LONGEST_NAME: Final = 500
_COLUMNS: Final = """
    req_id, req_type AS type, req_styp AS styp, rtyp, begin_at AS begin, end_at AS end, state,
    state_since, registered_at, registered_by, attempts, last_error, seqn, sending_at,
    out_id_floor, expires_at, sent_at, out_id, matched_msg_id, matched_by, matched_at,
    matched_lag, closed_at
"""
# Registering closes nothing (R08); what only waits is bounded.
_REGISTER: Final = """
    INSERT INTO req_track (req_type, req_styp, rtyp, begin_at, end_at, registered_at,
                           registered_by, state_since)
    SELECT %(type)s, %(styp)s, %(rtyp)s, %(begin)s, %(end)s, msgx_now(), %(by)s, msgx_now()
     WHERE (SELECT count(*) FROM req_track WHERE state = 'PENDING') < %(limit)s
 RETURNING req_id
"""
_GET: Final = f"SELECT {_COLUMNS} FROM req_track WHERE req_id = %s"
_LIST: Final = f"""
    SELECT {_COLUMNS}
      FROM req_track
     WHERE (%(before)s::bigint IS NULL OR req_id < %(before)s)
       AND (%(state)s::text IS NULL OR state = %(state)s)
       AND (%(type)s::text IS NULL OR req_type = %(type)s)
       AND (%(styp)s::text IS NULL OR req_styp = %(styp)s)
     ORDER BY req_id DESC
     LIMIT %(limit)s
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A request with everything that is known of it."""

    req_id: int
    type: RequestType
    styp: str
    rtyp: str | None
    begin: datetime | None
    end: datetime | None
    state: RequestState
    state_since: datetime
    registered_at: datetime
    registered_by: str
    attempts: int
    last_error: str | None
    seqn: str | None
    sending_at: datetime | None
    out_id_floor: int | None
    expires_at: datetime | None
    sent_at: datetime | None
    out_id: int | None
    matched_msg_id: int | None
    matched_by: MatchedBy | None
    matched_at: datetime | None
    matched_lag: timedelta | None
    closed_at: datetime | None


def register(conn: Connection, wish: Wish, *, by: str, limit: int) -> int | None:
    """Register a request, to be sent by the dispatcher, and return its number; None: `limit`
    requests wait already."""
    row: Any = conn.execute(
        _REGISTER,
        {
            "type": wish.type,
            "styp": wish.styp,
            "rtyp": wish.rtyp,
            "begin": wish.begin,
            "end": wish.end,
            "by": clean(by[:_LONGEST_NAME]),
            "limit": limit,
        },
    ).fetchone()
    return None if row is None else int(row[0])


def get(conn: Connection, req_id: int) -> Row | None:
    """Return one request."""
    with conn.cursor(row_factory=kwargs_row(_row)) as cursor:
        return cursor.execute(_GET, (req_id,)).fetchone()


def latest(
    conn: Connection,
    *,
    before: int | None,
    limit: int,
    state: RequestState | None = None,
    type: RequestType | None = None,
    styp: str | None = None,
) -> list[Row]:
    """Return at most `limit` requests with a number below `before`, the newest first."""
    given = {"before": before, "limit": limit, "state": state, "type": type, "styp": styp}
    with conn.cursor(row_factory=kwargs_row(_row)) as cursor:
        return cursor.execute(_LIST, given).fetchall()


def _row(*, type: str, state: str, matched_by: str | None, **columns: Any) -> Row:
    return Row(
        type=RequestType(type),
        state=RequestState(state),
        matched_by=None if matched_by is None else MatchedBy(matched_by),
        **columns,
    )
