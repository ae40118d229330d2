"""FLIGHT_SCHD, its details and route points: a whole flight in one statement, both ways. Owner:
processor.

The statements come from the registry (msgx.domain.fields), so a tag that is registered has its
column here.
"""

import json
from collections.abc import Collection as Members
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from typing import Any, Final

from psycopg import Cursor

from msgx.domain.fields import (
    COLLECTIONS,
    MARKS,
    ROUTE_TAGS,
    SCALARS,
    Collection,
    Kind,
    Mark,
    PartField,
)
from msgx.domain.flight import Flight, FlightState, Sharer, journal_form
from msgx.domain.message import Element, Occurrence, Value
from msgx.store.connect import Connection

_HEAD: Final = ("flid", "state", "state_version", "life", "operation_day", "updated_at")


def _column(collection: Collection, part: PartField) -> str:
    return "source_seq" if part.name == collection.sequence else part.name.lower()


def _stored(collection: Collection) -> tuple[PartField, ...]:
    kept = collection.kept
    return tuple(part for part in collection.parts if kept is None or part.name in kept)


def _table(collection: Collection) -> str:
    route = collection.tag in ROUTE_TAGS
    return "flight_route_point" if route else f"flight_{collection.tag.lower()}"


def _and_kind(collection: Collection) -> str:
    return f" AND route_kind = '{collection.tag}'" if collection.tag in ROUTE_TAGS else ""


def _aggregate(collection: Collection) -> str:
    columns = ", ".join(_column(collection, part) for part in _stored(collection))
    return (
        f"(SELECT json_agg(json_build_array({columns}) ORDER BY ordinal)"
        f" FROM {_table(collection)} d WHERE d.flid = f.flid{_and_kind(collection)})"
    )


def _insert(collection: Collection) -> str:
    columns = ["flid", "ordinal"]
    columns += ["route_kind"] if collection.tag in ROUTE_TAGS else []
    columns += [_column(collection, part) for part in _stored(collection)]
    names = ", ".join(columns)
    return f"INSERT INTO {_table(collection)} ({names}) {_rows(_table(collection), names)}"


def _rows(table: str, names: str) -> str:
    """One parameter holds all the rows, so one prepared statement serves any batch."""
    return f"SELECT {names} FROM jsonb_populate_recordset(NULL::{table}, %s::jsonb)"


def _clear(collection: Collection) -> str:
    return f"DELETE FROM {_table(collection)} WHERE flid = ANY(%s){_and_kind(collection)}"


_PLAIN: Final = (*(scalar.tag for scalar in SCALARS), *(mark.tag for mark in MARKS))
_WRITTEN: Final = (*_HEAD, *(tag.lower() for tag in _PLAIN), "last_msg_id", "created_at")

LOAD: Final = (
    f"SELECT {', '.join(f'f.{name}' for name in _HEAD)}, "
    f"{', '.join(f'f.{tag.lower()}' for tag in _PLAIN)}, "
    f"{', '.join(_aggregate(collection) for collection in COLLECTIONS)} "
    "FROM flight_schd f WHERE f.flid = ANY(%s)"
)
_COLUMNS: Final = ", ".join(_WRITTEN)
_PUT: Final = (
    f"INSERT INTO flight_schd ({_COLUMNS}) {_rows('flight_schd', _COLUMNS)} "
    "ON CONFLICT (flid) DO UPDATE SET "
    + ", ".join(
        f"{name} = EXCLUDED.{name}" for name in _WRITTEN if name not in ("flid", "created_at")
    )
)
_CLEAR: Final = {collection.tag: _clear(collection) for collection in COLLECTIONS}
_FILL: Final = {collection.tag: _insert(collection) for collection in COLLECTIONS}

SHARERS: Final = """
    SELECT maid, flid, flno FROM flight_schd
     WHERE maid = ANY(%s) AND maid <> flid AND state = 'ACTIVE'
     ORDER BY length(flid), flid
"""
FLOORS: Final = (
    "SELECT flid, state_version, life FROM flight_version_floor WHERE flid = ANY(%s)"
)
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


def load(conn: Connection, flids: Sequence[str]) -> dict[str, Flight]:
    """Return the whole flights of `flids` that exist."""
    return loaded(conn.execute(LOAD, (list(flids),)))


def loaded(cursor: Cursor[Any]) -> dict[str, Flight]:
    """Return the flights of an executed `LOAD`."""
    flights = (_flight(row) for row in cursor.fetchall())
    return {flight.flid: flight for flight in flights}


def gathered(cursor: Cursor[Any]) -> dict[str, tuple[Sharer, ...]]:
    """Return the ACTIVE codeshares by main flight of an executed `SHARERS`."""
    by_main: dict[str, list[Sharer]] = {}
    for main, flid, flno in cursor.fetchall():
        by_main.setdefault(main, []).append(Sharer(flid, flno))
    return {main: tuple(sharers) for main, sharers in by_main.items()}


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


def put(
    conn: Connection, writes: Sequence[tuple[Flight, Members[str]]], *, msg_id: int
) -> None:
    """Write whole flights; of the collections only those named as changed (R57)."""
    conn.execute(
        _PUT, (json.dumps([_row(flight, msg_id) for flight, _ in writes], ensure_ascii=False),)
    )
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
    conn.execute(_CLEAR[collection.tag], ([flight.flid for flight in flights],))
    if rows := [row for flight in flights for row in _elements(collection, flight)]:
        conn.execute(_FILL[collection.tag], (json.dumps(rows, ensure_ascii=False),))


def _elements(collection: Collection, flight: Flight) -> Iterator[dict[str, Any]]:
    elements = flight.values.get(collection.tag)
    if not isinstance(elements, tuple):
        return
    names = [(part.name, _column(collection, part)) for part in _stored(collection)]
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
        **{tag.lower(): journal_form(flight.values.get(tag)) for tag in _PLAIN},
    }


def _flight(row: tuple[Any, ...]) -> Flight:
    values: dict[str, Value] = {}
    at = len(_HEAD)
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
        for field, part in zip(_stored(collection), parts, strict=True)
        if part is not None
    }
