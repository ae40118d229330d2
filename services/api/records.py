"""Our PostgreSQL for the routes: a few connections, opened when needed and kept; it may be
away, and then only those routes say so that need it."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from queue import Empty, LifoQueue

from msgx.domain.failure import Away
from msgx.runtime.session import Session
from msgx.settings import Database
from msgx.store.connect import Connection


class Records:
    """Connections as the role of the api; the caller limits how many threads use one at once
    (`Gate`), so there are never more connections than places."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._idle: LifoQueue[Session] = LifoQueue()

    @contextmanager
    def use(self, doing: str) -> Iterator[Connection]:
        """Give a connection in autocommit to one thread; `doing` says what for.

        Raises:
            Fault: PostgreSQL is away (INFRA) or refuses.
        """
        session = self._take()
        try:
            with suppress(Away), session.use(doing) as conn:
                conn.execute("SELECT 1")  # one that the server has ended is opened anew
            with session.use(doing) as conn:
                yield conn
        finally:
            self._idle.put(session)

    def close(self) -> None:
        """Close the idle connections."""
        while True:
            try:
                self._idle.get_nowait().close()
            except Empty:
                return

    def _take(self) -> Session:
        try:
            return self._idle.get_nowait()
        except Empty:
            return Session(self._database, "api")
