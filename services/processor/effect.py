"""What an examined message leads to, by the order of verdicts (R58); single flights are written
here, and reference data is handed over."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta, tzinfo

from msgx.domain.failure import REFUSED, ErrorClass, Fault
from msgx.domain.message import (
    Adft,
    Fdel,
    Flop,
    HandOff,
    Message,
    Reference,
    Refused,
    Schedule,
    ScheduleKind,
    Unsupported,
)
from msgx.domain.processing import Route, Trigger
from msgx.domain.replay import conflict_key
from msgx.domain.requests import Match, Unanswered
from msgx.mailbox.texts import Fetched
from msgx.projection.write import Field
from msgx.store import identity_ledger, proc_state
from msgx.store.connect import Connection
from msgx.store.proc_state import Outcome
from services.processor.answer import answered
from services.processor.commit import Source, commit, keep_occurrences
from services.processor.decide.schedule import days_of
from services.processor.decide.stale import told
from services.processor.decide.world import Commit, Reject, Skip
from services.processor.examine import Situation, read_world
from services.processor.judge import Asked, judge
from services.processor.project import Projector
from services.processor.trace import trace

NO_CHANGE = "no-change"


@dataclass(frozen=True, slots=True, kw_only=True)
class Airport:
    """How times are read and days begin."""

    zone: tzinfo
    day_cut: timedelta


@dataclass(frozen=True, slots=True)
class Effect:
    """How the message ends, and what the projection owes before."""

    outcome: Outcome
    fields: Sequence[Field] = ()


@dataclass(frozen=True, slots=True)
class Package:
    """A day plan: written by `snapshot`, in transactions of its own."""

    source: Source
    schedule: Schedule
    situation: Situation
    answers: Match | None = None  # of RESP: its request, which says what it speaks for


@dataclass(frozen=True, slots=True)
class Routed:
    """Reference data: refdata executes it, and it stays the head until then (R16)."""


class Effects:
    """Decides and commits, in the transaction that examined the situation."""

    def __init__(self, projector: Projector, airport: Airport, tolerance: timedelta) -> None:
        self._projector = projector
        self._airport = airport
        self._tolerance = tolerance  # of the AODB's clock, in answers

    def of(
        self, conn: Connection, fetched: Fetched, situation: Situation
    ) -> Effect | Package | Routed:
        """Return the effect of `fetched`; what it writes is written when this returns.

        Raises:
            Fault: the message could not be read at all.
        """
        message = fetched.content
        if isinstance(message, Fault):
            if situation.entries and message.error_class in REFUSED:
                return self._unreadable(conn, message, situation)
            raise message
        if situation.returned:
            return self._known_identity(conn, message, situation)
        if situation.holder != fetched.msg_id:
            if situation.same_body or situation.order is None or not situation.order.force:
                return self._known_identity(conn, message, situation)
            key = conflict_key(message.meta.identity, fetched.msg_id)
            identity_ledger.bind_apart(conn, fetched.msg_id, key, message.body_digest)
        if situation.entries and not isinstance(message.payload, Schedule):
            return self._redo(conn, message, situation)
        match message.payload:
            case HandOff() | Reference():
                proc_state.route(conn, fetched.msg_id, message.meta, Route.REFDATA)
                return Routed()
            case Unsupported(reason=reason):
                return Effect(ending(message, Trigger.SKIP, reason))
            case Refused(error_class=error_class, text=text):
                return Effect(ending(message, Trigger.REJECT, text, error_class))
            case Schedule() as schedule:
                return self._plan(conn, fetched.msg_id, message, schedule, situation)
            case Flop() | Fdel() | Adft() as change:
                return self._change(conn, fetched.msg_id, message, change, situation)

    def _plan(
        self,
        conn: Connection,
        msg_id: int,
        message: Message,
        schedule: Schedule,
        situation: Situation,
    ) -> Effect | Package:
        source = self._source(msg_id, message, situation)
        if schedule.kind is ScheduleKind.DNLD:
            return Package(source, schedule, situation)
        found = answered(
            conn,
            msg_id,
            message.meta,
            begun=bool(situation.entries),
            now=situation.now,
            tolerance=self._tolerance,
        )
        if isinstance(found, Unanswered):
            return Effect(ending(message, Trigger.SKIP, found))
        return Package(source, schedule, situation, found)

    def _known_identity(
        self, conn: Connection, message: Message, situation: Situation
    ) -> Effect:
        """The identity belongs to another message: same content or a conflict (R01, INV-9). Or
        to an earlier record of this one, which is a duplicate, corrected meanwhile or not."""
        conflict = not situation.same_body and not situation.returned
        plan = message.payload
        if not conflict and isinstance(plan, Schedule) and plan.kind is ScheduleKind.DNLD:
            days = days_of(plan, self._airport.zone, self._airport.day_cut)
            trace(conn, situation.head, plan, days=days, entries={}, seconds=0.0)
        return Effect(
            Outcome(
                trigger=Trigger.REJECT if conflict else Trigger.SKIP,
                reason=f"{'conflicts-with' if conflict else 'duplicate-of'}:{situation.holder}",
                error_class=ErrorClass.IDENTITY_CONFLICT if conflict else None,
                meta=message.meta,
                flid=message.flids[0] if message.flids else None,
            )
        )

    def _redo(self, conn: Connection, message: Message, situation: Situation) -> Effect:
        """An earlier run has committed: only the projection is owed, whatever the parameters
        make of the message now (R12, R42, B113)."""
        world = read_world(conn, list(situation.entries))
        fields = self._projector.current(world.flights, world)
        match message.payload:
            case Refused(error_class=error_class, text=text) if _is_plan(message):
                # A part of a day plan stands, and the rest cannot be read any more.
                return Effect(ending(message, Trigger.REJECT, text, error_class), fields)
            case _:
                return Effect(ending(message, Trigger.SUCCEED), fields)

    def _unreadable(self, conn: Connection, fault: Fault, situation: Situation) -> Effect:
        """An earlier run has committed, and since then the text is gone: what stands is shown
        and released, although the message dies (R42)."""
        world = read_world(conn, list(situation.entries))
        outcome = Outcome(
            trigger=Trigger.REJECT, reason=fault.text, error_class=fault.error_class
        )
        return Effect(outcome, self._projector.current(world.flights, world))

    def _change(
        self,
        conn: Connection,
        msg_id: int,
        message: Message,
        change: Flop | Fdel | Adft,
        situation: Situation,
    ) -> Effect:
        asked = Asked(
            msg_id=msg_id,
            change=change,
            world=situation.world,
            order=situation.order,
            zone=self._airport.zone,
            day_cut=self._airport.day_cut,
            now=situation.now,
        )
        judged = judge(conn, asked)
        match judged.decision:
            case Skip(reason=reason):
                return Effect(ending(message, Trigger.SKIP, reason))
            case Reject(text=text, error_class=error_class):
                return Effect(ending(message, Trigger.REJECT, text, error_class))
            case Commit(writes=writes):
                source = self._source(msg_id, message, situation)
                fields = commit(conn, source, writes, now=situation.now)
                if isinstance(change, Adft):
                    keep_occurrences(conn, msg_id, change.records)
                note = None if writes else NO_CHANGE
                if judged.newer:
                    note = f"newer values left: {told(judged.newer)}"
                return Effect(ending(message, Trigger.SUCCEED, note), fields)

    def _source(self, msg_id: int, message: Message, situation: Situation) -> Source:
        return Source(
            msg_id=msg_id,
            message=message,
            traceparent=situation.head.traceparent,
            zone=self._airport.zone,
        )


def ending(
    message: Message,
    trigger: Trigger,
    reason: str | None = None,
    error_class: ErrorClass | None = None,
) -> Outcome:
    """Return the outcome of a message that holds its identity."""
    return Outcome(
        trigger=trigger,
        reason=reason,
        error_class=error_class,
        meta=message.meta,
        identity_key=message.meta.identity,
        flid=message.flids[0] if message.flids else None,
    )


def _is_plan(message: Message) -> bool:
    return message.meta.type == "SCHD" and message.meta.styp in {*ScheduleKind}
