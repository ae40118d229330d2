"""How a command ends: its exit status, and the one sentence of one that failed."""

from enum import IntEnum
from typing import NoReturn


class Status(IntEnum):
    """The exit status of every command."""

    DONE = 0  # it did what was asked, or showed it
    FAILED = 1  # refused, failed, or done only in part: the sentence says what
    USAGE = 2  # the command line or the configuration is wrong: nothing was asked
    AWAY = 3  # a service, or what it needs, does not answer
    DENIED = 4  # the token, the certificate or the service does not admit this call
    INTERRUPTED = 130  # Ctrl-C


class Failure(Exception):
    """A command that did not do what was asked; the text is one sentence for its user."""

    def __init__(self, status: Status, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text


def refuse(text: str) -> NoReturn:
    """End the command: what was asked cannot be done.

    Raises:
        Failure: always.
    """
    raise Failure(Status.FAILED, text)


def misused(text: str) -> NoReturn:
    """End the command: the command line or the configuration is wrong.

    Raises:
        Failure: always.
    """
    raise Failure(Status.USAGE, text)
