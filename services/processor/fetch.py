"""Raw text and decoding for the next heads, ahead of the pump, in one worker thread. Order and
lock are untouched."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Final

from msgx import clock
from msgx.codec.decode import Decoder
from msgx.domain.failure import ErrorClass, Fault
from msgx.domain.message import Message
from msgx.mailbox.inbox import Mailbox, Oversized
from msgx.runtime.session import Session
from msgx.store import proc_state

_BEAT_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True)
class Fetched:
    """A message as it was read: decoded, or why that was not possible."""

    msg_id: int
    raw: str | None
    content: Message | Fault


class Fetcher:
    """Fetches windows of consecutive open messages; the next one while the pump works on this
    one."""

    def __init__(self, mailbox: Mailbox, session: Session, decoder: Decoder, size: int) -> None:
        self._mailbox = mailbox
        self._session = session
        self._decoder = decoder
        self._size = size
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="fetch")
        self._ahead: tuple[int, Future[list[Fetched]]] | None = None

    def window(self, first: int, beat: Callable[[], object]) -> list[Fetched]:
        """Return the window that begins with `first`, the head, and begin to fetch the next.

        `beat` is called while large messages are read, so that who waits is seen to live.

        Raises:
            Away: mailbox or PostgreSQL does not answer.
        """
        ahead, self._ahead = self._ahead, None
        fetched: list[Fetched] = []
        if ahead is not None and ahead[0] < first:
            fetched = _result(ahead[1], beat)
        if not fetched or fetched[0].msg_id != first:  # the first window, or a late lower id
            fetched = _result(self._worker.submit(self._fetch, first - 1), beat)
        if len(fetched) == self._size:
            last = fetched[-1].msg_id
            self._ahead = (last, self._worker.submit(self._fetch, last))
        return fetched

    def close(self) -> None:
        """End the worker and its connections."""
        self._worker.shutdown(wait=True, cancel_futures=True)
        self._session.close()
        self._mailbox.close()

    def _fetch(self, after: int) -> list[Fetched]:
        with self._session.use("looking for the next heads") as conn:
            ids = proc_state.upcoming(conn, after, self._size)
        return self._read(ids) if ids else []

    def _read(self, ids: Sequence[int]) -> list[Fetched]:
        bodies = self._mailbox.raw(ids, max_bytes=self._decoder.max_bytes)
        year = clock.now().year
        return [self._decoded(msg_id, bodies.get(msg_id), year) for msg_id in ids]

    def _decoded(self, msg_id: int, body: str | Oversized | None, year: int) -> Fetched:
        if body is None:
            return Fetched(msg_id, None, Fault(ErrorClass.MALFORMED, "raw-missing"))
        if isinstance(body, Oversized):
            text = f"{body.bytes} bytes are more than the {self._decoder.max_bytes} allowed"
            return Fetched(msg_id, None, Fault(ErrorClass.MALFORMED, text))
        try:
            return Fetched(msg_id, body, self._decoder.decode(body, year=year))
        except Fault as fault:
            return Fetched(msg_id, body, fault)


def _result(future: "Future[list[Fetched]]", beat: Callable[[], object]) -> list[Fetched]:
    """Return what `future` brings, beating until it does (R13)."""
    while not wait([future], timeout=_BEAT_SECONDS).done:
        beat()
    return future.result()
