"""Refdata for tests: one instance, stepped by hand beside a line's processor."""

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import timedelta
from typing import Any, Final

from psycopg.conninfo import make_conninfo
from pydantic import SecretStr

from msgx.codec.decode import Decoder
from msgx.mailbox.inbox import Mailbox
from msgx.mailbox.texts import Texts
from msgx.runtime.leadership import Leadership
from msgx.runtime.session import Session
from msgx.settings import Dead, Pipeline, Reference
from msgx.settings import Mailbox as MailboxSettings
from msgx.store.service_term import Service
from msgx.telemetry.board import Board
from services.refdata.execute import Executor
from services.refdata.fetch import Fetcher
from services.refdata.pump import Pump
from services.refdata.settings import RefdataSettings
from tests.support import patient
from tests.support.messages import message
from tests.support.processor import FEW_STEPS, Line
from tests.support.worker import NOT_BY_ITSELF, Places

_RECORDS: Final = """
    SELECT rkey, payload FROM ref_master WHERE rtype = %s ORDER BY rkey
"""
_SOURCES: Final = """
    SELECT rkey, source_msg_id, batch, refreshed_at FROM ref_master WHERE rtype = %s
"""


def settings(
    places: Places,
    *,
    mailbox_url: str | None = None,
    pipeline: dict[str, Any] | None = None,
    database: dict[str, Any] | None = None,
    keep_raw: bool = True,
    reference: dict[str, Any] | None = None,
) -> RefdataSettings:
    """Return production settings with a short rest and patience, as the service's role."""
    dsn = make_conninfo(places.dsn, user="msgx_refdata")
    return RefdataSettings(
        environment="test",
        database={"dsn": SecretStr(dsn), **patient.WAITS, **(database or {})},
        leadership=patient.LEADERSHIP,
        mailbox=MailboxSettings(
            url=SecretStr(mailbox_url or places.mailbox), timeout=patient.PATIENT
        ),
        pipeline=Pipeline(**NOT_BY_ITSELF | (pipeline or {})),
        dead=Dead(keep_raw=keep_raw),
        reference=Reference(**(reference or {})),
    )


class Keeper:
    """One instance of refdata whose steps the test makes."""

    def __init__(self, given: RefdataSettings) -> None:
        self._resources = resources = ExitStack()
        self.leadership = Leadership(
            given.database, given.leadership, Service.REFDATA, environment=given.environment
        )
        resources.callback(self.leadership.lose)
        self.board = Board(Service.REFDATA)
        decoder = Decoder(
            zone=given.airport.zone,
            groups=frozenset(),
            max_bytes=given.max_message_bytes,
            reference=given.reference.reading,
        )
        self.fetcher = resources.enter_context(
            closing(Fetcher(Texts(Mailbox(given.mailbox), decoder)))
        )
        self.executor = Executor(
            self.fetcher,
            given.pipeline,
            tolerance=given.request.clock_tolerance,
            board=self.board,
            keep_raw=given.dead.keep_raw,
        )
        self.pump = Pump(
            self.leadership,
            resources.enter_context(closing(Session(given.database, "refdata-ears"))),
            self.executor,
            given.pipeline,
        )

    def step(self) -> timedelta:
        """Do one unit of work."""
        return self.pump.step()

    def close(self) -> None:
        """Close every connection, as the end of a process does."""
        self._resources.close()


class Desk:
    """A line and refdata beside it: what they make of messages together."""

    def __init__(self, line: Line, resources: ExitStack) -> None:
        self.line = line
        self._resources = resources
        self.keeper = self.start()

    def start(self, **options: Any) -> Keeper:
        """Start an instance; the newest one is stepped by `run`."""
        self.keeper = Keeper(settings(self.line.places, **options))
        self._resources.callback(self.keeper.close)
        return self.keeper

    def restart(self, **options: Any) -> Keeper:
        """End as a killed process does, and start anew."""
        self.keeper.close()
        self.line.wait_for_no_leader(Service.REFDATA)
        return self.start(**options)

    def run(self, *texts: str) -> list[int]:
        """Land the texts, work until no head is due, and return their ids."""
        ids = [self.line.land(text) for text in texts]
        for _ in range(FEW_STEPS):
            self.line.worker.step()
            self.keeper.step()
            if not self.line.is_due():
                return ids
        raise AssertionError(f"still busy after {FEW_STEPS} steps")

    def route(self, text: str) -> int:
        """Land a text and let the processor hand it over, no more; return its id."""
        msg_id = self.line.land(text)
        for _ in range(FEW_STEPS):
            self.line.worker.step()
            if self.line.row(msg_id)["route"] is not None:
                return msg_id
        raise AssertionError(f"message {msg_id} was never handed over")

    def records(self, rtype: str) -> dict[str, Any]:
        """Return the payloads of a category by key."""
        return {row["rkey"]: row["payload"] for row in self.line.rows(_RECORDS, rtype)}

    def sources(self, rtype: str) -> dict[str, tuple[int, str, Any]]:
        """Return by key: message, batch and time of the last refresh."""
        return {
            row["rkey"]: (row["source_msg_id"], row["batch"], row["refreshed_at"])
            for row in self.line.rows(_SOURCES, rtype)
        }


@contextmanager
def keeping(line: Line) -> Iterator[Desk]:
    """Yield refdata beside a line."""
    with ExitStack() as resources:
        yield Desk(line, resources)


def record(rtype: str, **fields: str | None) -> str:
    """Return one record; None is an empty tag."""
    told = (
        f"<{tag}/>" if text is None else f"<{tag}>{text}</{tag}>"
        for tag, text in fields.items()
    )
    return f"<{rtype}>{''.join(told)}</{rtype}>"


def package(
    rtype: str, styp: str, *records: str, recs: int | None = None, seqn: str | None = None
) -> str:
    """Return a message of reference data."""
    count = len(records) if recs is None else recs
    return message(rtype, styp, f"<RECS>{count}</RECS>{''.join(records)}", seqn=seqn)


def gates(styp: str, *codes: str, **options: Any) -> str:
    """Return a message about gates that have a key and a terminal."""
    return package(
        "GLST", styp, *(record("GLST", GCOD=code, TERM="T2") for code in codes), **options
    )


def state(
    rsid: str,
    stat: str,
    begin: str | None = None,
    end: str | None = None,
    *,
    rtyp: str = "GATE",
) -> str:
    """Return a record of RSTA."""
    times = {"BGTM": begin, "EDTM": end}
    told = {tag: text for tag, text in times.items() if text is not None}
    return record("RSTA", RTYP=rtyp, RSID=rsid, STAT=stat, **told)
