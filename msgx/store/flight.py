"""FLIGHT_SCHD, its details and route points: a whole flight in one statement, both ways. Owner:
processor.
"""

import json
from collections.abc import Collection as Members
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final

from psycopg import Cursor

from msgx.domain.fields import (
    COLLECTIONS,
    MARKS,
    SCALARS,
    Collection,
    Kind,
    Mark,
)
from msgx.domain.flight import Flight, FlightState, Sharer, journal_form
from msgx.domain.message import Element, Occurrence, Value
from msgx.store.connect import Connection
from msgx.store.flight_sql import CLEAR, FILL, HEAD, LOAD, PLAIN, column, stored

_KNOWN: Final = """
    SELECT flid, state, operation_day, maid FROM flight_schd
     WHERE flid = ANY(%(flids)s) OR (state = 'ACTIVE' AND operation_day = ANY(%(days)s))
"""
_SHOWN: Final = """
    SELECT flid FROM flight_schd WHERE state = 'ACTIVE' AND (maid IS NULL OR maid = flid)
     ORDER BY length(flid), flid
"""
_VERSIONS: Final = "SELECT flid, state_version FROM flight_schd"
_OCCURRED: Final = {
    "SRVT": """
        INSERT INTO flight_srvt (flid, msg_id, ordinal, raw) VALUES (%s, %s, %s, %s)
            ON CONFLICT DO NOTHING
    """,
    "VIPF": """
        INSERT INTO flight_vipf (flid, msg_id, ordinal, raw) VALUES (%s, %s, %s, %s)
            ON CONFLICT DO NOTHING
    """,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What is stored about one asked FLID."""

    flid: str
    flight: Flight | None
    sharers: tuple[Sharer, ...]  # ACTIVE flights whose MAID it is, by number
    floor: tuple[int, int] | None  # version and life of an earlier existence (R45)


def load(conn: Connection, flids: Sequence[str]) -> list[Found]:
    """Return what is stored about each of `flids`, existing or not."""
    return loaded(conn.execute(LOAD, (list(flids),)))


def loaded(cursor: Cursor[Any]) -> list[Found]:
    """Return the rows of an executed `LOAD`."""
    return [_found(row) for row in cursor.fetchall()]


def known(
    conn: Connection, flids: Sequence[str], days: Sequence[date]
) -> list[tuple[str, FlightState, date | None, str | None]]:
    """Return FLID, state, day and MAID of the named flights and of every ACTIVE flight of
    `days`."""
    rows: list[Any] = conn.execute(
        _KNOWN, {"flids": list(flids), "days": list(days)}
    ).fetchall()
    return [(flid, FlightState(state), day, maid) for flid, state, day, maid in rows]


def shown(conn: Connection) -> list[str]:
    """Return the FLIDs that stand in Redis and topics: ACTIVE and no codeshare (R41)."""
    return [str(flid) for (flid,) in conn.execute(_SHOWN).fetchall()]


def versions(conn: Connection) -> dict[str, int]:
    """Return the state version of every flight, deleted ones and codeshares too."""
    rows: list[Any] = conn.execute(_VERSIONS).fetchall()
    return dict(rows)


def as_rows(flights: Iterable[Flight], msg_id: int) -> str:
    """Return the parameter `flights` of `flight_sql.PUT`."""
    return json.dumps([_row(flight, msg_id) for flight in flights], ensure_ascii=False)


def replace_details(conn: Connection, writes: Sequence[tuple[Flight, Members[str]]]) -> None:
    """Replace, of the collections of each flight, those that are named as changed (R57)."""
    for collection in COLLECTIONS:
        changed = [flight for flight, tags in writes if collection.tag in tags]
        if changed:
            _replace(conn, collection, changed)


def occurred(
    conn: Connection, flid: str, msg_id: int, occurrences: Sequence[Occurrence]
) -> None:
    """Append the occurrences of SRVT and VIPF; a second time is no change (R47)."""
    for ordinal, occurrence in enumerate(occurrences, start=1):
        conn.execute(_OCCURRED[occurrence.tag], (flid, msg_id, ordinal, occurrence.raw))


def _replace(conn: Connection, collection: Collection, flights: Sequence[Flight]) -> None:
    conn.execute(CLEAR[collection.tag], ([flight.flid for flight in flights],))
    if rows := [row for flight in flights for row in _elements(collection, flight)]:
        conn.execute(FILL[collection.tag], (json.dumps(rows, ensure_ascii=False),))


def _elements(collection: Collection, flight: Flight) -> Iterator[dict[str, Any]]:
    elements = flight.values.get(collection.tag)
    if not isinstance(elements, tuple):
        return
    names = [(part.name, column(collection, part)) for part in stored(collection)]
    for ordinal, element in enumerate(elements, start=1):
        row = {column: journal_form(element.get(name)) for name, column in names}
        yield {"flid": flight.flid, "ordinal": ordinal, "route_kind": collection.tag, **row}


def _row(flight: Flight, msg_id: int) -> dict[str, Any]:
    updated_at = journal_form(flight.updated_at)
    return {
        "flid": flight.flid,
        "state": flight.state.value,
        "state_version": flight.state_version,
        "life": flight.life,
        "operation_day": None if flight.operation_day is None else str(flight.operation_day),
        "updated_at": updated_at,
        "created_at": updated_at,
        "last_msg_id": msg_id,
        **{tag.lower(): journal_form(flight.values.get(tag)) for tag in PLAIN},
    }


def _found(row: tuple[Any, ...]) -> Found:
    flid, sharers, floor_version, floor_life, *stored_row = row
    return Found(
        flid=flid,
        flight=None if stored_row[0] is None else _flight(stored_row),
        sharers=tuple(Sharer(*sharer) for sharer in sharers or ()),
        floor=None if floor_version is None else (floor_version, floor_life),
    )


def _flight(row: Sequence[Any]) -> Flight:
    values: dict[str, Value] = {}
    at = len(HEAD)
    for scalar in SCALARS:
        if row[at] is not None:
            values[scalar.tag] = row[at]
        at += 1
    for mark in MARKS:
        if row[at] is not None:
            values[mark.tag] = _in_order(mark, row[at])
        at += 1
    for collection in COLLECTIONS:
        if row[at] is not None:
            values[collection.tag] = tuple(_element(collection, parts) for parts in row[at])
        at += 1
    return Flight(
        flid=row[0],
        state=FlightState(row[1]),
        state_version=row[2],
        life=row[3],
        operation_day=row[4],
        updated_at=row[5],
        values=values,
    )


def _in_order(mark: Mark, stored: dict[str, Any]) -> Element:
    # jsonb orders its keys in its own way; the same state must give the same bytes.
    return {part.name: stored[part.name] for part in mark.parts if part.name in stored}


def _element(collection: Collection, parts: Sequence[Any]) -> Element:
    return {
        field.name: datetime.fromisoformat(part) if field.kind is Kind.TIME else part
        for field, part in zip(stored(collection), parts, strict=True)
        if part is not None
    }
