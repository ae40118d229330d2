"""Mailbox texts as who executes the head needs them: decoded, or why that was not possible."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from msgx import clock
from msgx.codec.decode import Decoder
from msgx.domain.failure import ErrorClass, Fault
from msgx.domain.message import KeptText, Message
from msgx.mailbox.inbox import Mailbox, Oversized

RAW_MISSING: Final = "raw-missing"
_RAW_ALTERED: Final = "what is kept is not what was sent to the letter: it must be corrected"


@dataclass(frozen=True, slots=True)
class Fetched:
    """A message as it was read: decoded, or why that was not possible."""

    msg_id: int
    raw: str | None  # as it was sent, also where a correction was decoded
    content: Message | Fault


class Texts:
    """Reads and decodes over one connection to the mailbox. Not thread-safe."""

    def __init__(self, mailbox: Mailbox, decoder: Decoder) -> None:
        self._mailbox = mailbox
        self._decoder = decoder

    def read(
        self, ids: Sequence[int], kept: Mapping[int, KeptText] | None = None
    ) -> list[Fetched]:
        """Return each of `ids` in turn; a text that is missing or cannot be read is an answer.
        Of what is `kept` a correction goes before the mailbox, and the rest behind it (R35).

        Raises:
            Away: the mailbox does not answer.
        """
        bodies = self._mailbox.raw(ids, max_bytes=self._decoder.max_bytes)
        year = clock.now().year
        letters = kept or {}
        return [
            self._decoded(msg_id, bodies.get(msg_id), letters.get(msg_id), year)
            for msg_id in ids
        ]

    def decode(self, text: str) -> Message | Fault:
        """Return what `text` says, or why it cannot be read."""
        try:
            return self._decoder.decode(text, year=clock.now().year)
        except Fault as fault:
            return fault

    def close(self) -> None:
        """Close the connection; the next use opens another."""
        self._mailbox.close()

    def _decoded(
        self, msg_id: int, body: str | Oversized | None, kept: KeptText | None, year: int
    ) -> Fetched:
        altered = False
        if body is None and kept is not None:
            body, altered = kept.raw, kept.raw_altered
        raw = body if isinstance(body, str) else None
        if kept is not None and kept.corrected is not None:
            body, altered = kept.corrected, False
        if body is None:
            return Fetched(msg_id, None, Fault(ErrorClass.MALFORMED, RAW_MISSING))
        if isinstance(body, Oversized):
            text = f"{body.bytes} bytes are more than the {self._decoder.max_bytes} allowed"
            return Fetched(msg_id, None, Fault(ErrorClass.MALFORMED, text))
        if altered:
            return Fetched(msg_id, raw, Fault(ErrorClass.MALFORMED, _RAW_ALTERED))
        try:
            return Fetched(msg_id, raw, self._decoder.decode(body, year=year))
        except Fault as fault:
            return Fetched(msg_id, raw, fault)
