"""Which part of a long outbox the next claim looks at."""

import pytest

from services.dispatcher.decide.sweep import PERIOD_SECONDS, Sweep


@pytest.mark.covers("R29")
def test_a_short_outbox_is_looked_at_from_its_beginning() -> None:
    assert Sweep().begun(5).moved(None, 5) == Sweep()


@pytest.mark.covers("R29", "B06")
def test_a_long_one_is_gone_through_part_by_part_and_begun_anew_after_a_while() -> None:
    seen = [Sweep()]
    for last in (50, 90, None, None, 120, None):
        seen.append(seen[-1].begun(10).moved(last, 10))

    assert [sweep.after for sweep in seen] == [0, 50, 90, 90, 90, 120, 120]
    assert seen[-1].begun(10 + PERIOD_SECONDS / 2) == seen[-1]
    assert seen[-1].begun(10 + PERIOD_SECONDS) == Sweep()
