"""Registration of scanned rows: each once, in one fenced transaction a page (INV-2b, R13)."""

import logging
import secrets
from collections.abc import Sequence
from typing import Final

from msgx.mailbox.inbox import Mailbox, Row
from msgx.runtime.session import Session
from msgx.store import registration, service_term
from msgx.store.connect import Connection
from msgx.store.registration import Arrival
from msgx.store.service_term import Service
from msgx.telemetry import metrics
from msgx.telemetry.board import Board

_SHOWN: Final = 10

log = logging.getLogger(__name__)


class Register:
    """Writes what a page found, and says which of its rows were marked once."""

    def __init__(self, session: Session, mailbox: Mailbox, board: Board) -> None:
        self._board = board
        self._session = session
        self._mailbox = mailbox

    def page(self, rows: Sequence[Row], term: int) -> list[int]:
        """Register the rows that are new; return those whose mark was confirmed before (R52).

        Raises:
            Away: PostgreSQL or the mailbox is away; nothing is lost by another try.
            Standby: another instance has taken over.
        """
        if not rows:
            return []
        with self._session.use("registering") as conn:
            known = registration.known(conn, [row.msg_id for row in rows])
            new = [row for row in rows if row.msg_id not in known]
            if new:
                self._write(conn, new, term)
        return self._returned([msg_id for msg_id, confirmed in known.items() if confirmed])

    def _returned(self, confirmed: Sequence[int]) -> list[int]:
        """Return those of `confirmed` that are unmarked now: what was scanned may have been
        older than the confirmation."""
        return self._mailbox.unmarked(confirmed)

    def _write(self, conn: Connection, rows: Sequence[Row], term: int) -> None:
        arrivals = [
            Arrival(msg_id=row.msg_id, received_at=row.received_at, traceparent=_traceparent())
            for row in rows
        ]
        with conn.transaction():
            service_term.share(conn, Service.INTAKE, term)
            registered = registration.register(conn, arrivals)
        self._board.add(metrics.REGISTERED, len(registered))
        if registered:
            ids = sorted(one.msg_id for one in registered)
            log.info("registered", extra={"count": len(ids), "first": ids[0], "last": ids[-1]})
        if late := sorted(one.msg_id for one in registered if one.late_after is not None):
            self._board.add(metrics.LATE_ARRIVALS, len(late))
            log.info("late arrivals", extra={"count": len(late), "first": late[:_SHOWN]})


def _traceparent() -> str:
    """Return the root of a message's trace, in the form of W3C Trace Context, sampled."""
    return f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-01"
