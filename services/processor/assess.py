"""What the replay of a dead message would come to, as things stand (R35): the same reading and
the same decisions as in the attempt, in a transaction that writes nothing."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import islice
from typing import Final

from msgx.domain.failure import Fault
from msgx.domain.flight import EntryKind
from msgx.domain.message import (
    Adft,
    Fdel,
    Flop,
    HandOff,
    Message,
    Meta,
    Reference,
    Refused,
    Schedule,
    ScheduleKind,
    Unsupported,
)
from msgx.domain.processing import ProcState
from msgx.domain.replay import Forecast, NewerSource, Order, Verdict
from msgx.domain.requests import Match, Unanswered
from msgx.mailbox.texts import RAW_MISSING, Fetched, Texts
from msgx.store import dead_letter, dead_message, flight_journal, identity_ledger, service_term
from msgx.store.connect import Connection
from msgx.store.dead_message import Found
from services.processor.answer import answered
from services.processor.decide.stale import told
from services.processor.decide.world import Commit, Reject, Skip
from services.processor.effect import NO_CHANGE, Airport
from services.processor.examine import read_world
from services.processor.judge import Asked, judge
from services.processor.snapshot import Snapshots

_TEXTS_AT_ONCE: Final = 16


class Assessor:
    """Says what replays would come to. Not thread-safe: it has one connection to the
    mailbox."""

    def __init__(
        self, texts: Texts, snapshots: Snapshots, airport: Airport, tolerance: timedelta
    ) -> None:
        self._texts = texts
        self._snapshots = snapshots
        self._airport = airport
        self._tolerance = tolerance  # of the AODB's clock, in answers

    def forecasts(
        self, conn: Connection, ids: Sequence[int], order: Order
    ) -> Iterator[Forecast]:
        """Yield the forecast of each of `ids`, in their order.

        Raises:
            Away: mailbox or PostgreSQL does not answer.
        """
        found = {one.msg_id: one for one in dead_message.some(conn, ids)}
        left = iter(ids)
        while part := list(islice(left, _TEXTS_AT_ONCE)):
            early = {one: _unfit(one, found.get(one), order) for one in part}
            wanted = [msg_id for msg_id in part if early[msg_id] is None]
            read = self.texts(conn, wanted)
            with conn.transaction():
                conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                told = [early[one] or self._forecast(conn, read[one], order) for one in part]
            yield from told

    def texts(self, conn: Connection, ids: Sequence[int]) -> dict[int, Fetched]:
        """Read messages as an attempt would read them.

        Raises:
            Away: as `forecasts`.
        """
        if not ids:
            return {}
        read = self._texts.read(ids, dead_letter.kept(conn, ids))
        return {one.msg_id: one for one in read}

    def decode(self, text: str) -> Message | Fault:
        """Return what `text` says, or why it cannot be read."""
        return self._texts.decode(text)

    def close(self) -> None:
        """Close the connection to the mailbox."""
        self._texts.close()

    def _forecast(self, conn: Connection, fetched: Fetched, order: Order) -> Forecast:
        message, msg_id = fetched.content, fetched.msg_id
        if isinstance(message, Fault):
            if message.text == RAW_MISSING:
                return _verdict(msg_id, Verdict.RAW_MISSING, RAW_MISSING)
            return _verdict(msg_id, Verdict.DIES, f"{message.error_class}: {message.text}")
        return self._read(conn, msg_id, message, order)

    def _plan(
        self,
        conn: Connection,
        msg_id: int,
        meta: Meta,
        schedule: Schedule,
        done: Mapping[str, EntryKind],
        order: Order,
    ) -> Forecast:
        found: Match | Unanswered | None = None
        if schedule.kind is ScheduleKind.RESP:
            found = answered(
                conn,
                msg_id,
                meta,
                begun=bool(done),
                now=service_term.now(conn),
                tolerance=self._tolerance,
            )
        if isinstance(found, Unanswered):
            return _verdict(msg_id, Verdict.SKIPPED, found)
        plan = self._snapshots.foresee(
            conn, msg_id, schedule, done=done, order=order, answers=found
        )
        if isinstance(plan, Reject):
            return _refused(msg_id, plan)
        return _applied(msg_id, plan.flights, plan.sources, removals=plan.removals)

    def _read(self, conn: Connection, msg_id: int, message: Message, order: Order) -> Forecast:
        holder, digest = identity_ledger.holder(conn, message.meta.identity) or (msg_id, b"")
        if holder != msg_id and digest == message.body_digest:
            return _verdict(msg_id, Verdict.SKIPPED, f"duplicate-of:{holder}")
        if holder != msg_id and not order.force:
            text = f"IDENTITY_CONFLICT: conflicts-with:{holder}"
            return _verdict(msg_id, Verdict.DIES, text)
        done = flight_journal.entries(conn, msg_id)
        if done and not isinstance(message.payload, Schedule):
            text = "what it does is done: it is shown and delivered"
            return _verdict(msg_id, Verdict.NO_CHANGE, text)
        match message.payload:
            case HandOff() | Reference():
                return _verdict(msg_id, Verdict.NOT_JUDGED, "reference data")
            case Unsupported(reason=reason):
                return _verdict(msg_id, Verdict.SKIPPED, reason)
            case Refused(error_class=error_class, text=text):
                return _verdict(msg_id, Verdict.DIES, f"{error_class}: {text}")
            case Schedule() as schedule:
                return self._plan(conn, msg_id, message.meta, schedule, done, order)
            case Flop() | Fdel() | Adft() as change:
                asked = Asked(
                    msg_id=msg_id,
                    change=change,
                    world=read_world(conn, message.flids),
                    order=order,
                    zone=self._airport.zone,
                    day_cut=self._airport.day_cut,
                    now=service_term.now(conn),
                )
                return _changed(conn, asked)


def _unfit(msg_id: int, found: Found | None, order: Order) -> Forecast | None:
    """Return why a message is not replayed whatever it says, or None."""
    if found is None:
        return _verdict(msg_id, Verdict.NOT_DEAD, "there is no such message")
    if found.state is not ProcState.DEAD:
        return _verdict(msg_id, Verdict.NOT_DEAD, f"it is {found.state}")
    if found.error_class not in order.classes:
        return _verdict(msg_id, Verdict.NEEDS_FORCE, str(found.error_class))
    return None


def _changed(conn: Connection, asked: Asked) -> Forecast:
    judged = judge(conn, asked)
    match judged.decision:
        case Skip(reason=reason):
            return _verdict(asked.msg_id, Verdict.SKIPPED, reason)
        case Reject() as reject:
            return _refused(asked.msg_id, reject)
        case Commit(writes=writes):
            return _applied(asked.msg_id, len(writes), judged.newer)


def _refused(msg_id: int, reject: Reject) -> Forecast:
    if reject.newer:
        return Forecast(
            msg_id=msg_id,
            verdict=Verdict.NEWER_SOURCE,
            text=told(reject.newer),
            newer=reject.newer,
        )
    return _verdict(msg_id, Verdict.DIES, f"{reject.error_class}: {reject.text}")


def _applied(
    msg_id: int, flights: int, newer: tuple[NewerSource, ...], *, removals: int = 0
) -> Forecast:
    return Forecast(
        msg_id=msg_id,
        verdict=Verdict.APPLIES if flights else Verdict.NO_CHANGE,
        text=f"left alone: {told(newer)}" if newer else "" if flights else NO_CHANGE,
        newer=newer,
        flights=flights,
        removals=removals,
    )


def _verdict(msg_id: int, verdict: Verdict, text: str) -> Forecast:
    return Forecast(msg_id=msg_id, verdict=verdict, text=text)
