"""Which events may leave: MSG_EVENT's claim and marks, as the service's own role."""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, cast

import psycopg
import pytest

from msgx.domain.delivery import Target
from msgx.domain.event import Event
from msgx.domain.failure import ErrorClass
from msgx.store import delivery
from msgx.store.connect import Connection
from services.dispatcher.decide.sweep import PART
from tests.support.dispatcher import add, ours, states
from tests.support.servers import postgres

pytestmark = pytest.mark.pg
LATER = timedelta(hours=1)
PARTIAL = """
    SELECT indexrelid::regclass::text FROM pg_index
     WHERE indrelid = 'msg_event'::regclass AND indpred IS NOT NULL
"""
BEFORE = timedelta(hours=-1)


@pytest.fixture
def conn(pg_dsn: str) -> Iterator[Connection]:
    """A connection of the dispatcher's role."""
    with psycopg.connect(ours(pg_dsn), autocommit=True) as connection:
        yield connection


def claim(conn: Connection, target: Target = Target.MSG, **changed: Any) -> list[Event]:
    given = {"limit": 500, "max_bytes": 1000, "wave_bytes": 1_000_000, "hold": True}
    given |= {"after": 0, "part": PART}
    return delivery.claim(conn, target, **{**given, **changed})


def ids(events: list[Event]) -> list[int]:
    return [event.event_id for event in events]


@pytest.mark.covers("R29", "B03")
def test_a_unit_gives_its_consecutive_events_in_order(
    pg: "psycopg.Connection[Any]", conn: Connection
) -> None:
    added = [add(pg, flid, version) for version in (1, 2, 3) for flid in ("7", "8")]

    assert ids(claim(conn)) == added
    assert ids(claim(conn, limit=4)) == added[:4]


@pytest.mark.covers("R06", "R29", "US-03 AC4")
def test_an_unreleased_event_holds_only_what_is_behind_it_on_its_flight(
    pg: "psycopg.Connection[Any]", conn: Connection
) -> None:
    # Message 10 committed version 7 and waits on Redis; late message 9 is finished.
    waits = add(pg, "7", 7, msg_id=10, released=False)
    behind = add(pg, "7", 8, msg_id=9)
    other = add(pg, "8", 1, msg_id=9)

    assert ids(claim(conn)) == [other]

    pg.execute("UPDATE msg_event SET released_at = msgx_now() WHERE msg_id = 10")
    assert ids(claim(conn)) == [waits, behind, other]


@pytest.mark.covers("R29", "B09")
def test_an_event_that_waits_for_its_backoff_goes_before_newer_ones_of_its_flight(
    pg: "psycopg.Connection[Any]", conn: Connection
) -> None:
    first = add(pg, "7", 1)
    waits = add(pg, "7", 2, attempts=1, due_in=LATER)
    behind = add(pg, "7", 3)
    other = add(pg, "8", 1, attempts=2, due_in=BEFORE)

    assert ids(claim(conn)) == [first, other]

    pg.execute(
        "UPDATE msg_event SET next_attempt_at = msgx_now() WHERE event_id = %s", (waits,)
    )
    assert ids(claim(conn)) == [first, waits, behind, other]


@pytest.mark.covers("R29", "B01")
def test_a_dead_event_holds_its_flight_or_not_as_the_parameter_says(
    pg: "psycopg.Connection[Any]", conn: Connection
) -> None:
    before = add(pg, "7", 1)
    add(pg, "7", 2, state="DEAD")
    behind = add(pg, "7", 3)
    given_up = add(pg, "8", 1, state="DISCARDED")
    other = add(pg, "8", 2)

    assert ids(claim(conn, hold=True)) == [before, other]
    assert ids(claim(conn, hold=False)) == [before, behind, other]
    assert given_up not in ids(claim(conn, hold=False))


@pytest.mark.covers("R29")
def test_a_held_msg_does_not_hold_schd(pg: "psycopg.Connection[Any]", conn: Connection) -> None:
    add(pg, "7", 1, state="DEAD")
    add(pg, "7", 2, released=False)
    state = add(pg, "7", 2, target=Target.SCHD)

    assert claim(conn) == []
    assert ids(claim(conn, Target.SCHD)) == [state]


@pytest.mark.covers("R29", "B06")
def test_thousands_behind_a_hold_do_not_fill_the_page(
    pg: "psycopg.Connection[Any]", conn: Connection
) -> None:
    add(pg, "7", 0, state="DEAD")
    fill(pg, 3000, flid="7", state="PENDING")
    other = add(pg, "8", 1)

    assert ids(claim(conn, limit=10)) == [other]


@pytest.mark.covers("B74")
def test_a_payload_over_the_limit_is_measured_and_not_read(
    pg: "psycopg.Connection[Any]", conn: Connection
) -> None:
    add(pg, "7", 1, payload='"' + "ü" * 600 + '"')
    add(pg, "8", 1, payload='"' + "ü" * 400 + '"')

    large, small = claim(conn)

    assert (large.size, large.payload) == (1202, None)
    assert (small.size, small.payload) == (802, '"' + "ü" * 400 + '"')


def test_a_wave_ends_where_its_payloads_are_too_much_to_hold(
    pg: "psycopg.Connection[Any]", conn: Connection
) -> None:
    added = [add(pg, str(flid), 1, payload='"' + "x" * 98 + '"') for flid in range(1, 9)]

    assert ids(claim(conn, wave_bytes=300)) == added[:3]
    assert ids(claim(conn, wave_bytes=1)) == added[:1]


@pytest.fixture(scope="module")
def long_lived(postgres_url: str, pg_template: str) -> Iterator[str]:
    """A database whose outbox has been in use for long; nobody changes it for good."""
    with (
        postgres.database(postgres_url, copy_of=pg_template) as dsn,
        psycopg.connect(dsn, autocommit=True) as owner,
    ):
        fill(owner, 100_000, flid=None, state="SENT")
        fill(owner, 10_000, flid=None, state="DEAD")
        yield dsn


@pytest.mark.covers("B23", "R29")
@pytest.mark.parametrize("analysed", [False, True])
@pytest.mark.parametrize("plan", ["force_custom_plan", "force_generic_plan"])
@pytest.mark.parametrize("target", list(Target))
def test_the_claim_touches_no_sent_or_dead_row(
    long_lived: str, analysed: bool, plan: str, target: Target
) -> None:
    with psycopg.connect(long_lived) as owner:  # and rolled back
        for flid in range(1, 11):
            add(owner, f"9{flid:08}", 1, target=target)
        if analysed:
            owner.execute("ANALYZE msg_event")

        scans = scanned(owner, plan, target)
        partial = {name for (name,) in owner.execute(PARTIAL).fetchall()}

        owner.rollback()
    assert indexes(scans) <= partial
    assert indexes(scans) & {"msg_event_claim", "msg_event_unit"}  # of what is PENDING
    assert {node["Node Type"] for node in scans} <= {
        "Index Scan",
        "Index Only Scan",
        "Bitmap Heap Scan",
    }, json.dumps(scans)
    assert touched(scans) <= 30


@pytest.mark.covers("B23", "R29")
@pytest.mark.parametrize("plan", ["force_custom_plan", "force_generic_plan"])
def test_a_claim_from_a_long_backlog_reads_its_page_only(long_lived: str, plan: str) -> None:
    with psycopg.connect(long_lived) as owner:  # and rolled back
        owner.execute(
            "INSERT INTO msg_event (target, partition_key, event_type, payload, state_version,"
            " created_at, released_at)"
            " SELECT 'KAFKA:msg', 'B' || n % 100, 'UPSERT', '{}', n, msgx_now(), msgx_now()"
            "   FROM generate_series(1, 20000) n"
        )
        owner.execute("ANALYZE msg_event")

        scans = scanned(owner, plan, Target.MSG)

        owner.rollback()
    assert touched(scans) <= 510


@pytest.mark.covers("B23", "B06", "R29")
@pytest.mark.parametrize("plan", ["force_custom_plan", "force_generic_plan"])
def test_a_claim_looks_at_a_part_of_what_is_held_however_much_that_is(
    pg: "psycopg.Connection[Any]", plan: str
) -> None:
    add(pg, "7", 0, state="DEAD")
    fill(pg, 3 * PART, flid="7", state="PENDING")
    pg.execute("ANALYZE msg_event")

    # Each row of the part, and for each a probe that finds the dead one.
    assert touched(scanned(pg, plan, Target.MSG)) <= 2 * PART + 10


def scanned(owner: "psycopg.Connection[Any]", plan: str, target: Target) -> list[Any]:
    """Claim under EXPLAIN and return the scans of tables."""
    parameters = ("target", "max_bytes", "limit", "wave_bytes", "hold", "after", "part")
    numbered = {name: f"${number}" for number, name in enumerate(parameters, start=1)}
    claimed = delivery._CLAIM.replace("%(", "{").replace(")s", "}").format(**numbered)
    owner.execute("SELECT set_config('plan_cache_mode', %s, false)", (plan,))
    owner.execute(
        f"PREPARE claim (text, int, int, int, bool, bigint, int) AS {claimed}".encode()
    )
    row = owner.execute(
        "EXPLAIN (ANALYZE, FORMAT JSON)"
        f" EXECUTE claim ('{target}', 1000, 500, 1000000, true, 0, {PART})".encode()
    ).fetchone()
    owner.execute("DEALLOCATE claim")
    assert row is not None
    return [node for node in nodes(cast("Any", row[0])[0]["Plan"]) if "Relation Name" in node]


def indexes(scans: list[Any]) -> set[str]:
    """Return the indexes that the scans go by."""
    return {
        inner["Index Name"] for scan in scans for inner in nodes(scan) if "Index Name" in inner
    }


def touched(scans: list[Any]) -> int:
    """Return how many rows the scans have read."""
    return sum(
        (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
        for node in scans
    )


@pytest.mark.covers("R29", "B03")
def test_behind_the_cursor_nothing_overtakes_what_is_still_in_front_of_it(
    pg: "psycopg.Connection[Any]", conn: Connection
) -> None:
    # The hold of flight 7 has gone since the claims went past its first event.
    front, other = add(pg, "7", 1), add(pg, "8", 1)
    behind, new = add(pg, "7", 2), add(pg, "9", 1)

    assert ids(claim(conn, after=other)) == [new]
    assert ids(claim(conn)) == [front, other, behind, new]
    assert delivery.last_of_part(conn, Target.MSG, after=0, part=2) == other
    assert delivery.last_of_part(conn, Target.MSG, after=other, part=2) == new
    assert delivery.last_of_part(conn, Target.MSG, after=other, part=3) is None


@pytest.mark.covers("B11")
def test_a_late_acknowledgement_does_not_mark_a_newer_generation(
    pg: "psycopg.Connection[Any]", conn: Connection
) -> None:
    add(pg, "7", 4, target=Target.SCHD)
    add(pg, "8", 1, target=Target.SCHD)
    read = claim(conn, Target.SCHD)
    # The same version again: a replay of the flight's message replaced the row.
    pg.execute(
        "UPDATE msg_event SET event_id = nextval('event_id_seq') WHERE partition_key = '7'"
    )

    assert delivery.mark_sent(conn, Target.SCHD, read) == 1

    (again,) = claim(conn, Target.SCHD)
    assert again.partition_key == "7"
    assert not delivery.bury(
        conn, Target.SCHD, read[0], attempts=1, error_class=ErrorClass.TOO_LARGE, text="old"
    )
    assert ids(claim(conn, Target.SCHD)) == [again.event_id]


@pytest.mark.covers("R29")
def test_a_locked_row_is_left_for_the_next_wave(
    pg: "psycopg.Connection[Any]", conn: Connection
) -> None:
    held, free = add(pg, "7", 1), add(pg, "8", 1)
    read = claim(conn)

    with pg.transaction():
        pg.execute("SELECT FROM msg_event WHERE event_id = %s FOR UPDATE", (held,))
        marked = delivery.mark_sent(conn, Target.MSG, read)

    assert marked == 1
    assert states(pg) == {held: "PENDING", free: "SENT"}


@pytest.mark.covers("B06", "B24")
def test_a_failure_counts_its_try_and_says_why(
    pg: "psycopg.Connection[Any]", conn: Connection
) -> None:
    add(pg, "7", 1)
    (event,) = claim(conn)

    assert delivery.postpone(
        conn,
        Target.MSG,
        event,
        attempts=1,
        wait=LATER,
        error_class=ErrorClass.PROCESSING,
        text="refused\x00 for a reason",
    )

    assert claim(conn) == []
    row = pg.execute(
        "SELECT state, attempts, error_class, last_error,"
        " next_attempt_at > msgx_now() + interval '59 minutes' FROM msg_event"
    ).fetchone()
    assert row == ("PENDING", 1, "PROCESSING", "refused  for a reason", True)


def fill(pg: "psycopg.Connection[Any]", count: int, *, flid: str | None, state: str) -> None:
    """Insert many released events of one flight, or of a hundred."""
    pg.execute(
        "INSERT INTO msg_event (target, partition_key, event_type, payload, state_version,"
        " created_at, released_at, state, sent_at)"
        " SELECT 'KAFKA:msg', coalesce(%(flid)s, (n %% 100 + 1)::text), 'UPSERT', '{}', n,"
        "        msgx_now(), msgx_now(), %(state)s,"
        "        CASE WHEN %(state)s = 'SENT' THEN msgx_now() END"
        " FROM generate_series(1, %(count)s) n",
        {"flid": flid, "state": state, "count": count},
    )


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield every node of a plan."""
    yield plan
    for child in plan.get("Plans", []):
        yield from nodes(child)
