"""The processing life cycle: one table, and what may never follow from it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msgx.domain.processing import (
    OPEN,
    TERMINAL,
    TRANSITIONS,
    IllegalTransition,
    ProcState,
    Trigger,
    move,
    sources,
    target,
)


@pytest.mark.covers("INV-6", "R35")
@given(st.sampled_from(sorted(TERMINAL)), st.lists(st.sampled_from(Trigger), max_size=6))
def test_only_a_replay_leaves_a_terminal_state(
    state: ProcState, triggers: list[Trigger]
) -> None:
    for trigger in triggers:
        before = state
        try:
            state = move(state, trigger)
        except IllegalTransition:
            continue
        if before in TERMINAL:
            assert (before, trigger, state) == (
                ProcState.DEAD,
                Trigger.REPLAY,
                ProcState.PENDING,
            )


@pytest.mark.covers("INV-3")
def test_every_open_state_can_end_in_every_way() -> None:
    for state in OPEN:
        reached = {
            move(state, trigger) for trigger in Trigger if (state, trigger) in TRANSITIONS
        }
        assert reached >= TERMINAL


@pytest.mark.covers("INV-3")
def test_the_guards_of_a_trigger_are_the_states_that_the_table_accepts() -> None:
    for trigger in Trigger:
        accepted = sources(trigger)
        assert accepted
        for state in ProcState:
            if state in accepted:
                assert move(state, trigger) is target(trigger)
            else:
                with pytest.raises(IllegalTransition):
                    move(state, trigger)
