"""A loop's own PostgreSQL connection: opened when needed, dropped after a fault, never
pooled."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Final

import psycopg

from msgx.runtime.leadership import Standby
from msgx.settings import Database, Leadership
from msgx.store.connect import Connection, connect, fault
from msgx.store.service_term import Deposed

# A fenced transaction that stands still must not outlast a leader that does.
LETS_GO_AFTER: Final = Leadership().timeout


class Session:
    """One connection of one loop. Not thread-safe: each loop has its own.

    `transaction_timeout` bounds how long a stopped process keeps what its transaction locked;
    a fenced one keeps the term row, so the next instance waits for it (R13): no longer than for
    a leader, unless told otherwise.
    """

    def __init__(
        self,
        database: Database,
        name: str,
        *,
        transaction_timeout: timedelta = LETS_GO_AFTER,
        by_key: bool = False,
    ) -> None:
        self._database = database
        self._name = name
        self._transaction_timeout = transaction_timeout
        self._by_key = by_key
        self._conn: Connection | None = None

    @contextmanager
    def use(self, doing: str) -> Iterator[Connection]:
        """Give the connection for one step; `doing` says what for, in the error text.

        Raises:
            Away: PostgreSQL is away, busy or refuses for now; the next step opens a new
            connection.
            Standby: a transaction was fenced off by a newer term.
            Fault: PostgreSQL refused a statement for good: a defect of ours.
        """
        if self._conn is None or self._conn.closed:
            self._conn = connect(
                self._database,
                name=self._name,
                transaction_timeout_seconds=self._transaction_timeout.total_seconds(),
                by_key=self._by_key,
            )
        try:
            yield self._conn
        except Deposed as deposed:
            raise Standby(str(deposed)) from deposed
        except psycopg.Error as error:
            self.close()
            raise fault(error, doing) from error

    def close(self) -> None:
        """Close the connection; the next use opens another."""
        if self._conn is not None:
            self._conn.close()
            self._conn = None
