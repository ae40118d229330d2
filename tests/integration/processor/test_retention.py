"""What is forgotten of messages and day plans, and what is known for longer than the record."""

from datetime import timedelta

import pytest

from services.processor.retention import BATCH
from tests.support.intake import move_time
from tests.support.messages import adft, dnld, fltr, stand
from tests.support.processor import Line

pytestmark = [pytest.mark.pg, pytest.mark.mysql, pytest.mark.redis]
MONTH = timedelta(days=31)
PLAN = """
    INSERT INTO schd_snap_log (msg_id, kind, recv_at, scope_begin, scope_end, declared, parsed,
                               created, restored, changed, unchanged, deleted, duration_seconds,
                               at)
    SELECT %(msg_id)s, 'DNLD', at, day, day, 0, 0, 0, 0, 0, 0, 0, 0, at
      FROM (SELECT msgx_now() - %(days)s * interval '1 day' AS at) AS came,
           LATERAL (SELECT (at + %(scope)s::text::interval)::date AS day) AS scope
"""


def forget(line: Line, *ids: int) -> None:
    """What intake's retention does to records."""
    line.pg.execute("DELETE FROM proc_state WHERE msg_id = ANY(%s)", (list(ids),))


def bind(line: Line, ids: range, *, days: int) -> None:
    """Insert bindings of so long ago, without records."""
    line.pg.execute(
        "INSERT INTO identity_ledger SELECT 'old-' || id, '', id, msgx_now() - %s"
        "  FROM generate_series(%s::bigint, %s) AS id",
        (timedelta(days=days), ids.start, ids.stop - 1),
    )


def bound(line: Line) -> list[int]:
    """Return the messages that have an identity."""
    return [one["msg_id"] for one in line.rows("SELECT msg_id FROM identity_ledger ORDER BY 1")]


@pytest.mark.covers("R02", "US-11", "INV-9")
def test_what_is_sent_again_after_the_record_has_left_is_a_duplicate_still(line: Line) -> None:
    text = stand("7", "1", seqn="42")
    _, first = line.run(adft(fltr("1")), text)
    newer, before = line.run(stand("8", "1", seqn="43"))[0], line.flight()
    forget(line, first)
    move_time(line.pg, MONTH)

    (again,) = line.run(text)
    (conflicting,) = line.run(stand("9", "1", seqn="42"))

    assert newer > first
    assert line.end(again) == ("SKIPPED", None, f"duplicate-of:{first}")
    assert line.end(conflicting)[:2] == ("DEAD", "IDENTITY_CONFLICT")
    assert line.flight() == before


@pytest.mark.covers("R02", "R52", "US-11")
def test_a_row_that_comes_back_after_its_record_has_left_has_no_effect(line: Line) -> None:
    text = stand("7", "1", seqn="42")
    (early,) = line.run(text)  # its flight is not there yet: nothing tells that it was done
    assert line.end(early)[0] == "SKIPPED"
    line.run(adft(fltr("1")))
    before = line.flight()
    forget(line, early)
    move_time(line.pg, MONTH)

    line.register(early)
    line.run()

    assert line.end(early) == ("SKIPPED", None, f"duplicate-of:{early}")
    assert line.flight() == before


@pytest.mark.covers("R02", "R52", "R17")
def test_a_day_plan_that_comes_back_deletes_nothing_that_came_after_it(line: Line) -> None:
    plan = dnld(fltr("1"))
    (early,) = line.run(plan)
    line.run(adft(fltr("2")))
    forget(line, early)
    move_time(line.pg, MONTH)

    line.register(early)
    line.run()

    assert line.end(early) == ("SKIPPED", None, f"duplicate-of:{early}")
    assert line.flight("2").state == "ACTIVE"
    line.agree()


@pytest.mark.covers("R02", "R37")
def test_an_identity_leaves_after_its_time_but_not_before_its_record(line: Line) -> None:
    first, second = line.run(adft(fltr("1")), adft(fltr("2")))
    forget(line, first)
    keeper = line.keeper

    keeper.step()
    young = bound(line)
    move_time(line.pg, timedelta(days=401))
    keeper.step()

    assert young == [first, second]
    assert bound(line) == [second]


@pytest.mark.covers("R02", "US-11")
def test_identities_are_walked_page_by_page(line: Line) -> None:
    bind(line, range(1, BATCH + 21), days=401)
    bind(line, range(5000, 5003), days=1)
    keeper = line.keeper

    rests = [keeper.step()]
    left = len(bound(line))
    rests += [keeper.step(), keeper.step()]

    assert left == 20 + 3
    assert bound(line) == [5000, 5001, 5002]
    assert rests[0] < rests[-1]


@pytest.mark.covers("R37", "US-11")
def test_figures_of_day_plans_leave_by_their_days_and_their_arrival(line: Line) -> None:
    for msg_id, days, scope in (
        (1, 91, "0 days"),
        (2, 91, None),  # refused before its days were known
        (3, 91, "30 days"),  # of days that are not over so long
        (4, 1, "-200 days"),  # of old days, but just come
        (5, 89, "0 days"),
    ):
        line.pg.execute(PLAN, {"msg_id": msg_id, "days": days, "scope": scope})

    line.keeper.step()

    rows = line.rows("SELECT msg_id FROM schd_snap_log ORDER BY 1")
    assert [one["msg_id"] for one in rows] == [3, 4, 5]
