"""The processor for tests: a mailbox, its queue, the pump by hand, and all that it writes."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Any, Final

import psycopg
import redis
from psycopg.rows import dict_row

from msgx.domain.flight import Flight, Sharer, from_journal, render
from msgx.projection.keys import Keys, keys
from msgx.runtime.session import Session
from msgx.store import flight_journal, service_term
from msgx.store.service_term import Service
from services.processor.decide.writes import mafl
from services.processor.examine import read_world
from services.processor.retention import Retention
from tests.support import patient
from tests.support.servers import mysql
from tests.support.waiting import until
from tests.support.worker import Places, Worker, clear, ours, settings

__all__ = ["Line", "Places", "Worker", "clear", "lining", "ours", "refusing", "settings"]

FEW_STEPS: Final = 400

_REGISTER: Final = """
    INSERT INTO proc_state (msg_id, enqueued_at, updated_at)
    VALUES (%s, msgx_now(), msgx_now())
"""
_LEADING: Final = """
    SELECT count(*) FROM pg_locks
     WHERE locktype = 'advisory' AND classid = %s AND objid = %s AND granted
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
_SESSIONS: Final = """
    SELECT count(*) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name LIKE 'msgx-%%'
"""
_IS_DUE: Final = """
    SELECT COALESCE((SELECT COALESCE(next_attempt_at, '-infinity') <= msgx_now()
                       FROM proc_state WHERE state IN ('PENDING', 'FAILED')
                      ORDER BY msg_id LIMIT 1), false)
"""


class Line:
    """A mailbox, a queue, a processor and everything that it writes."""

    def __init__(self, places: Places) -> None:
        self.places = places
        self._resources = ExitStack()
        self.pg = psycopg.connect(places.dsn, autocommit=True)
        self.upstream = self._resources.enter_context(closing(mysql.connect(places.mailbox)))
        self.redis: Any = self._resources.enter_context(
            closing(redis.Redis.from_url(places.redis, decode_responses=True, socket_timeout=9))
        )
        self._next = 1
        self.worker = self.start()

    def stop(self, worker: Worker | None = None) -> None:
        """End as a killed process does; the server needs a moment to notice."""
        (worker or self.worker).close()
        self.wait_for_no_leader()

    def wait_for_no_leader(self, service: Service = Service.PROCESSOR) -> None:
        """Wait until nobody holds the lock of the service."""
        lock = (service_term.LOCK_SPACE, list(Service).index(service))
        until(lambda: self.one(_LEADING, *lock) == 0, "the session of the leader ends")

    def empty(self) -> None:
        """Begin anew on empty tables."""
        self.stop()
        clear(self.places)
        self._next = 1
        self.start()

    @property
    def keeper(self) -> Retention:
        """The loop that deletes what is kept for operators, on the newest instance's term."""
        given = settings(self.places)
        session = Session(
            given.database, "processor-retention", transaction_timeout=patient.PATIENT
        )
        self._resources.callback(session.close)
        self.worker.leadership.hold()
        return Retention(
            self.worker.leadership,
            session,
            dead=given.dead.retention,
            audit=given.audit.retention,
            identities=given.identity.retention,
            day_plans=given.schd.snap_log_retention,
        )

    def release_head(self) -> None:
        """Make the head due now."""
        self.pg.execute("UPDATE proc_state SET next_attempt_at = NULL WHERE state = 'FAILED'")

    def start(self, **options: Any) -> Worker:
        """Start an instance of the processor; the newest one is stepped by `run`."""
        self.worker = Worker(settings(self.places, **options))
        self._resources.callback(self.worker.close)
        return self.worker

    def restart(self, **options: Any) -> Worker:
        """Stop, and start anew."""
        self.stop()
        return self.start(**options)

    def close(self) -> None:
        """Close everything; the server ends the sessions before another test comes."""
        with self.pg:
            self._resources.close()
            until(lambda: self.one(_SESSIONS) == 0, "the sessions of the services end")

    def land(self, text: str, *, msg_id: int | None = None, registered: bool = True) -> int:
        """Put a message into the mailbox and, unless told, register it."""
        number = self._next if msg_id is None else msg_id
        self._next = max(self._next, number + 1)
        with self.upstream.cursor() as cursor:
            cursor.execute(
                "INSERT INTO CMINMSGS (CMINMSGS_ID, CMINMSGS_CLOB_MSG) VALUES (%s, %s)",
                (number, text),
            )
        if registered:
            self.register(number)
        return number

    def register(self, msg_id: int) -> None:
        """Register a message, whether the mailbox has it or not."""
        self.pg.execute(_REGISTER, (msg_id,))

    def forget(self, msg_id: int) -> None:
        """Delete the mailbox row."""
        with self.upstream.cursor() as cursor:
            cursor.execute("DELETE FROM CMINMSGS WHERE CMINMSGS_ID = %s", (msg_id,))

    def run(self, *texts: str) -> list[int]:
        """Land the texts, work until no head is due, and return their ids."""
        ids = [self.land(text) for text in texts]
        for _ in range(FEW_STEPS):
            self.worker.step()
            if not self.is_due():
                return ids
        raise AssertionError(f"still busy after {FEW_STEPS} steps")

    def is_due(self) -> bool:
        """Tell whether a head is due."""
        return bool(self.one(_IS_DUE))

    def one(self, statement: str, *values: object) -> Any:
        """Return the one value of a query."""
        row = self.pg.execute(statement, values).fetchone()
        assert row is not None
        return row[0]

    def rows(self, statement: str, *values: object) -> list[dict[str, Any]]:
        """Return rows by name."""
        with self.pg.cursor(row_factory=dict_row) as cursor:
            return cursor.execute(statement, values).fetchall()

    def row(self, msg_id: int) -> dict[str, Any]:
        """Return the record of a message."""
        (row,) = self.rows("SELECT * FROM proc_state WHERE msg_id = %s", msg_id)
        return row

    def end(self, msg_id: int) -> tuple[str, str | None, str | None]:
        """Return state, class and reason of a message."""
        row = self.row(msg_id)
        return row["state"], row["error_class"], row["last_error"]

    def events(self, target: str = "KAFKA:msg") -> list[dict[str, Any]]:
        """Return the events of a topic in their order."""
        return self.rows("SELECT * FROM msg_event WHERE target = %s ORDER BY event_id", target)

    def term(self) -> int:
        """Return the processor's term as it stands."""
        return int(self.one("SELECT term FROM service_term WHERE service = 'processor'"))

    def flight(self, flid: str = "1") -> Flight:
        """Return a stored flight."""
        return read_world(self.pg, [flid]).flights[flid]

    def flids(self) -> list[str]:
        """Return every FLID that is stored."""
        return [row["flid"] for row in self.rows("SELECT flid FROM flight_schd ORDER BY flid")]

    @property
    def keys(self) -> Keys:
        """The names in Redis."""
        return keys(settings(self.places).redis)

    def shown(self) -> dict[str, Any]:
        """Return what Redis shows, by FLID."""
        return {
            flid: json.loads(text)
            for flid, text in self.redis.hgetall(self.keys.flights).items()
        }

    def versions(self) -> dict[str, int]:
        """Return the versions that Redis remembers."""
        return {flid: int(v) for flid, v in self.redis.hgetall(self.keys.versions).items()}

    def agree(self) -> None:
        """Assert that journal, tables, Redis and latest states say the same (INV-24, R12)."""
        world = read_world(self.pg, self.flids())
        views = {
            flid: render(one, mafl(world, one), self.worker.airport.zone)
            for flid, one in world.flights.items()
            if one.shown
        }
        assert self.shown() == views
        latest = {row["partition_key"]: row for row in self.events("KAFKA:schd")}
        told = {
            flid: json.loads(row["payload"]) for flid, row in latest.items() if row["payload"]
        }
        assert told == views
        for flid, one in world.flights.items():
            values, sharers = self._folded(flid)
            assert values == _facts(one), flid
            if one.shown:
                assert sharers == mafl(world, one), flid

    def _folded(self, flid: str) -> tuple[dict[str, Any], tuple[Sharer, ...]]:
        state: dict[str, Any] = {}
        entries = flight_journal.histories(self.pg, [flid])[flid]
        assert [entry.state_version for entry in entries] == list(range(1, len(entries) + 1))
        for entry in entries:
            for name, (before, after) in entry.changes.items():
                assert state.get(name, [] if name == "MAFL" else None) == before, (flid, name)
                state[name] = after
            if state["STATE"] != "ACTIVE" or state.get("MAID") not in (None, flid):
                state.pop("MAFL", None)  # derived: it goes with the view
        shared = state.pop("MAFL", [])
        facts = {name: state.pop(name, None) for name in ("STATE", "OPERATION_DAY")}
        values = {
            tag: from_journal(tag, form) for tag, form in state.items() if form is not None
        }
        return (
            {**facts, "VERSION": len(entries), **values},
            tuple(Sharer(one["FLID"], one["FLNO"]) for one in shared),
        )


def _facts(one: Flight) -> dict[str, Any]:
    day = None if one.operation_day is None else one.operation_day.isoformat()
    return {
        "STATE": one.state.value,
        "OPERATION_DAY": day,
        "VERSION": one.state_version,
        **one.values,
    }


@contextmanager
def lining(places: Places) -> Iterator[Line]:
    """Yield a line whose steps the test makes."""
    with closing(Line(places)) as line:
        yield line


@contextmanager
def refusing(
    line: Line, flid: str, *, table: str = "flight_schd", kill: bool = False
) -> Iterator[None]:
    """Let PostgreSQL refuse every write of one flight, or end the session that makes it."""
    act = (
        "PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(5)"
        if kill
        else "RAISE EXCEPTION 'refused by the test'"
    )
    line.pg.execute(
        f"CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        f" IF NEW.flid = '{flid}' THEN {act}; END IF; RETURN NEW; END $$"
    )
    line.pg.execute(
        f"CREATE TRIGGER refuse BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION refuse()"
    )
    try:
        yield
    finally:
        line.pg.execute("DROP FUNCTION refuse CASCADE")
