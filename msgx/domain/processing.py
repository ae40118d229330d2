"""The processing life cycle: one table; the SQL guards, the CHECK constraints and the docs page
follow it."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class ProcState(StrEnum):
    """`proc_state.state`. PENDING and FAILED hold the head of the queue (INV-3)."""

    PENDING = "PENDING"
    FAILED = "FAILED"
    SUCCEEDED = "SUCCEEDED"
    SKIPPED = "SKIPPED"
    DEAD = "DEAD"


class Trigger(StrEnum):
    """What moves a message."""

    SUCCEED = "succeed"  # effect committed and projection written
    SKIP = "skip"  # duplicate, unsupported, or nothing to do
    FAIL = "fail"  # repairable; waits for its backoff
    REJECT = "reject"  # MALFORMED, PROTOCOL, IDENTITY_CONFLICT; never retried
    EXHAUST = "exhaust"  # the attempt limit is reached
    REPLAY = "replay"  # an operator puts it back


class Route(StrEnum):
    """`proc_state.route`: to whom the processor has handed the head (R16)."""

    REFDATA = "REFDATA"


OPEN: Final = (ProcState.PENDING, ProcState.FAILED)
TERMINAL: Final = frozenset(ProcState) - frozenset(OPEN)

TRANSITIONS: Final[Mapping[tuple[ProcState, Trigger], ProcState]] = MappingProxyType(
    {(state, Trigger.SUCCEED): ProcState.SUCCEEDED for state in OPEN}
    | {(state, Trigger.SKIP): ProcState.SKIPPED for state in OPEN}
    | {(state, Trigger.FAIL): ProcState.FAILED for state in OPEN}
    | {(state, Trigger.REJECT): ProcState.DEAD for state in OPEN}
    | {(state, Trigger.EXHAUST): ProcState.DEAD for state in OPEN}
    | {
        (ProcState.FAILED, Trigger.REPLAY): ProcState.PENDING,
        (ProcState.DEAD, Trigger.REPLAY): ProcState.PENDING,
    }
)


class IllegalTransition(ValueError):
    """The table has no such move: a defect in the caller, never bad data."""


def move(state: ProcState, trigger: Trigger) -> ProcState:
    """Return the state that `trigger` leads to from `state`.

    Raises:
        IllegalTransition: `state` does not accept `trigger`.
    """
    try:
        return TRANSITIONS[state, trigger]
    except KeyError:
        raise IllegalTransition(f"{state} does not accept {trigger}") from None


def sources(trigger: Trigger) -> list[ProcState]:
    """Return the states that accept `trigger`, in declaration order."""
    return [state for state in ProcState if (state, trigger) in TRANSITIONS]


def target(trigger: Trigger) -> ProcState:
    """Return the one state that `trigger` leads to, wherever it starts."""
    (reached,) = {to for (_, via), to in TRANSITIONS.items() if via is trigger}
    return reached
