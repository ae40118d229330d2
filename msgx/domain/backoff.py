"""How long to wait after the n-th failure. Pure."""

from collections.abc import Sequence
from datetime import timedelta


def rung(ladder: Sequence[timedelta], attempts: int) -> timedelta:
    """Return the wait after failure number `attempts` (from 1); beyond the ladder its last
    rung."""
    return ladder[min(attempts, len(ladder)) - 1]


def doubling(first: timedelta, limit: timedelta, attempts: int) -> timedelta:
    """Return `first`, doubled for each further failure, never above `limit`."""
    return min(first * (1 << min(attempts - 1, 32)), limit)
