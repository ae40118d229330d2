"""Connections that are opened when needed and kept, each lent to one thread at a time."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import Empty, LifoQueue
from typing import Generic, Protocol, TypeVar


class Closable(Protocol):
    """What has an end."""

    def close(self) -> None:
        """End it."""


C = TypeVar("C", bound=Closable)


class Pool(Generic[C]):
    """The caller limits how many threads borrow at once (`Gate`), so there are never more
    connections than places."""

    def __init__(self, connect: Callable[[], C]) -> None:
        self._connect = connect
        self._idle: LifoQueue[C] = LifoQueue()

    @contextmanager
    def lend(self) -> Iterator[C]:
        """Lend a connection to one thread; it comes back whatever became of it."""
        try:
            one = self._idle.get_nowait()
        except Empty:
            one = self._connect()
        try:
            yield one
        finally:
            self._idle.put(one)

    def close(self) -> None:
        """Close the idle connections."""
        while True:
            try:
                self._idle.get_nowait().close()
            except Empty:
                return
