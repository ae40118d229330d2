"""Events that the broker refuses: found in their wave, counted, held."""

import random
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any, ClassVar

import psycopg
import pytest
from confluent_kafka import KafkaError, KafkaException, Producer

from services.dispatcher.settings import DispatcherSettings
from tests.support.dispatcher import (
    add,
    changed,
    consume,
    make_topics,
    nothing_pending,
    once,
    relaying,
    settle,
    states,
    step,
    versions,
)

pytestmark = [pytest.mark.pg, pytest.mark.kafka]
HOUR = timedelta(hours=1)
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
    monkeypatch: pytest.MonkeyPatch,
    given: DispatcherSettings,
    wrong: Callable[[int], bool],
    kind: type[Stamped] = Stamped,
) -> None:
    """Make the topics, and let the broker refuse the events that `wrong` picks at each try."""
    monkeypatch.setattr(Stamped, "wrong", staticmethod(wrong), raising=False)
    monkeypatch.setattr("services.dispatcher.kafka.Producer", kind)
    make_topics(given, message_timestamp_before_max_ms="3600000")


@pytest.mark.covers("B01", "B74", "R29")
def test_what_the_broker_refuses_is_found_in_its_wave_and_holds_its_flight_only(
    pg: "psycopg.Connection[Any]", topicless: DispatcherSettings
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
        step(relay)

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
    pg: "psycopg.Connection[Any]",
    topicless: DispatcherSettings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = changed(topicless, max_attempts=3, ladder=(HOUR,) * 2)
    bad, behind, other = add(pg, "7", 1), add(pg, "7", 2), add(pg, "8", 1)
    refusing(monkeypatch, given, lambda event: event == bad)

    def tried() -> tuple[Any, ...] | None:
        return pg.execute(
            "SELECT attempts, state, error_class FROM msg_event WHERE event_id = %s", (bad,)
        ).fetchone()

    for number, state in ((1, "PENDING"), (2, "PENDING"), (3, "DEAD")):
        with relaying(given) as relay:
            step(relay)
            step(relay)  # it is not due
        assert tried() == (number, state, "PROCESSING")
        pg.execute("UPDATE msg_event SET next_attempt_at = NULL WHERE state = 'PENDING'")

    assert states(pg) == {bad: "DEAD", behind: "PENDING", other: "SENT"}
    assert [one.event_id for one in consume(given)] == [other]


class Faulty(Stamped):
    """The same in front of a broker that fails at some calls of each stage of a wave."""

    stages: ClassVar[dict[str, list[int]]]  # which calls of a stage are still to fail
    calls: ClassVar[Counter[str]]

    def begin_transaction(self) -> None:
        """Fail before anything was asked."""
        self._fail("begin")
        super().begin_transaction()

    def produce(self, *given: Any, **named: Any) -> None:
        """Fail in the middle of a wave."""
        self._fail("produce")
        super().produce(*given, **named)

    def commit_transaction(self, *given: Any) -> None:
        """Lose the question, or the answer: then the wave is visible."""
        self._fail("commit")
        super().commit_transaction(*given)
        self._fail("committed")

    def _fail(self, stage: str) -> None:
        self.calls[stage] += 1
        if self.calls[stage] in self.stages[stage]:
            self.stages[stage].remove(self.calls[stage])
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT))


@pytest.mark.covers("B01", "B03", "B63", "B65", "R29", "INV-10")
def test_where_the_broker_fails_and_refuses_at_random_the_versions_still_strictly_increase(
    pg: "psycopg.Connection[Any]",
    topicless: DispatcherSettings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = changed(
        topicless, max_attempts=50, ladder=(timedelta(microseconds=1),) * 49, batch=20
    )
    draw = random.Random(11)
    last = dict.fromkeys(["7", *(str(flid) for flid in range(100, 140))], 0)
    added = []
    for flid in draw.sample(["7"] * 200 + list(last)[1:] * 5, 400):
        last[flid] += 1
        added.append(add(pg, flid, last[flid]))
    left = dict.fromkeys(draw.sample(added, 2), 6)  # the wave is halved until it stands alone
    bad = set(left)

    def wrong(event: int) -> bool:
        left[event] = left.get(event, 0) - 1
        return left[event] >= 0

    refusing(monkeypatch, given, wrong, Faulty)
    stages = {stage: draw.sample(range(1, 15), 2) for stage in ("begin", "commit", "committed")}
    stages["produce"] = draw.sample(range(1, 400), 2)
    monkeypatch.setattr(Faulty, "stages", stages, raising=False)
    monkeypatch.setattr(Faulty, "calls", Counter(), raising=False)

    with relaying(given) as relay:
        settle(relay, nothing_pending(pg), "all events sent")

    assert not any(stages.values()), "a stage did not fail"
    seen = consume(given)
    assert {flid: once(seen, flid) for flid in last} == {
        flid: list(range(1, count + 1)) for flid, count in last.items()
    }
    assert {one.event_id for one in seen} == set(added)
    assert len({(one.event_id, one.key, one.version, one.value) for one in seen}) == 400
    assert len(seen) > 400  # what was committed without an answer went once more
    counted = pg.execute("SELECT event_id FROM msg_event WHERE attempts > 0").fetchall()
    assert {event for (event,) in counted} == bad
