"""The statements of FLIGHT_SCHD and its details, made once from the registry: a registered tag
has its column here. Used by `flight` alone."""

from typing import Final

from msgx.domain.fields import COLLECTIONS, MARKS, ROUTE_TAGS, SCALARS, Collection, PartField

HEAD: Final = ("flid", "state", "state_version", "life", "operation_day", "updated_at")


def column(collection: Collection, part: PartField) -> str:
    return "source_seq" if part.name == collection.sequence else part.name.lower()


def stored(collection: Collection) -> tuple[PartField, ...]:
    kept = collection.kept
    return tuple(part for part in collection.parts if kept is None or part.name in kept)


def _table(collection: Collection) -> str:
    route = collection.tag in ROUTE_TAGS
    return "flight_route_point" if route else f"flight_{collection.tag.lower()}"


def _and_kind(collection: Collection) -> str:
    return f" AND route_kind = '{collection.tag}'" if collection.tag in ROUTE_TAGS else ""


def _aggregate(collection: Collection) -> str:
    columns = ", ".join(column(collection, part) for part in stored(collection))
    return (
        f"(SELECT json_agg(json_build_array({columns}) ORDER BY ordinal)"
        f" FROM {_table(collection)} d WHERE d.flid = f.flid{_and_kind(collection)})"
    )


def _insert(collection: Collection) -> str:
    columns = ["flid", "ordinal"]
    columns += ["route_kind"] if collection.tag in ROUTE_TAGS else []
    columns += [column(collection, part) for part in stored(collection)]
    names = ", ".join(columns)
    return (
        f"INSERT INTO {_table(collection)} ({names}) {_rows(_table(collection), names, '%s')}"
    )


def _rows(table: str, names: str, given: str) -> str:
    """One parameter holds all the rows, so one prepared statement serves any batch."""
    return f"SELECT {names} FROM jsonb_populate_recordset(NULL::{table}, {given}::jsonb)"


def _clear(collection: Collection) -> str:
    return f"DELETE FROM {_table(collection)} WHERE flid = ANY(%s){_and_kind(collection)}"


PLAIN: Final = (*(scalar.tag for scalar in SCALARS), *(mark.tag for mark in MARKS))
WRITTEN: Final = (*HEAD, *(tag.lower() for tag in PLAIN), "last_msg_id", "created_at")

_SHARERS: Final = (
    "(SELECT json_agg(json_build_array(c.flid, c.flno) ORDER BY length(c.flid), c.flid)"
    " FROM flight_schd c WHERE c.maid = k.flid AND c.flid <> k.flid AND c.state = 'ACTIVE')"
)

# One row for each asked FLID, stored or not: its codeshares, the floor that an earlier life
# left, and the whole flight.
LOAD: Final = (
    f"SELECT k.flid, {_SHARERS}, v.state_version, v.life, "
    f"{', '.join(f'f.{name}' for name in HEAD)}, "
    f"{', '.join(f'f.{tag.lower()}' for tag in PLAIN)}, "
    f"{', '.join(_aggregate(collection) for collection in COLLECTIONS)} "
    "FROM unnest(%s::text[]) AS k (flid) "
    "LEFT JOIN flight_schd f ON f.flid = k.flid "
    "LEFT JOIN flight_version_floor v ON v.flid = k.flid"
)
COLUMNS: Final = ", ".join(WRITTEN)
PUT: Final = (
    f"INSERT INTO flight_schd ({COLUMNS}) {_rows('flight_schd', COLUMNS, '%(flights)s')} "
    "ON CONFLICT (flid) DO UPDATE SET "
    + ", ".join(
        f"{name} = EXCLUDED.{name}" for name in WRITTEN if name not in ("flid", "created_at")
    )
)
CLEAR: Final = {collection.tag: _clear(collection) for collection in COLLECTIONS}
FILL: Final = {collection.tag: _insert(collection) for collection in COLLECTIONS}
