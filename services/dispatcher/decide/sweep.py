"""Which part of the outbox the next claim looks at. Pure.

A claim looks at a bounded number of pending events. While few are pending, that is all of them.
When many wait behind holds, the claims go through them part by part, then stay at the end,
where new events come, and begin again after a while: what is held then costs each claim no more
than its part.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

PART: Final = 5000
"""Most pending events that one claim looks at."""

BREATH: Final = timedelta(seconds=0.02)
"""Rest between two parts of which nothing could leave."""

PERIOD_SECONDS: Final = 2.0
"""How long the claims stay at the end of a long outbox before they begin anew."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """Behind which event the next claim begins; 0: at the beginning."""

    after: int = 0
    ended_at: float | None = None  # when the end of a long outbox was reached

    def begun(self, now: float) -> "Sweep":
        """Return where a claim at `now` (seconds of a steady clock) begins."""
        over = self.ended_at is not None and now - self.ended_at >= PERIOD_SECONDS
        return Sweep() if over else self

    def moved(self, last: int | None, now: float) -> "Sweep":
        """Return where the next claim begins, after one that took all it could; `last`: the
        last event of its part, None: it reached the end."""
        if last is not None:
            return Sweep(last, self.ended_at)
        if self.after == 0:
            return self
        return self if self.ended_at is not None else Sweep(self.after, now)
