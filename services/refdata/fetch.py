"""The text of one routed head, read and decoded in a worker thread, while the leading session
is seen to live (R13)."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

from msgx.domain.failure import Away
from msgx.domain.message import KeptText
from msgx.mailbox.texts import Fetched, Texts
from msgx.runtime.beating import awaited


class Fetcher:
    """Reads the head's text. One at a time."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="fetch")

    def fetch(
        self, msg_id: int, kept: Mapping[int, KeptText], beat: Callable[[], object]
    ) -> Fetched:
        """Return the message as it was read; a mailbox that is away is its failure (R04).

        Raises:
            Exception: whatever `beat` raised.
        """
        return awaited(self._worker.submit(self._read, msg_id, kept), beat)

    def close(self) -> None:
        """End the worker and its connection."""
        self._worker.shutdown(wait=True, cancel_futures=True)
        self._texts.close()

    def _read(self, msg_id: int, kept: Mapping[int, KeptText]) -> Fetched:
        try:
            (fetched,) = self._texts.read([msg_id], kept)
        except Away as away:
            return Fetched(msg_id, None, away)
        return fetched
