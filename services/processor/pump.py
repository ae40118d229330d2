"""The pump: the head, window by window, strictly in order (INV-3). One step, then the loop may
stop."""

from collections.abc import Callable
from datetime import timedelta
from typing import Final

from msgx.domain.failure import Away
from msgx.mailbox.texts import Fetched
from msgx.runtime.leadership import Leadership
from msgx.runtime.session import Session
from msgx.settings import Pipeline
from msgx.store import listen, proc_state, service_term
from msgx.store.connect import Connection
from msgx.store.proc_state import Head
from services.processor.fetch import Fetcher
from services.processor.process import Processor, Progress
from services.processor.project import Projector

_AT_ONCE: Final = timedelta()


class Pump:
    """Drives the head on the leading session; a standby drives nothing (R14)."""

    def __init__(
        self,
        leadership: Leadership,
        ears: Session,
        fetcher: Fetcher,
        processor: Processor,
        projector: Projector,
        pipeline: Pipeline,
        *,
        stopping: Callable[[], bool] = lambda: False,
    ) -> None:
        self._stopping = stopping
        self._leadership = leadership
        self._ears = ears
        self._fetcher = fetcher
        self._processor = processor
        self._projector = projector
        self._pipeline = pipeline
        self._hearing: Connection | None = None  # the connection that listens
        self._behind: list[Fetched] = []  # fetched behind a head that refdata executes
        self._fetched_in: int | None = None  # the term of what was fetched

    def step(self) -> timedelta:
        """Process one window of heads, or wait for one; return the rest to take.

        Raises:
            Away, Standby: the loop rests and comes again; everything is read anew (R13).
        """
        with self._leadership.leading() as (conn, term):
            return self._step(conn, term)

    def _step(self, conn: Connection, term: int) -> timedelta:
        if term != self._fetched_in:  # another instance may have led, and texts be corrected
            self._behind, self._fetched_in = [], term
            self._fetcher.forget()
        head = proc_state.head(conn)
        if head is None or head.route is not None:
            self._keep_complete(conn, term)
            return self._listen()
        if head.wait > _AT_ONCE:
            self._keep_complete(conn, term)
            return self._rest(head)
        window = self._window(conn, head.msg_id, term)
        for place, fetched in enumerate(window, start=1):
            progress = self._processor.process(conn, fetched, term)
            if progress is Progress.ROUTED:
                self._behind = window[place:]
            if progress is not Progress.FINISHED:
                break
            if self._stopping():  # a window of large day plans may outlast the grace
                break
        return _AT_ONCE

    def _window(self, conn: Connection, first: int, term: int) -> list[Fetched]:
        """Return the window of heads; a server that is away is a failure of the head (R04)."""
        behind, self._behind = self._behind, []
        try:
            self._keep_complete(conn, term)
            if behind and behind[0].msg_id == first:
                return behind
            return self._fetcher.window(first, self._leadership.hold)
        except Away as away:
            return [Fetched(first, self._text(first), away)]

    def _text(self, first: int) -> str | None:
        """Return the text of a head that cannot go on, where a limit of tries could bury it: a
        message is only buried with its text (R38)."""
        if not self._pipeline.infra_max_attempts:
            return None
        try:
            found = self._fetcher.window(first, self._leadership.hold)
        except Away:
            return None
        return next((one.raw for one in found if one.msg_id == first), None)

    def _keep_complete(self, conn: Connection, term: int) -> None:
        """Rebuild the projection if Redis lost it."""
        if self._projector.complete(term=term):
            return
        conn.execute(service_term.LOCK_PIPELINE)
        try:
            self._projector.rebuild(conn, term=term)
        finally:
            if not conn.closed:
                conn.execute(service_term.UNLOCK_PIPELINE)

    def _rest(self, head: Head) -> timedelta:
        return min(head.wait, self._pipeline.idle_interval)

    def _listen(self) -> timedelta:
        """Wait for a registration, or the end of a routed head, at most the idle interval:
        polling alone is enough."""
        with self._ears.use("waiting for work") as conn:
            if conn is not self._hearing:
                listen.listen(conn, listen.REGISTERED)
                listen.listen(conn, listen.EXECUTED)
                self._hearing = conn
            listen.wait(conn, self._pipeline.idle_interval)
        return _AT_ONCE
