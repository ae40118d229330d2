"""Single values: the text of a tag to a part, one reader for each kind (R25, R58)."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from types import MappingProxyType
from typing import Final, TypeAlias

from msgx.domain.fields import Kind
from msgx.domain.message import Part

Read: TypeAlias = Callable[[str], Part]
"""Reads a trimmed text that is not empty. Raises BadValue."""

_SIS_TIME: Final = re.compile(r"([0-9]{2})([A-Za-z]{3})([0-9]{2})([0-9]{2})([0-9]{2})")
_HEAD_TIME: Final = re.compile(r"([0-9]{4})" + r"([0-9]{2})" * 5)
_COUNT: Final = re.compile(r"[0-9]{1,18}")
_KEY: Final = re.compile(r"0*([1-9][0-9]*)")
_DURATION: Final = re.compile(r"[0-9]{2}[0-5][0-9]")
_KEY_DIGITS: Final = 19
_BACK: Final = 80
_TIMES_KEPT: Final = 8192

# Own table: the month's name depends on no locale (B84).
_MONTHS: Final = {
    name: number
    for number, name in enumerate(
        ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"),
        start=1,
    )
}


class BadValue(ValueError):
    """The text is no value of its kind; the message says what one is."""


@lru_cache(maxsize=8)
def readers(zone: tzinfo, year: int) -> Mapping[Kind, Read]:
    """Return the reader of each kind, for an airport's zone and the present year."""

    @lru_cache(maxsize=_TIMES_KEPT)
    def time(text: str) -> datetime:
        return sis_time(text, zone, year)

    return MappingProxyType(
        {
            Kind.TEXT: str,
            Kind.TIME: time,
            Kind.COUNT: count,
            Kind.KEY: key,
            Kind.MOVEMENT: _one_of("A", "D"),
            Kind.NATURE: _one_of("D", "I", "M"),
            Kind.DURATION: _duration,
        }
    )


def sis_time(text: str, zone: tzinfo, year: int) -> datetime:
    """Return the instant of an airport-local DDMMMYYhhmm (R25).

    An ambiguous hour is the first, a missing one is shifted forward (B87); 24:00 is the
    next day's 00:00.

    Raises:
        BadValue: another form, or out of range.
    """
    match = _SIS_TIME.fullmatch(text)
    month = _MONTHS.get(match[2].upper()) if match else None
    if match is None or month is None:
        raise BadValue("is not a time DDMMMYYhhmm")
    return _instant(
        (_century(int(match[3]), year), month, int(match[1])),
        (int(match[4]), int(match[5]), 0),
        zone,
    )


def head_time(text: str, zone: tzinfo) -> datetime | None:
    """Return the instant of META's yyyyMMddHHmmss, or None if it is none."""
    match = _HEAD_TIME.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = map(int, match.groups())
    try:
        return _instant((year, month, day), (hour, minute, second), zone)
    except BadValue:
        return None


def key(text: str) -> str:
    """Return a FLID without leading zeros (R58).

    Raises:
        BadValue: not 1 to 19 digits, or zero.
    """
    match = _KEY.fullmatch(text) if len(text) <= _KEY_DIGITS else None
    if match is None:
        raise BadValue("is not a key of 1 to 19 digits, not zero")
    return match[1]


def count(text: str) -> int:
    """Return a number of decimal digits.

    Raises:
        BadValue: anything else.
    """
    if not _COUNT.fullmatch(text):
        raise BadValue("is not a number of 1 to 18 digits")
    return int(text)


def one_of(allowed: frozenset[str]) -> Read:
    """Return the reader of a code that has few values."""
    return _one_of(*sorted(allowed))


def _one_of(*allowed: str) -> Read:
    def read(text: str) -> str:
        if text not in allowed:
            raise BadValue(f"is not one of {', '.join(allowed)}")
        return text

    return read


def _duration(text: str) -> str:
    if not _DURATION.fullmatch(text):
        raise BadValue("is not a duration HHMM")
    return text


def _century(two_digits: int, year: int) -> int:
    """Return the year with these last digits in the hundred that begins 80 years back (R25)."""
    first = year - _BACK + 1
    return first + (two_digits - first) % 100


def _instant(day: tuple[int, int, int], clock: tuple[int, int, int], zone: tzinfo) -> datetime:
    midnight_after = clock == (24, 0, 0)
    try:
        local = datetime(*day, *((0, 0, 0) if midnight_after else clock), tzinfo=zone)
        # Wall-clock arithmetic: the next day's 00:00 even if this one has 23 or 25 hours (B85).
        return (local + timedelta(days=1) if midnight_after else local).astimezone(UTC)
    except (ValueError, OverflowError):
        raise BadValue("is out of range") from None
