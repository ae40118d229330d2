"""The broker goes away and comes back."""

from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from deploy import local
from msgx import clock
from msgx.domain.delivery import Target
from msgx.domain.failure import Away
from services.dispatcher.relay import Relay
from tests.support.broker import broker, knocked
from tests.support.dispatcher import (
    add,
    attempts,
    consume,
    figures,
    make_topics,
    nothing_pending,
    relaying,
    running,
    settings,
    settle,
    states,
    versions,
)
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


@pytest.mark.covers("B12", "B63", "B06", "R04", "R29")
def test_a_broker_away_costs_no_try_makes_no_hot_loop_and_keeps_the_order(
    pg: "psycopg.Connection[Any]", pg_dsn: str, tmp_path: Path
) -> None:
    home = tmp_path / "stack"
    with local.running(home, servers=["kafka"], keep=True) as servers:
        given = settings(pg_dsn, servers.kafka, "", produce_timeout=1, batch=100)
        make_topics(given)
        add(pg, "1", 1)
        with relaying(given) as relay:
            settle(relay, lambda: set(states(pg).values()) == {"SENT"}, "the first event sent")
    rows = [(str(flid), version) for version in range(2, 12) for flid in range(1, 31)]
    for flid, version in rows:
        add(pg, flid, version)

    with relaying(given) as relay:
        rests = [refused_rest(relay) for _ in range(6)]
        assert rests == [timedelta(seconds=s) for s in (0.2, 0.4, 0.8, 1.6, 2, 2)]
        assert list(states(pg).values()).count("PENDING") == len(rows)
        assert pg.execute("SELECT DISTINCT attempts FROM msg_event").fetchall() == [(0,)]

        with local.running(home, servers=["kafka"], keep=True):
            settle(relay, lambda: set(states(pg).values()) == {"SENT"}, "all events sent")
            seen = consume(given)

    for number in range(1, 31):
        once = list(dict.fromkeys(versions(seen, str(number))))
        assert once == list(range(1 if number == 1 else 2, 12))


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
        with running(given, tmp_path / "log", MSGX_KAFKA__PRODUCE_TIMEOUT="PT1S"):
            until(lambda: len(seen) > KNOCKS, "it knocks")

    # No more than that, over all its connections; the first few come at once.
    assert seen[KNOCKS] - seen[0] > KNOCKS / 5
    assert set(states(pg).values()) == {"PENDING"}
    assert pg.execute("SELECT max(attempts) FROM msg_event").fetchone() == (0,)


@pytest.mark.system
@pytest.mark.covers("B12", "B63", "B65", "B66", "R04", "R29")
def test_a_broker_stopped_for_half_a_minute_under_a_full_batch_is_left_alone_and_then_served(
    pg: "psycopg.Connection[Any]", pg_dsn: str, tmp_path: Path
) -> None:
    rows = [(str(flid), version) for version in (1, 2, 3) for flid in range(1, 301)]
    home, log = tmp_path / "stack", tmp_path / "log"
    told = {"MSGX_TELEMETRY__METRICS_BIND": "127.0.0.1:0", "MSGX_DISPATCH__BATCH": "100"}
    with ExitStack() as stack:
        with broker(home) as bootstrap:
            given = settings(pg_dsn, bootstrap, "")
            make_topics(given)
            stack.enter_context(running(given, log, **told))
            first = add(pg, "1", 0)
            until(lambda: states(pg)[first] == "SENT", "the first event sent")
        for flid, version in rows:
            add(pg, flid, version)
        for flid in dict(rows):
            add(pg, flid, 3, target=Target.SCHD)

        with knocked(int(bootstrap.rpartition(":")[2])) as (_, seen):
            begun = clock.ticks()
            before = tries(log)
            until(lambda: clock.ticks() - begun >= AWAY_SECONDS, "half a minute", seconds=40)
            knocks, waves = len(seen), tries(log) - before
            assert figures(log)["msgx_service_ready"] == 0
        assert 0 < waves < 5 * AWAY_SECONDS
        assert 0 < knocks < 5 * AWAY_SECONDS
        assert list(states(pg).values()).count("PENDING") == len(rows) + 300
        assert attempts(pg) == 0

        with broker(home):
            until(nothing_pending(pg), "all events sent", seconds=60)
            seen_by_consumers = consume(given)

    for number in range(1, 301):
        once = list(dict.fromkeys(versions(seen_by_consumers, str(number))))
        assert once == ([0, 1, 2, 3] if number == 1 else [1, 2, 3])


def tries(log: Path) -> float:
    """Return how often the service tried a broker that is away, by its own count."""
    return sum(value for name, value in figures(log).items() if "dispatch_broker_away" in name)
