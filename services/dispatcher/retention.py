"""The outbox's end: delivered events leave after `msgx.pipeline.event-retention`, a few at a
time (B08, B62)."""

import logging
from datetime import timedelta
from typing import Final

from msgx.runtime.leadership import Leadership
from msgx.runtime.session import Session
from msgx.store import event_retention, service_term
from msgx.store.service_term import Service

log = logging.getLogger(__name__)

BATCH: Final = 500
_BETWEEN: Final = timedelta(seconds=0.5)  # delivery has the right of way
_IDLE: Final = timedelta(minutes=1)


class Retention:
    """Deletes delivered events while this instance leads; a loop of its own."""

    def __init__(self, leadership: Leadership, session: Session, keep: timedelta) -> None:
        self._leadership = leadership
        self._session = session
        self._keep = keep

    def step(self) -> timedelta:
        """Delete one batch and return how long to rest.

        Raises:
            Standby: another instance leads.
            Away: PostgreSQL is away.
        """
        term = self._leadership.require()
        with self._session.use("deleting delivered events") as conn, conn.transaction():
            service_term.share(conn, Service.DISPATCHER, term)
            gone = event_retention.delete(conn, keep=self._keep, limit=BATCH)
        if gone:
            log.info("delivered events deleted", extra={"rows": gone})
        return _BETWEEN if gone == BATCH else _IDLE

    def close(self) -> None:
        """Close the connection."""
        self._session.close()
