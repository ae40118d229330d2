"""The end of what is kept for operators: texts of dead messages, and the record of their acts,
a few rows at a time (R38, B08)."""

import logging
from datetime import timedelta
from typing import Final

from msgx.runtime.leadership import Leadership
from msgx.runtime.session import Session
from msgx.store import admin_audit, dead_letter, service_term
from msgx.store.service_term import Service

log = logging.getLogger(__name__)

BATCH: Final = 200
_BETWEEN: Final = timedelta(seconds=0.5)  # messages have the right of way
_IDLE: Final = timedelta(minutes=10)


class Retention:
    """Deletes old rows while this instance leads; a loop of its own."""

    def __init__(
        self, leadership: Leadership, session: Session, *, dead: timedelta, audit: timedelta
    ) -> None:
        self._leadership = leadership
        self._session = session
        self._dead = dead
        self._audit = audit

    def step(self) -> timedelta:
        """Delete one batch of each and return how long to rest.

        Raises:
            Standby: another instance leads.
            Away: PostgreSQL is away.
        """
        term = self._leadership.require()
        with (
            self._session.use("deleting what is kept for operators") as conn,
            conn.transaction(),
        ):
            service_term.share(conn, Service.PROCESSOR, term)
            letters = dead_letter.delete(conn, keep=self._dead, limit=BATCH)
            acts = admin_audit.delete(conn, keep=self._audit, limit=BATCH)
        if letters or acts:
            log.info("old records deleted", extra={"dead_letter": letters, "admin_audit": acts})
        return _BETWEEN if BATCH in (letters, acts) else _IDLE

    def close(self) -> None:
        """Close the connection."""
        self._session.close()
