"""An answer of the AODB, and the request that it belongs to (R08, R56)."""

from datetime import datetime, timedelta
from typing import Final

from msgx.domain.failure import Away
from msgx.domain.message import Meta, Reference
from msgx.domain.refdata import Category
from msgx.domain.requests import Unanswered, asked_for, judge
from msgx.store import req_track
from msgx.store.connect import Connection

_TRIES: Final = 3


def answered(
    conn: Connection,
    msg_id: int,
    meta: Meta,
    reference: Reference,
    *,
    now: datetime,
    tolerance: timedelta,
) -> Unanswered | None:
    """Close the request that this answers, in the transaction that writes its records; return
    why there is none.

    The dispatcher may expire a request at any time, so one that was closed since it was found
    is looked for again.

    Raises:
        Away: requests come and go too fast; the next try has more luck.
    """
    for _ in range(_TRIES):
        found = judge(
            req_track.find(conn, asked_for(meta), msg_id),
            msg_id=msg_id,
            dttm=meta.dttm,
            now=now,
            tolerance=tolerance,
            rtyps=_rtyps(reference),
        )
        if isinstance(found, Unanswered):
            return found
        if req_track.close(conn, found):
            return None
    raise Away("the request of this answer could not be closed")


def _rtyps(reference: Reference) -> frozenset[str]:
    """Return the kinds of resources that an answer of RSTA speaks of."""
    if reference.category is not Category.RSTA:
        return frozenset()
    return frozenset(record.key.split(":", 1)[0] for record in reference.records)
