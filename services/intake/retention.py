"""Records of messages that are over leave, a page at a time (US-11, INV-25): finished now, mark
confirmed, and old enough."""

import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Final

from msgx.runtime.session import Session
from msgx.store import proc_retention, service_term
from msgx.store.service_term import Service

log = logging.getLogger(__name__)

BATCH: Final = 500
_BETWEEN: Final = timedelta(seconds=0.5)  # messages have the right of way
_IDLE: Final = timedelta(minutes=10)


class Retention:
    """Walks through the old records while this instance leads; a loop of its own, which never
    takes the pipeline's lock."""

    def __init__(
        self,
        session: Session,
        term: Callable[[], int],
        *,
        records: timedelta,
        dead: timedelta,
    ) -> None:
        self._session = session
        self._term = term
        self._records = records
        self._dead = dead
        self._after = 0

    def step(self) -> timedelta:
        """Delete what is over in one page and return how long to rest.

        Ids grow with time: a page without any old record ends the walk, and the next one begins
        anew. What was registered late lies lower and only makes the walk longer.

        Raises:
            Standby: another instance leads.
            Away: PostgreSQL is away; the walk goes on from the same page.
        """
        term = self._term()
        with self._session.use("deleting old records") as conn, conn.transaction():
            service_term.share(conn, Service.INTAKE, term)
            page = proc_retention.delete(
                conn,
                after=self._after,
                keep=self._records,
                keep_dead=self._dead,
                limit=BATCH,
            )
        if page.gone:
            log.info("old records deleted", extra={"proc_state": page.gone})
        if page.last is None or not page.old:
            self._after = 0
            return _IDLE
        self._after = page.last
        return _BETWEEN
