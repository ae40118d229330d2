"""Few long calls of operators at once, each of which ends early if its caller leaves or the
service stops: nobody leads while a stopping processor waits for one."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import grpc

from msgx.domain.failure import Away


class Jobs:
    """Places for `most` jobs, each in a thread of the server."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._places = threading.Semaphore(most)
        self._ends: set[threading.Event] = set()
        self._stopping = False

    @contextmanager
    def place(self, context: grpc.ServicerContext) -> Iterator[threading.Event]:
        """Give a job its place, and what tells it to end.

        Raises:
            Away: there is no place.
        """
        if not self._places.acquire(blocking=False):
            raise Away(f"{self._most} jobs are at work already: try again later")
        end = threading.Event()
        self._ends.add(end)
        try:
            if not context.add_callback(end.set) or self._stopping:
                end.set()
            yield end
        finally:
            self._ends.discard(end)
            self._places.release()

    def stop(self) -> None:
        """Tell every job to end, now and from now on."""
        self._stopping = True
        for end in tuple(self._ends):
            end.set()

    def ended_early(self) -> None:
        """Tell the caller of a job that is not done why; one that left is told nothing.

        Raises:
            Away: the service stops.
        """
        if self._stopping:
            raise Away("the processor is stopping: what was done stays so")
