"""Waiting for another thread while the leading session is seen to live."""

from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Final, TypeVar

T = TypeVar("T")

_BEAT_SECONDS: Final = 1.0


def awaited(future: "Future[T]", beat: Callable[[], object]) -> T:
    """Return what `future` brings, beating until it does (R13).

    Raises:
        Exception: whatever the other thread raised, or `beat` did.
    """
    while not wait([future], timeout=_BEAT_SECONDS).done:
        beat()
    return future.result()
