"""Error classes (R46) and the one exception that carries them."""

from datetime import timedelta
from enum import StrEnum
from typing import Final


class ErrorClass(StrEnum):
    """Why a message or an event failed. The class decides whether it is tried again."""

    # not well-formed, forbidden construct, META or payload missing, raw text missing
    MALFORMED = "MALFORMED"
    PROTOCOL = "PROTOCOL"  # well-formed, but a value, count or rule of the interface is broken
    IDENTITY_CONFLICT = "IDENTITY_CONFLICT"  # a known identity with another body (R01)
    CODEC_ERROR = "CODEC_ERROR"  # our decoder raised on well-formed input
    PROCESSING = "PROCESSING"  # our decision or commit raised
    INFRA = "INFRA"  # a server is away, a time-out, a deadlock
    TOO_LARGE = "TOO_LARGE"  # delivery: over the broker's limit
    SERIALISATION = "SERIALISATION"  # delivery: cannot be put on the wire


REFUSED: Final = frozenset(
    {ErrorClass.MALFORMED, ErrorClass.PROTOCOL, ErrorClass.IDENTITY_CONFLICT}
)
"""Dead at once: another try can bring nothing else."""

_MAX_TEXT: Final = 2000


class Fault(Exception):
    """A failure with its class. `text` says what could not be done and to which id, never the
    payload."""

    def __init__(self, error_class: ErrorClass, text: str) -> None:
        super().__init__(text)
        self.error_class = error_class
        self.text = text


class Away(Fault):
    """A server does not answer, refuses, or is not ready: INFRA, tried again without an end
    (R04)."""

    def __init__(self, text: str, rest: timedelta | None = None) -> None:
        super().__init__(ErrorClass.INFRA, text)
        self.rest = rest  # how long to leave it alone; None: the loop's own rest


def clean(text: str) -> str:
    """Return `text` fit to be stored and logged: no control characters, no lone surrogates, cut
    to a bound."""
    kept = "".join(c if c.isprintable() else " " for c in text[:_MAX_TEXT])
    return kept.encode("utf-8", "replace").decode("utf-8")
