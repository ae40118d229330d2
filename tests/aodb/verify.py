"""Compares what a system made of a day with the oracle: sentences, none when all agree."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import psycopg

from tests.aodb.model import Day, Expected, Flight, Played, Reference

MOST_SENTENCES: Final = 50
ABSENT: Final = "absent"

SELECT_ENDS: Final = "SELECT msg_id, state, error_class, last_error FROM proc_state"

SELECT_REFERENCE: Final = "SELECT rtype, rkey, payload FROM ref_master"

Row = tuple[int, str, str | None, str | None]
"""A message as the system ended it: its id, its state, its error class, its reason."""

_NOT_COMPARED: Final = frozenset({"FLID", "STATE_VERSION", "UPDATED_AT"})
_NOT_COMPARED_DELETED: Final = frozenset({"MAFL", "BOARDING_STATUS"})
"""Derived from living flights: what a deleted one shows is nobody's business."""


def read_messages(database: str) -> list[Row]:
    """Reads how each message ended from the system's PostgreSQL."""
    with psycopg.connect(database, connect_timeout=3) as connection:
        return [
            (int(msg_id), str(state), error_class, last_error)
            for msg_id, state, error_class, last_error in connection.execute(SELECT_ENDS)
        ]


def read_reference(database: str) -> dict[tuple[str, str], Reference]:
    """Reads the reference data from the system's PostgreSQL."""
    with psycopg.connect(database, connect_timeout=3) as connection:
        return {
            (str(rtype), str(rkey)): payload
            for rtype, rkey, payload in connection.execute(SELECT_REFERENCE)
        }


def compare_reference(day: Day, rows: Mapping[tuple[str, str], Reference]) -> list[str]:
    """Says which records of reference data differ."""
    return _bounded(_reference_faults(day.reference, rows))


def compare_messages(day: Day, played: Played, rows: Iterable[Row]) -> list[str]:
    """Says which messages did not end as expected, and which rows no message explains."""
    found = {row[0]: row for row in rows}
    return _bounded(_message_faults(day, played, found))


def compare_flights(
    day: Day, flights: Mapping[str, Mapping[str, Any]], *, shown_only: bool = False
) -> list[str]:
    """Says which flights differ; `shown_only`: only those that Redis and the API show."""
    expected = shown_flights(day) if shown_only else day.flights
    return _bounded(_flight_faults(expected, flights))


def shown_flights(day: Day) -> dict[str, Flight]:
    """Returns the ACTIVE flights that are no codeshares (R30, R41)."""
    return {
        flid: flight
        for flid, flight in day.flights.items()
        if flight["STATE"] == "ACTIVE" and flight.get("MAID", flid) == flid
    }


def _message_faults(day: Day, played: Played, found: dict[int, Row]) -> Iterator[str]:
    for message in day.messages:
        msg_id = played.ids[message.index]
        row = found.pop(msg_id, None)
        name = f"message {msg_id} (planned {message.index}, {message.label})"
        if row is None:
            yield f"{name} has no record"
            continue
        _, state, error_class, reason = row
        wanted = message.expected
        told = f"{state}({error_class or reason or ''})"
        if state != wanted.state:
            yield f"{name} is {told}, expected {wanted.state}({wanted.reason_prefix or ''})"
        elif fault := _reason_fault(wanted, played, error_class, reason):
            yield f"{name} is {told}: {fault}"
    low, high = min(played.ids.values(), default=0), max(played.ids.values(), default=0)
    for msg_id in sorted(found):
        if low <= msg_id <= high:
            yield f"message {msg_id} has a record but was never committed"


def _reason_fault(
    wanted: Expected, played: Played, error_class: str | None, reason: str | None
) -> str | None:
    prefix, told = wanted.reason_prefix, reason or ""
    other = None if wanted.other is None else played.ids[wanted.other]
    match wanted.state:
        case "DEAD":
            if error_class != prefix:
                return f"expected class {prefix}"
            return f"expected conflicts-with:{other}" if _lacks(told, other) else None
        case "SUCCEEDED" if prefix is None:
            return "it changed a value" if told.startswith("no-change") else None
        case _:
            if not told.startswith(prefix or ""):
                return f"expected {prefix}"
            return f"expected duplicate-of:{other}" if _lacks(told, other) else None


def _lacks(told: str, other: int | None) -> bool:
    return other is not None and str(other) not in told.replace(":", " ").split()


def _flight_faults(
    expected: Mapping[str, Flight], flights: Mapping[str, Mapping[str, Any]]
) -> Iterator[str]:
    for flid in sorted(expected.keys() | flights.keys(), key=lambda key: (len(key), key)):
        if flid not in flights:
            yield f"flight {flid} is missing"
        elif flid not in expected:
            yield f"flight {flid} should not be there"
        else:
            yield from _value_faults(flid, expected[flid], flights[flid])


def _reference_faults(
    expected: Mapping[tuple[str, str], Reference], rows: Mapping[tuple[str, str], Reference]
) -> Iterator[str]:
    for at in sorted(expected.keys() | rows.keys()):
        name = " ".join(at)
        if at not in rows:
            yield f"record {name} is missing"
        elif at not in expected:
            yield f"record {name} should not be there"
        elif rows[at] != expected[at]:
            for tag in sorted(expected[at].keys() | rows[at].keys()):
                found, wanted = rows[at].get(tag, ABSENT), expected[at].get(tag, ABSENT)
                if found != wanted:
                    yield f"record {name}: {tag} is {found!r}, expected {wanted!r}"


def _value_faults(flid: str, wanted: Flight, found: Mapping[str, Any]) -> Iterator[str]:
    skipped = _NOT_COMPARED
    if wanted["STATE"] == "DELETED":
        skipped = skipped | _NOT_COMPARED_DELETED
    for tag in sorted((wanted.keys() | found.keys()) - skipped):
        if wanted.get(tag) != found.get(tag):
            yield f"flight {flid}: {tag} is {found.get(tag)!r}, expected {wanted.get(tag)!r}"


def _bounded(faults: Iterator[str]) -> list[str]:
    sentences = list(faults)
    more = len(sentences) - MOST_SENTENCES
    return sentences if more <= 0 else [*sentences[:MOST_SENTENCES], f"… and {more} more"]
