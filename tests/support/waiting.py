"""Waiting on a condition, with a deadline: no test sleeps."""

from collections.abc import Callable
from typing import Final

from msgx import clock

PATIENCE_SECONDS: Final = 60.0


def until(
    condition: Callable[[], object], what: str, *, seconds: float = PATIENCE_SECONDS
) -> None:
    """Look again and again until `condition` holds; fail with `what` never came.

    The last look comes after the deadline: a machine that stood still has lost no time.
    """
    deadline = clock.ticks() + seconds
    while True:
        is_over = clock.ticks() >= deadline
        if condition():
            return
        assert not is_over, f"never: {what}"
        clock.rest(0.02)
