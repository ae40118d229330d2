"""How told values meet a flight's own: the day that SODT gives, and the points of ROUT that are
kept."""

from collections.abc import Mapping
from datetime import date, datetime, timedelta, tzinfo

from msgx.domain.fields import ROUTE_KEPT
from msgx.domain.flight import Values
from msgx.domain.message import Record, Value


def operation_day(sodt: Value | None, zone: tzinfo, day_cut: timedelta) -> date | None:
    """Return the local day of `sodt`, a day beginning `day_cut` after midnight (R48)."""
    return day_at(sodt, zone, day_cut) if isinstance(sodt, datetime) else None


def day_at(at: datetime, zone: tzinfo, day_cut: timedelta) -> date:
    """Return the operation day that an instant lies in."""
    return (at.astimezone(zone) - day_cut).date()


def day_conflict(flid: str, stored: date | None, told: date | None) -> str | None:
    """Return the reason of DEAD if the day of `told` would change one that is set (INV-12, R19,
    R48)."""
    if stored is None or told is None or stored == told:
        return None
    return f"operation-day-conflict: FLID {flid} has {stored}, SODT gives {told}"


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
