"""The span of a day plan as people write it: dates, ISO date-times, or the 12-hour form of
older clients (C-8, R27). Pure."""

import re
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Final

from msgx.domain.requests import NotAskable

_DATE: Final = r"([0-9]{4})([-/])([0-9]{2})\2([0-9]{2})"
_DAY: Final = re.compile(_DATE)
_ISO: Final = re.compile(
    _DATE
    + r"T([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.[0-9]{1,9})?)?(Z|[+-][0-9]{2}:?[0-9]{2})?"
)
_TWELVE: Final = re.compile(
    _DATE + r" ([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))? ?([AaPp])\.?[Mm]\.?"
)
_NO_HALF: Final = re.compile(_DATE + r" [0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?")
_MINUTE: Final = timedelta(minutes=1)
_LONGEST: Final = 40
_YEARS: Final = range(2000, 2100)  # what goes out may tell two digits of the year


def span(
    start: str, end: str, *, zone: tzinfo, day_cut: timedelta
) -> tuple[datetime, datetime]:
    """Return the first and the last instant that are meant, in UTC.

    A date alone is the whole operation day; a time without an offset is the airport's.

    Raises:
        NotAskable: which of the two is no time, and what one would be.
    """
    return (
        _instant("startDate", start, timedelta(), zone, day_cut),
        _instant("endDate", end, timedelta(days=1), zone, day_cut),
    )


def _instant(
    name: str, text: str, whole_day: timedelta, zone: tzinfo, day_cut: timedelta
) -> datetime:
    text = text.strip() if len(text) <= _LONGEST else ""
    try:
        if found := _DAY.fullmatch(text):
            midnight = datetime.combine(_day(found), datetime.min.time(), zone)
            edge = (midnight + whole_day + day_cut).astimezone(UTC)  # wall-clock arithmetic
            return edge - _MINUTE if whole_day else edge
        if found := _ISO.fullmatch(text):
            hour, minute, second = int(found[5]), int(found[6]), int(found[7] or 0)
            return _at(found, (hour, minute, second), _zone(found[8], zone))
        if found := _TWELVE.fullmatch(text):
            if not 1 <= (hour := int(found[5])) <= 12:
                raise ValueError
            hour = hour % 12 + (12 if found[8] in "Pp" else 0)
            return _at(found, (hour, int(found[6]), int(found[7] or 0)), zone)
    except (ValueError, OverflowError):
        raise NotAskable(f"{name} is out of range") from None
    if _NO_HALF.fullmatch(text):
        raise NotAskable(f"{name} has a 12-hour time without AM or PM")
    raise NotAskable(
        f"{name} is none of: a date YYYY-MM-DD, a date-time YYYY-MM-DDThh:mm, a date with a"
        " 12-hour time and AM or PM"
    )


def _day(found: re.Match[str]) -> date:
    day = date(int(found[1]), int(found[3]), int(found[4]))
    if day.year not in _YEARS:
        raise ValueError
    return day


def _at(found: re.Match[str], clock: tuple[int, int, int], zone: tzinfo) -> datetime:
    """Return the instant; an ambiguous hour is the first, a missing one is shifted forward
    (R25)."""
    day = _day(found)
    return datetime(day.year, day.month, day.day, *clock, tzinfo=zone).astimezone(UTC)


def _zone(offset: str | None, zone: tzinfo) -> tzinfo:
    if offset is None:
        return zone
    return datetime.strptime(offset.replace(":", ""), "%z").tzinfo or zone
