"""A reference consumer: keeps the current state of every flight, from topic `schd`.

It needs confluent-kafka and nothing else; docs/kafka.md says what the records are. Each change
is a JSON line on standard output, and at the end (SIGTERM, SIGINT, or `--once` at the end of
the topic) one more line has the whole state.
"""

import argparse
import json
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from threading import Event
from typing import Any, Final

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Message

POLL_SECONDS: Final = 0.5
DELETED: Final = "msgx.flight.deleted.v1"
KNOWN: Final = ("msgx.flight.state.v1", DELETED)


@dataclass(frozen=True, slots=True)
class Known:
    """The newest that is known of a flight; a deleted one is remembered by its version."""

    version: int
    time: str  # UTC in one form, so its text has the order of time
    state: Any | None


class Flights:
    """The current state. The same record may come again, and an older one after a newer one."""

    def __init__(self) -> None:
        self._partitions: dict[int, dict[str, Known]] = {}
        self.records = 0
        self.ignored = 0  # duplicates, and records older than what is known

    def take(
        self, partition: int, flid: str, value: bytes | None, headers: Mapping[str, str]
    ) -> bool:
        """Apply one record; return whether it changed anything."""
        self.records += 1
        if headers.get("ce_type") not in KNOWN:
            return False  # a kind of record that this consumer does not know yet
        # A null value is a deletion, not an empty message. Its version stands in the headers.
        new = Known(
            int(headers["msgx-state-version"]),
            headers["ce_time"],
            None if value is None else json.loads(value),
        )
        flights = self._partitions.setdefault(partition, {})
        old = flights.get(flid)
        if old is not None and (new.version, new.time) <= (old.version, old.time):
            self.ignored += 1
            return False
        flights[flid] = new
        return True

    def forget(self, partition: int) -> None:
        """Drop a partition that now belongs to another member of the group."""
        self._partitions.pop(partition, None)

    def shown(self) -> dict[str, Any]:
        """Return the state of every flight that is there, by FLID."""
        known = (one for flights in self._partitions.values() for one in flights.items())
        return {flid: one.state for flid, one in sorted(known) if one.state is not None}


def follow(consumer: Consumer, topic: str, stop: Event, *, once: bool) -> Flights:
    """Read the topic until `stop`, or to its end, and return the state."""
    flights = Flights()
    ended: set[int] = set()
    assigned: set[int] = set()

    def on_assign(consumer: Consumer, partitions: list[Any]) -> None:
        # The state lives in memory only, so a new partition is read from its beginning, and no
        # offset is committed. One that keeps its state in a database commits both together.
        for one in partitions:
            one.offset = OFFSET_BEGINNING
        consumer.assign(partitions)
        assigned.update(one.partition for one in partitions)

    def on_revoke(_: Consumer, partitions: list[Any]) -> None:
        for one in partitions:
            flights.forget(one.partition)
            assigned.discard(one.partition)
            ended.discard(one.partition)

    consumer.subscribe([topic], on_assign=on_assign, on_revoke=on_revoke, on_lost=on_revoke)
    while not stop.is_set() and not (once and assigned and ended >= assigned):
        message = consumer.poll(POLL_SECONDS)
        if message is None:  # and not `if not message`: a record with a null value is false
            continue
        if (error := message.error()) is not None:
            if error.code() == KafkaError._PARTITION_EOF:
                ended.add(_partition(message))
            elif error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
                print(f"{topic} does not exist; waiting for it", file=sys.stderr)
            elif not error.retriable():
                raise KafkaException(error)
            continue
        if (key := message.key()) is None:
            continue  # nobody's flight, so none of ours
        headers = {name: _text(given) for name, given in _headers(message)}
        flid = _text(key)
        if flights.take(_partition(message), flid, message.value(), headers):
            told = {"FLID": flid, "version": int(headers["msgx-state-version"])}
            print(json.dumps(told | {"gone": message.value() is None}), flush=True)
    return flights


def _partition(message: Message) -> int:
    partition = message.partition()
    assert partition is not None  # noqa: S101  # of a record it is always there
    return partition


def _headers(message: Message) -> Iterator[tuple[str, Any]]:
    given: Any = message.headers() or []
    yield from given


def _text(given: bytes | str) -> str:
    return given.decode() if isinstance(given, bytes) else given


def _setting(given: str) -> tuple[str, str]:
    name, sign, value = given.partition("=")
    if not sign:
        raise argparse.ArgumentTypeError(f"{given!r} is not KEY=VALUE")
    return name, value


def _configuration(arguments: argparse.Namespace) -> dict[str, Any]:
    return {
        "bootstrap.servers": arguments.bootstrap,
        "group.id": arguments.group,
        "isolation.level": "read_committed",  # a wave that was aborted is never seen
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        **dict(arguments.config),
    }


def main() -> int:
    """Follow the topic and print what changes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--bootstrap", required=True, help="host:port of the broker")
    parser.add_argument("--topic", default="schd", help="topic of latest states (schd)")
    parser.add_argument("--group", default="reference-consumer", help="consumer group")
    parser.add_argument("--once", action="store_true", help="stop at the end of the topic")
    parser.add_argument(
        "--config",
        action="append",
        type=_setting,
        default=[],
        metavar="KEY=VALUE",
        help="a further setting of the Kafka client, such as security.protocol=SASL_SSL",
    )
    arguments = parser.parse_args()
    stop = Event()
    for signum in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signum, lambda *_: stop.set())
    try:
        with closing(Consumer(_configuration(arguments))) as consumer:
            flights = follow(consumer, arguments.topic, stop, once=arguments.once)
            # Now: closing the consumer gives its partitions up.
            end = {"records": flights.records, "ignored": flights.ignored}
            print(json.dumps(end | {"flights": flights.shown()}, ensure_ascii=False))
    except KafkaException as raised:
        print(f"Kafka refuses: {raised.args[0].str()}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
