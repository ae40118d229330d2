"""Requests for tests: the dispatcher's loop stepped by hand on a real mailbox, and eyes on
both sides."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import psycopg

from msgx.domain.requests import Wish
from msgx.mailbox.outbound import Outbound
from msgx.runtime.leadership import Leadership
from msgx.runtime.session import Session
from msgx.settings import Request
from msgx.store import req_register
from services.dispatcher.outgoing import Outgoing
from services.dispatcher.settings import DispatcherSettings
from tests.support.dispatcher import leading, settings
from tests.support.patient import PATIENT
from tests.support.servers import mysql
from tests.support.waiting import PATIENCE_SECONDS

GLST: Final = Wish.reference("GLST")
JUNE: Final = Wish.plan(
    datetime(2026, 6, 14, 16, tzinfo=UTC),
    datetime(2026, 6, 15, 15, 59, tzinfo=UTC),
    longest=timedelta(days=9),
)
"""One day of the airport, whole."""
_MOVE_CLOCK: Final = """
    CREATE OR REPLACE FUNCTION msgx_now() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ SELECT now() + interval '{seconds} seconds' $$
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Office:
    """The loop, and what stands in PostgreSQL and in the mailbox."""

    given: DispatcherSettings
    leadership: Leadership
    outbound: Outbound
    outgoing: Outgoing
    pg: "psycopg.Connection[Any]"

    def step(self, times: int = 1) -> timedelta:
        """Step the loop, and return the rest that the last step asks for."""
        return [self.outgoing.step() for _ in range(times)][-1]

    def register(self, wish: Wish = GLST) -> int:
        """Register a request, as the api does."""
        req_id = req_register.register(self.pg, wish, by="test", limit=100)
        assert req_id is not None
        return req_id

    def row(self, req_id: int, columns: str = "state") -> Any:
        """Return columns of a request; of one column its value."""
        found = self.pg.execute(
            f"SELECT {columns} FROM req_track WHERE req_id = %s", (req_id,)
        ).fetchone()
        assert found is not None
        return found[0] if len(found) == 1 else found

    def pass_time(self, seconds: float) -> None:
        """Move the database's clock, and with it everybody's (R36)."""
        move_clock(self.pg, seconds)

    def written(self) -> dict[int, str]:
        """Return the texts in COUTMSGS by id."""
        return outbound_texts(self.given.mailbox.url.get_secret_value())

    def mysql(self, statement: str) -> None:
        """Do something to the mailbox from outside."""
        url = self.given.mailbox.url.get_secret_value()
        with closing(mysql.connect(url)) as connection, connection.cursor() as cursor:
            cursor.execute(statement)


def move_clock(pg: "psycopg.Connection[Any]", seconds: float) -> None:
    """Let every service's time be `seconds` ahead of the server's."""
    pg.execute(_MOVE_CLOCK.format(seconds=seconds).encode())


def outbound_texts(url: str) -> dict[int, str]:
    """Return the texts in COUTMSGS by id."""
    with closing(mysql.connect(url)) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT COUTMSGS_ID, COUTMSGS_CLOB_MSG FROM COUTMSGS ORDER BY 1")
        return {int(row_id): str(text) for row_id, text in cursor.fetchall()}


@contextmanager
def office(
    dsn: str,
    mailbox: str,
    *,
    kind: type[Outbound] = Outbound,
    read_only: bool = False,
    timeout: timedelta = timedelta(seconds=PATIENCE_SECONDS),
    **request: Any,
) -> Iterator[Office]:
    """Lead a dispatcher whose request loop the test steps; `kind` may write worse than the
    real one."""
    given = settings(dsn, "127.0.0.1:1", "", mailbox=mailbox)
    given = given.model_copy(
        update={
            "request": Request(**request),
            "mailbox": given.mailbox.model_copy(
                update={"timeout": timeout, "read_only": read_only}
            ),
        }
    )
    outbound = kind(given.mailbox, given.request)
    with leading(given) as leadership, psycopg.connect(dsn, autocommit=True) as pg:
        outgoing = Outgoing(
            leadership,
            Session(
                given.database,
                "dispatcher-requests",
                transaction_timeout=PATIENT,
                by_key=True,
            ),
            outbound,
            given.form,
            given.request,
            read_only=read_only,
        )
        with closing(outgoing):
            yield Office(
                given=given, leadership=leadership, outbound=outbound, outgoing=outgoing, pg=pg
            )
