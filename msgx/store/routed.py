"""A head that the processor has handed over, as refdata ends it (R16). Owner: refdata.

Its columns of PROC_STATE are fewer than the processor's: identity, META and route stand
already.
"""

from typing import Any, Final

from msgx.domain.processing import Route
from msgx.domain.refdata import WHOLE
from msgx.store import listen, proc_state, service_term
from msgx.store.connect import Connection
from msgx.store.proc_state import Outcome, StaleState
from msgx.store.service_term import Service

# Wakes the processor at COMMIT.
_END: Final = f"""
    WITH fence AS ({service_term.SHARE_NAMED}),
         done AS (
        UPDATE proc_state
           SET {proc_state.ENDED}
         WHERE msg_id = %(msg_id)s
           AND state = ANY(%(sources)s) AND route = %(route)s
           AND EXISTS (SELECT FROM fence WHERE term = %(term)s)
     RETURNING msg_id),
         woken AS (SELECT pg_notify('{listen.EXECUTED}', '') FROM done)
    SELECT term, now, (SELECT msg_id FROM done), (SELECT count(*) FROM woken) FROM fence
"""
_NEWEST_WHOLE: Final = """
    SELECT max(msg_id) FROM proc_state
     WHERE msg_id > %(msg_id)s AND type = %(rtype)s AND styp = ANY(%(whole)s)
       AND state = 'SUCCEEDED'
"""


def end(conn: Connection, msg_id: int, outcome: Outcome, *, term: int) -> None:
    """Finish the message in the transaction that wrote its records: terminal state and owed
    mark (INV-8).

    Raises:
        Deposed: another instance of refdata leads.
        StaleState: the row is no longer open, or no longer routed to refdata.
    """
    given: dict[str, Any] = {
        "msg_id": msg_id,
        "service": Service.REFDATA,
        "term": term,
        "route": Route.REFDATA,
        **proc_state.ending(outcome),
    }
    row = conn.execute(_END, given).fetchone()
    service_term.judge(None if row is None else row[:2], Service.REFDATA, term)
    if row is None or row[2] is None:
        raise StaleState(f"message {msg_id} does not accept its end any more")
    if outcome.error_class is not None:
        proc_state.tried(conn, msg_id, outcome.error_class, outcome.reason or "")


def newest_whole(conn: Connection, rtype: str, msg_id: int) -> int | None:
    """Return the newest message above `msg_id` that has said a whole category; for a replay."""
    given = {"msg_id": msg_id, "rtype": rtype, "whole": [action.value for action in WHOLE]}
    row: Any = conn.execute(_NEWEST_WHOLE, given).fetchone()
    newest: int | None = row[0]
    return newest
