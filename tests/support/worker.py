"""One instance of the processor for tests, wired as the service wires it, stepped by hand."""

from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import psycopg
import redis
from psycopg import sql
from psycopg.conninfo import make_conninfo
from pydantic import SecretStr

from msgx.codec.decode import Decoder
from msgx.mailbox.inbox import Mailbox
from msgx.mailbox.texts import Texts
from msgx.projection.write import Projection
from msgx.runtime.leadership import Leadership
from msgx.runtime.session import Session
from msgx.settings import Dead, Pipeline, Schd
from msgx.settings import Leadership as LeadershipSettings
from msgx.settings import Mailbox as MailboxSettings
from msgx.settings import Projection as ProjectionSettings
from msgx.store.service_term import Service
from msgx.telemetry.board import Board
from services.processor.effect import Airport, Effects
from services.processor.fetch import Fetcher
from services.processor.process import Processor
from services.processor.project import Projector
from services.processor.pump import Pump
from services.processor.settings import ProcessorSettings
from services.processor.snapshot import Snapshots
from tests.support import patient
from tests.support.servers import mysql
from tests.support.waiting import PATIENCE_SECONDS

SOON: Final = timedelta(milliseconds=5)
EVERY_STEP: Final = timedelta(microseconds=1)

# A failed head is not tried again by itself: the test releases it, or moves the clock.
NOT_BY_ITSELF: Final[dict[str, Any]] = {
    "idle_interval": SOON,
    "ladder": (timedelta(hours=1),) * 4,
}

_REAL_TIME: Final = """
    CREATE OR REPLACE FUNCTION msgx_now() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
        AS 'SELECT now()'
"""
_TABLES: Final = """
    SELECT tablename FROM pg_tables
     WHERE schemaname = 'public' AND tablename NOT IN ('schema_version', 'service_term')
     ORDER BY tablename = 'flight_schd', tablename
"""


def ours(dsn: str) -> str:
    """Return the connection string of the role that the service runs as."""
    return make_conninfo(dsn, user="msgx_processor")


def settings(
    places: "Places",
    *,
    database: dict[str, Any] | None = None,
    pipeline: dict[str, Any] | None = None,
    schd: dict[str, Any] | None = None,
    mailbox_url: str | None = None,
    mailbox_timeout: timedelta = patient.PATIENT,
    leadership: dict[str, Any] | None = None,
    epoch_check: timedelta = EVERY_STEP,
    redis_url: str | None = None,
    redis_timeout: timedelta = patient.PATIENT,
    max_message_bytes: int = 16 * 2**20,
    keep_raw: bool = True,
) -> ProcessorSettings:
    """Return production settings with a short rest and patience, as the service's role."""
    return ProcessorSettings(
        environment="test",
        max_message_bytes=max_message_bytes,
        dead=Dead(keep_raw=keep_raw),
        database={
            "dsn": SecretStr(ours(places.dsn)),
            **patient.WAITS,
            **(database or {}),
        },
        mailbox=MailboxSettings(
            url=SecretStr(mailbox_url or places.mailbox), timeout=mailbox_timeout
        ),
        redis={"url": SecretStr(redis_url or places.redis), "timeout": redis_timeout},
        leadership=LeadershipSettings(**{"timeout": patient.PATIENT, **(leadership or {})}),
        pipeline=Pipeline(**NOT_BY_ITSELF | (pipeline or {})),
        schd=Schd(**(schd or {})),
        projection=ProjectionSettings(epoch_check=epoch_check),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where a line keeps everything."""

    dsn: str  # as the owner
    mailbox: str
    redis: str


def clear(places: Places) -> None:
    """Empty every table and key, and set the clock right again."""
    with psycopg.connect(places.dsn, autocommit=True) as pg, pg.transaction():
        pg.execute(_REAL_TIME)
        for (name,) in pg.execute(_TABLES).fetchall():
            pg.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(name)))
    with closing(mysql.connect(places.mailbox)) as mailbox, mailbox.cursor() as cursor:
        cursor.execute("DELETE FROM CMINMSGS")
    with closing(redis.Redis.from_url(places.redis, socket_timeout=PATIENCE_SECONDS)) as own:
        own.flushdb()


class Worker:
    """One instance of the processor whose steps the test makes."""

    def __init__(self, given: ProcessorSettings) -> None:
        self._resources = resources = ExitStack()
        airport = Airport(zone=given.airport.zone, day_cut=given.airport.day_cut)
        self.airport = airport
        self.stopping = False
        self.board = Board(Service.PROCESSOR)
        self.leadership = Leadership(
            given.database,
            given.leadership,
            Service.PROCESSOR,
            environment=given.environment,
            by_key=True,
        )
        resources.callback(self.leadership.lose)
        self.projection = resources.enter_context(
            closing(Projection(given.redis, given.environment))
        )
        self.projector = Projector(
            self.projection,
            airport.zone,
            given.projection.epoch_check.total_seconds(),
            self.board,
        )
        decoder = Decoder(
            zone=airport.zone, groups=given.flop.groups, max_bytes=given.max_message_bytes
        )
        self.fetcher = resources.enter_context(
            closing(
                Fetcher(
                    Texts(Mailbox(given.mailbox), decoder),
                    Session(given.database, "processor-fetch"),
                    given.pipeline.prefetch,
                )
            )
        )
        self.processor = Processor(
            Effects(self.projector, airport, given.request.clock_tolerance),
            Snapshots(airport, given.schd),
            self.projector,
            given.pipeline,
            board=self.board,
            keep_raw=given.dead.keep_raw,
        )
        self.pump = Pump(
            self.leadership,
            resources.enter_context(closing(Session(given.database, "processor-ears"))),
            self.fetcher,
            self.processor,
            self.projector,
            given.pipeline,
            stopping=lambda: self.stopping,
        )

    def step(self) -> timedelta:
        """Do one unit of work."""
        return self.pump.step()

    def close(self) -> None:
        """Close every connection, as the end of a process does."""
        self._resources.close()
