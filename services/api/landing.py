"""Putting a message into the mailbox as the adapter does (C-7), over a few connections."""

from msgx import clock
from msgx.mailbox.inbox import Mailbox
from msgx.settings import Mailbox as MailboxSettings
from services.api.errors import ReadOnly
from services.api.pool import Pool


class Landing:
    """The mailbox for the routes."""

    def __init__(self, settings: MailboxSettings) -> None:
        self._read_only = settings.read_only
        self._pool = Pool(lambda: Mailbox(settings))

    def land(self, text: str) -> int:
        """Return the id of the row that now holds `text`: landed, nothing more.

        Raises:
            ReadOnly: this gateway may not write.
            Fault: the mailbox is away (INFRA), or refuses the text.
        """
        if self._read_only:
            raise ReadOnly("the mailbox is read-only here: nothing can be sent")
        with self._pool.lend() as mailbox:
            return mailbox.land(text, at=clock.now())

    def close(self) -> None:
        """Close the idle connections."""
        self._pool.close()
