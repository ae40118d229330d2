"""The owed mark: what is owed, what one attempt to write it can bring, why it is given up.
Vocabulary of intake and the mailbox (design 6)."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


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
