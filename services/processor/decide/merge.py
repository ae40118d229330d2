"""How told values meet a flight's own: the day that SODT gives, and the points of ROUT that are
kept."""

from collections.abc import Mapping
from datetime import date, datetime, timedelta, tzinfo

from msgx.domain.fields import ROUTE_KEPT
from msgx.domain.flight import Flight, Values
from msgx.domain.message import Record, Value


def operation_day(sodt: Value | None, zone: tzinfo, day_cut: timedelta) -> date | None:
    """Return the local day of `sodt`, a day beginning `day_cut` after midnight (R48)."""
    if not isinstance(sodt, datetime):
        return None
    return (sodt.astimezone(zone) - day_cut).date()


def day_conflict(flight: Flight | None, day: date | None) -> bool:
    """Tell whether `day` would change a day that is set (INV-12, R19, R48)."""
    return (
        flight is not None
        and flight.operation_day is not None
        and day is not None
        and flight.operation_day != day
    )


def conflict_text(flid: str, flight: Flight, day: date | None) -> str:
    """Return the reason of DEAD for a `day_conflict`."""
    return f"operation-day-conflict: FLID {flid} has {flight.operation_day}, SODT gives {day}"


def route_kept(told: Mapping[str, Value | None], values: Values) -> Values:
    """Return `values` with the points of ROUT that are kept, if the message told ROUT (R47)."""
    points = values.get("ROUT")
    if "ROUT" not in told or not isinstance(points, tuple) or len(points) <= ROUTE_KEPT:
        return values
    kept = points[-ROUTE_KEPT:] if values.get("MVIN") == "A" else points[:ROUTE_KEPT]
    return {**values, "ROUT": kept}


def sodt_of(record: Record) -> Value | None:
    """Return the scheduled time that `record` tells."""
    return record.told.get("SODT")
