"""Whoever holds a lock of a service is killed, or stands still: the standby leads in time.

No stop-watch: a standby looks every few seconds at most, and the first look after the leader's
session ended finds the lock free.
"""

import signal
from datetime import timedelta
from typing import Final

import pytest
from psycopg.conninfo import make_conninfo

from msgx.runtime.drive import REST_AFTER_FAULT
from msgx.settings import Pipeline
from msgx.store.service_term import Service
from tests.support.process import Process, running
from tests.support.processor import Line
from tests.support.processor_process import SOON_LOST
from tests.support.waiting import until

pytestmark = [pytest.mark.system, pytest.mark.pg, pytest.mark.mysql, pytest.mark.redis]

LEADING: Final = (Service.INTAKE, Service.REFDATA, Service.DISPATCHER)  # the processor: standby
IN_TIME: Final = timedelta(seconds=5)
"""What a standby may need after a kill."""

TERM: Final = "SELECT term FROM service_term WHERE service = %s"
LEADER: Final = "SELECT instance FROM service_term WHERE service = %s"


LONGEST_RESTS: Final = (REST_AFTER_FAULT, Pipeline().infra_backoff_limit)
"""Of a standby, between two looks."""


def variables(line: Line, service: Service) -> dict[str, str]:
    """Return what `service` reads, as its own role; Kafka is away, which concerns no lock."""
    places = line.places
    return {
        "MSGX_DATABASE__DSN": make_conninfo(places.dsn, user=f"msgx_{service}"),
        "MSGX_MAILBOX__URL": places.mailbox,
        "MSGX_REDIS__URL": places.redis,
        "MSGX_KAFKA__BOOTSTRAP": "127.0.0.1:9",
        "MSGX_KAFKA__PRODUCE_TIMEOUT": "PT1S",
        "MSGX_LEADERSHIP__TIMEOUT": "PT10M",
    }


def leads(process: Process) -> bool:
    return bool(process.logged("leads"))


def waits(process: Process) -> bool:
    return any("another" in line["reason"] for line in process.logged("waits"))


@pytest.mark.covers("R13", "R14", "B42", "B48")
@pytest.mark.parametrize("service", LEADING)
def test_the_standby_leads_when_the_leader_stands_still_and_when_it_is_killed(
    line: Line, service: Service
) -> None:
    line.stop()
    given = variables(line, service)
    with running(service, **given | SOON_LOST) as first:
        until(lambda: leads(first), "the first one leads")
        term = line.one(TERM, service)
        with running(service, **given) as second:
            until(lambda: waits(second), "the second one waits")
            first.child.send_signal(signal.SIGSTOP)
            until(lambda: leads(second), "the second one leads")
            taken_over = line.one(TERM, service), line.one(LEADER, service)

            first.child.send_signal(signal.SIGCONT)

            until(lambda: first.logged("leads no more"), "the first one steps down")
            until(lambda: waits(first), "the first one waits")
            assert (line.one(TERM, service), line.one(LEADER, service)) == taken_over
            assert taken_over[0] == term + 1

            second.kill()

            until(lambda: len(first.logged("leads")) == 2, "the first one leads again")
            assert line.one(TERM, service) == term + 2
            assert line.one(LEADER, service) != taken_over[1]


@pytest.mark.covers("R13", "B48")
def test_a_standby_looks_often_enough_to_lead_in_time() -> None:
    assert max(LONGEST_RESTS) < IN_TIME / 2
