"""What follows from one attempt to write a mark."""

from datetime import UTC, datetime, timedelta

import pytest

from msgx.domain.marking import Abandonment, Marking, Owed
from services.intake.decide.backfill import Abandon, Postpone, Rules, Settle, decide

NOW = datetime(2026, 6, 15, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
HOUR = timedelta(hours=1)
RULES = Rules(overdue=6 * HOUR, backoff=SECOND, backoff_limit=300 * SECOND)


def owed(*, age: timedelta = SECOND, attempts: int = 0) -> Owed:
    return Owed(msg_id=7, finished_at=NOW - age, attempts=attempts, owed_since=NOW - age)


@pytest.mark.covers("INV-7", "INV-8")
@pytest.mark.parametrize("marking", [Marking.MARKED, Marking.ALREADY])
@pytest.mark.parametrize("age", [SECOND, 100 * HOUR])
def test_a_mark_that_stands_settles_the_debt(marking: Marking, age: timedelta) -> None:
    assert decide(owed(age=age), marking, now=NOW, rules=RULES) == Settle(7)


def test_a_missing_row_is_given_up_at_once() -> None:
    decision = decide(owed(), Marking.MISSING, now=NOW, rules=RULES)

    assert decision == Abandon(7, Abandonment.MISSING_ROW)


@pytest.mark.parametrize("marking", [Marking.BUSY, None])
@pytest.mark.parametrize(
    ("attempts", "wait"), [(0, 1), (1, 2), (2, 4), (8, 256), (9, 300), (10_000, 300)]
)
def test_a_transient_fault_waits_twice_as_long_each_time_and_never_gives_up_by_number(
    marking: Marking | None, attempts: int, wait: int
) -> None:
    decision = decide(owed(attempts=attempts), marking, now=NOW, rules=RULES)

    assert decision == Postpone(7, NOW + wait * SECOND)


@pytest.mark.covers("R44")
@pytest.mark.parametrize("marking", [Marking.BUSY, None])
def test_a_transient_fault_is_given_up_by_time_alone(marking: Marking | None) -> None:
    before = decide(owed(age=6 * HOUR), marking, now=NOW, rules=RULES)
    after = decide(owed(age=6 * HOUR + SECOND), marking, now=NOW, rules=RULES)

    assert isinstance(before, Postpone)
    assert after == Abandon(7, Abandonment.TRANSIENT_DEADLINE)
