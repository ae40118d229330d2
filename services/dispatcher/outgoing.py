"""Requests to the AODB: written to COUTMSGS once, or nobody knows (R08, R34, INV-16).

T1 claims, the mailbox writes, T2 confirms. A crash between them leaves SENDING: the next step
looks for the row, and never writes again by itself."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Final

from msgx import clock
from msgx.codec.encode import Form, encode, head
from msgx.domain.failure import Away, Fault
from msgx.mailbox.connect import Unclear
from msgx.mailbox.outbound import Outbound
from msgx.runtime.leadership import Leadership
from msgx.runtime.session import Session
from msgx.settings import Request
from msgx.store import req_sending, service_term
from msgx.store.connect import Connection
from msgx.store.req_sending import Claimed, Unsettled, Waiting
from msgx.store.service_term import Service

log = logging.getLogger(__name__)

PART: Final = "requests"
_BATCH: Final = 100
_READ_ONLY: Final = "the mailbox is read-only here: nothing is sent"
_NOT_FOUND: Final = "its row was not found: never written, or taken already"


class Outgoing:
    """Writes one waiting request after the other while this instance leads; a loop of its
    own."""

    def __init__(
        self,
        leadership: Leadership,
        session: Session,
        outbound: Outbound,
        form: Form,
        settings: Request,
        *,
        read_only: bool,
    ) -> None:
        self._leadership = leadership
        self._session = session
        self._outbound = outbound
        self._form = form
        self._settings = settings
        self._read_only = read_only

    def step(self) -> timedelta:
        """Expire, settle, and write one request; return how long to rest.

        Raises:
            Standby: another instance leads.
            Away: PostgreSQL or the mailbox is away; what waits goes on waiting.
        """
        self._tend()
        with self._session.use("looking for requests") as conn:
            waiting = req_sending.next_waiting(conn)
        if waiting is None:
            return self._settings.interval
        if self._read_only:
            self._explain(_READ_ONLY)
            return self._settings.interval
        began = clock.ticks()
        claimed = self._claim(waiting)
        if claimed is not None:  # one that was stopped since is too late to write
            self._write(claimed, until=began + self._outbound.patience.total_seconds())
        return timedelta()

    def tend(self) -> timedelta:
        """Expire and settle, and write nothing: what is done while an operator lets requests
        rest. Return how long to rest.

        Raises:
            Standby, Away: as `step`.
        """
        self._tend()
        return self._settings.interval

    def close(self) -> None:
        """Close the connections."""
        self._session.close()
        self._outbound.close()

    def _tend(self) -> None:
        with self._session.use("looking for requests") as conn:
            if req_sending.quiet(conn):  # a look needs no term, and costs nothing
                return
        with self._fenced("expiring requests") as conn:
            expired = req_sending.expire_overdue(conn, limit=_BATCH)
            broken = req_sending.unsettled(conn, settles=self._outbound.settles, limit=_BATCH)
        for req_id in expired:
            log.warning("request expired", extra={"req_id": req_id})
        for one in broken:
            self._settle(one)

    def _settle(self, one: Unsettled) -> None:
        """Find out about a request whose write was broken off (R34)."""
        meta = head(one.type, one.styp, self._form, seqn=one.seqn, at=one.sending_at)
        row = self._outbound.find(meta, floor=one.floor)
        if row is not None:
            self._confirm(one.req_id, row)
        elif one.quiet:
            self._lose(one)

    def _explain(self, why: str) -> None:
        with self._fenced("explaining requests") as conn:
            req_sending.explain(conn, why)

    def _claim(self, waiting: Waiting) -> Claimed | None:
        try:
            floor = self._outbound.highest()
        except Away as away:
            self._explain(away.text)
            raise
        with self._fenced("claiming a request") as conn:
            found = req_sending.claim(
                conn, waiting, floor=floor, timeout=self._settings.timeout
            )
        if found is None:
            return None
        claimed, expired = found
        for req_id in expired:
            extra = {"req_id": req_id, "by": claimed.req_id}
            log.warning("request gives way to a newer one", extra=extra)
        return claimed

    def _write(self, claimed: Claimed, *, until: float) -> None:
        try:
            text = encode(claimed.wish, self._form, seqn=claimed.seqn, at=claimed.sending_at)
            row = self._outbound.insert(text, at=claimed.sending_at, until=until)
        except Unclear:
            log.exception("request perhaps written", extra={"req_id": claimed.req_id})
            raise
        except Exception as error:
            said = error.text if isinstance(error, Fault) else f"{type(error).__name__}"
            with self._fenced("giving a request back") as conn:
                req_sending.give_back(conn, claimed.req_id, said)
            raise
        self._confirm(claimed.req_id, row)

    def _confirm(self, req_id: int, row: int) -> None:
        with self._fenced("confirming a request") as conn:
            known = req_sending.confirm(conn, req_id, row)
        if known:
            log.info("request sent", extra={"req_id": req_id, "out_id": row})

    def _lose(self, one: Unsettled) -> None:
        with self._fenced("losing a request") as conn:
            lost = req_sending.lose(conn, one.req_id, _NOT_FOUND)
        if lost:  # an alarm: an operator decides (INV-16)
            extra = {"req_id": one.req_id, "seqn": one.seqn, "floor": one.floor}
            log.error("request unknown", extra=extra)

    @contextmanager
    def _fenced(self, doing: str) -> Iterator[Connection]:
        term = self._leadership.require()
        with self._session.use(doing) as conn, conn.transaction():
            service_term.share(conn, Service.DISPATCHER, term)
            yield conn
