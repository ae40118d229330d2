"""The owed mark: its life cycle, what one attempt to write it can bring, why it is given up.
Vocabulary of intake and the mailbox (design 6)."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from msgx.domain.lifecycle import LifeCycle


class MarkState(StrEnum):
    """How things stand with the mark of a registered message."""

    OPEN = "OPEN"  # the message is not finished
    OWED = "OWED"  # tried until it stands or is given up
    CONFIRMED = "CONFIRMED"  # we saw it in the mailbox, and it stays there (INV-7)
    ABANDONED = "ABANDONED"  # not tried by itself any more; no confirmation


class MarkTrigger(StrEnum):
    """What moves a mark."""

    FINISH = "finish"  # the message got its terminal state (INV-8)
    SETTLE = "settle"  # an attempt found or wrote it
    POSTPONE = "postpone"  # an attempt failed
    ABANDON = "abandon"  # its row is gone, or R has passed
    REOPEN = "reopen"  # an operator has it tried again; R begins anew (R44, R55)
    REPLAY = "replay"  # an operator puts the message back (R44)


MARKING: Final = LifeCycle(
    MappingProxyType(
        {
            (MarkState.OPEN, MarkTrigger.FINISH): MarkState.OWED,
            (MarkState.OWED, MarkTrigger.SETTLE): MarkState.CONFIRMED,
            (MarkState.OWED, MarkTrigger.POSTPONE): MarkState.OWED,
            (MarkState.OWED, MarkTrigger.ABANDON): MarkState.ABANDONED,
            (MarkState.ABANDONED, MarkTrigger.REOPEN): MarkState.OWED,
            (MarkState.OWED, MarkTrigger.REPLAY): MarkState.OPEN,
            (MarkState.ABANDONED, MarkTrigger.REPLAY): MarkState.OPEN,
            (MarkState.CONFIRMED, MarkTrigger.REPLAY): MarkState.CONFIRMED,
            (MarkState.CONFIRMED, MarkTrigger.FINISH): MarkState.CONFIRMED,
        }
    )
)


class Marking(StrEnum):
    """What became of one attempt (design 6.2)."""

    MARKED = "marked"  # it was empty; our value stands now
    ALREADY = "already"  # it has a value, which stays (INV-7)
    MISSING = "missing"  # the row is gone
    BUSY = "busy"  # another session holds the row; another try


class Abandonment(StrEnum):
    """Why no further attempt is made by itself: `backfill_abandoned_reason`."""

    MISSING_ROW = "MISSING_ROW"  # the mailbox row is gone
    TRANSIENT_DEADLINE = "TRANSIENT_DEADLINE"  # R has passed


@dataclass(frozen=True, slots=True, kw_only=True)
class Owed:
    """A finished message whose mark is not confirmed, locked by this transaction."""

    msg_id: int
    finished_at: datetime  # the value of the mark (R52)
    attempts: int  # that failed
    owed_since: datetime  # R counts from here (R44)
