"""REF_MASTER, for readers: categories, records, availability. Owner of the table: refdata.

Every function runs on the caller's connection and never commits.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from psycopg.rows import kwargs_row

from msgx.domain.refdata import Category, Told
from msgx.store.connect import Connection

_CATEGORIES: Final = """
    SELECT rtype, records, source_msg_id AS msg_id, batch, refreshed_at
      FROM (SELECT rtype, count(*) AS records FROM ref_master GROUP BY rtype) AS counted
     CROSS JOIN LATERAL (SELECT source_msg_id, batch, refreshed_at FROM ref_master AS one
                          WHERE one.rtype = counted.rtype
                          ORDER BY refreshed_at DESC, source_msg_id DESC LIMIT 1) AS last
"""
_PAGE: Final = """
    SELECT rkey AS key, payload, source_msg_id AS msg_id, batch, refreshed_at
      FROM ref_master
     WHERE rtype = %(rtype)s AND rkey > %(after)s COLLATE "C"
     ORDER BY rkey
     LIMIT %(limit)s
"""
_ONE: Final = """
    SELECT rkey AS key, payload, source_msg_id AS msg_id, batch, refreshed_at
      FROM ref_master
     WHERE rtype = %(rtype)s AND rkey = %(key)s
"""
_AVAILABILITY: Final = """
    SELECT availability(%(rtyp)s, %(rsid)s, asked.at), asked.at
      FROM (SELECT COALESCE(%(at)s, msgx_now()) AS at) AS asked
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Last:
    """The message that last said something about a category."""

    msg_id: int
    batch: str
    refreshed_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """A category: how many records it has, and who said the last of them."""

    category: Category
    records: int = 0
    last: Last | None = None  # None: it has no record


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One record."""

    key: str
    payload: Mapping[str, Told]
    msg_id: int
    batch: str
    refreshed_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Availability:
    """Whether a resource is available at an instant, and the event that says so."""

    available: bool
    at: datetime
    event: Record | None  # None: nothing was ever said, so it is


def categories(conn: Connection) -> list[Counted]:
    """Return every category, also an empty one, in the order of the interface."""
    rows: list[Any] = conn.execute(_CATEGORIES).fetchall()
    found = {
        rtype: Counted(
            category=Category(rtype),
            records=records,
            last=Last(msg_id=msg_id, batch=batch, refreshed_at=refreshed_at),
        )
        for rtype, records, msg_id, batch, refreshed_at in rows
    }
    return [found.get(one, Counted(category=one)) for one in Category]


def page(conn: Connection, category: Category, *, after: str, limit: int) -> list[Record]:
    """Return records with keys above `after`, in order of their keys."""
    with conn.cursor(row_factory=kwargs_row(Record)) as cur:
        given = {"rtype": category, "after": after, "limit": limit}
        return cur.execute(_PAGE, given).fetchall()


def availability(conn: Connection, rtyp: str, rsid: str, at: datetime | None) -> Availability:
    """Tell whether a resource is available at an instant; None: now."""
    given = {"rtyp": rtyp, "rsid": rsid, "at": at}
    row: Any = conn.execute(_AVAILABILITY, given).fetchone()
    available, asked = row
    with conn.cursor(row_factory=kwargs_row(Record)) as cur:
        key = {"rtype": Category.RSTA, "key": f"{rtyp}:{rsid}"}
        event = cur.execute(_ONE, key).fetchone()
    return Availability(available=available, at=asked, event=event)
