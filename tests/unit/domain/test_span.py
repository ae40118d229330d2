"""The span of a day plan as clients write it (C-8, R27)."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from msgx.domain.requests import NotAskable
from msgx.domain.span import span

SHANGHAI = ZoneInfo("Asia/Shanghai")
BERLIN = ZoneInfo("Europe/Berlin")


def begin(text: str, zone: ZoneInfo = SHANGHAI, day_cut: timedelta = timedelta()) -> str:
    first, _ = span(text, "2026-06-30", zone=zone, day_cut=day_cut)
    return first.astimezone(zone).isoformat(sep=" ", timespec="minutes")[:16]


@pytest.mark.covers("US-09", "R27", "C-8")
@pytest.mark.parametrize(
    ("told", "meant"),
    [
        ("2026-06-15", "2026-06-15 00:00"),
        ("2026-06-15T07:30", "2026-06-15 07:30"),
        ("2026-06-15T07:30:59", "2026-06-15 07:30"),
        ("2026-06-15T07:30:59.123", "2026-06-15 07:30"),
        ("2026-06-15T07:30+08:00", "2026-06-15 07:30"),
        ("2026-06-15T07:30Z", "2026-06-15 15:30"),
        ("2026-06-15 12:30 AM", "2026-06-15 00:30"),
        ("2026-06-15 12:30 PM", "2026-06-15 12:30"),
        ("2026-06-15 1:05 pm", "2026-06-15 13:05"),
        ("2026/06/15 11:59:59AM", "2026-06-15 11:59"),
        (" 2026-06-15 ", "2026-06-15 00:00"),
    ],
)
def test_a_time_is_read_as_it_is_meant(told: str, meant: str) -> None:
    assert begin(told) == meant


@pytest.mark.covers("US-09", "R27", "C-8")
@pytest.mark.parametrize(
    "told",
    [
        "2026-06-15 12:30",
        "2026-06-15 00:30",
        "2026-06-15 13:00 PM",
        "2026-06-15 0:30 AM",
        "2026-06-15T25:00",
        "2026-02-30",
        "15JUN26",
        "1999-12-31",
        "9999-12-31T23:59Z",
        "0001-01-01T00:00",
        "12:30 AM",
        "",
        "2026-06/15",
        "2026-06-15T12:30+99:99",
        "2026-06-15" + " " * 100 + "x",
    ],
)
def test_what_is_no_time_or_may_be_two_is_refused(told: str) -> None:
    with pytest.raises(NotAskable, match="startDate"):
        begin(told)


@pytest.mark.covers("R27")
def test_two_dates_are_whole_operation_days() -> None:
    first, last = span("2026-06-15", "2026-06-16", zone=SHANGHAI, day_cut=timedelta(hours=4))

    assert first == datetime(2026, 6, 14, 20, 0, tzinfo=UTC)
    assert last == datetime(2026, 6, 16, 19, 59, tzinfo=UTC)


@pytest.mark.covers("R25")
def test_a_day_of_23_hours_ends_with_its_last_minute() -> None:
    first, last = span("2026-03-29", "2026-03-29", zone=BERLIN, day_cut=timedelta())

    assert last - first == timedelta(hours=23) - timedelta(minutes=1)
