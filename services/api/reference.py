"""Reference data for HTTP clients: categories, records, availability. Nothing here writes."""

from datetime import UTC, datetime
from typing import Any

from msgx.domain.refdata import Category
from msgx.settings import Airport
from msgx.store import ref_records
from msgx.store.ref_records import Counted, Record
from services.api.errors import Wrong
from services.api.records import Records


class Reference:
    """What the routes read of REF_MASTER; every function blocks and may raise Fault while
    PostgreSQL is away."""

    def __init__(self, records: Records, airport: Airport) -> None:
        self._records = records
        self._airport = airport

    def categories(self) -> list[dict[str, Any]]:
        """Return every category with its number of records and the message that spoke last."""
        with self._records.use("counting reference data") as conn:
            found = ref_records.categories(conn)
        return [self._category(one) for one in found]

    def page(self, category: Category, *, after: str, limit: int) -> dict[str, Any]:
        """Return a page of records, and the key that the next page begins after."""
        with self._records.use("reading reference data") as conn:
            found = ref_records.page(conn, category, after=after, limit=limit)
        return {
            "category": category,
            "records": [self._record(one) for one in found],
            "next": found[-1].key if len(found) == limit else None,
        }

    def availability(self, rtyp: str, rsid: str, at: str | None) -> dict[str, Any]:
        """Tell whether a resource is available at an instant; None: now.

        Raises:
            Wrong: `at` is no instant.
        """
        asked = None if at is None else self._instant(at)
        with self._records.use("reading availability") as conn:
            found = ref_records.availability(conn, rtyp, rsid, asked)
        return {
            "rtyp": rtyp,
            "rsid": rsid,
            "at": self._time(found.at),
            "available": found.available,
            "event": None if found.event is None else self._record(found.event),
        }

    def _instant(self, told: str) -> datetime:
        """Return the instant; without an offset it is the airport's time."""
        try:
            # A plus sign that was not escaped arrives as a blank.
            at = datetime.fromisoformat(told.replace(" ", "+") if "T" in told else told)
            at = at if at.tzinfo is not None else at.replace(tzinfo=self._airport.zone)
            self._time(at)  # it must be shown, and asked for in UTC
            return at.astimezone(UTC)
        except (ValueError, OverflowError):
            raise Wrong("at is no ISO date-time") from None

    def _category(self, one: Counted) -> dict[str, Any]:
        last = None
        if one.last is not None:
            last = {
                "msgId": one.last.msg_id,
                "batch": one.last.batch,
                "refreshedAt": self._time(one.last.refreshed_at),
            }
        return {"category": one.category, "records": one.records, "last": last}

    def _record(self, one: Record) -> dict[str, Any]:
        return {
            "key": one.key,
            "payload": one.payload,
            "msgId": one.msg_id,
            "batch": one.batch,
            "refreshedAt": self._time(one.refreshed_at),
        }

    def _time(self, at: datetime) -> str:
        return at.astimezone(self._airport.zone).isoformat()
