"""The end of what is kept of the past: texts of dead messages, acts of operators, identities
and figures of day plans, a few rows at a time (R02, R38, B08)."""

import logging
from datetime import timedelta
from typing import Final

from msgx.runtime.leadership import Leadership
from msgx.runtime.session import Session
from msgx.store import admin_audit, dead_letter, identity_ledger, schd_snap_log, service_term
from msgx.store.service_term import Service

log = logging.getLogger(__name__)

BATCH: Final = 200
_BETWEEN: Final = timedelta(seconds=0.5)  # messages have the right of way
_IDLE: Final = timedelta(minutes=10)


class Retention:
    """Deletes old rows while this instance leads; a loop of its own."""

    def __init__(
        self,
        leadership: Leadership,
        session: Session,
        *,
        dead: timedelta,
        audit: timedelta,
        identities: timedelta,
        day_plans: timedelta,
    ) -> None:
        self._leadership = leadership
        self._session = session
        self._dead = dead
        self._audit = audit
        self._identities = identities
        self._day_plans = day_plans
        self._after = 0  # the message up to which identities were looked at

    def step(self) -> timedelta:
        """Delete one batch of each and return how long to rest.

        Raises:
            Standby: another instance leads.
            Away: PostgreSQL is away.
        """
        term = self._leadership.require()
        with (
            self._session.use("deleting what is old") as conn,
            conn.transaction(),
        ):
            service_term.share(conn, Service.PROCESSOR, term)
            letters = dead_letter.delete(conn, keep=self._dead, limit=BATCH)
            acts = admin_audit.delete(conn, keep=self._audit, limit=BATCH)
            plans = schd_snap_log.delete(conn, keep=self._day_plans, limit=BATCH)
            page = identity_ledger.delete(
                conn, after=self._after, keep=self._identities, limit=BATCH
            )
        # Messages grow with time: a page without an old identity ends the walk.
        self._after = page.last if page.old and page.last is not None else 0
        gone = {
            "dead_letter": letters,
            "admin_audit": acts,
            "schd_snap_log": plans,
            "identity_ledger": page.gone,
        }
        if any(gone.values()):
            log.info("old records deleted", extra=gone)
        return _BETWEEN if self._after or BATCH in (letters, acts, plans) else _IDLE

    def close(self) -> None:
        """Close the connection."""
        self._session.close()
