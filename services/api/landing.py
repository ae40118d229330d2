"""Putting a message into the mailbox as the adapter does (C-7), over a few connections."""

from collections.abc import Callable
from datetime import datetime
from queue import Empty, LifoQueue
from typing import Protocol

from services.api.errors import ReadOnly


class Inbox(Protocol):
    """One connection to the mailbox; one thread at a time."""

    def land(self, text: str, *, at: datetime) -> int:
        """Insert the message and return its id."""

    def close(self) -> None:
        """Close the connection."""


class Landing:
    """Connections to the mailbox, opened when needed and kept; the caller limits how many
    threads land at once (`Gate`), so there are never more connections than places.

    Raises:
        ValueError: the mailbox's URL has not the form.
    """

    def __init__(
        self, connect: Callable[[], Inbox], *, read_only: bool, now: Callable[[], datetime]
    ) -> None:
        self._connect = connect
        self._read_only = read_only
        self._now = now
        self._idle: LifoQueue[Inbox] = LifoQueue()
        self._idle.put(connect())  # opens nothing yet, but judges the URL

    def land(self, text: str) -> int:
        """Return the id of the row that now holds `text`: landed, nothing more.

        Raises:
            ReadOnly: this gateway may not write.
            Fault: the mailbox is away (INFRA), or refuses the text.
        """
        if self._read_only:
            raise ReadOnly("the mailbox is read-only here: nothing can be sent")
        inbox = self._take()
        try:
            return inbox.land(text, at=self._now())
        finally:
            self._idle.put(inbox)

    def close(self) -> None:
        """Close the idle connections."""
        while True:
            try:
                self._idle.get_nowait().close()
            except Empty:
                return

    def _take(self) -> Inbox:
        try:
            return self._idle.get_nowait()
        except Empty:
            return self._connect()
