"""Intake for tests: its loops by hand on the production settings, mailbox rows, records."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import grpc
import psycopg
from pydantic import SecretStr

from msgx import clock
from msgx.domain.marking import Abandonment
from msgx.mailbox.inbox import Mailbox
from msgx.rpc.v1 import mailbox_pb2 as pb
from msgx.rpc.v1 import mailbox_pb2_grpc
from msgx.runtime.address import Address
from msgx.runtime.desk import Desk
from msgx.runtime.leadership import Leadership
from msgx.runtime.session import Session
from msgx.settings import Admin as AdminSettings
from msgx.settings import Control, Intake, Pipeline
from msgx.store import service_term
from msgx.store.service_term import Service
from msgx.telemetry.board import Board
from services.intake.admin import Marks
from services.intake.backfill import Backfiller
from services.intake.poller import Poller
from tests.support import patient
from tests.support.calls import TOKEN, WHO, Calls
from tests.support.servers import mysql

HOUR: Final = timedelta(hours=1)
NEVER: Final = HOUR
AT_ONCE: Final = timedelta(microseconds=1)
# One full round, as at every start, and no second one within any test.
HARDLY_EVER: Final = 1e-9

_RECORD: Final = """
    INSERT INTO proc_state (msg_id, state, enqueued_at, updated_at, finished_at,
                            backfill_next_at, backfill_attempts, backfill_abandoned_at)
    VALUES (%(msg_id)s, %(state)s, %(enqueued_at)s, %(finished_at)s, %(finished_at)s,
            %(next_at)s, %(attempts)s, %(abandoned_at)s)
"""


def lead(pg: "psycopg.Connection[Any]") -> Callable[[], int]:
    """Begin a term of intake and return what `Leadership.require` would say."""
    term = service_term.take_over(pg, Service.INTAKE, "test")
    return lambda: term


@contextmanager
def polling(
    dsn: str,
    url: str,
    term: Callable[[], int],
    *,
    batch: int = 200,
    board: Board | None = None,
    **intake: Any,
) -> Iterator[Poller]:
    """Yield a poller whose steps the test makes."""
    session = Session(patient.database(dsn), "intake-test")
    with closing(session), closing(Mailbox(patient.mailbox(url))) as mailbox:
        yield Poller(
            session=session,
            mailbox=mailbox,
            term=term,
            intake=Intake(**intake),
            batch=batch,
            board=board or Board(Service.INTAKE),
        )


@contextmanager
def backfilling(
    dsn: str,
    url: str,
    term: Callable[[], int],
    **pipeline: Any,
) -> Iterator[Backfiller]:
    """Yield a backfiller whose steps the test makes."""
    session = Session(patient.database(dsn), "intake-test", transaction_timeout=patient.PATIENT)
    with closing(session), closing(Mailbox(patient.mailbox(url))) as mailbox:
        yield Backfiller(
            session=session, mailbox=mailbox, term=term, pipeline=Pipeline(**pipeline)
        )


def catch_up(poller: Poller, *, most: int = 200) -> int:
    """Step until nothing is left to do at once, and return the number of steps."""
    for step in range(1, most + 1):
        if poller.step():
            return step
    raise AssertionError(f"still busy after {most} steps")


def run(connection: Any, statement: str, *values: object) -> list[Any]:
    """Execute on MySQL and return the rows."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())


def land(connection: Any, msg_id: int, **columns: object) -> None:
    """Insert a mailbox row as upstream does."""
    names = "".join(f", CMINMSGS_{name.upper()}" for name in columns)
    places = ", %s" * len(columns)
    run(
        connection,
        f"INSERT INTO CMINMSGS (CMINMSGS_ID, CMINMSGS_CLOB_MSG{names})"
        f" VALUES (%s, '<MSG/>'{places})",
        msg_id,
        *columns.values(),
    )


def land_many(connection: Any, ids: range) -> None:
    """Insert mailbox rows in one statement."""
    with connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO CMINMSGS (CMINMSGS_ID, CMINMSGS_CLOB_MSG) VALUES (%s, '<MSG/>')",
            [(msg_id,) for msg_id in ids],
        )


def waits_for_a_table(connection: Any) -> bool:
    """Tell whether a session of this mailbox waits for a lock; asking locks nothing."""
    waiting = run(
        connection,
        "SELECT 1 FROM information_schema.processlist"
        " WHERE db = DATABASE() AND state LIKE 'Waiting for table%%'",
    )
    return bool(waiting)


def mark_of(connection: Any, msg_id: int) -> Any:
    """Return the mark as it stands."""
    statement = "SELECT CMINMSGS_DATE_PROCESSED FROM CMINMSGS WHERE CMINMSGS_ID = %s"
    return run(connection, statement, msg_id)[0][0]


@contextmanager
def upstream(url: str) -> Iterator[Any]:
    """Yield another session of the mailbox."""
    with closing(mysql.connect(url)) as connection:
        yield connection


@dataclass(frozen=True, slots=True, kw_only=True)
class Debt:
    """The backfill columns of a record."""

    confirmed: bool
    abandoned: str | None
    attempts: int
    next_at: datetime | None


def debt(pg: "psycopg.Connection[Any]", msg_id: int) -> Debt:
    """Return what a record says about its mark."""
    row = pg.execute(
        "SELECT backfill_at IS NOT NULL, backfill_abandoned_reason, backfill_attempts,"
        " backfill_next_at FROM proc_state WHERE msg_id = %s",
        [msg_id],
    ).fetchone()
    assert row is not None
    return Debt(confirmed=row[0], abandoned=row[1], attempts=row[2], next_at=row[3])


def owe(
    pg: "psycopg.Connection[Any]",
    msg_id: int,
    *,
    finished_at: datetime,
    enqueued_at: datetime | None = None,
    next_at: datetime | None = None,
    attempts: int = 0,
    abandoned_at: datetime | None = None,
) -> None:
    """Insert a finished record that owes its mark (or gave it up)."""
    pg.execute(
        _RECORD,
        {
            "msg_id": msg_id,
            "state": "SUCCEEDED",
            "enqueued_at": enqueued_at or finished_at,
            "finished_at": finished_at,
            "next_at": None if abandoned_at else next_at or finished_at,
            "attempts": attempts,
            "abandoned_at": abandoned_at,
        },
    )


def give_up(
    pg: "psycopg.Connection[Any]",
    ids: range,
    reason: Abandonment = Abandonment.TRANSIENT_DEADLINE,
) -> None:
    """Insert finished records whose marks were given up."""
    now = clock.now()
    for msg_id in ids:
        owe(pg, msg_id, finished_at=now - 9 * HOUR, abandoned_at=now, attempts=7)
    pg.execute(
        "UPDATE proc_state SET backfill_abandoned_reason = %s, type = 'FLOP', styp = 'ESTT'"
        " WHERE msg_id BETWEEN %s AND %s",
        (reason, ids.start, ids.stop - 1),
    )


def stop_time(pg: "psycopg.Connection[Any]", *, after: timedelta = timedelta()) -> None:
    """Let the one clock of this database (R36) stand still, so much later than it shows."""
    row = pg.execute("SELECT msgx_now() + %s", (after,)).fetchone()
    assert row is not None
    pg.execute(
        "CREATE OR REPLACE FUNCTION msgx_now() RETURNS timestamptz LANGUAGE sql STABLE"
        f" PARALLEL SAFE AS 'SELECT timestamptz ''{row[0].isoformat()}'''"
    )


def move_time(pg: "psycopg.Connection[Any]", by: timedelta) -> None:
    """Move the one clock of this database (R36)."""
    pg.execute(
        "CREATE OR REPLACE FUNCTION msgx_now() RETURNS timestamptz LANGUAGE sql STABLE"
        f" PARALLEL SAFE AS 'SELECT now() + interval ''{by.total_seconds()} seconds'''"
    )


class Marking(Calls):
    """An operator of marks."""

    def __init__(self, port: int) -> None:
        channel = grpc.insecure_channel(f"127.0.0.1:{port}")
        super().__init__(channel, mailbox_pb2_grpc.MailboxServiceStub)

    def reopen(self, **fields: Any) -> Any:
        """Reopen marks, as `WHO`."""
        return self.call("ReopenAbandoned", pb.ReopenAbandonedRequest(admin=WHO, **fields))


@contextmanager
def answering(
    dsn: str,
    leadership: Leadership,
    url: str = "mysql://nobody@127.0.0.1:9/none",
    window: int = 5000,
    **database: Any,
) -> Iterator[int]:
    """Answer calls as intake does; yield the port."""
    given = patient.database(dsn).model_copy(update=database)
    session = Session(given, "intake-admin")
    mailbox = Mailbox(patient.mailbox(url))
    with closing(Desk(leadership, session)) as desk, closing(mailbox):
        admin = AdminSettings(token=SecretStr(TOKEN))
        server = Address(Control(), admin, [Marks(desk, mailbox, window).service()])
        server.start()
        try:
            yield server.port
        finally:
            server.stop()
