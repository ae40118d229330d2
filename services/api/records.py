"""Our PostgreSQL for the routes, over a few connections; it may be away, and then only those
routes say so that need it."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from msgx.domain.failure import Away
from msgx.runtime.session import Session
from msgx.settings import Database
from msgx.store.connect import Connection
from services.api.pool import Pool


class Records:
    """Connections as the role of the api."""

    def __init__(self, database: Database) -> None:
        self._pool = Pool(lambda: Session(database, "api"))

    @contextmanager
    def use(self, doing: str) -> Iterator[Connection]:
        """Give a connection in autocommit to one thread; `doing` says what for.

        Raises:
            Fault: PostgreSQL is away (INFRA) or refuses.
        """
        with self._pool.lend() as session:
            with suppress(Away), session.use(doing) as conn:
                conn.execute("SELECT 1")  # one that the server has ended is opened anew
            with session.use(doing) as conn:
                yield conn

    def close(self) -> None:
        """Close the idle connections."""
        self._pool.close()
