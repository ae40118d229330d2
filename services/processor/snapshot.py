"""A day plan: verdict first, then family by family in bounded transactions (R12, R17, INV-19,
INV-31).

A crash after any batch leaves journal entries; the next run plans again, leaves out what has
its entry, and ends in the same state."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from itertools import chain

from msgx import clock
from msgx.domain.flight import EntryKind
from msgx.domain.message import Record, Schedule, ScheduleKind
from msgx.domain.replay import NewerSource, Order
from msgx.domain.requests import Match
from msgx.settings import Schd
from msgx.store import flight, flight_journal, req_track, service_term
from msgx.store.connect import Connection, pipelined
from msgx.store.service_term import Service
from services.processor.commit import Source, commit, keep_occurrences
from services.processor.decide.schedule import (
    Asked,
    Known,
    asked,
    batches,
    days_of,
    families,
    judge,
    plan,
)
from services.processor.decide.stale import Newer, overwritten, refusal, sparing
from services.processor.decide.world import Reject, Write
from services.processor.effect import Airport, Package
from services.processor.examine import Moved, read_world
from services.processor.trace import trace

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """What is left to write of a package."""

    days: Sequence[date]
    records: Mapping[str, Record]
    absent: frozenset[str]
    known: Mapping[str, Known]
    newer: Newer  # of a replay: what is left alone
    sources: tuple[NewerSource, ...] = ()  # of what it would have changed


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreseen:
    """What writing a package would come to."""

    flights: int
    removals: int
    sources: tuple[NewerSource, ...]


class Snapshots:
    """Writes day plans. Every call that writes is made under PIPELINE_LOCK."""

    def __init__(self, airport: Airport, settings: Schd) -> None:
        self._airport = airport
        self._settings = settings

    def apply(self, conn: Connection, package: Package, *, term: int) -> Reject | None:
        """Write the whole package, or return why nothing of it may be written.

        Raises:
            Deposed: another processor leads; the batches written stay.
        """
        began = clock.ticks()
        schedule, situation = package.schedule, package.situation
        answers = package.answers
        work = self._work(
            conn,
            package.source.msg_id,
            schedule,
            situation.entries,
            situation.order,
            answers=answers,
        )
        if isinstance(work, Reject):
            return work
        unwritten = None if situation.entries else answers
        for batch in self._batches(work):
            self._write(conn, package.source, batch, work, term, match=unwritten)
            unwritten = None
        trace(
            conn,
            situation.head,
            schedule,
            days=work.days,
            entries=flight_journal.entries(conn, package.source.msg_id),
            seconds=clock.ticks() - began,
        )
        extra = {"msg_id": package.source.msg_id, "flights": len(schedule.records)}
        log.info("day plan written", extra=extra)
        return None

    def foresee(
        self,
        conn: Connection,
        msg_id: int,
        schedule: Schedule,
        *,
        done: Mapping[str, EntryKind],
        order: Order,
        answers: Match | None = None,
    ) -> Foreseen | Reject:
        """Return what a replay of the package would come to now; nothing is written."""
        work = self._work(conn, msg_id, schedule, done, order, answers=answers)
        if isinstance(work, Reject):
            return work
        now = service_term.now(conn)
        kinds = [
            write.kind
            for batch in self._batches(work)
            for write in self._plan(conn, batch, work, now=now)
        ]
        return Foreseen(
            flights=len(kinds),
            removals=kinds.count(EntryKind.DELETED),
            sources=work.sources,
        )

    def _work(
        self,
        conn: Connection,
        msg_id: int,
        schedule: Schedule,
        done: Mapping[str, EntryKind],
        order: Order | None,
        *,
        answers: Match | None,
    ) -> _Work | Reject:
        """Judge the package: whole, before its first write. Once a part is written no guard is
        taken again (R12): a replay then leaves alone what is newer."""
        days = days_of(schedule, self._airport.zone, self._airport.day_cut)
        wanted = self._asked(answers)
        if schedule.kind is ScheduleKind.RESP:
            days = () if wanted is None else wanted.whole  # what nobody asked for stays
        known = _known(conn, schedule, days)
        newer: Newer = {}
        if order is not None:
            newer = flight_journal.newer(conn, msg_id, list(known))
        spares = order is not None and (order.allow_stale or bool(done))
        scope = judge(
            schedule,
            days,
            known,
            zone=self._airport.zone,
            day_cut=self._airport.day_cut,
            max_removal_ratio=self._settings.max_removal_ratio,
            approved=None if order is None else order.approve_removals,
            spared=newer if spares else (),
            begun=bool(done),
            asked=wanted,
        )
        if isinstance(scope, Reject):
            return scope
        work = _Work(
            days=days if wanted is None else (wanted.first, wanted.last),
            records={one.flid: one for one in schedule.records if one.flid not in done},
            absent=frozenset(scope.absent).difference(done),
            known=known,
            newer={},
        )
        sources = self._sources(conn, work, newer)
        if sources and not spares:
            return refusal(sources)
        return replace(work, newer=newer, sources=sources)

    def _asked(self, answers: Match | None) -> Asked | None:
        if answers is None:
            return None
        begin, end = answers.request.begin, answers.request.end
        assert begin is not None, "a day plan has its span"  # noqa: S101
        assert end is not None, "a day plan has its span"  # noqa: S101
        return asked(begin, end, self._airport.zone, self._airport.day_cut)

    def _sources(self, conn: Connection, work: _Work, newer: Newer) -> tuple[NewerSource, ...]:
        """Return what newer messages have set of what the package would change."""
        concerned = [flid for flid in (*work.records, *work.absent) if flid in newer]
        if not concerned:
            return ()
        now = service_term.now(conn)
        return overwritten(self._plan(conn, concerned, work, now=now), newer)

    def _batches(self, work: _Work) -> Iterator[tuple[str, ...]]:
        whole, losing = families(work.records.values(), work.absent, work.known)
        size = self._settings.batch
        return chain(batches(whole, size), batches(losing, size))

    def _write(
        self,
        conn: Connection,
        source: Source,
        batch: Sequence[str],
        work: _Work,
        term: int,
        *,
        match: Match | None,
    ) -> None:
        with pipelined(conn):
            now = service_term.share(conn, Service.PROCESSOR, term)
            if match is not None and not req_track.match(conn, match):
                raise Moved("the request was closed before its answer was begun")
            commit(conn, source, self._plan(conn, batch, work, now=now), now=now)
            records = [work.records[flid] for flid in batch if flid in work.records]
            keep_occurrences(conn, source.msg_id, records)

    def _plan(
        self, conn: Connection, batch: Sequence[str], work: _Work, *, now: datetime
    ) -> tuple[Write, ...]:
        world = read_world(conn, [*batch, *_mains(batch, work)])
        return plan(
            [work.records[flid] for flid in batch if flid in work.records],
            [flid for flid in batch if flid in work.absent],
            sparing(world, work.newer),
            zone=self._airport.zone,
            day_cut=self._airport.day_cut,
            now=now,
        )


def _known(conn: Connection, schedule: Schedule, days: Sequence[date]) -> dict[str, Known]:
    rows = flight.known(conn, [record.flid for record in schedule.records], days)
    return {
        flid: Known(state=state, operation_day=day, main_flid=maid if maid != flid else None)
        for flid, state, day, maid in rows
    }


def _mains(batch: Sequence[str], work: _Work) -> list[str]:
    """Return the main flights that the batch has or is told, beyond its own members."""
    stored = (work.known[flid].main_flid for flid in batch if flid in work.known)
    told = (work.records[flid].told.get("MAID") for flid in batch if flid in work.records)
    mains = {main for main in chain(stored, told) if isinstance(main, str)}
    return sorted(mains.difference(batch))
