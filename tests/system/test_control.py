"""The real services, on nothing but PostgreSQL: each says what it is; a paused processor goes
on leading."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from functools import partial
from typing import Any, Final

import grpc
import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from msgx.rpc.v1 import control_pb2 as pb
from msgx.runtime.control import VERSION
from msgx.store import migrate
from tests.support.calls import TOKEN
from tests.support.control import Caller
from tests.support.process import Process, running
from tests.support.waiting import until

pytestmark = [pytest.mark.pg, pytest.mark.system]

NOWHERE: Final = "127.0.0.1:9"
SAID: Final = """
    SELECT pid, state_change FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'msgx-processor-leader'
"""
LOOPS: Final = {
    "intake": {"leadership", "poller", "backfill", "retention", "control"},
    "processor": {"pump", "retention", "control"},
    "refdata": {"pump", "control"},
    "dispatcher": {"leadership", "msg", "schd", "requests", "retention", "gauges", "control"},
    "api": {"http", "control"},
}


@contextmanager
def service(name: str, dsn: str, **variables: str) -> Iterator[tuple[Process, Caller]]:
    """Run a service that reaches PostgreSQL only, and yield it and an operator of it."""
    environment = {
        "MSGX_DATABASE__DSN": make_conninfo(dsn, user=f"msgx_{name}"),
        "MSGX_MAILBOX__URL": f"mysql://nobody:nothing@{NOWHERE}/none",
        "MSGX_REDIS__URL": f"redis://{NOWHERE}/0",
        "MSGX_KAFKA__BOOTSTRAP": NOWHERE,
        "MSGX_HTTP__BIND": "127.0.0.1:0",
        "MSGX_ADMIN__TOKEN": TOKEN,
        "MSGX_LEADERSHIP__TIMEOUT": "PT10M",
    }
    with running(name, **{**environment, **variables}) as process:
        until(lambda: bool(process.logged("started")), f"{name} starts")
        port = process.logged("started")[0]["port"]
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield process, Caller(channel)


def refused(pg: "psycopg.Connection[Any]") -> set[str]:
    """Return the services that kept a refused call."""
    rows = pg.execute("SELECT service FROM admin_audit WHERE action = 'denied:Wake'").fetchall()
    return {str(row[0]) for row in rows}


def said(pg: "psycopg.Connection[Any]") -> Any:
    """Return which session leads the processor, and when it said something last."""
    return pg.execute(SAID).fetchone()


def leads(caller: Caller) -> bool:
    """Tell whether it leads."""
    return bool(caller.status().leads)


@pytest.mark.covers("R14", "R55", "B104")
def test_every_service_says_what_it_is_keeps_who_was_refused_and_ends_in_order(
    pg: "psycopg.Connection[Any]", pg_dsn: str
) -> None:
    with ExitStack() as stack:
        started = {name: stack.enter_context(service(name, pg_dsn)) for name in LOOPS}
        for name, (_, caller) in started.items():
            if name != "api":
                until(partial(leads, caller), f"{name} leads")
            told = caller.status()

            assert (told.service, told.version) == (name, VERSION)
            assert told.schema.current >= told.schema.needed == migrate.needed()
            assert {one.name for one in told.loops} >= LOOPS[name]
            assert told.leader.instance == (told.instance if name != "api" else "")
            assert told.store_fault == ""
            assert {one.count for one in told.backlog} <= {0}
            fixed = {one.name for one in told.loops if not one.pausable}
            assert fixed <= {"leadership", "control", "gauges", "http"}
        for _, caller in started.values():
            stranger = Caller(caller.channel, "a-token-of-somebody-else")
            assert stranger.refusal("Wake", pb.WakeRequest())[0] == "UNAUTHENTICATED"
        until(lambda: refused(pg) == set(LOOPS), "each kept its refusal")
        for process, _ in started.values():
            process.child.terminate()
        assert {process.ended() for process, _ in started.values()} == {0}


@pytest.mark.covers("R13", "R55")
def test_a_paused_processor_goes_on_leading_and_is_not_unhealthy(
    pg: "psycopg.Connection[Any]", pg_dsn: str
) -> None:
    with service("processor", pg_dsn) as (_, caller):
        until(partial(leads, caller), "it leads")
        caller.pause("pump")
        until(lambda: caller.state("pump") == "PAUSED", "it rests")
        session, paused_at = said(pg)
        beat = timedelta(seconds=1)
        until(lambda: said(pg)[1] > paused_at + beat, "the session is beaten again and again")

        told = caller.status()
        assert said(pg)[0] == session
        assert (told.leads, told.serving, told.leader.term) == (True, True, 1)
        assert caller.health("pump") == "SERVING"
