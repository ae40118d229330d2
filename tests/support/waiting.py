"""Waiting on a condition, with a deadline: no test sleeps."""

from collections.abc import Callable
from typing import Final

from msgx import clock

PATIENCE_SECONDS: Final = 30.0


def until(
    condition: Callable[[], object], what: str, *, seconds: float = PATIENCE_SECONDS
) -> None:
    """Look again and again until `condition` holds; fail with `what` never came."""
    deadline = clock.ticks() + seconds
    while not condition():
        assert clock.ticks() < deadline, f"never: {what}"
        clock.rest(0.02)
