"""The reference consumer, run as a reader would run it: duplicates, tombstones, a rebalance."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

import psycopg
import pytest

from examples.consumer import Flights
from msgx.domain.delivery import Target
from services.dispatcher.settings import DispatcherSettings
from services.dispatcher.topics import topic_name
from tests.support.dispatcher import (
    add,
    consume,
    make_topics,
    nothing_pending,
    relaying,
    settings,
    settle,
)
from tests.support.dispatcher_process import ROOT, lines
from tests.support.patient import PATIENT
from tests.support.waiting import until

STATE: Final = "msgx.flight.state.v1"
GONE: Final = "msgx.flight.deleted.v1"


def headers(version: int, *, kind: str = STATE, time: str = "2026-05-03T01:00:00.000Z") -> Any:
    return {"ce_type": kind, "msgx-state-version": str(version), "ce_time": time}


def value(version: int) -> bytes:
    return json.dumps({"STATE_VERSION": version}).encode()


@pytest.mark.covers("B73", "B72", "INV-10")
def test_only_what_is_newer_changes_the_state_whatever_comes_again() -> None:
    flights = Flights()
    records = [
        ("1", value(1), headers(1)),
        ("1", value(2), headers(2)),
        ("2", value(1), headers(1)),
        ("2", None, headers(2, kind=GONE)),
    ]

    first = [flights.take(0, *record) for record in records]
    again = [flights.take(0, *record) for record in reversed(records)]

    assert (first, again) == ([True] * 4, [False] * 4)
    assert flights.shown() == {"1": {"STATE_VERSION": 2}}
    assert (flights.records, flights.ignored) == (8, 4)
    assert flights.take(0, "2", value(3), headers(3))  # it comes back
    assert sorted(flights.shown()) == ["1", "2"]


@pytest.mark.covers("B73")
def test_a_kind_that_is_not_known_is_left_alone() -> None:
    flights = Flights()

    assert not flights.take(0, "1", b"?", {"ce_type": "msgx.flight.other.v9"})

    assert flights.shown() == {}


@pytest.mark.covers("B73")
def test_a_partition_that_went_elsewhere_is_forgotten() -> None:
    flights = Flights()
    for partition in (0, 1):
        flights.take(partition, str(partition), value(1), headers(1))

    flights.forget(0)

    assert sorted(flights.shown()) == ["1"]


def test_it_says_how_it_is_used() -> None:
    shown = subprocess.run(
        [sys.executable, "examples/consumer.py", "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENT.total_seconds(),
        check=True,
    )

    assert "--bootstrap" in shown.stdout
    assert "reference consumer" in shown.stdout


@pytest.mark.parametrize(
    ("config", "status", "said"),
    [
        ("no-sign", 2, "'no-sign' is not KEY=VALUE"),
        ("no.such=1", 1, 'Kafka refuses: No such configuration property: "no.such"'),
    ],
)
def test_a_setting_that_is_none_is_one_sentence(config: str, status: int, said: str) -> None:
    ran = subprocess.run(
        [sys.executable, "examples/consumer.py", "--bootstrap", "x:1", "--config", config],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert ran.returncode == status
    assert said in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.fixture
def given(pg_dsn: str, kafka_bootstrap: str, kafka_prefix: str) -> DispatcherSettings:
    given = settings(pg_dsn, kafka_bootstrap, kafka_prefix)
    make_topics(given)
    return given


@contextmanager
def consuming(
    given: DispatcherSettings, out: Path, *options: str
) -> Iterator["subprocess.Popen[bytes]"]:
    with out.open("wb") as stream, ended(given, stream, options) as process:
        yield process


@contextmanager
def ended(
    given: DispatcherSettings, stream: IO[bytes], options: tuple[str, ...]
) -> Iterator["subprocess.Popen[bytes]"]:
    topic = topic_name(given.kafka, Target.SCHD)
    process = subprocess.Popen(
        [
            sys.executable, "examples/consumer.py", "--bootstrap", given.kafka.bootstrap,
            "--topic", topic, "--group", topic, "--config", "session.timeout.ms=6000", *options,
        ],
        cwd=ROOT,
        stdout=stream,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def said(out: Path) -> list[Any]:
    return [json.loads(line) for line in lines(out)]


def told(out: Path, after: int = 0) -> set[str]:
    """The flights that a consumer has spoken of, `after` so many lines."""
    return {line["FLID"] for line in said(out)[after:] if "FLID" in line}


def send(pg: "psycopg.Connection[Any]", given: DispatcherSettings) -> None:
    """Deliver what waits on schd, until it can be read."""
    with relaying(given, Target.SCHD) as relay:
        settle(relay, nothing_pending(pg), "all states sent")
    consume(given, Target.SCHD)


@pytest.mark.pg
@pytest.mark.kafka
@pytest.mark.covers("B72", "B73", "B110", "INV-10", "R28")
def test_it_ends_in_the_same_state_after_duplicates_and_tombstones(
    pg: "psycopg.Connection[Any]", given: DispatcherSettings, tmp_path: Path
) -> None:
    for flid in range(1, 31):
        add(pg, str(flid), 1, target=Target.SCHD)
    send(pg, given)
    pg.execute("UPDATE msg_event SET state = 'PENDING', sent_at = NULL")  # all once more
    send(pg, given)
    pg.execute(
        "UPDATE msg_event SET event_id = nextval('event_id_seq'), state = 'PENDING',"
        " sent_at = NULL, state_version = 2, event_type = 'TOMBSTONE', payload = NULL"
        " WHERE partition_key IN ('7', '8')"
    )
    send(pg, given)

    with consuming(given, tmp_path / "out", "--once") as consumer:
        assert consumer.wait(timeout=PATIENT.total_seconds()) == 0

    end = said(tmp_path / "out")[-1]
    living = [str(flid) for flid in range(1, 31) if flid not in (7, 8)]
    assert end["flights"] == {
        flid: {"FLID": flid, "STATE_VERSION": 1} for flid in sorted(living)
    }
    assert (end["records"], end["ignored"]) == (62, 30)


@pytest.mark.pg
@pytest.mark.kafka
@pytest.mark.slow
@pytest.mark.covers("B73")
def test_a_group_of_two_of_which_one_is_killed_ends_in_the_same_state(
    pg: "psycopg.Connection[Any]", given: DispatcherSettings, tmp_path: Path
) -> None:
    for flid in range(1, 61):
        add(pg, str(flid), 1, target=Target.SCHD)
    send(pg, given)
    everyone = {str(flid) for flid in range(1, 61)}
    one, two = tmp_path / "one", tmp_path / "two"
    with consuming(given, one) as first, consuming(given, two) as second:
        until(lambda: told(one) | told(two) == everyone, "both together know all flights")
        until(lambda: bool(told(one) and told(two)), "each has a part")
        already = len(said(two))  # it may have had every partition before the other came
        first.kill()
        first.wait()
        add(pg, "61", 1, target=Target.SCHD)
        send(pg, given)
        until(lambda: told(two, already) == everyone | {"61"}, "the survivor is told of all")
        add(pg, "62", 1, target=Target.SCHD)
        send(pg, given)
        until(lambda: "62" in told(two, already), "it still follows")
        second.send_signal(signal.SIGTERM)
        assert second.wait(timeout=PATIENT.total_seconds()) == 0

    assert set(said(two)[-1]["flights"]) == everyone | {"61", "62"}
