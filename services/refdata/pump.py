"""The pump: the head, whenever it is routed to us (R16). One step, then the loop may stop."""

from datetime import timedelta
from typing import Final

from msgx.runtime.leadership import Leadership
from msgx.runtime.session import Session
from msgx.settings import Pipeline
from msgx.store import listen, proc_state
from msgx.store.connect import Connection
from services.refdata.execute import Executor

_AT_ONCE: Final = timedelta()


class Pump:
    """Drives routed heads on the leading session; a standby drives nothing (R14)."""

    def __init__(
        self, leadership: Leadership, ears: Session, executor: Executor, pipeline: Pipeline
    ) -> None:
        self._leadership = leadership
        self._ears = ears
        self._executor = executor
        self._pipeline = pipeline
        self._hearing: Connection | None = None  # the connection that listens

    def step(self) -> timedelta:
        """Execute one routed head, or wait for one; return the rest to take.

        Raises:
            Away, Standby: the loop rests and comes again; everything is read anew (R13).
        """
        with self._leadership.leading() as (conn, term):
            return self._step(conn, term)

    def _step(self, conn: Connection, term: int) -> timedelta:
        head = proc_state.head(conn)
        if head is None or head.route is None:
            return self._listen()
        if head.wait > _AT_ONCE:
            return min(head.wait, self._pipeline.idle_interval)
        self._executor.take(conn, head.msg_id, term, self._leadership.hold)
        return _AT_ONCE

    def _listen(self) -> timedelta:
        """Wait for a routed head, at most the idle interval: polling alone is enough."""
        with self._ears.use("waiting for routed heads") as conn:
            if conn is not self._hearing:
                listen.listen(conn, listen.ROUTED)
                self._hearing = conn
            listen.wait(conn, self._pipeline.idle_interval)
        return _AT_ONCE
