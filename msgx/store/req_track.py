"""REQ_TRACK as an answer sees it: find the request, write the match, close it. Writers:
processor and refdata, each under PIPELINE_LOCK.

Every function runs on the caller's connection and never commits. What is registered and shown
stands in `req_register`, what is sent in `req_sending`.
"""

from typing import Any, Final

from msgx.domain.requests import (
    REQUESTS,
    Match,
    MatchedBy,
    RequestState,
    RequestTrigger,
    RequestType,
    Tracked,
)
from msgx.store.connect import Connection

_TRACKED: Final = """
    SELECT req_id, state, rtyp, begin_at, end_at, sending_at, expires_at, matched_msg_id,
           matched_by,
           EXISTS (SELECT FROM proc_state p
                    WHERE p.msg_id = matched_msg_id AND p.msg_id <> %(msg_id)s
                      AND p.state IN ('PENDING', 'FAILED')),
           matched_lag
      FROM req_track
"""
# The open one, else the last that left: it says whether the answer is late or unasked.
_FIND: Final = f"""
    {_TRACKED}
     WHERE req_type = %(type)s AND req_styp = %(styp)s AND state <> 'PENDING'
     ORDER BY closed_at IS NULL DESC, req_id DESC
     LIMIT 1
"""
_MATCHED: Final = f"""
    {_TRACKED}
     WHERE matched_msg_id = %(msg_id)s
     ORDER BY req_id DESC
     LIMIT 1
"""
# Rows are returned, not counted: in a pipeline a count is not known until it is fetched.
# A second answer may take the place of a first that is finished and did not close the request;
# whoever read the row knows which one that was.
_GUARD: Final = """
     WHERE req_id = %(req_id)s AND state = ANY(%(sources)s)
       AND (matched_msg_id IS NOT DISTINCT FROM %(known)s::bigint
            OR matched_msg_id = %(msg_id)s)
"""
_MATCH: Final = f"""
    UPDATE req_track
       SET matched_msg_id = %(msg_id)s, matched_by = %(by)s, matched_lag = %(lag)s,
           matched_at = msgx_now()
     {_GUARD}
 RETURNING req_id
"""
_CLOSE: Final = f"""
    UPDATE req_track
       SET state = %(to)s, state_since = msgx_now(), closed_at = msgx_now(),
           matched_msg_id = %(msg_id)s, matched_by = %(by)s, matched_lag = %(lag)s,
           matched_at = COALESCE(matched_at, msgx_now())
     {_GUARD}
 RETURNING req_id
"""


def find(conn: Connection, kind: tuple[RequestType, str], msg_id: int) -> Tracked | None:
    """Return the request of `kind` that message `msg_id` may answer: `requests.judge` says
    whether it does."""
    type_, styp = kind
    given = {"type": type_, "styp": styp, "msg_id": msg_id}
    row: Any = conn.execute(_FIND, given).fetchone()
    return None if row is None else _tracked(row)


def matched(conn: Connection, msg_id: int) -> Match | None:
    """Return the match that an earlier run of the message has written (R12)."""
    row: Any = conn.execute(_MATCHED, {"msg_id": msg_id}).fetchone()
    if row is None:
        return None
    request = _tracked(row)
    assert request.matched_by is not None, "a match is whole"  # noqa: S101
    return Match(request=request, msg_id=msg_id, by=request.matched_by, lag=row[-1])


def match(conn: Connection, found: Match) -> bool:
    """Write the match, with the first write of its answer (R12); False: the request was closed
    since it was found, so the verdict must be taken again."""
    return conn.execute(_MATCH, _given(found)).fetchone() is not None


def close(conn: Connection, found: Match) -> bool:
    """Close the request as DONE, in the transaction that finishes its answer's data.

    False: it was closed already; a late answer changes no closed request.
    """
    given = _given(found) | {"to": REQUESTS.target(RequestTrigger.ANSWER)}
    return conn.execute(_CLOSE, given).fetchone() is not None


def _given(found: Match) -> dict[str, object]:
    return {
        "req_id": found.request.req_id,
        "msg_id": found.msg_id,
        "known": found.request.matched_msg_id,
        "by": found.by,
        "lag": found.lag,
        "sources": REQUESTS.sources(RequestTrigger.ANSWER),
    }


def _tracked(row: Any) -> Tracked:
    req_id, state, rtyp, begin, end, sending_at, expires_at, msg_id, by, in_work, _ = row
    return Tracked(
        req_id=req_id,
        state=RequestState(state),
        rtyp=rtyp,
        begin=begin,
        end=end,
        sending_at=sending_at,
        expires_at=expires_at,
        matched_msg_id=msg_id,
        matched_by=None if by is None else MatchedBy(by),
        answer_in_work=in_work,
    )
