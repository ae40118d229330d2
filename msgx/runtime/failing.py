"""A failure belongs to its row: dead at once, due again, or exhausted (US-03 AC5, R04, R05,
R42). Whoever executes the head asks: the processor, or refdata (R16)."""

import logging
from datetime import timedelta

import psycopg

from msgx.domain.backoff import rung
from msgx.domain.failure import REFUSED, ErrorClass, Fault
from msgx.domain.message import Message
from msgx.domain.processing import PROCESSING, Trigger
from msgx.settings import Pipeline
from msgx.store import service_term
from msgx.store.connect import Connection, fault
from msgx.store.proc_state import Head, Outcome
from msgx.telemetry import metrics
from msgx.telemetry.board import Board

log = logging.getLogger(__name__)


def blame(error: Exception, msg_id: int) -> Fault:
    """Return `error` as the failure of its row; a defect of ours is logged with its trace."""
    if isinstance(error, Fault):
        return error
    if isinstance(error, psycopg.Error):
        refusal = fault(error, "processing a message")
    else:
        # A defect belongs to the row too; the loop would only try it for ever.
        refusal = Fault(ErrorClass.PROCESSING, f"{type(error).__name__} while processing")
    if refusal.error_class is ErrorClass.PROCESSING:
        log.error("processing fault", extra={"msg_id": msg_id}, exc_info=error)
    return refusal


def unblock(conn: Connection, error: Exception) -> None:
    """After a time-out on a lock: end the session that holds PIPELINE_LOCK if it stands still,
    as a standby does with a silent leader; of another service too (R13)."""
    if not isinstance(error, psycopg.errors.LockNotAvailable) or conn.closed:
        return
    try:
        if service_term.end_silent_pipeline(conn):
            log.warning("ended a silent holder of PIPELINE_LOCK")
    except psycopg.errors.InsufficientPrivilege:
        log.warning("the owner of the schema may end no session that stands still")


def verdict(
    content: Message | Fault,
    head: Head,
    failure: Fault,
    *,
    was_read: bool,
    committed: bool,
    pipeline: Pipeline,
) -> Outcome | timedelta:
    """Return how the message ends, or how long it waits at the head.

    `committed`: it has a journal entry, so no later fault makes it DEAD (R42). `was_read`: we
    have its text; without it no server that is away makes it DEAD, whatever the limit is, since
    nobody could repair what nobody has seen (R04, R38).
    """
    if failure.error_class is ErrorClass.INFRA:
        tries, limit = head.infra_attempts + 1, pipeline.infra_max_attempts
        wait = pipeline.infra_wait(tries)
    else:
        tries, limit = head.attempts + 1, pipeline.max_attempts
        # One try has no ladder; what is committed is tried on all the same.
        wait = rung(pipeline.ladder or (pipeline.infra_backoff_limit,), tries)
    if committed or (failure.error_class is ErrorClass.INFRA and not was_read):
        return wait
    if failure.error_class in REFUSED:
        return _dead(content, Trigger.REJECT, failure.text, failure.error_class)
    if limit == 0 or tries < limit:
        return wait
    text = f"exhausted after {tries} tries: {failure.text}"
    return _dead(content, Trigger.EXHAUST, text, failure.error_class)


def _dead(
    content: Message | Fault, trigger: Trigger, text: str, error_class: ErrorClass
) -> Outcome:
    message = content if isinstance(content, Message) else None
    return Outcome(
        trigger=trigger,
        reason=text,
        error_class=error_class,
        meta=None if message is None else message.meta,
        flid=message.flids[0] if message is not None and message.flids else None,
    )


def count(board: Board, outcome: Outcome) -> None:
    """Count a message that has come to its end."""
    kind = "" if outcome.meta is None else outcome.meta.type
    board.add(metrics.FINISHED, state=PROCESSING.target(outcome.trigger), type=kind)
    if outcome.error_class is not None:
        board.add(metrics.FAILURES, error_class=outcome.error_class)
