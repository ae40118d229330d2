"""The only reader of the system clock. It serves rests, time-outs and telemetry; business time
is the database's `msgx_now()` (R36)."""

import time
from datetime import UTC, datetime


def now() -> datetime:
    """Return the present instant, aware and in UTC."""
    return datetime.now(UTC)


def ticks() -> float:
    """Return seconds of a clock that never goes back, for measuring a span."""
    return time.monotonic()


def rest(seconds: float) -> None:
    """Block this thread; for programs without a stop signal. Services wait on their stop
    event."""
    time.sleep(seconds)
