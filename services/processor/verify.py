"""`verify`: journal, tables, outbox and Redis tell the same of every flight (INV-24, R12).

It writes nothing. Everything of PostgreSQL is read in one REPEATABLE READ snapshot (R53). Redis
is read beside it, so that a flight on which both differ is looked at once more under
PIPELINE_LOCK, when no message is between its commit and its projection.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo
from typing import Final

from msgx.domain.delivery import EventType, Target
from msgx.domain.flight import Flight, encode, render
from msgx.domain.journal import Entry, Folded, Told, Unfoldable, fold
from msgx.projection.read import Incomplete, Reader
from msgx.store import flight, flight_journal, outbox, service_term
from msgx.store.connect import Connection
from msgx.store.outbox import Kept
from services.processor.decide.world import World
from services.processor.decide.writes import mafl
from services.processor.examine import read_world

_CHUNK: Final = 200
_NAMED: Final = 100
"""Differences that are named; the rest is counted."""

_TYPES: Final = {Told.UPSERT: EventType.UPSERT, Told.TOMBSTONE: EventType.TOMBSTONE}


@dataclass(slots=True)
class Findings:
    """What was looked at, and what differs."""

    counts: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    unnamed: int = 0

    def differ(self, text: str) -> None:
        """Note a difference."""
        if len(self.differences) < _NAMED:
            self.differences.append(text)
        else:
            self.unnamed += 1


def verify(
    conn: Connection, reader: Reader | None, zone: tzinfo, *, event_retention: timedelta
) -> Findings:
    """Compare everything; without `reader` Redis is left out. An event that may have left
    after its time is not missed.

    Raises:
        Away: Redis does not answer.
    """
    findings = Findings()
    with conn.transaction():
        conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        since = outbox.horizon(conn, event_retention)
        views = _postgres(conn, zone, since, findings)
        for flid in flight_journal.orphans(conn):
            findings.differ(f"FLID {flid} has journal entries, but no flight")
        for flid, version in outbox.stranded(conn):
            findings.differ(f"FLID {flid}: the event of version {version} is never released")
    if reader is not None:
        try:
            reader.probe()
        except Incomplete:
            findings.remarks.append(
                "Redis restarted since its projection was written: the processor rebuilds it"
                " before anybody reads it. What is stored was compared all the same."
            )
        shown = _redis(reader)
        findings.counts["shown in Redis"] = len(shown)
        apart = {flid for flid in {*views, *shown} if views.get(flid) != shown.get(flid)}
        if apart:
            _look_again(conn, reader, zone, sorted(apart), findings)
    return findings


def _postgres(
    conn: Connection, zone: tzinfo, since: datetime, findings: Findings
) -> dict[str, str]:
    """Compare journal, tables and outbox; return the JSON of every shown flight."""
    views: dict[str, str] = {}
    for part in _chunks(list(flight.versions(conn))):
        world = read_world(conn, part)
        journals, events = flight_journal.histories(conn, part), outbox.kept(conn, part)
        for flid, one in world.flights.items():
            entries, kept = journals.get(flid, []), events.get(flid, [])
            findings.counts["flights"] += 1
            findings.counts["journal entries"] += len(entries)
            findings.counts["events"] += len(kept)
            view = _view(world, one, zone)
            if view is not None:
                views[flid] = view
            asked = _Asked(world, one, entries, kept, view, since)
            for text in _faults(asked):
                findings.differ(f"FLID {flid}: {text}")
    findings.counts["shown flights"] = len(views)
    return views


@dataclass(frozen=True, slots=True)
class _Asked:
    """One flight, with everything that should tell the same of it."""

    world: World
    flight: Flight
    entries: Sequence[Entry]
    kept: Sequence[Kept]
    view: str | None  # its JSON, if it is shown
    since: datetime  # no event that is younger has left


def _faults(asked: _Asked) -> Iterator[str]:
    try:
        folded = fold(asked.flight.flid, asked.entries)
    except Unfoldable as fault:
        yield f"the journal does not fold: {fault}"
        return
    yield from _state_faults(asked.world, asked.flight, folded)
    at = {entry.state_version: entry.at for entry in asked.entries}
    must = {version for version in folded.told if at[version] >= asked.since}
    yield from _change_faults(asked, folded, must)
    yield from _latest_faults(asked, folded, must)


def _state_faults(world: World, one: Flight, folded: Folded) -> Iterator[str]:
    for name, told, stored in (
        ("STATE", folded.state, one.state),
        ("STATE_VERSION", folded.state_version, one.state_version),
        ("life", folded.life, one.life),
        ("OPERATION_DAY", folded.operation_day, one.operation_day),
        ("MAFL", folded.mafl, mafl(world, one)),
    ):
        if told != stored:
            yield f"{name} is not what the journal folds to"
    for tag in sorted({*folded.values, *one.values}):
        if folded.values.get(tag) != one.values.get(tag):
            yield f"{tag} is not what the journal folds to"


def _change_faults(asked: _Asked, folded: Folded, must: Set[int]) -> Iterator[str]:
    sent = {event.state_version: event for event in asked.kept if event.target is Target.MSG}
    for version, what in folded.told.items():
        kind = _TYPES.get(what)
        event = sent.get(version)
        if kind is None and event is not None:
            yield f"version {version} has an event that nothing called for"
        elif kind is not None and event is None and version in must:
            yield f"version {version} has no event of topic msg"
        elif event is not None and event.type is not kind:
            yield f"the event of version {version} is no {kind}"


def _latest_faults(asked: _Asked, folded: Folded, must: Set[int]) -> Iterator[str]:
    """A state stays with its flight; its tombstone leaves after its time."""
    latest = [event for event in asked.kept if event.target is Target.SCHD]
    told = [version for version, what in folded.told.items() if what is not Told.NOTHING]
    if not latest:
        if told and (asked.view is not None or told[-1] in must):
            yield "topic schd has no state"
        return
    event = latest[0]
    if not told or event.state_version != told[-1]:
        yield f"topic schd does not have version {told[-1] if told else 0}"
    elif event.type is not _TYPES[folded.told[told[-1]]]:
        yield f"topic schd has no {_TYPES[folded.told[told[-1]]]}"
    elif asked.view is not None and event.state != asked.view:
        yield "topic schd has another state"


def _look_again(
    conn: Connection, reader: Reader, zone: tzinfo, flids: Sequence[str], findings: Findings
) -> None:
    conn.execute(service_term.LOCK_PIPELINE)
    try:
        shown = _redis(reader)
        for part in _chunks(flids):
            world = read_world(conn, part)
            for flid in part:
                one = world.flights.get(flid)
                view = None if one is None else _view(world, one, zone)
                if view != shown.get(flid):
                    findings.differ(f"FLID {flid}: Redis {_how(view, shown.get(flid))}")
    finally:
        if not conn.closed:
            conn.execute(service_term.UNLOCK_PIPELINE)


def _how(view: str | None, shown: str | None) -> str:
    if view is None:
        return "shows a flight that is not to be shown"
    return "lacks the flight" if shown is None else "shows another state"


def _redis(reader: Reader) -> Mapping[str, str]:
    return {_flid(text): text for text in map(bytes.decode, reader.read_stored())}


def _flid(text: str) -> str:
    return str(json.loads(text)["FLID"])


def _view(world: World, one: Flight, zone: tzinfo) -> str | None:
    return encode(render(one, mafl(world, one), zone)) if one.shown else None


def _chunks(flids: Sequence[str]) -> Iterator[list[str]]:
    for start in range(0, len(flids), _CHUNK):
        yield list(flids[start : start + _CHUNK])
