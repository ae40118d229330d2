"""The gauges of delivery say what the tables hold, and cost little."""

import json
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from msgx.domain.delivery import Target
from msgx.domain.failure import Away
from msgx.runtime.gauges import Gauges
from msgx.runtime.leadership import Standby
from msgx.runtime.session import Session
from msgx.store import delivery_figures
from msgx.store.connect import Connection
from msgx.store.delivery_figures import Figures
from msgx.telemetry import metrics
from msgx.telemetry.board import Board
from services.dispatcher.figures import figures
from services.dispatcher.settings import DispatcherSettings
from tests.support.dispatcher import add, leading, ours, settings, stop_clock
from tests.support.dispatcher_process import figures as shown
from tests.support.dispatcher_process import running
from tests.support.relay import Relay
from tests.support.waiting import until

pytestmark = pytest.mark.pg
LATER = timedelta(hours=1)


@pytest.fixture
def conn(pg_dsn: str) -> Iterator[Connection]:
    """A connection of the dispatcher's role."""
    with psycopg.connect(ours(pg_dsn), autocommit=True) as connection:
        yield connection


def aged(pg: "psycopg.Connection[Any]", event: int, seconds: int) -> None:
    pg.execute(
        "UPDATE msg_event SET created_at = created_at - %(age)s,"
        " failed_at = failed_at - %(age)s, released_at = released_at - %(age)s"
        " WHERE event_id = %(event)s",
        {"age": timedelta(seconds=seconds), "event": event},
    )


@pytest.mark.covers("B09", "B114", "R29")
def test_held_flights_are_counted_by_cause_with_the_age_of_the_longest(
    pg: "psycopg.Connection[Any]", conn: Connection
) -> None:
    stop_clock(pg)
    dead = add(pg, "1", 1, state="DEAD")
    aged(pg, dead, 600)
    aged(pg, add(pg, "1", 2, state="DEAD"), 60)  # the same flight
    aged(pg, add(pg, "1", 3), 40)
    aged(pg, add(pg, "2", 1, attempts=1, due_in=LATER), 30)
    aged(pg, add(pg, "3", 1, released=False), 20)
    add(pg, "3", 2)
    add(pg, "4", 1, released=False)  # nothing behind it: nothing is held
    pg.execute("UPDATE msg_event SET error_class = 'TOO_LARGE' WHERE event_id = %s", (dead,))

    told = delivery_figures.read(conn, Target.MSG)

    assert told.held == {"DEAD": (1, 600), "WAITING": (1, 30), "UNRELEASED": (1, 20)}
    assert told.dead == {"TOO_LARGE": 1, "": 1}
    assert told.pending == 5
    assert told.oldest_unsent_seconds == 40
    assert delivery_figures.read(conn, Target.SCHD) == Figures(
        pending=0, oldest_unsent_seconds=0, held={}, dead={}
    )


@pytest.mark.covers("B114")
def test_the_view_and_the_figures_agree(
    pg: "psycopg.Connection[Any]", conn: Connection
) -> None:
    for number in range(40):
        add(
            pg,
            str(number % 7),
            number,
            state=("PENDING", "DEAD")[number % 5 == 0],
            released=number % 3 > 0,
            due_in=LATER if number % 11 == 0 else None,
        )

    seen = pg.execute("SELECT cause, count(*) FROM held_unit GROUP BY cause").fetchall()

    told = delivery_figures.read(conn, Target.MSG).held
    assert {cause: count for cause, (count, _) in told.items()} == dict(seen)


@pytest.mark.covers("B23", "B62")
def test_what_was_sent_costs_the_figures_nothing(
    pg: "psycopg.Connection[Any]", conn: Connection
) -> None:
    pg.execute(
        "INSERT INTO msg_event (target, partition_key, event_type, payload, state_version,"
        " created_at, released_at, state, sent_at)"
        " SELECT 'KAFKA:msg', n::text, 'UPSERT', '{}', n, now(), now(), 'SENT', now()"
        "   FROM generate_series(1, 20000) n"
    )
    add(pg, "7", 1, state="DEAD")
    pg.execute("ANALYZE msg_event")
    for statement in ("_PENDING", "_HELD", "_DEAD"):
        row = conn.execute(
            f"EXPLAIN (ANALYZE, FORMAT JSON) {getattr(delivery_figures, statement)}".encode(),
            {"target": Target.MSG},
        ).fetchone()

        assert row is not None
        assert read_rows(row[0][0]["Plan"]) < 20, json.dumps(row[0])


def read_rows(plan: dict[str, Any]) -> int:
    own = plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0)
    here = own * plan["Actual Loops"] if plan.get("Relation Name") == "msg_event" else 0
    return int(here) + sum(read_rows(child) for child in plan.get("Plans", []))


@pytest.mark.covers("R34", "INV-16", "G-REQ-TRACK")
def test_open_requests_are_told_by_state_and_the_unknown_one_with_its_age(
    pg: "psycopg.Connection[Any]", conn: Connection
) -> None:
    stop_clock(pg)
    pg.execute(
        "INSERT INTO req_track (req_type, req_styp, registered_at, registered_by, state,"
        " state_since, seqn, sending_at, out_id_floor, expires_at)"
        " VALUES ('RQRD', 'GATE', now(), 'a', 'UNKNOWN',"
        "         msgx_now() - interval '20 minutes', '000001', now(), 0, now()),"
        "        ('RQRD', 'BELT', now(), 'a', 'PENDING', now(), NULL, NULL, NULL, NULL),"
        "        ('RQRD', 'GATE', now(), 'a', 'PENDING', now(), NULL, NULL, NULL, NULL)"
    )

    told = {gauge.name: dict(values) for gauge, values in figures(conn)}

    assert told["msgx.request.open"] == {("UNKNOWN",): 1, ("PENDING",): 2}
    assert told["msgx.request.oldest_seconds"]["UNKNOWN",] == 1200


@pytest.mark.covers("R14")
def test_a_standby_tells_no_figures(pg: "psycopg.Connection[Any]", pg_dsn: str) -> None:
    given = settings(pg_dsn, "nowhere:1", "")
    add(pg, "7", 1, state="DEAD")
    board = Board("dispatcher")
    with leading(given) as leadership:
        session = Session(given.database, "test")
        gauges = Gauges(board, leadership, session, figures, timedelta(seconds=1))
        gauges.step()
        assert board.read(metrics.HELD)["msg", "DEAD"] == 1
        assert board.read(metrics.GAUGES_AGE)[()] >= 0

        leadership.lose()
        with pytest.raises(Standby):
            gauges.step()
        gauges.close()

    assert board.read(metrics.HELD) == {}
    assert board.read(metrics.GAUGES_AGE) == {}


@pytest.mark.covers("R14")
def test_while_postgresql_is_away_the_last_figures_stay_and_say_how_old_they_are(
    pg: "psycopg.Connection[Any]", pg_dsn: str
) -> None:
    add(pg, "7", 1, state="DEAD")
    board = Board("dispatcher")
    parts = conninfo_to_dict(pg_dsn)
    with (
        leading(settings(pg_dsn, "nowhere:1", "")) as leadership,
        closing(Relay(str(parts["host"]), int(str(parts["port"])))) as relay,
    ):
        through = make_conninfo(pg_dsn, host="127.0.0.1", port=relay.port)
        given = settings(through, "nowhere:1", "")
        session = Session(given.database, "test")
        gauges = Gauges(board, leadership, session, figures, timedelta(seconds=1))
        gauges.step()
        young = board.read(metrics.GAUGES_AGE)[()]
        relay.cut()

        with pytest.raises(Away):
            gauges.step()

        assert board.read(metrics.HELD)["msg", "DEAD"] == 1
        assert board.read(metrics.GAUGES_AGE)[()] > young
        relay.restore()
        gauges.step()
        gauges.close()


@pytest.mark.kafka
@pytest.mark.system
@pytest.mark.covers("R29", "B114")
def test_the_service_shows_its_figures_to_prometheus(
    pg: "psycopg.Connection[Any]", given: DispatcherSettings, tmp_path: Path
) -> None:
    add(pg, "7", 1, state="DEAD")
    add(pg, "7", 2)
    for version in (1, 2, 3):
        add(pg, "8", version)
    pg.execute(
        "INSERT INTO service_control (service, part, paused_at, operator, reason)"
        " VALUES ('dispatcher', 'schd', now(), 'a', 'a test')"
    )
    kept = {
        'msgx_dispatch_held_flights{cause="DEAD",topic="msg"}': 1,
        'msgx_dispatch_pending{topic="msg"}': 1,
        'msgx_service_paused{loop="schd"}': 1,
        "msgx_service_ready": 1,
    }
    log = tmp_path / "log"
    told = {"MSGX_TELEMETRY__METRICS_BIND": "127.0.0.1:0", "MSGX_TELEMETRY__PERIOD": "PT0.1S"}
    for delivered in (3, 0):  # what the tables say outlives a kill, what was counted does not
        wanted = kept | {'msgx_dispatch_delivered_total{topic="msg"}': delivered}
        with running(given, log, **told) as service:
            until(partial(shows, log, wanted), "the figures")
            service.kill()
            service.wait()
        log.unlink()


def shows(log: Path, wanted: dict[str, int]) -> bool:
    return wanted.items() <= shown(log).items()
