"""The processing life cycle: one table, and what may never follow from it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msgx.domain.processing import (
    OPEN,
    PROCESSING,
    TERMINAL,
    ProcState,
    Trigger,
)


@pytest.mark.covers("INV-6", "R35")
@given(st.sampled_from(sorted(TERMINAL)), st.lists(st.sampled_from(Trigger), max_size=6))
def test_only_a_replay_leaves_a_terminal_state(
    state: ProcState, triggers: list[Trigger]
) -> None:
    for trigger in triggers:
        before, state = state, PROCESSING.moves.get((state, trigger), state)
        if before in TERMINAL and state is not before:
            assert (before, trigger, state) == (
                ProcState.DEAD,
                Trigger.REPLAY,
                ProcState.PENDING,
            )


@pytest.mark.covers("INV-3")
def test_every_open_state_can_end_in_every_way() -> None:
    for state in OPEN:
        reached = {after for (before, _), after in PROCESSING.moves.items() if before is state}
        assert reached >= TERMINAL


@pytest.mark.covers("INV-3")
def test_the_guards_of_a_trigger_are_the_states_that_the_table_accepts() -> None:
    for trigger in Trigger:
        accepted = PROCESSING.sources(trigger)
        assert accepted
        for state in ProcState:
            after = PROCESSING.moves.get((state, trigger))
            assert after is (PROCESSING.target(trigger) if state in accepted else None)
