"""The broker goes away and comes back."""

from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from deploy import local
from msgx.domain.failure import Away
from services.dispatcher.relay import Relay
from tests.support.dispatcher import (
    add,
    consume,
    make_topics,
    relaying,
    settings,
    settle,
    states,
    versions,
)

pytestmark = [pytest.mark.pg, pytest.mark.kafka, pytest.mark.slow]


def refused_rest(relay: Relay) -> timedelta:
    """Step against a broker that is away, and return the rest that the step asks for."""
    with pytest.raises(Away) as raised:
        relay.step()
    assert raised.value.rest is not None
    return raised.value.rest


def flows(relay: Relay) -> bool:
    return relay.flows


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
        assert not flows(relay)
        assert list(states(pg).values()).count("PENDING") == len(rows)
        assert pg.execute("SELECT DISTINCT attempts FROM msg_event").fetchall() == [(0,)]

        with local.running(home, servers=["kafka"], keep=True):
            settle(relay, lambda: set(states(pg).values()) == {"SENT"}, "all events sent")
            assert flows(relay)
            seen = consume(given)

    for number in range(1, 31):
        once = list(dict.fromkeys(versions(seen, str(number))))
        assert once == list(range(1 if number == 1 else 2, 12))


@pytest.mark.covers("B63", "B65", "R29")
def test_a_broker_restarted_under_a_living_producer_loses_and_swaps_nothing(
    pg: "psycopg.Connection[Any]", pg_dsn: str, tmp_path: Path
) -> None:
    home = tmp_path / "stack"
    with local.running(home, servers=["kafka"], keep=True) as servers:
        given = settings(pg_dsn, servers.kafka, "", produce_timeout=2)
        make_topics(given)
        add(pg, "7", 1)
        with ExitStack() as stack:
            relay = stack.enter_context(relaying(given))
            settle(relay, lambda: set(states(pg).values()) == {"SENT"}, "the first version")
            living = stack.pop_all()
    with living, local.running(home, servers=["kafka"], keep=True):
        add(pg, "7", 2)
        settle(relay, lambda: set(states(pg).values()) == {"SENT"}, "the second version")
        seen = consume(given)

    assert list(dict.fromkeys(versions(seen, "7"))) == [1, 2]
