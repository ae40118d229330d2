"""Keeps the flights as the rulings want them and judges each message in turn."""

from collections.abc import Iterable
from typing import Any
from xml.etree import ElementTree

from tests.aodb.model import Expected, Flight
from tests.aodb.oracle import tables
from tests.aodb.oracle.decode import (
    Envelope,
    Told,
    Verdict,
    flid_of,
    flight_records,
    malformed,
    open_envelope,
    protocol,
    told_by,
)
from tests.aodb.oracle.reference import Key, Payload, RefMaster, is_reference

_SCHEDULES = frozenset({"DNLD", "RESP", "ADFT"})


class Oracle:
    """An airport's flights after the messages judged so far."""

    def __init__(self) -> None:
        self._flights: dict[str, Flight] = {}
        self._reference = RefMaster()
        self._bound: dict[tuple[str, ...], tuple[int, object]] = {}
        self._asked: frozenset[str] | None = None
        self._partly: frozenset[str] = frozenset()

    def ask_plan(self, *days: str, partly: Iterable[str] = ()) -> None:
        """Lets the plan of whole days be asked for, and of parts of others: the next answer may
        take effect."""
        self._asked = frozenset(days)
        self._partly = frozenset(partly)

    def ask_reference(self, category: str, rtyp: str | None = None) -> None:
        """Lets a category be asked for: the next answer may take effect."""
        self._reference.ask(category, rtyp)

    def judge(self, index: int, text: str) -> Expected:
        """Applies one message and says how it ends. The order of the verdicts is R58's."""
        try:
            envelope = open_envelope(text)
            earlier = self._bound.setdefault(envelope.identity, (index, envelope.content))
            if earlier[0] != index:
                if earlier[1] == envelope.content:
                    return Expected("SKIPPED", "duplicate-of:", other=earlier[0])
                return Expected("DEAD", "IDENTITY_CONFLICT", other=earlier[0])
            return Expected("SUCCEEDED", self._apply(envelope))
        except Verdict as verdict:
            return Expected(verdict.state, verdict.reason)

    def state_of(self, flid: str) -> str | None:
        """Returns ACTIVE, DELETED or None for a flight that never was."""
        flight = self._flights.get(flid)
        return None if flight is None else str(flight["STATE"])

    def flights(self) -> dict[str, Flight]:
        """Returns every flight that ever was, mains with their MAFL."""
        return {flid: self._shown(flid) for flid in sorted(self._flights, key=int)}

    def reference(self) -> dict[Key, Payload]:
        """Returns the reference data."""
        return self._reference.rows()

    def _apply(self, envelope: Envelope) -> str | None:
        type_, styp = envelope.kind
        if is_reference(envelope):
            self._reference.apply(envelope)
            return None
        root = envelope.root
        if type_ == "SCHD" and styp in _SCHEDULES:
            return self._schedule(styp, _payload(root, "SCHD")[0])
        if type_ == "FLOP" and styp == "FDEL":
            return self._delete(_payload(root, "FLOP"))
        if type_ == "FLOP" and styp in tables.FLOP_TAGS:
            return self._operate(styp, _payload(root, "FLOP"))
        raise Verdict("SKIPPED", "unsupported")

    def _schedule(self, styp: str, parent: ElementTree.Element) -> str | None:
        records = flight_records(parent)
        if styp == "RESP" and self._asked is None:
            raise Verdict("SKIPPED", "no-open-request")
        if styp == "DNLD" and not records:
            raise protocol()
        days = {flid: _day(told) for flid, told in records}
        for flid, day in days.items():
            stored = self._flights.get(flid, {}).get("OPERATION_DAY")
            if day is not None and stored is not None and day != stored:
                raise protocol()
        if styp == "RESP":
            of_others = {*days.values()} - {None} - (self._asked or set()) - self._partly
            if of_others:
                raise protocol()
        before = {flid: dict(flight) for flid, flight in self._flights.items()}
        for flid, told in records:
            kept = self._flights.get(flid, {}) if styp == "ADFT" else {}
            flight = _merged(kept, told)
            day = days[flid] or self._flights.get(flid, {}).get("OPERATION_DAY")
            flight |= {"STATE": "ACTIVE"} | ({"OPERATION_DAY": day} if day else {})
            self._flights[flid] = flight
        if styp != "ADFT":
            scope = {*days.values()} if styp == "DNLD" else {*(self._asked or ())}
            for flid, flight in self._flights.items():
                absent = flid not in days and flight.get("OPERATION_DAY") in scope
                if absent and flight["STATE"] == "ACTIVE":
                    self._flights[flid] = flight | {"STATE": "DELETED"}
        if styp == "RESP":
            self._asked = None
        return None if before != self._flights else "no-change"

    def _delete(self, parents: list[ElementTree.Element]) -> str | None:
        if any(parent.find("FDEL") is None for parent in parents):
            raise protocol()
        active = [flid for flid in map(flid_of, parents) if self.state_of(flid) == "ACTIVE"]
        for flid in active:
            self._flights[flid] = self._flights[flid] | {"STATE": "DELETED"}
        return None if active else ""

    def _operate(self, styp: str, parents: list[ElementTree.Element]) -> str | None:
        told = {flid_of(parent): told_by(parent, tables.FLOP_TAGS[styp]) for parent in parents}
        if not all(told.values()):
            raise protocol()
        for flid in told:
            if self.state_of(flid) is None:
                raise Verdict("SKIPPED", f"no-flight:{flid}")
            if self.state_of(flid) == "DELETED":
                raise Verdict("SKIPPED", f"flight-deleted:{flid}")
        changed = False
        for flid, said in told.items():
            if styp == "TAOP" and None in said.values():
                said = dict.fromkeys(tables.FLOP_TAGS["TAOP"])
            flight = _merged(self._flights[flid], said)
            changed = changed or flight != self._flights[flid]
            self._flights[flid] = flight
        return None if changed else "no-change"

    def _shown(self, flid: str) -> Flight:
        flight = {"FLID": flid} | self._flights[flid]
        if "LACL" in flight or "BOTM" in flight:
            flight["BOARDING_STATUS"] = "LAST_CALL" if "LACL" in flight else "BOARDING"
        if flight["STATE"] != "ACTIVE" or flight.get("MAID", flid) != flid:
            return flight
        shared = [
            {"FLID": other} | ({"FLNO": child["FLNO"]} if "FLNO" in child else {})
            for other, child in sorted(self._flights.items(), key=lambda item: int(item[0]))
            if child.get("MAID") == flid and other != flid and child["STATE"] == "ACTIVE"
        ]
        return flight | ({"MAFL": shared} if shared else {})


def _payload(root: ElementTree.Element, tag: str) -> list[ElementTree.Element]:
    found = root.findall(tag)
    if not found:
        raise malformed()
    return found


def _day(told: Told) -> str | None:
    sodt = told.get("SODT")
    return None if sodt is None else str(sodt)[:10]


def _merged(kept: Flight, told: Told) -> Flight:
    flight: dict[str, Any] = {**kept, **told}
    flight = {tag: value for tag, value in flight.items() if value not in (None, [])}
    if "ROUT" in told and "ROUT" in flight:
        points = [
            {key: row[key] for key in ("RTNO", "APCD") if key in row} for row in told["ROUT"]
        ]
        departs = flight.get("MVIN") == "D"
        kept_points = tables.ROUTE_POINTS_KEPT
        flight["ROUT"] = points[:kept_points] if departs else points[-kept_points:]
    return flight
