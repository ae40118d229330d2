"""What a broker refuses to the producer, not to a record: rights that are missing, an id that
has expired. One broker of these tests' own."""

import secrets
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # its stubs do not re-export
    AclOperation,
    ResourceType,
)

from msgx import clock
from msgx.domain.delivery import Target
from msgx.domain.failure import Away
from msgx.telemetry import metrics
from msgx.telemetry.board import Board
from services.dispatcher.relay import Relay
from services.dispatcher.settings import DispatcherSettings
from services.dispatcher.topics import topic_name
from tests.support.broker import broker, denied, hung
from tests.support.dispatcher import (
    add,
    attempts,
    consume,
    make_topics,
    nothing_pending,
    once,
    relaying,
    settings,
    settle,
    states,
)
from tests.support.waiting import until

pytestmark = [pytest.mark.pg, pytest.mark.kafka, pytest.mark.slow]
EXPIRED = "Kafka did not take the wave: INVALID_PRODUCER_ID_MAPPING"
OWN = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
    # Ids are forgotten within a second or two.
    "transactional.id.expiration.ms": "1000",
    "transaction.remove.expired.transaction.cleanup.interval.ms": "500",
    "producer.id.expiration.ms": "1000",
    "producer.id.expiration.check.interval.ms": "500",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kafka") / "stack"


@pytest.fixture(scope="module")
def bootstrap(home: Path) -> Iterator[str]:
    """A broker that knows rights, and forgets ids soon."""
    with broker(home, OWN) as address:
        yield address


@pytest.fixture
def given(pg_dsn: str, bootstrap: str) -> DispatcherSettings:
    """Settings with topics of this test's own on it."""
    own = settings(pg_dsn, bootstrap, f"{secrets.token_hex(4)}.")
    make_topics(own)
    return own


def step_until(relay: Relay, done: Callable[[list[str]], bool], what: str) -> list[str]:
    """Step until `done` says so of what the broker said, and return that."""
    told: list[str] = []

    def stepped() -> bool:
        try:
            relay.step()
        except Away as away:
            told.append(away.text)
        return done(told)

    until(stepped, what)
    return told


@pytest.mark.covers("B63", "R29", "R04")
@pytest.mark.parametrize(
    ("kind", "word"),
    [
        (ResourceType.TOPIC, "TOPIC_AUTHORIZATION_FAILED"),
        (ResourceType.TRANSACTIONAL_ID, "TRANSACTIONAL_ID_AUTHORIZATION_FAILED"),
    ],
)
@pytest.mark.parametrize("living", [True, False], ids=["living producer", "new producer"])
def test_without_the_right_to_write_events_wait_in_their_order_until_it_is_given(
    pg: "psycopg.Connection[Any]",
    given: DispatcherSettings,
    kind: ResourceType,
    word: str,
    living: bool,
) -> None:
    name = topic_name(given.kafka, Target.MSG)
    if kind is ResourceType.TRANSACTIONAL_ID:
        name = f"{given.kafka.prefix}{given.environment}.dispatcher.msg"
    board = Board("dispatcher")
    added = [add(pg, "7", 1)]
    with relaying(given, board=board) as relay:
        if living:
            settle(relay, nothing_pending(pg), "the first event sent")
        with denied(given.kafka.bootstrap, kind, name):
            added += [add(pg, "7", version) for version in (2, 3)] + [add(pg, "8", 1)]
            said = step_until(relay, lambda told: any(word in text for text in told), word)
            assert not any("PURGE" in text for text in said), (
                "what befell the records is no why"
            )
            waiting = [event for event, state in states(pg).items() if state == "PENDING"]
            assert waiting == (added[1:] if living else added)
            assert attempts(pg) == 0
            assert board.read(metrics.BROKER_AWAY)[("msg",)] > 0

        settle(relay, nothing_pending(pg), "all events sent")

    seen = consume(given)
    assert once(seen, "7") == [1, 2, 3]
    assert once(seen, "8") == [1]
    assert sum(board.read(metrics.REFUSED).values()) == 0


@pytest.mark.covers("R29", "R04")
def test_without_the_right_to_read_a_topics_settings_it_is_said_and_delivery_goes_on(
    pg: "psycopg.Connection[Any]", given: DispatcherSettings, caplog: pytest.LogCaptureFixture
) -> None:
    name = topic_name(given.kafka, Target.MSG)
    add(pg, "7", 1)
    with (
        denied(given.kafka.bootstrap, ResourceType.TOPIC, name, AclOperation.DESCRIBE_CONFIGS),
        relaying(given) as relay,
    ):
        settle(relay, nothing_pending(pg), "the event sent")

    (said,) = {vars(one)["fault"] for one in caplog.records if "topic is not" in one.message}
    assert (
        said == f"topic {name} may not be looked at: DESCRIBE and DESCRIBE_CONFIGS are needed"
    )
    assert once(consume(given), "7") == [1]


@pytest.mark.covers("B09", "B68", "R29", "R04")
def test_what_a_broker_that_hangs_did_not_acknowledge_in_time_goes_before_what_is_newer(
    pg: "psycopg.Connection[Any]", given: DispatcherSettings, home: Path
) -> None:
    short = given.kafka.model_copy(update={"produce_timeout": timedelta(seconds=2)})
    first = add(pg, "7", 1)
    with relaying(given.model_copy(update={"kafka": short})) as relay:
        settle(relay, nothing_pending(pg), "the first event sent")
        with hung(home):
            late = [add(pg, flid, version) for version in (2, 3) for flid in ("7", "8")]
            with pytest.raises(Away, match=r"no answer in time|_MSG_TIMED_OUT"):
                relay.step()
            assert states(pg) == {first: "SENT", **dict.fromkeys(late, "PENDING")}
            assert attempts(pg) == 0
            add(pg, "7", 4)
        settle(relay, nothing_pending(pg), "all events sent")

    assert once(consume(given), "7") == [1, 2, 3, 4]


@pytest.mark.covers("B63", "R29")
def test_an_id_that_expired_while_nothing_came_is_taken_anew_and_the_order_is_kept(
    pg: "psycopg.Connection[Any]", given: DispatcherSettings
) -> None:
    board = Board("dispatcher")
    version = 1
    add(pg, "7", version)
    told: list[str] = []
    with relaying(given, board=board) as relay:
        settle(relay, nothing_pending(pg), "the first event sent")

        while EXPIRED not in told:
            assert version < 8, "the id does not expire"
            clock.rest(version)  # idle, longer each time
            version += 1
            event = add(pg, "7", version)
            told += step_until(relay, lambda _: nothing_pending(pg)(), "the next event sent")
            assert states(pg)[event] == "SENT"

    assert board.read(metrics.BROKER_AWAY)[("msg",)] >= len(told)
    assert attempts(pg) == 0
    seen = consume(given)
    assert once(seen, "7") == list(range(1, version + 1))
    assert sum(board.read(metrics.REFUSED).values()) == 0
