"""The flights as four readers see them: PostgreSQL, Redis, the API and the compacted topic."""

import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, Final
from urllib.request import Request, urlopen
from zoneinfo import ZoneInfo

import psycopg
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaException, TopicPartition
from pydantic import SecretStr

from msgx import clock
from msgx.domain.flight import render
from msgx.projection.read import Reader
from msgx.settings import Airport, Kafka, Redis
from msgx.store import flight as flights

Flight = dict[str, Any]
View = Mapping[str, Flight]
PAGE: Final = 500
READ_LIMIT: Final = 30.0
SELECT_ALL: Final = "SELECT flid FROM flight_schd"


def postgres(dsn: str) -> View:
    """Return every flight, deleted ones and codeshares too, as the gateway renders it."""
    zone: ZoneInfo = Airport().zone
    view: dict[str, Flight] = {}
    with psycopg.connect(dsn, autocommit=True) as conn:
        flids = [str(flid) for (flid,) in conn.execute(SELECT_ALL).fetchall()]
        for page in _pages(flids):
            for found in flights.load(conn, page):
                if found.flight is not None:
                    view[found.flid] = render(found.flight, found.sharers, zone)
    return view


def shown(view: View) -> View:
    """Return the ACTIVE flights that are no codeshares: what Redis and topics hold (R41)."""
    return {
        flid: flight
        for flid, flight in view.items()
        if flight["STATE"] == "ACTIVE" and flight.get("MAID", flid) == flid
    }


def redis(url: str) -> View:
    """Return the complete projection."""
    with closing(Reader(Redis(url=SecretStr(url)), connections=1)) as reader:
        return {flight["FLID"]: flight for flight in map(json.loads, reader.read_all())}


def api(base: str) -> View:
    """Return what `/all/flights` answers."""
    request = Request(f"{base}/all/flights", headers={"Accept": "application/json"})  # noqa: S310
    with urlopen(request, timeout=READ_LIMIT) as answer:  # noqa: S310 - our own address
        return {flight["FLID"]: flight for flight in json.load(answer)["body"]}


def topic(bootstrap: str) -> View:
    """Return the last value of each key of `schd`, without those deleted by a tombstone."""
    name = Kafka(bootstrap=bootstrap).prefix + Kafka(bootstrap=bootstrap).topic_schd
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": f"demo-{secrets.token_hex(4)}",
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
        }
    )
    last: dict[str, bytes | None] = {}
    try:
        partitions = list(consumer.list_topics(name, timeout=10).topics[name].partitions)
        consumer.assign(
            [TopicPartition(name, number, OFFSET_BEGINNING) for number in partitions]
        )
        unread, deadline = len(partitions), clock.ticks() + READ_LIMIT
        while unread:
            message = consumer.poll(1.0)
            if clock.ticks() > deadline:
                raise TimeoutError(f"topic {name} could not be read in {READ_LIMIT:g} s")
            if message is None:  # never `not message`: a tombstone is falsy
                continue
            if (error := message.error()) is not None:
                if error.name() != "_PARTITION_EOF":
                    raise KafkaException(error)
                unread -= 1
                continue
            last[(message.key() or b"").decode()] = message.value()
    finally:
        consumer.close()
    return {flid: json.loads(value) for flid, value in last.items() if value is not None}


def differences(one: View, other: View) -> list[str]:
    """Return the FLIDs that the two views do not show alike, in order."""
    apart = {flid for flid in one.keys() | other.keys() if one.get(flid) != other.get(flid)}
    return sorted(apart, key=lambda flid: (len(flid), flid))


def _pages(flids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(flids), PAGE):
        yield flids[start : start + PAGE]
