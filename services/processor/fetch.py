"""Raw text and decoding for the next heads, ahead of the pump, in one worker thread. Order and
lock are untouched."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from msgx.mailbox.texts import Fetched, Texts
from msgx.runtime.beating import awaited
from msgx.runtime.session import Session
from msgx.store import proc_state


class Fetcher:
    """Fetches windows of consecutive open messages; the next one while the pump works on this
    one."""

    def __init__(self, texts: Texts, session: Session, size: int) -> None:
        self._texts = texts
        self._session = session
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
            fetched = awaited(ahead[1], beat)
        if not fetched or fetched[0].msg_id != first:  # the first window, or a late lower id
            fetched = awaited(self._worker.submit(self._fetch, first - 1), beat)
        if len(fetched) == self._size:
            last = fetched[-1].msg_id
            self._ahead = (last, self._worker.submit(self._fetch, last))
        return fetched

    def forget(self) -> None:
        """Drop what was fetched ahead: it may be of another term."""
        self._ahead = None

    def close(self) -> None:
        """End the worker and its connections."""
        self._worker.shutdown(wait=True, cancel_futures=True)
        self._session.close()
        self._texts.close()

    def _fetch(self, after: int) -> list[Fetched]:
        with self._session.use("looking for the next heads") as conn:
            coming = proc_state.upcoming(conn, after, self._size)
        kept = {msg_id: text for msg_id, text in coming if text is not None}
        return self._texts.read([msg_id for msg_id, _ in coming], kept) if coming else []
