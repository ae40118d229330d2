"""Requests as the dispatcher leaves them, for those who test answers."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

import psycopg

JUST_BEFORE: Final = datetime(2026, 1, 5, 0, 29, tzinfo=UTC)
"""When requests are written: a minute before the DTTM of the tests' messages."""

_ASK: Final = """
    INSERT INTO req_track (req_type, req_styp, rtyp, begin_at, end_at, registered_at,
                           registered_by, state, state_since, seqn, sending_at, expires_at,
                           out_id_floor, out_id, sent_at, closed_at)
    VALUES (%(type)s, %(styp)s, %(rtyp)s, %(begin)s::timestamp AT TIME ZONE 'Asia/Shanghai',
            %(end)s::timestamp AT TIME ZONE 'Asia/Shanghai', %(at)s, 'test', %(state)s, %(at)s,
            '000001', %(at)s, msgx_now() + %(left)s, 0,
            CASE WHEN %(state)s IN ('SENT', 'EXPIRED') THEN 1 END,
            CASE WHEN %(state)s IN ('SENT', 'EXPIRED') THEN %(at)s::timestamptz END,
            CASE WHEN %(state)s = 'EXPIRED' THEN msgx_now() END)
 RETURNING req_id
"""


def asked(
    pg: "psycopg.Connection[Any]",
    *,
    styp: str = "NONE",
    rtyp: str | None = None,
    begin: str | None = "2026-01-05 00:00",
    end: str | None = "2026-01-05 23:59",
    state: str = "SENT",
    at: datetime = JUST_BEFORE,
    left: timedelta = timedelta(minutes=10),
) -> int:
    """Insert a request, by default a sent one for the day of the tests' flights, and return its
    number; any other `styp` than NONE asks for that category."""
    plan = styp == "NONE"
    row = pg.execute(
        _ASK,
        {
            "type": "RQFD" if plan else "RQRD",
            "styp": styp,
            "rtyp": rtyp,
            "begin": begin if plan else None,
            "end": end if plan else None,
            "state": state,
            "at": at,
            "left": left,
        },
    ).fetchone()
    assert row is not None
    return int(row[0])


def request(pg: "psycopg.Connection[Any]", req_id: int, columns: str = "state") -> Any:
    """Return columns of a request; of one column its value."""
    row = pg.execute(f"SELECT {columns} FROM req_track WHERE req_id = %s", (req_id,)).fetchone()
    assert row is not None
    return row[0] if len(row) == 1 else row
