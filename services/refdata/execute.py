"""A routed head, from the lock to its end or to its next try (R16).

Records and terminal state are one transaction, so a crash leaves nothing or everything; a
category that is refused stays as it was, and stops only itself (INV-26, INV-27).
"""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta

import psycopg

from msgx.domain.failure import ErrorClass, Fault
from msgx.domain.message import Message, Reference, Refused, Unsupported
from msgx.domain.processing import Route, Trigger
from msgx.domain.refdata import Action, Category
from msgx.domain.replay import Order
from msgx.mailbox.texts import Fetched
from msgx.runtime.failing import blame, count, unblock, verdict
from msgx.settings import Pipeline
from msgx.store import (
    dead_letter,
    proc_state,
    ref_master,
    routed,
    service_term,
    unmapped_field,
)
from msgx.store.connect import Connection, pipelined
from msgx.store.proc_state import Head, Outcome
from msgx.store.ref_master import Source
from msgx.store.service_term import Deposed, Service
from msgx.telemetry import metrics
from msgx.telemetry.board import Board
from services.refdata.answer import answered
from services.refdata.decide import (
    Change,
    Newer,
    Put,
    Remove,
    Replace,
    decide,
    lacking,
    overwritten,
    sparing,
    told,
)
from services.refdata.fetch import Fetcher

log = logging.getLogger(__name__)


class Executor:
    """Takes routed heads to their end on the session that leads. One thread, one at a time."""

    def __init__(
        self,
        fetcher: Fetcher,
        pipeline: Pipeline,
        *,
        tolerance: timedelta,
        board: Board,
        keep_raw: bool = True,
    ) -> None:
        self._tolerance = tolerance  # of the AODB's clock, in answers
        self._board = board
        self._fetcher = fetcher
        self._pipeline = pipeline
        self._keep_raw = keep_raw

    def take(
        self, conn: Connection, msg_id: int, term: int, beat: Callable[[], object]
    ) -> None:
        """Take the message on under PIPELINE_LOCK, if it still is a head that is ours.

        Raises:
            Deposed: another instance of refdata leads; nothing was written.
            Away, psycopg.OperationalError: the session is lost, and the lock with it.
        """
        fetched = Fetched(msg_id, None, Fault(ErrorClass.INFRA, "the head was not read"))
        try:
            conn.execute(service_term.LOCK_PIPELINE)
            if not _is_ours(proc_state.head(conn), msg_id):
                conn.execute(service_term.UNLOCK_PIPELINE)
                return
            kept = dead_letter.kept(conn, [msg_id])  # of a replay: a correction (R35)
        except psycopg.Error as error:
            self._failed(conn, fetched, error, term)
            return
        try:
            fetched = self._fetcher.fetch(msg_id, kept, beat)
        except Exception:
            if not conn.closed:  # else the lock has gone with the session
                conn.execute(service_term.UNLOCK_PIPELINE)
            raise
        try:
            if isinstance(fetched.content, Fault):
                raise fetched.content
            self._apply(conn, fetched, fetched.content, term)
        except Deposed:
            raise
        except Exception as error:  # noqa: BLE001 - a defect too belongs to the row
            self._failed(conn, fetched, error, term)

    def _apply(self, conn: Connection, fetched: Fetched, message: Message, term: int) -> None:
        with pipelined(conn):
            now = service_term.share(conn, Service.REFDATA, term)
            order = dead_letter.order_of(conn, fetched.msg_id)
            outcome = self._effect(conn, fetched.msg_id, message, order, now)
            self._end(conn, fetched, outcome, term)
            service_term.unlock_at_end(conn)
        count(self._board, outcome)
        log.info("finished", extra={"msg_id": fetched.msg_id, "by": outcome.trigger.value})

    def _effect(
        self,
        conn: Connection,
        msg_id: int,
        message: Message,
        order: Order | None,
        now: datetime,
    ) -> Outcome:
        """Write what the message says, and return how it ends (R58)."""
        match message.payload:
            case Reference() as reference:
                return self._reference(conn, msg_id, message, reference, order, now)
            case Refused(error_class=error_class, text=text):
                return _ending(message, Trigger.REJECT, text, error_class)
            case Unsupported(reason=reason):
                return _ending(message, Trigger.SKIP, reason)
            case _:
                text = "the text holds no reference data any more"
                return _ending(message, Trigger.REJECT, text, ErrorClass.PROTOCOL)

    def _reference(
        self,
        conn: Connection,
        msg_id: int,
        message: Message,
        reference: Reference,
        order: Order | None,
        now: datetime,
    ) -> Outcome:
        if reference.warning is not None:
            log.warning("RECS is wrong", extra={"msg_id": msg_id, "error": reference.warning})
        change = decide(reference)
        if order is not None:  # a replay overwrites nothing newer (R35)
            newer = _newer(conn, msg_id, reference, change)
            if (stale := overwritten(change, newer)) and not order.allow_stale:
                text = f"newer values stand: {told(stale)}"
                return _ending(message, Trigger.REJECT, text, ErrorClass.PROCESSING)
            change = sparing(change, newer)
        if reference.action is Action.RESP:
            unanswered = answered(
                conn, msg_id, message.meta, reference, now=now, tolerance=self._tolerance
            )
            if unanswered is not None:
                return _ending(message, Trigger.SKIP, unanswered)
        _write(conn, reference, change, Source(msg_id=msg_id, batch=message.meta.identity))
        return _ending(message, Trigger.SUCCEED)

    def _end(self, conn: Connection, fetched: Fetched, outcome: Outcome, term: int) -> None:
        """End the message, and write what is kept beside it, in the caller's transaction."""
        message = fetched.content
        routed.end(conn, fetched.msg_id, outcome, term=term)
        if isinstance(message, Message):
            unmapped_field.count(conn, fetched.msg_id, message.meta, message.unmapped)
        if outcome.error_class is not None:
            dead_letter.keep(conn, fetched.msg_id, fetched.raw if self._keep_raw else None)

    def _failed(self, conn: Connection, fetched: Fetched, error: Exception, term: int) -> None:
        """Record the failure on its row and unlock.

        Nobody asks whether the lock was held: to wait for it may be what failed.
        """
        if isinstance(error, psycopg.Error) and (conn.broken or conn.closed):
            raise error
        unblock(conn, error)
        failure = blame(error, fetched.msg_id)
        head = proc_state.head(conn)
        if head is None or not _is_ours(head, fetched.msg_id):
            conn.execute(service_term.UNLOCK_PIPELINE)
            return
        ends = verdict(
            fetched.content,
            head,
            failure,
            was_read=fetched.raw is not None,
            committed=False,
            pipeline=self._pipeline,
        )
        with pipelined(conn):
            service_term.share(conn, Service.REFDATA, term)
            if isinstance(ends, Outcome):
                self._end(conn, fetched, ends, term)
            else:
                proc_state.fail(
                    conn, fetched.msg_id, failure.error_class, failure.text, wait=ends
                )
        conn.execute(service_term.UNLOCK_PIPELINE)
        dead = isinstance(ends, Outcome)
        if isinstance(ends, Outcome):
            count(self._board, ends)
        else:
            self._board.add(metrics.FAILURES, error_class=failure.error_class)
        log.log(
            logging.ERROR if dead else logging.WARNING,
            "dead" if dead else "failed",
            extra={
                "msg_id": fetched.msg_id,
                "error_class": failure.error_class.value,
                "error": failure.text,
            },
        )


def _is_ours(head: Head | None, msg_id: int) -> bool:
    """Tell whether the message still is the lowest open one, and routed to us (INV-3)."""
    return head is not None and head.msg_id == msg_id and head.route is Route.REFDATA


def _newer(conn: Connection, msg_id: int, reference: Reference, change: Change) -> Newer:
    """Return the records that newer messages have said, or left out of a whole category."""
    said = ref_master.newer(conn, reference.category, msg_id)
    if reference.category is Category.RSTA:
        return said
    return lacking(change, said, routed.newest_whole(conn, reference.category, msg_id))


def _write(conn: Connection, reference: Reference, change: Change, source: Source) -> None:
    match change:
        case Replace(records=records, spared=spared):
            ref_master.replace(conn, reference.category, records, source, spared=spared)
        case Put(records=records):
            ref_master.put(conn, reference.category, records, source)
        case Remove(keys=keys):
            ref_master.remove(conn, reference.category, keys)


def _ending(
    message: Message,
    trigger: Trigger,
    reason: str | None = None,
    error_class: ErrorClass | None = None,
) -> Outcome:
    return Outcome(trigger=trigger, reason=reason, error_class=error_class, meta=message.meta)
