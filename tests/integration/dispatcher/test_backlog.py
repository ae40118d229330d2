"""Many events behind one hold: nobody else waits for them, and they keep their order."""

from typing import Any

import psycopg
import pytest

from services.dispatcher.decide.sweep import PART
from services.dispatcher.settings import DispatcherSettings
from tests.support.dispatcher import (
    add,
    changed,
    consume,
    nothing_pending,
    relaying,
    settle,
    states,
    step,
    versions,
)
from tests.support.operator import ALL, operating

pytestmark = [pytest.mark.pg, pytest.mark.kafka]


@pytest.mark.slow
@pytest.mark.covers("R29", "B03", "B06", "B23")
def test_more_than_a_claim_looks_at_may_wait_behind_a_dead_event(
    pg: "psycopg.Connection[Any]", given: DispatcherSettings
) -> None:
    given = changed(given, batch=2000)
    dead = add(pg, "7", 1, state="DEAD")
    pg.execute(
        "INSERT INTO msg_event (target, partition_key, event_type, payload, state_version,"
        " created_at, released_at)"
        " SELECT 'KAFKA:msg', '7', 'UPSERT', '{}', n, msgx_now(), msgx_now()"
        "   FROM generate_series(2, %s) n ORDER BY n",
        (2 * PART + 10,),
    )
    with (
        operating(given) as (operator, leadership),
        relaying(given, leadership=leadership) as relay,
    ):
        others = []
        for version in (1, 2, 3):
            others.append(add(pg, "8", version))
            settle(relay, lambda: states(pg)[others[-1]] == "SENT", "the other flight's event")
        assert [one.events_behind for one in operator.held()] == [2 * PART + 9]

        assert operator.requeue(filter=ALL, limit=1) == 1
        settle(relay, nothing_pending(pg), "all events sent")

    seen = consume(given)
    assert versions(seen, "8") == [1, 2, 3]
    assert versions(seen, "7") == list(range(1, 2 * PART + 11))
    assert states(pg)[dead] == "SENT"


@pytest.mark.covers("B74", "B01", "R29")
def test_an_event_of_two_megabytes_dies_before_it_is_sent_and_only_its_flight_waits(
    pg: "psycopg.Connection[Any]", given: DispatcherSettings
) -> None:
    rows = [(str(flid), version) for version in (1, 2, 3) for flid in range(1, 21)]
    added = {row: add(pg, *row) for row in rows}
    large = added["7", 2]
    pg.execute(
        "UPDATE msg_event SET payload = %s WHERE event_id = %s",
        ('"' + "x" * 2**21 + '"', large),
    )

    with relaying(given) as relay:
        settle(relay, lambda: states(pg)[added["8", 3]] == "SENT", "the others sent")
        step(relay)

    row = pg.execute(
        "SELECT state, error_class, attempts FROM msg_event WHERE event_id = %s", (large,)
    ).fetchone()
    assert row == ("DEAD", "TOO_LARGE", 0)
    assert [key for key, event in added.items() if states(pg)[event] == "PENDING"] == [("7", 3)]
    assert len(consume(given)) == len(rows) - 2
