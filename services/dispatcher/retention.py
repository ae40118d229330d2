"""What is over leaves, a few rows at a time: events that were delivered or given up after
`msgx.pipeline.event-retention`, closed requests after `msgx.request.retention` (B08, B62)."""

import logging
from datetime import timedelta
from typing import Final

from msgx.runtime.leadership import Leadership
from msgx.runtime.session import Session
from msgx.store import event_retention, req_sending, service_term
from msgx.store.service_term import Service

log = logging.getLogger(__name__)

BATCH: Final = 500
_BETWEEN: Final = timedelta(seconds=0.5)  # delivery has the right of way
_IDLE: Final = timedelta(minutes=1)


class Retention:
    """Deletes what is over of events and requests while this instance leads; a loop of its
    own."""

    def __init__(
        self,
        leadership: Leadership,
        session: Session,
        *,
        events: timedelta,
        requests: timedelta,
    ) -> None:
        self._leadership = leadership
        self._session = session
        self._events = events
        self._requests = requests

    def step(self) -> timedelta:
        """Delete one batch and return how long to rest.

        Raises:
            Standby: another instance leads.
            Away: PostgreSQL is away.
        """
        term = self._leadership.require()
        with self._session.use("deleting what is over") as conn, conn.transaction():
            service_term.share(conn, Service.DISPATCHER, term)
            gone = event_retention.delete(conn, keep=self._events, limit=BATCH)
            closed = req_sending.delete(conn, keep=self._requests, limit=BATCH)
        if gone:
            log.info("old events deleted", extra={"rows": gone})
        if closed:
            log.info("closed requests deleted", extra={"rows": closed})
        return _BETWEEN if BATCH in (gone, closed) else _IDLE

    def close(self) -> None:
        """Close the connection."""
        self._session.close()
