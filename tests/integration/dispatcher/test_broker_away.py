"""The broker goes away and comes back."""

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
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
from tests.support.dispatcher import (
    add,
    consume,
    make_topics,
    relaying,
    running,
    settings,
    settle,
    states,
    until,
    versions,
)

pytestmark = [pytest.mark.pg, pytest.mark.kafka, pytest.mark.slow]


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


@contextmanager
def knocked() -> Iterator[tuple[str, list[float]]]:
    """Yield an address where every connection is ended at once, and when each came."""
    listener = socket.create_server(("127.0.0.1", 0))
    seen: list[float] = []

    def answer() -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                seen.append(clock.ticks())
                client.close()

    threading.Thread(target=answer, daemon=True).start()
    try:
        yield f"127.0.0.1:{listener.getsockname()[1]}", seen
    finally:
        listener.close()


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
            until(lambda: len(seen) >= 26, "it knocks")

    # No more than that, over all its connections; the first few come at once.
    assert seen[25] - seen[0] > 25 / 5
    assert set(states(pg).values()) == {"PENDING"}
    assert pg.execute("SELECT max(attempts) FROM msg_event").fetchone() == (0,)
