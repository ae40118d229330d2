"""One message from the head to its terminal state, or to its next try (US-03).

examine, decide and commit are one transaction, then comes the projection, and finish is another
one: a crash or a Redis fault between them leaves the message open, and the next run finds its
journal entries and only projects (INV-17b, INV-20b, INV-23, B113)."""

import logging
from dataclasses import replace
from datetime import timedelta
from enum import Enum, auto

import psycopg

from msgx.domain.failure import Fault, Unfit
from msgx.domain.message import Message
from msgx.domain.processing import Trigger
from msgx.domain.requests import Match
from msgx.mailbox.texts import Fetched
from msgx.runtime.failing import blame, count, unblock, verdict
from msgx.settings import Pipeline
from msgx.store import (
    attempt,
    dead_letter,
    flight_journal,
    identity_ledger,
    proc_state,
    req_track,
    service_term,
    unmapped_field,
)
from msgx.store.connect import Connection, pipelined
from msgx.store.proc_state import Outcome
from msgx.store.service_term import Deposed, Service
from msgx.telemetry import metrics
from msgx.telemetry.board import Board
from services.processor.effect import NO_CHANGE, Effect, Effects, Package, Routed, ending
from services.processor.examine import Moved, examine
from services.processor.project import Projector
from services.processor.snapshot import Snapshots

log = logging.getLogger(__name__)


class Progress(Enum):
    """What the pump does next."""

    FINISHED = auto()  # terminal: on to the next message
    WAITS = auto()  # the head stays and rests (INV-3)
    ROUTED = auto()  # the head stays, and refdata executes it (R16)
    MOVED = auto()  # another message is the head: look again


class Processor:
    """Takes heads to their end on the session that leads. One thread, one message at a time."""

    def __init__(
        self,
        effects: Effects,
        snapshots: Snapshots,
        projector: Projector,
        pipeline: Pipeline,
        *,
        board: Board,
        keep_raw: bool = True,
    ) -> None:
        self._board = board
        self._keep_raw = keep_raw
        self._effects = effects
        self._snapshots = snapshots
        self._projector = projector
        self._pipeline = pipeline

    def process(self, conn: Connection, fetched: Fetched, term: int) -> Progress:
        """Take one message on, under PIPELINE_LOCK.

        Raises:
            Deposed: another processor leads; nothing was written.
            Unfit: Redis is another installation's.
            psycopg.OperationalError: the session is lost, and the lock with it.
        """
        try:
            return self._attempt(conn, fetched, term)
        except (Deposed, Unfit):
            raise
        except Moved:
            conn.execute(service_term.UNLOCK_PIPELINE)
            return Progress.MOVED
        except Exception as error:
            if isinstance(error, psycopg.Error) and (conn.broken or conn.closed):
                raise
            unblock(conn, error)
            return self._fail(conn, fetched, blame(error, fetched.msg_id), term)

    def _attempt(self, conn: Connection, fetched: Fetched, term: int) -> Progress:
        with pipelined(conn):
            effect = self._effects.of(conn, fetched, examine(conn, fetched, term))
        match effect:
            case Routed():
                conn.execute(service_term.UNLOCK_PIPELINE)
                log.info("routed", extra={"msg_id": fetched.msg_id})
                return Progress.ROUTED
            case Effect(outcome=outcome, fields=fields):
                self._projector.show(conn, fields, term=term)
            case Package(source=source):
                refusal = self._snapshots.apply(conn, effect, term=term)
                if refusal is None:
                    self._projector.rebuild(conn, term=term)
                    changed = flight_journal.entries(conn, fetched.msg_id)
                    note = None if changed else NO_CHANGE
                    outcome = ending(source.message, Trigger.SUCCEED, note)
                else:
                    outcome = ending(
                        source.message, Trigger.REJECT, refusal.text, refusal.error_class
                    )
        answers = effect.answers if isinstance(effect, Package) else None
        self._finish(conn, fetched, outcome, term, answers=answers, unlocks=True)
        return Progress.FINISHED

    def _finish(
        self,
        conn: Connection,
        fetched: Fetched,
        outcome: Outcome,
        term: int,
        *,
        answers: Match | None = None,
        unlocks: bool = False,
    ) -> None:
        """End the message: terminal state, owed mark and released events in one transaction,
        and the request that it answers is DONE. The lock `unlocks` with it."""
        message = fetched.content
        unmapped = message.unmapped if isinstance(message, Message) else ()
        if outcome.error_class is None and not unmapped and answers is None:
            # Nothing stands beside it: one statement is the transaction.
            attempt.end(conn, fetched.msg_id, outcome, term=term, unlocks=unlocks)
        else:
            with pipelined(conn):
                attempt.end(conn, fetched.msg_id, outcome, term=term)
                if isinstance(message, Message):
                    unmapped_field.count(conn, fetched.msg_id, message.meta, unmapped)
                if outcome.error_class is not None:
                    raw = fetched.raw if self._keep_raw else None
                    dead_letter.keep(conn, fetched.msg_id, raw)
                elif answers is not None and not req_track.close(conn, answers):
                    extra = {"msg_id": fetched.msg_id, "req_id": answers.request.req_id}
                    log.warning("answer to a closed request", extra=extra)
                if unlocks:
                    service_term.unlock_at_end(conn)
        count(self._board, outcome)
        log.info("finished", extra={"msg_id": fetched.msg_id, "by": outcome.trigger.value})

    def _fail(self, conn: Connection, fetched: Fetched, failure: Fault, term: int) -> Progress:
        """Record `failure` on its row and unlock.

        Nobody asks whether the lock was held: to wait for it may be what failed.
        """
        head = proc_state.head(conn)
        if head is None or head.msg_id != fetched.msg_id or head.route is not None:
            conn.execute(service_term.UNLOCK_PIPELINE)
            return Progress.MOVED
        ends = verdict(
            fetched.content,
            head,
            failure,
            was_read=fetched.raw is not None,
            committed=bool(flight_journal.entries(conn, fetched.msg_id)),
            pipeline=self._pipeline,
        )
        details = {
            "msg_id": fetched.msg_id,
            "error_class": failure.error_class.value,
            "error": failure.text,
        }
        if isinstance(ends, Outcome):
            ends = replace(ends, identity_key=_bound(conn, fetched))
            self._finish(conn, fetched, ends, term)
            conn.execute(service_term.UNLOCK_PIPELINE)
            log.error("dead", extra=details)
            return Progress.FINISHED
        self._wait(conn, fetched.msg_id, failure, ends, term)
        conn.execute(service_term.UNLOCK_PIPELINE)
        log.warning("failed", extra=details)
        return Progress.WAITS

    def _wait(
        self, conn: Connection, msg_id: int, failure: Fault, wait: timedelta, term: int
    ) -> None:
        with pipelined(conn):
            service_term.share(conn, Service.PROCESSOR, term)
            proc_state.fail(conn, msg_id, failure.error_class, failure.text, wait=wait)
        self._board.add(metrics.FAILURES, error_class=failure.error_class)


def _bound(conn: Connection, fetched: Fetched) -> str | None:
    """Return the identity that an attempt has bound before it failed, if one has: of a day plan
    it is committed before the first batch."""
    if not isinstance(fetched.content, Message):
        return None
    key = fetched.content.meta.identity
    holder = identity_ledger.holder(conn, key)
    return key if holder is not None and holder[0] == fetched.msg_id else None
