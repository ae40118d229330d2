"""One topic's loop: claim, send, mark (R29)."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Final

from msgx import clock
from msgx.domain.delivery import Target
from msgx.domain.event import Event
from msgx.domain.failure import Away, ErrorClass, Fault
from msgx.runtime.leadership import Leadership, Standby
from msgx.runtime.session import Session
from msgx.store import delivery, service_term
from msgx.store.connect import Connection
from msgx.store.service_term import Service
from msgx.telemetry import metrics
from msgx.telemetry.board import Board
from services.dispatcher.decide.record import Record, record
from services.dispatcher.decide.sweep import BREATH, PART, Sweep
from services.dispatcher.decide.wave import halves, parts, wait_after, without
from services.dispatcher.kafka import Refused, Sender
from services.dispatcher.settings import DispatcherSettings
from services.dispatcher.topics import Topics, wanted

log = logging.getLogger(__name__)

_WAVE_VALUES: Final = 16
"""A wave's payloads take at most so many times the largest one: it is all held in memory."""


class Relay:
    """Carries the events of one target to its topic, while this instance leads."""

    def __init__(
        self,
        settings: DispatcherSettings,
        leadership: Leadership,
        target: Target,
        *,
        limit: int,
        pace: timedelta,
        idle: Callable[[], timedelta],
        stopping: Callable[[], bool],
        board: Board,
    ) -> None:
        self._board = board
        self._settings = settings
        self._leadership = leadership
        self._target = target
        self._limit = limit
        self._wave_bytes = _WAVE_VALUES * settings.dispatch.max_message_bytes
        self._pace = pace
        self._idle = idle
        self._stopping = stopping
        # The wave in work: what follows of it is not sent; so many could not be marked.
        self._ends = False
        self._stale = 0
        self._session = Session(
            settings.database,
            f"dispatcher-{target.part}",
            transaction_timeout=settings.leadership.timeout,
            by_key=True,
        )
        self._sender = Sender(settings, target)
        self._term: int | None = None  # of which the producer is
        self._fenced: int | None = None  # a term that was seen to be over
        self._looked = False  # at the topic, since the broker came
        self._faults: list[str] = []  # what was wrong with it then
        self._failures = 0  # of the broker, in a row
        self._sweep = Sweep()

    def step(self) -> timedelta:
        """Deliver one wave and return how long to rest.

        Raises:
            Standby: another instance leads.
            Away: PostgreSQL or Kafka is away; nothing was counted against an event (B12).
        """
        try:
            return self._step()
        except Standby:
            self._sender.close()
            raise

    def _step(self) -> timedelta:
        term = self._leadership.require()
        if term == self._fenced:
            raise Standby(f"term {term} of the dispatcher is over")
        if term != self._term:
            self._sender.close()
            self._term = term
            self._looked = False
        with self._patience():
            self._sender.open()
            if not self._looked:
                self._look_at_the_topic()
                self._looked = True
        with self._session.use("claiming events") as conn:
            sweep = self._sweep.begun(clock.ticks())
            events = self._claim(conn, sweep.after)
            full = self._is_full(events)
            last = None if full else self._last_of_part(conn, sweep.after)
            if events:
                with self._patience():
                    self._deliver(conn, events)
        self._failures = 0
        self._sweep = sweep if full else sweep.moved(last, clock.ticks())
        if full:
            # Who holds the rows that could not be marked may do so for long: no hot loop.
            return self._pace if self._stale else timedelta()
        if last is not None:
            return timedelta() if events else BREATH
        # A transaction costs the broker about the same whatever its size: while events keep
        # coming, they gather for a moment.
        return self._pace if events else self._idle()

    def _is_full(self, events: Sequence[Event]) -> bool:
        size = sum(event.size for event in events)
        return len(events) == self._limit or size >= self._wave_bytes

    def _last_of_part(self, conn: Connection, after: int) -> int | None:
        return delivery.last_of_part(conn, self._target, after=after, part=PART)

    def _claim(self, conn: Connection, after: int) -> list[Event]:
        dispatch = self._settings.dispatch
        return delivery.claim(
            conn,
            self._target,
            limit=self._limit,
            max_bytes=dispatch.max_message_bytes,
            wave_bytes=self._wave_bytes,
            hold=dispatch.after_dead == "hold",
            after=after,
            part=PART,
        )

    def _deliver(self, conn: Connection, events: Sequence[Event]) -> None:
        """Bury what cannot be sent, send the rest, record what became of it."""
        wave: list[Record] = []
        hopeless: dict[bytes, tuple[Event, Fault]] = {}
        for event in events:
            if (key := event.partition_key.encode()) in hopeless:
                continue  # held, or for the next wave: the next claim says which
            try:
                wave.append(self._record(event))
            except Fault as permanent:
                hopeless[key] = (event, permanent)
        if hopeless:
            with self._fenced_transaction(conn):
                for event, fault in hopeless.values():
                    self._bury(conn, event, event.attempts, fault.error_class, fault.text)
            for _, fault in hopeless.values():
                self._board.add(
                    metrics.REFUSED, topic=self._target.part, error_class=fault.error_class
                )
        held: set[bytes] = set()
        self._ends, self._stale = False, 0
        for part in parts(wave):
            held |= self._send(conn, without(part, held))

    def _record(self, event: Event) -> Record:
        return record(
            event,
            self._target,
            environment=self._settings.environment,
            max_bytes=self._settings.dispatch.max_message_bytes,
        )

    def _send(self, conn: Connection, wave: Sequence[Record]) -> set[bytes]:
        """Send `wave`, in smaller parts where it is refused, and return the units that a
        refused event holds."""
        # Once for the whole wave: were it asked again after a pause that was short, a later
        # event of a flight might go before an earlier one.
        self._ends = self._ends or self._stopping()
        if not wave or self._ends:
            return set()
        try:
            self._sender.send(wave)
        except Refused as refused:
            if len(wave) == 1:
                self._refuse(conn, wave[0].event, refused)
                return {wave[0].key}
            held: set[bytes] = set()
            for half in halves(wave):
                self._sender.open()
                held |= self._send(conn, without(half, held))
            return held
        # A mark that a power cut takes costs a repetition under the same ce_id.
        with self._fenced_transaction(conn, relaxed=True):
            marked = delivery.mark_sent(conn, self._target, [one.event for one in wave])
        stale = len(wave) - marked  # replaced meanwhile (B11), or locked: go again
        self._stale += stale
        topic = self._target.part
        self._board.add(metrics.WAVES, topic=topic)
        self._board.add(metrics.DELIVERED, len(wave), topic=topic)
        self._board.add(metrics.STALE, stale, topic=topic)
        log.info(
            "delivered",
            extra={
                "topic": self._sender.topic,
                "events": len(wave),
                "stale": stale,
                "last_event_id": wave[-1].event.event_id,
            },
        )
        return set()

    def _refuse(self, conn: Connection, event: Event, refused: Refused) -> None:
        dispatch = self._settings.dispatch
        attempts = event.attempts + 1
        why = ErrorClass.TOO_LARGE if refused.too_large else ErrorClass.PROCESSING
        wait = wait_after(attempts, dispatch.ladder, dispatch.max_attempts)
        with self._fenced_transaction(conn):
            if refused.too_large or wait is None:
                self._bury(conn, event, attempts, why, str(refused))
            else:
                delivery.postpone(
                    conn,
                    self._target,
                    event,
                    attempts=attempts,
                    wait=wait,
                    error_class=why,
                    text=str(refused),
                )
        self._board.add(metrics.REFUSED, topic=self._target.part, error_class=why)
        log.warning(
            "event refused",
            extra=self._ids(event) | {"attempts": attempts, "why": str(refused)},
        )

    def _bury(
        self, conn: Connection, event: Event, attempts: int, error_class: ErrorClass, text: str
    ) -> None:
        if delivery.bury(
            conn,
            self._target,
            event,
            attempts=attempts,
            error_class=error_class,
            text=text,
        ):  # else it was replaced meanwhile (B11)
            log.error(
                "event dead", extra=self._ids(event) | {"class": error_class, "why": text}
            )

    def _ids(self, event: Event) -> dict[str, object]:
        return {
            "topic": self._sender.topic,
            "event_id": event.event_id,
            "flid": event.partition_key,
            "msg_id": event.msg_id,
        }

    @contextmanager
    def _fenced_transaction(self, conn: Connection, *, relaxed: bool = False) -> Iterator[None]:
        """A transaction that only the leading instance can commit (R13)."""
        term = self._term
        assert term is not None  # noqa: S101
        try:
            with conn.transaction():
                service_term.share(conn, Service.DISPATCHER, term, relaxed=relaxed)
                yield
        except service_term.Deposed:
            self._fenced = term
            raise

    @contextmanager
    def _patience(self) -> Iterator[None]:
        """Give a fault of the broker its backoff: it waits without an end (R04)."""
        try:
            yield
        except Away as away:
            self._failures += 1
            self._looked = False
            self._board.add(metrics.BROKER_AWAY, topic=self._target.part)
            away.rest = self._settings.pipeline.infra_wait(self._failures)
            raise

    def _look_at_the_topic(self) -> None:
        kafka, dispatch = self._settings.kafka, self._settings.dispatch
        found = Topics(kafka).faults(wanted(kafka, dispatch, self._target))
        for fault in found:
            if fault not in self._faults:  # said once, however often the broker goes
                log.error("topic is not as it must be", extra={"fault": fault})
        self._faults = found

    def close(self) -> None:
        """Drop the producer and the connection."""
        self._sender.close()
        self._session.close()
