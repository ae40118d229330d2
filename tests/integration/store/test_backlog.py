"""What waits, counted for `Status`."""

from datetime import timedelta

import pytest

from msgx.store import backlog
from msgx.store.backlog import Item
from msgx.store.connect import Connection

pytestmark = [pytest.mark.pg]

_ADD = """
    INSERT INTO proc_state (msg_id, state, route, enqueued_at, updated_at, finished_at,
                            backfill_next_at, backfill_abandoned_at)
    VALUES (%s, %s, %s, msgx_now() - %s::interval, msgx_now(),
            CASE WHEN %s NOT IN ('PENDING', 'FAILED') THEN msgx_now() - interval '1 min' END,
            CASE WHEN %s THEN msgx_now() END,
            CASE WHEN %s THEN msgx_now() - interval '3 min' END)
"""


def add(
    db: Connection,
    msg_id: int,
    state: str,
    *,
    route: str | None = None,
    minutes: int = 10,
    owed: bool = False,
    abandoned: bool = False,
) -> None:
    age = timedelta(minutes=minutes)
    db.execute(_ADD, (msg_id, state, route, age, state, owed, abandoned))


def ages(db: Connection, items: list[Item]) -> dict[str, tuple[int, int | None]]:
    """Return of each item its count, and the minutes that the oldest waits."""
    row = db.execute("SELECT msgx_now()").fetchone()
    assert row is not None
    return {
        one.name: (
            one.count,
            None if one.oldest is None else round((row[0] - one.oldest).total_seconds() / 60),
        )
        for one in items
    }


def test_intake_owes_marks_and_gave_some_up(db: Connection) -> None:
    add(db, 1, "SUCCEEDED", owed=True)
    add(db, 2, "DEAD", owed=True)
    add(db, 3, "SKIPPED", abandoned=True)
    add(db, 4, "PENDING")

    assert ages(db, backlog.of_intake(db)) == {
        "owed_marks": (2, 1),
        "abandoned_marks": (1, 3),
    }


def test_the_oldest_open_message_is_the_head_whatever_came_first(db: Connection) -> None:
    add(db, 1, "SUCCEEDED", owed=True, minutes=60)
    add(db, 2, "FAILED", minutes=5)
    add(db, 3, "PENDING", minutes=20)

    assert ages(db, backlog.of_processor(db)) == {"open_messages": (2, 5)}


@pytest.mark.parametrize(("route", "count"), [("REFDATA", 1), (None, 0)])
def test_refdata_has_the_head_if_it_was_handed_over(
    db: Connection, route: str | None, count: int
) -> None:
    add(db, 1, "PENDING", route=route, minutes=7)
    add(db, 2, "PENDING", route="REFDATA")

    assert ages(db, backlog.of_refdata(db)) == {"handed_over": (count, 7 if count else None)}


def test_where_nothing_waits_nothing_is_old(db: Connection) -> None:
    items = [*backlog.of_intake(db), *backlog.of_processor(db), *backlog.of_dispatcher(db)]

    assert len(items) == 9
    assert {(one.count, one.oldest) for one in items} == {(0, None)}
