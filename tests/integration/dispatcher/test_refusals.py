"""Events that the broker refuses: found in their wave, counted, held."""

import random
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from confluent_kafka import Producer

from services.dispatcher.settings import Settings
from tests.support.dispatcher import (
    add,
    attempts,
    changed,
    consume,
    make_topics,
    nothing_pending,
    relaying,
    settle,
    states,
    versions,
)

pytestmark = [pytest.mark.pg, pytest.mark.kafka]
LONG = "".join(random.Random(7).choices("abcdefghijklmnopqrstuvwxyz", k=60_000))


class Stamped(Producer):
    """The real producer with a wrong clock for some records: the broker refuses those, if the
    topic's `message.timestamp.before.max.ms` asks for a right one."""

    wrong: Callable[[int], bool]

    def produce(self, *given: Any, **named: Any) -> None:
        """Produce, with a time stamp of long ago for an event that is to be refused."""
        event_id = int(dict(named["headers"])["ce_id"])
        named["timestamp"] = 1 if type(self).wrong(event_id) else 0
        super().produce(*given, **named)


def refusing(
    monkeypatch: pytest.MonkeyPatch, given: Settings, wrong: Callable[[int], bool]
) -> None:
    """Make the topics, and let the broker refuse the events that `wrong` picks at each try."""
    monkeypatch.setattr(Stamped, "wrong", staticmethod(wrong), raising=False)
    monkeypatch.setattr("services.dispatcher.kafka.Producer", Stamped)
    make_topics(given, message_timestamp_before_max_ms="3600000")


@pytest.mark.covers("B01", "B74", "R29")
def test_what_the_broker_refuses_is_found_in_its_wave_and_holds_its_flight_only(
    pg: "psycopg.Connection[Any]", topicless: Settings
) -> None:
    given = topicless
    make_topics(given, max_message_bytes="20000")
    rows = [(str(flid), version) for version in (1, 2, 3) for flid in range(1, 5)]
    added = {row: add(pg, *row, payload='"x"') for row in rows}
    bad = {added["2", 2], added["4", 1]}
    pg.execute(
        "UPDATE msg_event SET payload = %s WHERE event_id = ANY(%s)", (f'"{LONG}"', list(bad))
    )

    with relaying(given) as relay:
        settle(relay, lambda: "DEAD" in states(pg).values(), "a refusal")
        relay.step()

    held = {added["2", 3], added["4", 2], added["4", 3]}
    told = states(pg)
    assert {event for event, state in told.items() if state == "DEAD"} == bad
    assert {event for event, state in told.items() if state == "PENDING"} == held
    seen = consume(given)
    assert sorted(one.event_id for one in seen) == sorted(set(added.values()) - bad - held)
    for flid in range(1, 5):
        assert versions(seen, str(flid)) == {2: [1], 4: []}.get(flid, [1, 2, 3])
    assert pg.execute(
        "SELECT DISTINCT error_class, attempts FROM msg_event WHERE state = 'DEAD'"
    ).fetchall() == [("TOO_LARGE", 1)]


@pytest.mark.covers("B01", "B06", "B24")
def test_refusals_are_counted_across_restarts_and_end_in_dead(
    pg: "psycopg.Connection[Any]", topicless: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = changed(topicless, max_attempts=3, ladder=(timedelta(microseconds=1),) * 2)
    bad, behind, other = add(pg, "7", 1), add(pg, "7", 2), add(pg, "8", 1)
    refusing(monkeypatch, given, lambda event: event == bad)

    def tried() -> tuple[Any, ...] | None:
        return pg.execute(
            "SELECT attempts, state, error_class FROM msg_event WHERE event_id = %s", (bad,)
        ).fetchone()

    with relaying(given) as relay:
        settle(relay, lambda: attempts(pg) == 1, "a refusal")
        assert tried() == (1, "PENDING", "PROCESSING")
    with relaying(given) as relay:
        settle(relay, lambda: states(pg)[bad] == "DEAD", "the limit")

    assert tried() == (3, "DEAD", "PROCESSING")
    assert states(pg) == {bad: "DEAD", behind: "PENDING", other: "SENT"}
    assert [one.event_id for one in consume(given)] == [other]


@pytest.mark.covers("B01", "B03", "B63", "R29")
def test_refused_at_random_the_versions_of_a_flight_still_strictly_increase(
    pg: "psycopg.Connection[Any]", topicless: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = changed(
        topicless, max_attempts=50, ladder=(timedelta(microseconds=1),) * 49, batch=10
    )
    draw = random.Random(11)
    last = dict.fromkeys(["7", *(str(flid) for flid in range(100, 140))], 0)
    added = []
    for flid in draw.sample(["7"] * 200 + list(last)[1:] * 5, 400):
        last[flid] += 1
        added.append(add(pg, flid, last[flid]))
    bad = draw.sample(added, 2)
    left = {event: draw.randint(4, 5) for event in bad}

    def wrong(event: int) -> bool:
        left[event] = left.get(event, 0) - 1
        return left[event] >= 0

    refusing(monkeypatch, given, wrong)

    with relaying(given) as relay:
        settle(relay, nothing_pending(pg), "all events sent")

    seen = consume(given)
    assert {flid: versions(seen, flid) for flid in last} == {
        flid: list(range(1, count + 1)) for flid, count in last.items()
    }
    assert attempts(pg) > 0
