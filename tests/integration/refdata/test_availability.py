"""Whether a resource is available at an instant: the last event, its window, and its ends."""

from typing import Any

import pytest

from tests.support.processor import Line
from tests.support.refdata import Desk, package, state

pytestmark = [pytest.mark.pg, pytest.mark.mysql, pytest.mark.redis]

BEGIN, END = "05JAN261200", "05JAN261800"
BEFORE, AT_BEGIN, INSIDE, LAST, AT_END, LATER = (
    "2026-01-05 11:59:59.999999",
    "2026-01-05 12:00:00",
    "2026-01-05 15:00:00",
    "2026-01-05 17:59:59.999999",
    "2026-01-05 18:00:00",
    "2027-01-01 00:00:00",
)
EVERY = (BEFORE, AT_BEGIN, INSIDE, LAST, AT_END, LATER)
AVAILABLE = "SELECT availability(%s, %s, (%s || ' Asia/Shanghai')::timestamptz)"


def told(line: Line, rsid: str = "1", rtyp: str = "GATE") -> list[Any]:
    return [line.one(AVAILABLE, rtyp, rsid, at) for at in EVERY]


@pytest.mark.covers("INV-26", "US-13")
@pytest.mark.parametrize(
    ("stat", "begin", "end", "expected"),
    [
        ("D", BEGIN, END, [True, False, False, False, True, True]),
        ("D", BEGIN, None, [True, False, False, False, False, False]),
        ("D", None, END, [False, False, False, False, True, True]),
        ("D", None, None, [False] * 6),
        ("E", BEGIN, None, [False, True, True, True, True, True]),
        ("E", None, None, [True] * 6),
    ],
)
def test_the_last_event_and_its_window_decide(
    line: Line, desk: Desk, stat: str, begin: str | None, end: str | None, expected: list[bool]
) -> None:
    desk.run(package("RSTA", "DNLD", state("1", stat, begin, end)))

    assert told(line) == expected


@pytest.mark.covers("INV-26", "US-13")
def test_a_resource_is_available_by_default_and_by_itself(line: Line, desk: Desk) -> None:
    desk.run(package("RSTA", "DNLD", state("1", "D")))

    assert told(line, "2") == [True] * 6
    assert told(line, "1", "STND") == [True] * 6
    assert told(line) == [False] * 6


@pytest.mark.covers("INV-26")
def test_an_empty_end_is_no_end(line: Line, desk: Desk) -> None:
    desk.run(package("RSTA", "DNLD", state("1", "D", BEGIN, "")))

    assert told(line) == [True, False, False, False, False, False]


@pytest.mark.covers("INV-26", "US-13")
def test_events_follow_each_other(line: Line, desk: Desk) -> None:
    desk.run(package("RSTA", "DNLD", state("1", "D", BEGIN)))
    assert told(line)[-1] is False

    desk.run(package("RSTA", "DNLD", state("1", "E", END)))
    assert told(line) == [False, False, False, False, True, True]

    desk.run(package("RSTA", "DNLD", state("1", "D", BEGIN, END)))
    assert told(line) == [True, False, False, False, True, True]
