"""Waking early: a connection that hears when events are released. Polling alone is enough."""

from datetime import timedelta

from msgx.domain.failure import Away
from msgx.runtime.session import Session
from msgx.settings import Database
from msgx.store import listen
from msgx.store.connect import Connection


class Wake:
    """Waits for released events, at most a given time. Not thread-safe."""

    def __init__(self, database: Database) -> None:
        self._session = Session(database, "dispatcher-wake")
        self._hears: Connection | None = None

    def wait(self, limit: timedelta) -> timedelta:
        """Wait until events are released or `limit` has passed; return what is left to rest."""
        try:
            with self._session.use("listening") as conn:
                if conn is not self._hears:
                    listen.listen(conn, listen.RELEASED)
                    self._hears = conn
                listen.wait(conn, limit)
        except Away:
            return limit
        return timedelta()

    def close(self) -> None:
        """Close the connection."""
        self._session.close()
