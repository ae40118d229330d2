"""Connections: bounded, fenced, and silent about what they hold."""

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import timedelta
from typing import LiteralString

import psycopg
import pytest
from pydantic import ValidationError

from msgx.domain.failure import Away, ErrorClass
from msgx.store import listen, service_term
from msgx.store.connect import Connection, connect, fault, pipelined
from msgx.store.service_term import Deposed, LockLost, Service
from tests.support import patient
from tests.support.waiting import until

pytestmark = [pytest.mark.pg]

SHORT = timedelta(milliseconds=150)


@contextmanager
def connected(dsn: str, **waits: timedelta) -> Iterator[Connection]:
    given = patient.database(dsn).model_copy(update=waits)
    with closing(connect(given, name="test")) as one:
        yield one


@pytest.fixture
def conn(pg_dsn: str) -> Iterator[Connection]:
    with connected(pg_dsn) as one:
        yield one


@pytest.mark.covers("R36", "OPS-1")
def test_a_connection_is_named_bounded_and_in_utc(pg_dsn: str) -> None:
    waits = {"statement_timeout": timedelta(seconds=41), "lock_timeout": timedelta(seconds=42)}
    with connected(pg_dsn, **waits) as conn:
        row = conn.execute(
            "SELECT current_setting('application_name'), current_setting('TimeZone'),"
            " current_setting('statement_timeout'), current_setting('lock_timeout'),"
            " current_setting('idle_in_transaction_session_timeout')"
        ).fetchone()

    assert row == ("msgx-test", "UTC", "41s", "42s", "30s")


@pytest.mark.covers("R04", "R46")
@pytest.mark.parametrize(
    ("wait", "statement"),
    [
        ("statement_timeout", "SELECT pg_sleep(60)"),
        ("lock_timeout", service_term.LOCK_PIPELINE),
    ],
)
def test_statements_and_locks_that_take_too_long_are_infra(
    pg_dsn: str, pg: Connection, wait: str, statement: LiteralString
) -> None:
    pg.execute(service_term.LOCK_PIPELINE)
    with connected(pg_dsn, **{wait: SHORT}) as conn, pytest.raises(psycopg.Error) as raised:
        conn.execute(statement)

    assert fault(raised.value, "waiting").error_class is ErrorClass.INFRA


@pytest.mark.covers("R46")
def test_a_refused_statement_is_ours_and_tells_no_value(conn: Connection) -> None:
    with pytest.raises(psycopg.Error) as raised:
        conn.execute("SELECT 'secret-word'::integer")

    refused = fault(raised.value, "testing")

    assert refused.error_class is ErrorClass.PROCESSING
    assert "secret-word" not in refused.text
    assert "22P02" in refused.text


@pytest.mark.covers("R46", "R04", "INV-3")
def test_what_is_too_large_for_the_server_is_no_outage(conn: Connection) -> None:
    """Else a value that no index takes would hold the head for ever."""
    conn.execute("CREATE TEMP TABLE keyed (key text PRIMARY KEY)")
    with pytest.raises(psycopg.OperationalError) as raised:
        conn.execute(
            "INSERT INTO keyed"
            " SELECT string_agg(md5(n::text), '') FROM generate_series(1, 500) AS n"
        )

    assert fault(raised.value, "testing").error_class is ErrorClass.PROCESSING
    assert "54000" in fault(raised.value, "testing").text


@pytest.mark.covers("R04")
def test_a_server_that_does_not_answer_is_away() -> None:
    with pytest.raises(Away) as away:
        connect(patient.database("postgresql://user:secret-word@127.0.0.1:9/none"), name="test")

    assert "secret-word" not in str(away.value)


@pytest.mark.covers("OPS-1")
def test_an_unreadable_connection_string_is_not_shown() -> None:
    with pytest.raises(ValidationError, match="must be a connection string") as raised:
        patient.database("host=x password='secret-word")

    assert "secret-word" not in str(raised.value)


@pytest.mark.covers("R13", "B42")
def test_the_server_ends_a_session_that_says_nothing(pg_dsn: str, pg: Connection) -> None:
    def leads() -> bool:
        """Tell whether it was not ended before it could say anything."""
        with suppress(psycopg.OperationalError):
            return service_term.try_lock(silent, Service.PROCESSOR)
        return False

    with ExitStack() as resources:
        while True:
            silent = connect(
                patient.database(pg_dsn), name="silent", session_timeout_seconds=0.3
            )
            resources.callback(silent.close)
            if leads():
                break

        until(lambda: service_term.try_lock(pg, Service.PROCESSOR), "the lock is free")

        with pytest.raises(psycopg.OperationalError):
            silent.execute("SELECT 1")


@pytest.mark.covers("INV-17b", "B42")
def test_a_pipelined_transaction_is_all_or_nothing_and_leaves_a_usable_connection(
    conn: Connection,
) -> None:
    insert = "INSERT INTO flight_version_floor VALUES (%s, 1, 1)"
    for wrong in ("1", "1"), ("2", None):
        with pytest.raises(psycopg.Error), pipelined(conn):
            for value in wrong:
                conn.execute(insert, (value,))
    with pytest.raises(ZeroDivisionError), pipelined(conn):
        conn.execute(insert, ("3",))
        _ = 1 / 0

    with pipelined(conn):
        conn.execute(insert, ("4",))

    assert conn.execute("SELECT flid FROM flight_version_floor").fetchall() == [("4",)]


@pytest.mark.covers("B39")
def test_an_unlock_that_frees_nothing_is_a_defect_that_shows(conn: Connection) -> None:
    with pytest.raises(LockLost), pipelined(conn):
        conn.execute("INSERT INTO flight_version_floor VALUES ('1', 1, 1)")
        service_term.unlock_at_end(conn)

    assert conn.execute("SELECT flid FROM flight_version_floor").fetchall() == []


@pytest.mark.covers("R13", "R16", "B39")
def test_the_pipeline_lock_goes_with_the_transaction_that_unlocks_and_not_before(
    conn: Connection, pg: Connection
) -> None:
    tried = f"SELECT pg_try_advisory_xact_lock({service_term.LOCK_SPACE}, 100)"
    conn.execute(service_term.LOCK_PIPELINE)
    with conn.transaction():
        service_term.unlock_at_end(conn)
        assert pg.execute(tried).fetchone() == (False,), "its work can not be seen yet"

    assert pg.execute(tried).fetchone() == (True,)


@pytest.mark.covers("R13", "R14")
def test_one_session_leads_and_each_take_over_is_a_new_term(
    conn: Connection, pg: Connection
) -> None:
    assert service_term.try_lock(conn, Service.PROCESSOR)
    assert not service_term.try_lock(pg, Service.PROCESSOR)
    assert service_term.try_lock(pg, Service.INTAKE), "each service has its own lock"
    first = service_term.take_over(conn, Service.PROCESSOR, "one")
    conn.close()

    until(lambda: service_term.try_lock(pg, Service.PROCESSOR), "the lock is free")
    second = service_term.take_over(pg, Service.PROCESSOR, "two")

    assert second == first + 1
    with pytest.raises(Deposed):
        service_term.share(pg, Service.PROCESSOR, first)
    assert service_term.share(pg, Service.PROCESSOR, second).tzinfo is not None


@pytest.mark.covers("R13")
def test_a_new_term_waits_for_the_transactions_of_the_old_one(
    pg_dsn: str, pg: Connection
) -> None:
    with connected(pg_dsn, lock_timeout=SHORT) as conn:
        term = service_term.take_over(pg, Service.PROCESSOR, "one")
        with pg.transaction():
            service_term.share(pg, Service.PROCESSOR, term)

            with pytest.raises(psycopg.errors.LockNotAvailable):
                service_term.take_over(conn, Service.PROCESSOR, "two")

        assert service_term.take_over(conn, Service.PROCESSOR, "two") == term + 1


@pytest.mark.covers("US-03")
def test_a_notification_ends_a_wait(conn: Connection, pg: Connection) -> None:
    listen.listen(conn, listen.REGISTERED)
    listen.listen(conn, listen.REGISTERED)
    pg.execute("SELECT pg_notify('msgx_registered', '')")

    listen.wait(conn, timedelta(minutes=5))
    listen.wait(conn, timedelta(milliseconds=1))


@pytest.mark.covers("R13", "B42")
def test_a_holder_that_stands_still_inside_a_pipeline_is_ended_by_who_waits(
    conn: Connection, pg: Connection
) -> None:
    was_free = False
    with pytest.raises(psycopg.OperationalError), conn.pipeline():
        conn.execute("SET idle_session_timeout = '200ms'")  # does not count in a pipeline
        conn.execute("SET idle_in_transaction_session_timeout = '200ms'")
        conn.execute("BEGIN")
        service_term.try_lock(conn, Service.PROCESSOR)
        assert not service_term.end_silent(pg, Service.PROCESSOR, 60)
        assert not service_term.end_silent(pg, Service.INTAKE, 0)

        until(
            lambda: service_term.end_silent(pg, Service.PROCESSOR, 0.3),
            "it has been silent for long enough",
        )

        until(lambda: service_term.try_lock(pg, Service.PROCESSOR), "the lock is free")
        was_free = True

    assert was_free
