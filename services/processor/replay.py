"""Replay: dead messages put back in small transactions, each with its record (R35, R43, R44).

A crash between two of them leaves every message dead or open, nothing between; the same ids or
the same range may be given again."""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from msgx.domain.processing import ProcState
from msgx.domain.replay import REFUSED, Forecast, Order, Verdict
from msgx.runtime.desk import Desk
from msgx.store import admin_audit, dead_letter, dead_message, service_term
from msgx.store.admin_audit import Act
from msgx.store.connect import Connection
from msgx.store.dead_message import Choice, Frozen, Range
from msgx.store.service_term import Service
from services.processor.assess import Assessor

BATCH: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What is asked for: single messages, or what a preview found."""

    ids: Sequence[int] = ()
    frozen: Range | None = None
    total: int
    order: Order


@dataclass(slots=True, kw_only=True)
class Progress:
    """How far a job is."""

    total: int
    replayed: int = 0
    refused: int = 0
    reached: int = 0
    left: list[Forecast] = field(default_factory=list)  # of the last transaction
    done: bool = False


class Replayer:
    """Works jobs off, batch by batch."""

    def __init__(self, desk: Desk, assessor: Assessor) -> None:
        self._desk = desk
        self._assessor = assessor

    def preview(self, choice: Choice, order: Order) -> Frozen:
        """Count what a replay would put back, and freeze it.

        Raises:
            Away: PostgreSQL is away, or a message is long at work.
        """
        with self._desk.connection() as conn, conn.transaction():
            conn.execute(service_term.LOCK_PIPELINE_BRIEFLY)
            return dead_message.freeze(conn, choice, order.classes)

    def run(
        self, job: Job, act: Act, *, per_second: int, cancelled: threading.Event
    ) -> Iterator[Progress]:
        """Put back what is meant, at most so many a second (0: no limit), and yield the
        progress after each transaction.

        Raises:
            Standby: another instance leads; what was put back stays.
            Away: a server does not answer; likewise.
        """
        progress = Progress(total=job.total)
        size = min(BATCH, per_second or BATCH)
        while not progress.done and not cancelled.is_set():
            ids = self._next(job, progress.reached, size)
            # Also a call that finds nothing leaves its record.
            first = not progress.reached
            progress.left = self._batch(job, act, ids, progress) if ids or first else []
            progress.done = len(ids) < size
            yield progress
            if per_second and not progress.done:
                cancelled.wait(len(ids) / per_second)

    def _next(self, job: Job, after: int, size: int) -> list[int]:
        if job.frozen is None:
            return [msg_id for msg_id in job.ids if msg_id > after][:size]
        with self._desk.connection() as conn:
            return dead_message.within(conn, job.frozen, after=after, limit=size)

    def _batch(
        self, job: Job, act: Act, ids: Sequence[int], progress: Progress
    ) -> list[Forecast]:
        """Put back those of `ids` that nothing speaks against; return the others, with why."""
        with self._desk.connection() as conn:
            forecasts = list(self._assessor.forecasts(conn, ids, job.order))
        left = [one for one in forecasts if one.verdict in REFUSED]
        wanted = [one.msg_id for one in forecasts if one.verdict not in REFUSED]
        died_by = None if job.frozen is None else job.frozen.frozen_at
        with self._desk.fenced() as conn:
            back = dead_message.put_back(conn, wanted, died_by=died_by)
            dead_letter.order(conn, back, job.order)
            admin_audit.record(
                conn,
                Service.PROCESSOR,
                act,
                "replay",
                asked=_asked(job, ids),
                affected=len(back),
            )
            left += _held(conn, sorted(set(wanted).difference(back)))
        progress.replayed += len(back)
        progress.refused += len(left)
        progress.reached = ids[-1] if ids else progress.reached
        return sorted(left, key=lambda one: one.msg_id)


def _held(conn: Connection, ids: Sequence[int]) -> list[Forecast]:
    """Tell of rows that could not be taken whether they are locked or moved on (R43)."""
    states = dead_message.states(conn, ids)
    return [
        Forecast(msg_id=msg_id, verdict=Verdict.BUSY, text="its record is locked: try again")
        if states.get(msg_id) is ProcState.DEAD
        else Forecast(msg_id=msg_id, verdict=Verdict.NOT_DEAD, text="it changed meanwhile")
        for msg_id in ids
    ]


def _asked(job: Job, ids: Sequence[int]) -> dict[str, object]:
    asked: dict[str, object] = {"ids": list(ids), "force": job.order.force}
    asked["allow_stale"] = job.order.allow_stale
    if job.order.approve_removals is not None:
        asked["approve_removals"] = job.order.approve_removals
    if job.frozen is not None:
        asked["frozen_at"] = job.frozen.frozen_at.isoformat()
    return asked
