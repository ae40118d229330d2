"""A day plan that answers a request, and the request that it belongs to (R08, R12, R56)."""

from datetime import datetime, timedelta

from msgx.domain.message import Meta
from msgx.domain.requests import OPEN, Match, Unanswered, asked_for, judge
from msgx.store import req_track
from msgx.store.connect import Connection


def answered(
    conn: Connection,
    msg_id: int,
    meta: Meta,
    *,
    begun: bool,
    now: datetime,
    tolerance: timedelta,
) -> Match | Unanswered | None:
    """Return the match, or why the message answers nothing.

    A message that has `begun` to write takes no verdict again: its match stands in REQ_TRACK.
    None: it did, but the request was deleted since. Nor does one whose first batch changed
    nothing, as long as its request is open: nobody expires that one (R08).
    """
    match = req_track.matched(conn, msg_id)
    if begun or (match is not None and match.request.state in OPEN):
        return match
    return judge(
        req_track.find(conn, asked_for(meta), msg_id),
        msg_id=msg_id,
        dttm=meta.dttm,
        now=now,
        tolerance=tolerance,
    )
