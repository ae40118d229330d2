"""The producer: one Kafka transaction a wave. With `topics`, the only user of
confluent_kafka."""

import logging
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from msgx import clock
from msgx.domain.delivery import Target
from msgx.domain.failure import Away
from services.dispatcher.decide.record import Record
from services.dispatcher.settings import DispatcherSettings
from services.dispatcher.topics import HEADROOM, UNKNOWN, topic_name

log = logging.getLogger(__name__)

_TOO_LARGE: Final = frozenset(
    {
        KafkaError.MSG_SIZE_TOO_LARGE,
        KafkaError.RECORD_LIST_TOO_LARGE,
        KafkaError.INVALID_MSG_SIZE,
    }
)
_REFUSALS: Final = _TOO_LARGE | {
    KafkaError.INVALID_RECORD,
    KafkaError.INVALID_TIMESTAMP,
    KafkaError.POLICY_VIOLATION,
    KafkaError._BAD_MSG,
    KafkaError._INVALID_ARG,
}
"""Errors that mean the record. Every other one means the broker, and only waits: better a wait
with an alarm than an event buried for somebody else's fault."""

_PURGED: Final = frozenset({KafkaError._PURGE_QUEUE, KafkaError._PURGE_INFLIGHT})
"""What befalls the records of a transaction that failed as a whole: not why it failed."""

_TURN_SECONDS: Final = 0.1


class Refused(Exception):
    """The broker refused records of the wave; none of the wave is visible."""

    def __init__(self, reason: str, *, too_large: bool) -> None:
        super().__init__(f"the broker refused the record: {reason}")
        self.too_large = too_large


class Sender:
    """The transactional producer of one topic. Not thread-safe.

    Each topic has a producer, so a transactional id, of its own: a producer has one transaction
    at a time, and a wave of `msg` that waits must not hold `schd` (R29). Both ids begin with
    `<prefix><environment>.dispatcher`.
    """

    def __init__(self, settings: DispatcherSettings, target: Target) -> None:
        kafka = settings.kafka
        self.topic = topic_name(kafka, target)
        self.transactional_id = f"{kafka.prefix}{settings.environment}.dispatcher.{target.part}"
        self._timeout = kafka.produce_timeout.total_seconds()
        timeout_ms = round(self._timeout * 1000)
        self._config: dict[str, Any] = {
            "bootstrap.servers": kafka.bootstrap,
            "client.id": self.transactional_id,
            "transactional.id": self.transactional_id,
            "transaction.timeout.ms": round(
                settings.transaction_timeout.total_seconds() * 1000
            ),
            "acks": "all",
            "enable.idempotence": True,
            "delivery.timeout.ms": timeout_ms,
            "socket.timeout.ms": timeout_ms,
            "socket.connection.setup.timeout.ms": max(1000, timeout_ms),
            "partitioner": "murmur2_random",  # as the Java client (B69)
            "compression.type": "lz4",
            "linger.ms": 1,
            "delivery.report.only.error": True,
            "message.max.bytes": settings.dispatch.max_message_bytes + HEADROOM,
            "allow.auto.create.topics": False,
            # How often each connection knocks at a broker that is away (B12).
            "reconnect.backoff.ms": 1500,
            "reconnect.backoff.max.ms": 1500,
            "retry.backoff.ms": 20,
            "error_cb": self._on_error,
            "log_level": 2,  # each failed connection is a line of the level above
        }
        self._producer: Producer | None = None
        self._ready = False
        self._told: set[str] = set()  # errors since the last time it was well

    def open(self) -> None:
        """Make the producer ready and fence every older one of its id.

        Raises:
            Away: the broker is not there yet, or still loads its state.
        """
        if self._producer is None:
            self._producer = Producer(self._config, logger=log)
            self._ready = False
        self._producer.poll(0)  # its log lines
        if self._ready:
            return
        answers = False
        try:
            # Asked first: one that is being initialised knocks without a rest (B12).
            self._producer.list_topics(self.topic, timeout=self._timeout)
            answers = True
            self._producer.init_transactions(self._timeout)
        except KafkaException as raised:
            error = _error(raised)
            if not (answers and error.retriable()):
                self.close()
            raise Away(f"Kafka does not give us a producer: {error.name()}") from raised
        self._ready = True
        self._told.clear()
        log.info("producer ready", extra={"transactional_id": self.transactional_id})

    def send(self, wave: Sequence[Record]) -> None:
        """Send `wave` in one transaction; on return all of it is committed.

        Raises:
            Refused: of its records at least one cannot be accepted; the wave was aborted.
            Away: the broker did not answer or does not serve; the wave must be sent again.
        """
        producer = self._producer
        if producer is None or not self._ready:
            raise Away("the producer is not ready")
        failures: list[KafkaError] = []
        try:
            producer.begin_transaction()
            if self._hand_over(producer, wave, failures):
                producer.commit_transaction(self._timeout)
                return
        except KafkaException as raised:
            failures.append(_error(raised))
        if failures and all(error.code() in _PURGED for error in failures):
            failures += _cause(producer)
        meaning = self._meaning(failures)
        if isinstance(meaning, Refused):
            self._abort(producer)
        # What failed in one transaction comes up again in the producer's next one, as sequence
        # numbers out of order. So it is dropped; the fence of the next ends what is open.
        self.close()
        try:
            raise meaning
        finally:
            # It and this frame would keep each other: a wave in memory, a producer that knocks.
            del meaning, producer

    def _abort(self, producer: Producer) -> None:
        """End the transaction now: the next producer is ready ten times sooner."""
        try:
            producer.abort_transaction(self._timeout / 2)
        except KafkaException as raised:
            log.info("abort left to the fence", extra={"code": _error(raised).name()})

    def _hand_over(
        self, producer: Producer, wave: Sequence[Record], failures: list[KafkaError]
    ) -> bool:
        """Give every record to the broker; return whether all were acknowledged in time."""
        deadline = clock.ticks() + self._timeout
        acknowledged = partial(_acknowledged, failures)
        for record in wave:
            while not failures:
                try:
                    producer.produce(
                        self.topic,
                        key=record.key,
                        value=record.value,
                        headers=list(record.headers),
                        on_delivery=acknowledged,
                    )
                    break
                except BufferError:
                    if clock.ticks() > deadline:
                        return False
                    producer.poll(_TURN_SECONDS)
                except KafkaException as raised:
                    failures.append(_error(raised))
        while not failures and producer.flush(_TURN_SECONDS):
            if clock.ticks() > deadline:
                return False
        return not failures

    def _meaning(self, failures: Sequence[KafkaError]) -> Refused | Away:
        """Return what the failures of an ended wave mean."""
        refusals = [error for error in failures if error.code() in _REFUSALS]
        if refusals:
            return Refused(
                refusals[0].name(),
                too_large=any(error.code() in _TOO_LARGE for error in refusals),
            )
        if self._topic_is_missing(failures):
            log.error("topic does not exist", extra={"topic": self.topic})  # B75
            return Away(f"topic {self.topic} does not exist: make it with `topics`")
        told = [error for error in failures if error.code() not in _PURGED] or failures
        names = sorted({error.name() for error in told}) or ["no answer in time"]
        return Away(f"Kafka did not take the wave: {', '.join(names)}")

    def _topic_is_missing(self, failures: Sequence[KafkaError]) -> bool:
        if any(error.code() in UNKNOWN for error in failures):
            return True
        if self._producer is None:
            return False
        try:
            found = self._producer.list_topics(self.topic, timeout=1).topics[self.topic]
        except KafkaException:
            return False
        return found.error is not None and found.error.code() in UNKNOWN

    def _on_error(self, error: KafkaError) -> None:
        """Say each kind of client error once (B12)."""
        if error.name() not in self._told:
            self._told.add(error.name())
            log.warning("kafka client", extra={"code": error.name(), "why": error.str()})

    def close(self) -> None:
        """Drop the producer: what it still holds is not sent.

        Its own `close` would first wait for the broker, without a bound.
        """
        if self._producer is not None:
            self._producer.purge()
            self._producer = None
        self._ready = False


def _acknowledged(failures: list[KafkaError], error: KafkaError | None, _: Message) -> None:
    if error is not None:
        failures.append(error)


def _cause(producer: Producer) -> list[KafkaError]:
    """Return why the transaction failed: another one cannot begin, and that says why."""
    try:
        producer.begin_transaction()
    except KafkaException as raised:
        error = _error(raised)
        return [] if error.code() == KafkaError._STATE else [error]
    return []


def _error(raised: KafkaException) -> KafkaError:
    error = raised.args[0]
    assert isinstance(error, KafkaError)  # noqa: S101
    return error
