"""One active instance of each service: a session lock and a growing term (R13, R14)."""

import logging
import os
import socket
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Final

import psycopg

from msgx.domain.failure import Away, Unfit
from msgx.runtime.failing import unblock
from msgx.settings import Database
from msgx.settings import Leadership as LeadershipSettings
from msgx.store import installation, migrate, pooler, service_term
from msgx.store.connect import Connection, connect
from msgx.store.service_term import Deposed, Service

_BEAT: Final = timedelta(seconds=1)

log = logging.getLogger(__name__)


class Standby(Exception):
    """This instance does not lead now; another one does, or PostgreSQL is away."""


def name_instance() -> str:
    """Return a name for this process: a restarted one is another instance (B48)."""
    return f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"


class Leadership:
    """The dedicated, unpooled session that holds the service's lock.

    Not thread-safe but for `term`: one loop calls `hold`, others only read the term.
    """

    def __init__(
        self,
        database: Database,
        settings: LeadershipSettings,
        service: Service,
        *,
        environment: str,
        by_key: bool = False,
    ) -> None:
        self._by_key = by_key
        self._environment = environment
        self._is_direct = False  # asked once
        self._database = database
        self._timeout = settings.timeout.total_seconds()
        self.service = service
        self.instance = name_instance()
        self._conn: Connection | None = None
        self._leads = False
        self.term: int | None = None

    def hold(self) -> Connection:
        """Return the session that leads; beat it, or try to take over.

        Raises:
            Standby: another instance leads, or the schema is too old for this code.
            Away: PostgreSQL does not answer.
            Unfit: a pooler lends the session by the transaction, or the database is another
            installation's (R50).
        """
        try:
            if self._conn is None or self._conn.closed:
                self.lose()
                if not self._is_direct:
                    pooler.refuse(self._database)
                    self._is_direct = True
                self._conn = connect(
                    self._database,
                    name=f"{self.service}-leader",
                    session_timeout_seconds=self._timeout,
                    by_key=self._by_key,
                )
                migrate.check_version(self._conn)
                installation.check(self._conn, self._environment)
            if self._leads:
                self._conn.execute("SELECT 1")
            elif not service_term.try_lock(self._conn, self.service):
                if service_term.end_silent(self._conn, self.service, self._timeout):
                    log.warning("ended a silent leader", extra={"service": self.service})
                raise Standby(f"another {self.service} leads")
            else:
                self.term = service_term.take_over(self._conn, self.service, self.instance)
                installation.claim(self._conn, self._environment)
                self._leads = True
                log.info("leads", extra={"service": self.service, "term": self.term})
        except Unfit:
            self.lose()
            raise
        except migrate.MigrationRefused as refusal:
            self.lose()
            raise Standby(str(refusal)) from None
        except psycopg.OperationalError as error:
            self.lose()
            raise Away("the leading session of PostgreSQL was lost") from error
        return self._conn

    @contextmanager
    def leading(self) -> Iterator[tuple[Connection, int]]:
        """Give the leading session and its term, to work on it; a newer term or a fault of the
        session ends the leadership.

        Raises:
            Standby, Away, Unfit: as `hold`; everything is read anew (R13).
        """
        conn, term = self.hold(), self.require()
        try:
            yield conn, term
        except Deposed as deposed:
            self.lose()
            raise Standby(str(deposed)) from deposed
        except psycopg.Error as error:
            unblock(conn, error)
            self.lose()
            raise Away("the leading session of PostgreSQL was lost") from error

    def lose(self) -> None:
        """Step down: close the session, so that the server drops lock and transaction."""
        if self._leads:
            log.warning("leads no more", extra={"service": self.service, "term": self.term})
        self.term = None
        self._leads = False
        if self._conn is not None:
            self._conn.close()
            self._conn = None

    def beat(self) -> timedelta:
        """Hold the session for loops that work on connections of their own; a loop's step."""
        self.hold()
        return _BEAT

    def require(self) -> int:
        """Return the term to fence a transaction with.

        Raises:
            Standby: this instance does not lead.
        """
        if (term := self.term) is None:
            raise Standby(f"this {self.service} does not lead")
        return term

    @property
    def leads(self) -> bool:
        """Tell whether this instance leads, as far as it knows."""
        return self._leads
