"""The broker goes away and comes back."""

from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from msgx import clock
from msgx.domain.delivery import Target
from msgx.domain.failure import Away
from services.dispatcher.relay import Relay
from tests.support.broker import broker, knocked
from tests.support.dispatcher import (
    add,
    attempts,
    consume,
    make_topics,
    nothing_pending,
    once,
    relaying,
    settings,
    states,
)
from tests.support.dispatcher_process import figures, running
from tests.support.patient import PATIENT
from tests.support.waiting import until

pytestmark = [pytest.mark.pg, pytest.mark.kafka, pytest.mark.slow]
AWAY_SECONDS = 30
KNOCKS = 15


def refused_rest(relay: Relay) -> timedelta:
    """Step against a broker that is away, and return the rest that the step asks for."""
    with pytest.raises(Away) as raised:
        relay.step()
    assert raised.value.rest is not None
    return raised.value.rest


@pytest.mark.covers("B12", "R04", "R29")
def test_a_broker_away_costs_no_try_and_is_asked_ever_more_seldom(
    pg: "psycopg.Connection[Any]", pg_dsn: str
) -> None:
    add(pg, "1", 1)

    with relaying(settings(pg_dsn, "127.0.0.1:1", "", produce_timeout=0.2)) as relay:
        rests = [refused_rest(relay) for _ in range(6)]

    assert rests == [timedelta(seconds=s) for s in (0.2, 0.4, 0.8, 1.6, 2, 2)]
    assert list(states(pg).values()) == ["PENDING"]
    assert attempts(pg) == 0


@pytest.mark.system
@pytest.mark.covers("B12", "R04", "R29")
def test_the_service_knocks_at_a_broker_that_is_away_less_than_five_times_a_second(
    pg: "psycopg.Connection[Any]", pg_dsn: str, tmp_path: Path
) -> None:
    for flid in range(1, 601):
        add(pg, str(flid), 1)
        add(pg, str(flid), 1, target=Target.SCHD)
    with knocked() as (bootstrap, seen):
        given = settings(pg_dsn, bootstrap, "", produce_timeout=1)
        with running(given, tmp_path / "log"):
            until(lambda: len(seen) > KNOCKS, "it knocks")

    # No more than that, over all its connections; the first few come at once.
    assert seen[KNOCKS] - seen[0] > KNOCKS / 5
    assert set(states(pg).values()) == {"PENDING"}
    assert pg.execute("SELECT max(attempts) FROM msg_event").fetchone() == (0,)


@pytest.mark.system
@pytest.mark.covers("B06", "B12", "B63", "B65", "B66", "R04", "R29")
def test_a_broker_stopped_under_a_full_batch_is_left_alone_and_then_served(
    pg: "psycopg.Connection[Any]", pg_dsn: str, tmp_path: Path
) -> None:
    rows = [(str(flid), version) for version in (1, 2, 3) for flid in range(1, 301)]
    home, log = tmp_path / "stack", tmp_path / "log"
    told = {"MSGX_TELEMETRY__METRICS_BIND": "127.0.0.1:0"}
    with ExitStack() as stack:
        with broker(home) as bootstrap:
            given = settings(pg_dsn, bootstrap, "", produce_timeout=2, batch=100)
            make_topics(given)
            stack.enter_context(running(given, log, **told))
            first = add(pg, "1", 0)
            until(lambda: states(pg)[first] == "SENT", "the first event sent")
        for flid, version in rows:
            add(pg, flid, version)
        for flid in dict(rows):
            add(pg, flid, 3, target=Target.SCHD)

        with knocked(int(bootstrap.rpartition(":")[2])) as (_, seen):
            begun, before = clock.ticks(), tries(log)
            until(lambda: clock.ticks() - begun >= AWAY_SECONDS, "it was away for long")
            knocks, waves = len(seen), tries(log) - before
            spent = clock.ticks() - begun
            assert figures(log)["msgx_service_ready"] == 0
        assert 0 < waves < 5 * spent
        assert 0 < knocks < 5 * spent
        assert list(states(pg).values()).count("PENDING") == len(rows) + 300
        assert attempts(pg) == 0

        with broker(home):
            until(nothing_pending(pg), "all events sent", seconds=PATIENT.total_seconds())
            seen_by_consumers = consume(given)

    for number in range(1, 301):
        assert once(seen_by_consumers, str(number)) == [0, 1, 2, 3][number > 1 :]


def tries(log: Path) -> float:
    """Return how often the service tried a broker that is away, by its own count."""
    return sum(value for name, value in figures(log).items() if "dispatch_broker_away" in name)
