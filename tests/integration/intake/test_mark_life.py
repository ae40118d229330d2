"""The life cycle of an owed mark, as the statements keep it: each moves only what the table
allows."""

from typing import Any

import psycopg
import pytest

from msgx import clock
from msgx.domain.marking import MARKING, Abandonment, MarkState, MarkTrigger
from msgx.rpc.v1 import mailbox_pb2 as pb
from msgx.store import abandoned, backfill
from tests.support.intake import HOUR, Marking, owe

pytestmark = [pytest.mark.pg]

Pg = psycopg.Connection[Any]


def stand(pg: Pg, state: MarkState) -> None:
    """Insert record 1 whose mark stands so."""
    now = clock.now()
    if state is MarkState.OPEN:
        pg.execute(
            "INSERT INTO proc_state (msg_id, enqueued_at, updated_at) VALUES (1, now(), now())"
        )
        return
    owe(pg, 1, finished_at=now, abandoned_at=now if state is MarkState.ABANDONED else None)
    if state is MarkState.CONFIRMED:
        pg.execute("UPDATE proc_state SET backfill_at = now(), backfill_next_at = NULL")


@pytest.mark.covers("R44", "INV-7", "INV-8")
@pytest.mark.parametrize("state", list(MarkState))
def test_only_what_the_life_cycle_allows_moves_a_mark(
    pg: Pg, operator: Marking, state: MarkState
) -> None:
    """Reopening here; settling, postponing and giving up refuse what is not owed."""
    stand(pg, state)

    done = operator.reopen(ids=pb.MsgIds(ids=[1, 99]))

    allowed = (state, MarkTrigger.REOPEN) in MARKING.moves
    standings = abandoned.standings(pg, [1])
    assert done.affected == int(allowed)
    assert standings == {1: MarkState.OWED if allowed else state}
    told = {one.msg_id: one.standing for one in done.not_reopened}
    assert told.pop(99) == pb.STANDING_UNKNOWN
    assert told == ({} if allowed else {1: pb.Standing.Value(f"STANDING_{state}")})


@pytest.mark.covers("R44", "INV-7", "INV-8")
@pytest.mark.parametrize("state", list(MarkState))
@pytest.mark.parametrize(
    "trigger", [MarkTrigger.SETTLE, MarkTrigger.POSTPONE, MarkTrigger.ABANDON]
)
def test_backfill_moves_owed_marks_only(pg: Pg, state: MarkState, trigger: MarkTrigger) -> None:
    stand(pg, state)
    after = MARKING.moves.get((state, trigger), state)

    def move() -> None:
        match trigger:
            case MarkTrigger.SETTLE:
                backfill.settle(pg, [1])
            case MarkTrigger.POSTPONE:
                backfill.postpone(pg, [(1, clock.now() + HOUR)])
            case _:
                backfill.abandon(pg, [(1, Abandonment.MISSING_ROW)])

    if (state, trigger) in MARKING.moves:
        move()
    else:
        with pytest.raises(backfill.StaleDebt):
            move()

    assert abandoned.standings(pg, [1]) == {1: after}
