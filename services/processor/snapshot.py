"""A day plan: verdict first, then family by family in bounded transactions (R12, R17, INV-19,
INV-31).

A crash after any batch leaves journal entries; the next run plans again, leaves out what has
its entry, and ends in the same state."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import chain

from msgx import clock
from msgx.domain.message import Record, Schedule
from msgx.settings import Schd
from msgx.store import flight, flight_journal, service_term
from msgx.store.connect import Connection, pipelined
from msgx.store.service_term import Service
from services.processor.commit import Source, commit, keep_occurrences
from services.processor.decide.schedule import (
    Known,
    batches,
    days_of,
    families,
    judge,
    plan,
)
from services.processor.decide.world import Reject
from services.processor.effect import Airport, Package
from services.processor.examine import read_world
from services.processor.trace import trace

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """What is left to write of a package."""

    records: Mapping[str, Record]
    absent: frozenset[str]
    known: Mapping[str, Known]


class Snapshots:
    """Writes day plans. Every call is made under PIPELINE_LOCK."""

    def __init__(self, airport: Airport, settings: Schd) -> None:
        self._airport = airport
        self._settings = settings

    def apply(self, conn: Connection, package: Package, *, term: int) -> Reject | None:
        """Write the whole package, or return why nothing of it may be written.

        Raises:
            Deposed: another processor leads; the batches written stay.
        """
        began = clock.ticks()
        schedule, done = package.schedule, package.situation.entries
        days = days_of(schedule, self._airport.zone, self._airport.day_cut)
        known = _known(conn, schedule, days)
        scope = judge(
            schedule,
            days,
            known,
            zone=self._airport.zone,
            day_cut=self._airport.day_cut,
            max_removal_ratio=self._settings.max_removal_ratio,
            begun=bool(done),
        )
        if isinstance(scope, Reject):
            return scope
        work = _Work(
            records={one.flid: one for one in schedule.records if one.flid not in done},
            absent=frozenset(scope.absent).difference(done),
            known=known,
        )
        whole, losing = families(work.records.values(), work.absent, known)
        size = self._settings.batch
        for batch in chain(batches(whole, size), batches(losing, size)):
            self._write(conn, package.source, batch, work, term)
        trace(
            conn,
            package.situation.head,
            schedule,
            days=days,
            entries=flight_journal.entries(conn, package.source.msg_id),
            seconds=clock.ticks() - began,
        )
        extra = {"msg_id": package.source.msg_id, "flights": len(schedule.records)}
        log.info("day plan written", extra=extra)
        return None

    def _write(
        self, conn: Connection, source: Source, batch: Sequence[str], work: _Work, term: int
    ) -> None:
        records = [work.records[flid] for flid in batch if flid in work.records]
        with pipelined(conn):
            now = service_term.share(conn, Service.PROCESSOR, term)
            world = read_world(conn, [*batch, *_mains(batch, work)])
            writes = plan(
                records,
                [flid for flid in batch if flid in work.absent],
                world,
                zone=self._airport.zone,
                day_cut=self._airport.day_cut,
                now=now,
            )
            commit(conn, source, writes, now=now)
            keep_occurrences(conn, source.msg_id, records)


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
