"""The topics command, and where keys lie."""

import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # its stubs do not re-export
    AdminClient,
    NewTopic,
)

from msgx.domain.delivery import Target
from services.dispatcher.settings import DispatcherSettings
from services.dispatcher.topics import topic_name
from tests.support.dispatcher import (
    add,
    consume,
    ends,
    make_topics,
    relaying,
    settings,
    settle,
    states,
    step,
)
from tests.support.dispatcher_process import ROOT, environment
from tests.support.patient import PATIENT
from tests.support.waiting import PATIENCE_SECONDS, until

pytestmark = pytest.mark.kafka
# Hashes that the Java client's own tests state for its murmur2.
JAVA_MURMUR2: Final = {
    "21": -973932308,
    "foobar": -790332482,
    "a-little-bit-long-string": -985981536,
    "a-little-bit-longer-string": -1486304829,
    "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    "abc": 479470107,
}


def topics(given: DispatcherSettings, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Run the command as the launcher does: it needs no database."""
    told = environment(given) | variables
    del told["MSGX_DATABASE__DSN"]
    return subprocess.run(
        [sys.executable, "-m", "services.dispatcher", "topics"],
        env=told,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENT.total_seconds(),
        check=False,
    )


@pytest.fixture
def bare(tmp_path: Path, kafka_bootstrap: str, kafka_prefix: str) -> DispatcherSettings:
    """Settings whose topics do not exist; no database is reached."""
    return settings(f"host={tmp_path}", kafka_bootstrap, kafka_prefix)


def test_the_topics_are_made_once_and_then_found_good(bare: DispatcherSettings) -> None:
    first = topics(bare)
    for target in Target:
        ends(bare, target)
    again = topics(bare)

    assert (first.returncode, again.returncode) == (0, 0), first.stdout + again.stdout
    prefix = bare.kafka.prefix
    assert first.stdout.splitlines() == [
        f"created topic {prefix}msg: 6 partitions, cleanup.policy=delete",
        f"created topic {prefix}schd: 6 partitions, cleanup.policy=compact",
    ]
    assert again.stdout.splitlines() == [
        f"topic {prefix}msg exists and is as it must be",
        f"topic {prefix}schd exists and is as it must be",
    ]


def test_a_topic_of_another_kind_is_refused_with_what_is_wrong(
    bare: DispatcherSettings,
) -> None:
    name = topic_name(bare.kafka, Target.SCHD)
    new = NewTopic(name, 3, 1, config={"cleanup.policy": "delete", "max.message.bytes": "9000"})
    with AdminClient({"bootstrap.servers": bare.kafka.bootstrap}) as admin:
        admin.create_topics([new])[name].result(timeout=PATIENCE_SECONDS)
        until(lambda: name in admin.list_topics(timeout=PATIENCE_SECONDS).topics, "it is known")

    said = topics(bare)

    assert said.returncode == 1
    assert [line for line in said.stdout.splitlines() if name in line] == [
        f"topic {name} has 3 partitions, not 6: the keys of another number lie elsewhere",
        f"topic {name} has cleanup.policy=delete, not compact",
        f"topic {name} takes messages of 9000 bytes, 1065536 are needed",
    ]


@pytest.mark.pg
@pytest.mark.covers("R28", "B69")
def test_the_service_says_at_its_start_what_is_wrong_with_a_topic(
    pg: "psycopg.Connection[Any]",
    topicless: DispatcherSettings,
    caplog: pytest.LogCaptureFixture,
) -> None:
    make_topics(topicless, cleanup_policy="compact", max_message_bytes="1065536")
    kafka = topicless.kafka.model_copy(update={"partitions": 7})
    name = topic_name(kafka, Target.MSG)

    with relaying(topicless.model_copy(update={"kafka": kafka})) as relay:
        step(relay)
        step(relay)

    said = [vars(one)["fault"] for one in caplog.records if "topic is not" in one.message]
    assert said == [
        f"topic {name} has 6 partitions, not 7: the keys of another number lie elsewhere",
        f"topic {name} has cleanup.policy=compact, not delete",
    ]


def test_without_a_broker_the_command_says_so(bare: DispatcherSettings) -> None:
    said = topics(bare, MSGX_KAFKA__BOOTSTRAP="127.0.0.1:1", MSGX_KAFKA__PRODUCE_TIMEOUT="PT1S")

    assert said.returncode == 1
    assert "Kafka does not create topic" in said.stdout


@pytest.mark.pg
@pytest.mark.covers("B69", "R28")
def test_keys_lie_where_the_java_client_puts_them(
    pg: "psycopg.Connection[Any]", given: DispatcherSettings
) -> None:
    keys = [*JAVA_MURMUR2, "TT0124", "航班", *(str(flid) for flid in range(1000, 1060))]
    for key in keys:
        add(pg, key, 1)

    with relaying(given) as relay:
        settle(relay, lambda: set(states(pg).values()) == {"SENT"}, "all keys sent")

    assert {key: signed(murmur2(key.encode())) for key in JAVA_MURMUR2} == JAVA_MURMUR2
    assert {one.key: one.partition for one in consume(given)} == {
        key: (murmur2(key.encode()) & 0x7FFFFFFF) % given.kafka.partitions for key in keys
    }


def murmur2(data: bytes) -> int:
    """Return the 32-bit murmur2 of `data` under the Java client's seed."""
    mixer, mask = 0x5BD1E995, 0xFFFFFFFF
    digest = 0x9747B28C ^ len(data)
    whole = len(data) - len(data) % 4
    for start in range(0, whole, 4):
        word = int.from_bytes(data[start : start + 4], "little") * mixer & mask
        word = (word ^ word >> 24) * mixer & mask
        digest = digest * mixer & mask ^ word
    if tail := data[whole:]:
        digest = (digest ^ int.from_bytes(tail, "little")) * mixer & mask
    digest = (digest ^ digest >> 13) * mixer & mask
    return digest ^ digest >> 15


def signed(number: int) -> int:
    """Return a 32-bit number as Java shows it."""
    return number - (1 << 32) if number >> 31 else number
