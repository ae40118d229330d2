"""`verify` names what journal, tables, outbox and Redis do not tell alike, and nothing else."""

import os
import re
import subprocess
import sys
from contextlib import closing
from datetime import timedelta

import pytest

from msgx.projection.read import Reader
from services.processor.verify import Findings, verify
from tests.support.intake import move_time
from tests.support.messages import adft, dnld, fdel, flop, fltr, stand
from tests.support.processor import Line, ours, settings

pytestmark = [pytest.mark.pg, pytest.mark.mysql, pytest.mark.redis]

GATES = '<GTDT GTNO="1"><GATE>A1</GATE><GOTM>05JAN261100</GOTM></GTDT><GTDT GTNO="1"/>'
SHARE = "<FLNO>ZH2</FLNO><MAID>1</MAID>"


@pytest.fixture
def busy(line: Line) -> Line:
    """A line with a main, a codeshare, a deleted and a returned flight."""
    line.run(
        dnld(fltr("1", GATES), fltr("2", SHARE), fltr("3"), fltr("4")),
        stand("7", "1", "2"),
        fdel("3", "4"),
        adft(fltr("4", '<FDIV DDES="ZSNJ" DDIR="TO">fog</FDIV>')),
        flop("GTDT", '<GTDT GTNO="0"/>', "1"),
    )
    return line


def found(line: Line) -> Findings:
    with closing(Reader(settings(line.places).redis, connections=1)) as reader:
        zone = line.worker.airport.zone
        return verify(line.pg, reader, zone, event_retention=timedelta(days=7))


@pytest.mark.covers("R12", "INV-24", "R53", "INV-11b")
def test_what_the_processor_wrote_agrees(busy: Line) -> None:
    findings = found(busy)

    assert findings.differences == []
    assert findings.counts["flights"] == 4
    assert findings.counts["shown flights"] == findings.counts["shown in Redis"] == 2
    assert findings.counts["journal entries"] == busy.one("SELECT count(*) FROM flight_journal")
    assert findings.counts["events"] == busy.one("SELECT count(*) FROM msg_event")


@pytest.mark.covers("R12", "INV-24", "INV-13", "G-MAFL")
@pytest.mark.parametrize(
    ("act", "named"),
    [
        ("UPDATE flight_schd SET stnd = '9' WHERE flid = '1'", ["FLID 1: STND is not"]),
        ("UPDATE flight_schd SET estt = now() WHERE flid = '2'", ["FLID 2: ESTT is not"]),
        ("UPDATE flight_schd SET fdiv = NULL WHERE flid = '4'", ["FLID 4: FDIV is not"]),
        ("UPDATE flight_schd SET state = 'ACTIVE' WHERE flid = '3'", ["FLID 3: STATE is not"]),
        ("UPDATE flight_schd SET life = 2 WHERE flid = '3'", ["FLID 3: life is not"]),
        ("UPDATE flight_schd SET state_version = 9 WHERE flid = '3'",
         ["FLID 3: STATE_VERSION is not"]),
        ("UPDATE flight_schd SET flno = 'XX9' WHERE flid = '2'",
         ["FLID 2: FLNO is not", "FLID 1: MAFL is not"]),
        ("INSERT INTO flight_gtdt (flid, ordinal, gate) VALUES ('3', 1, 'A9')",
         ["FLID 3: GTDT is not"]),
        ("DELETE FROM flight_journal WHERE flid = '1' AND state_version = 2",
         ["FLID 1: the journal does not fold: FLID 1: version 2 has no entry"]),
        ("DELETE FROM flight_journal WHERE flid = '3'",
         ["FLID 3: the journal does not fold: FLID 3 has no entry"]),
        ("UPDATE flight_journal SET changes = jsonb_set(changes, '{STND,0}', '\"8\"')"
         " WHERE flid = '2' AND state_version = 2",
         ["FLID 2: the journal does not fold: FLID 2: version 2 does not follow in STND"]),
        ("DELETE FROM flight_schd WHERE flid = '3'",
         ["FLID 3 has journal entries, but no flight"]),
        ("DELETE FROM msg_event WHERE partition_key = '1' AND target = 'KAFKA:msg'"
         " AND state_version = 2", ["FLID 1: version 2 has no event of topic msg"]),
        ("UPDATE msg_event SET event_type = 'TOMBSTONE', payload = NULL"
         " WHERE target = 'KAFKA:msg' AND partition_key = '4' AND state_version = 1",
         ["FLID 4: the event of version 1 is no UPSERT"]),
        ("INSERT INTO msg_event (target, partition_key, event_type, state_version, created_at)"
         " VALUES ('KAFKA:msg', '2', 'TOMBSTONE', 1, now())",
         ["FLID 2: version 1 has an event that nothing called for"]),
        ("UPDATE msg_event SET state_version = 1 WHERE partition_key = '4'"
         " AND target = 'KAFKA:schd'", ["FLID 4: topic schd does not have version 3"]),
        ("UPDATE msg_event SET payload = '{}' WHERE partition_key = '4'"
         " AND target = 'KAFKA:schd'", ["FLID 4: topic schd has another state"]),
        ("UPDATE msg_event SET released_at = NULL WHERE partition_key = '4'",
         ["FLID 4: the event of version 2 is never released"]),
        ("DELETE FROM msg_event WHERE partition_key = '4' AND target = 'KAFKA:schd'",
         ["FLID 4: topic schd has no state"]),
    ],
)  # fmt: skip
def test_what_was_changed_by_hand_is_named(busy: Line, act: str, named: list[str]) -> None:
    busy.pg.execute("ALTER TABLE flight_schd DISABLE TRIGGER USER")
    try:
        busy.pg.execute(act)
    finally:
        busy.pg.execute("ALTER TABLE flight_schd ENABLE TRIGGER USER")

    differences = found(busy).differences

    for text in named:
        assert any(one.startswith(text) for one in differences), differences


@pytest.mark.covers("INV-24")
def test_events_that_left_after_their_time_are_not_missed(busy: Line) -> None:
    busy.pg.execute(
        "DELETE FROM msg_event WHERE target = 'KAFKA:msg' OR event_type = 'TOMBSTONE'"
    )
    fresh = found(busy).differences
    move_time(busy.pg, timedelta(days=8))

    assert len(fresh) == busy.one(
        "SELECT count(*) + 1 FROM flight_journal WHERE flid <> '2'"  # and FLID 3 of schd
    )
    assert found(busy).differences == []


@pytest.mark.covers("INV-24", "B92")
def test_what_redis_shows_otherwise_is_named(busy: Line) -> None:
    flights = busy.keys.flights
    busy.redis.hdel(flights, "1")
    busy.redis.hset(flights, "4", busy.redis.hget(flights, "4").replace("ZSNJ", "ZSPD"))
    busy.redis.hset(flights, "3", '{"FLID":"3"}')

    assert sorted(found(busy).differences) == [
        "FLID 1: Redis lacks the flight",
        "FLID 3: Redis shows a flight that is not to be shown",
        "FLID 4: Redis shows another state",
    ]


@pytest.mark.covers("R15")
def test_what_a_restarted_redis_holds_is_compared_and_the_restart_is_said(busy: Line) -> None:
    busy.redis.set(busy.keys.epoch, "another:1")

    findings = found(busy)

    assert findings.differences == []
    assert [text.split(" since ")[0] for text in findings.remarks] == ["Redis restarted"]


@pytest.mark.covers("R12", "INV-24")
def test_the_command_says_what_it_looked_at_and_leaves_with_a_status(busy: Line) -> None:
    agreed = _command(busy)
    busy.pg.execute("UPDATE flight_schd SET stnd = '9' WHERE flid = '1'")

    differs = _command(busy)

    assert agreed.returncode == 0, agreed.stdout + agreed.stderr
    assert re.search(r"4 flights, \d+ journal entries", agreed.stdout)
    assert agreed.stdout.endswith("Everything agrees.\n")
    assert differs.returncode == 1
    assert "FLID 1: STND is not what the journal folds to\n" in differs.stdout


def _command(line: Line) -> "subprocess.CompletedProcess[str]":
    foreign = {name: text for name, text in os.environ.items() if not name.startswith("MSGX_")}
    return subprocess.run(
        [sys.executable, "-m", "services.processor", "verify"],
        env=foreign
        | {
            "MSGX_ENVIRONMENT": "test",
            "MSGX_DATABASE__DSN": ours(line.places.dsn),
            "MSGX_REDIS__URL": line.places.redis,
        },
        capture_output=True,
        text=True,
        check=False,
    )
