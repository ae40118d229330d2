"""Redis as the processor keeps it: lost, rebuilt, never behind (R15, INV-24)."""

import json
from datetime import timedelta
from typing import Any

import pytest

from tests.support.messages import adft, dnld, fdel, fltr, stand
from tests.support.processor import Line

pytestmark = [pytest.mark.pg, pytest.mark.mysql, pytest.mark.redis]


def some(line: Line) -> None:
    line.run(
        adft(
            fltr("1", "<FLNO>CA1</FLNO><MVIN>A</MVIN>"),
            fltr("2", "<FLNO>ZH2</FLNO><MAID>1</MAID>"),
            fltr("3"),
        ),
        fdel("3"),
    )


@pytest.mark.covers("R15", "B18", "INV-24")
@pytest.mark.parametrize("damage", ["flushed", "restarted", "field lost with its epoch"])
def test_a_lost_projection_is_rebuilt_without_a_message(line: Line, damage: str) -> None:
    some(line)
    shown = line.shown()
    match damage:
        case "flushed":
            line.redis.flushdb()
        case "restarted":
            line.redis.set(line.keys.epoch, "another:1")
            line.redis.hset(line.keys.flights, "3", "{}")
        case _:
            line.redis.hdel(line.keys.flights, "1")
            line.redis.delete(line.keys.epoch)

    line.worker.step()

    assert line.shown() == shown
    assert line.versions() == {"1": 1, "2": 1, "3": 2}
    line.agree()


@pytest.mark.covers("R15", "B18", "INV-23")
def test_a_projection_lost_between_check_and_message_is_rebuilt_with_it(line: Line) -> None:
    line.restart(epoch_check=timedelta(hours=1))
    some(line)
    line.worker.step()
    line.redis.flushdb()

    (done,) = line.run(stand("7", "1"))

    assert line.end(done)[0] == "SUCCEEDED"
    line.agree()


@pytest.mark.covers("R31", "R61", "R41", "INV-24")
def test_only_active_main_flights_are_shown_and_removed_ones_keep_their_version(
    line: Line,
) -> None:
    some(line)
    assert set(line.shown()) == {"1"}

    line.run(adft(fltr("1", "<MAID>9</MAID>")), adft(fltr("2", "<MAID>2</MAID>")))

    assert set(line.shown()) == {"2"}
    assert line.versions()["1"] == line.flight("1").state_version
    line.agree()


@pytest.mark.covers("R30", "R28")
def test_a_value_has_the_stored_values_in_the_order_of_the_registry(line: Line) -> None:
    content = (
        "<STND>7</STND><FLNO>CA1</FLNO><MVIN>A</MVIN><BOTM>05JAN261100</BOTM>"
        "<FDIV DDES='ZGGG' DDIR='TO'>why</FDIV>"
        "<GTDT GTNO='1'><GATE>007</GATE><GOTM>05JAN261130</GOTM></GTDT>"
        "<DELY CODE='93' STRT='05JAN261200' DURA='0130'>late</DELY>"
    )

    line.run(adft(fltr("1", content), fltr("2", "<FLNO>ZH2</FLNO><MAID>1</MAID>")))

    shown = line.shown()["1"]
    assert shown.pop("UPDATED_AT").endswith("+08:00")
    assert list(shown.items()) == [
        ("FLID", "1"),
        ("STATE", "ACTIVE"),
        ("STATE_VERSION", 1),
        ("OPERATION_DAY", "2026-01-05"),
        ("FLNO", "CA1"),
        ("MVIN", "A"),
        ("SODT", "2026-01-05T12:00:00+08:00"),
        ("BOTM", "2026-01-05T11:00:00+08:00"),
        ("STND", "7"),
        ("FDIV", {"DDES": "ZGGG", "DDIR": "TO", "TEXT": "why"}),
        ("GTDT", [{"GTNO": "1", "GATE": "007", "GOTM": "2026-01-05T11:30:00+08:00"}]),
        (
            "DELY",
            [
                {
                    "CODE": "93",
                    "STRT": "2026-01-05T12:00:00+08:00",
                    "DURA": "0130",
                    "TEXT": "late",
                }
            ],
        ),
        ("BOARDING_STATUS", "BOARDING"),
        ("MAFL", [{"FLID": "2", "FLNO": "ZH2"}]),
    ]
    line.agree()


@pytest.mark.covers("INV-23", "R12", "R15")
def test_a_rebuild_gives_the_same_bytes_as_the_messages_did(line: Line) -> None:
    some(line)
    line.run(stand("7", "1"), dnld(fltr("4", "<FDIV DDIR='TO' DDES='X'/>"), fltr("5")))
    line.run(adft(fltr("4", "<GTDT GTNO='1'><GOTM>05JAN261130</GOTM><GATE>1</GATE></GTDT>")))
    before: dict[str, Any] = line.redis.hgetall(line.keys.flights)
    line.redis.flushdb()

    line.worker.step()

    assert line.redis.hgetall(line.keys.flights) == before
    latest = {e["partition_key"]: e["payload"] for e in line.events("KAFKA:schd")}
    assert {flid: text for flid, text in latest.items() if text is not None} == before
    assert all(json.loads(text) for text in before.values())
