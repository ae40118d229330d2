"""The processing life cycle: one table; the SQL guards, the CHECK constraints and the docs page
follow it."""

from enum import StrEnum
from types import MappingProxyType
from typing import Final

from msgx.domain.lifecycle import LifeCycle


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

PROCESSING: Final = LifeCycle(
    MappingProxyType(
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
)
